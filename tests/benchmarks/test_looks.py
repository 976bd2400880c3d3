"""The sum of how far cheaper looks could lead prices the looks that the agent buys."""

import numpy as np
import pytest
from benchmarks.looks import bought

from proband import Records
from proband.agents import Setting, build_agent
from proband.instances import many_tests
from proband.policies import Completing


@pytest.mark.parametrize("name", ["latent-20", "latent-13", "latent-40"])
def test_a_look_has_as_many_tests_as_the_agent_buys(name: str) -> None:
    instance = many_tests(name, size=500)
    agent = build_agent("safe-leaf-completion", Setting(instance.problem, seed=1))
    rows = np.random.default_rng(0).choice(instance.distribution.support, agent.commitment)
    agent.learn(Records(rows))
    policy = agent.policy()
    assert isinstance(policy, Completing)
    assert policy.extra is not None
    assert len(policy.extra.tests) == bought(instance.problem) + 1
