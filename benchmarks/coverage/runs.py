"""The value that a live study shows beside what its plan truly brings, on laws that are known."""

from functools import cache

import numpy as np

from proband import evaluate
from proband.agents import Setting, build_agent, default_agent
from proband.instances import many_tests
from proband.policies import Completing, DecideNow
from proband.simulation import draw_stream, simulate

SIZE = 20_000
"""Rows of each law."""


@cache
def law_of(name):
    return many_tests(name, size=SIZE)


def one(run):
    """Let the default agent treat subjects of a law: what it then shows of its plan's value, and what is true."""
    name, subjects, seed = run
    instance = law_of(name)
    problem, law = instance.problem, instance.distribution
    for_stream, for_coins, for_agent = np.random.default_rng([seed, subjects]).spawn(3)
    agent = build_agent(default_agent(problem), Setting(problem, seed=int(for_agent.integers(2**31))))
    stream = draw_stream(problem, law, for_stream, subjects)
    at_once = DecideNow(problem, distribution=law)  # regret is not asked for
    simulate(problem, law, agent, stream, rng=for_coins, at=np.array([subjects]), best=at_once)
    shown, policy = agent.value_estimate(), agent.policy()
    plan = policy.base if isinstance(policy, Completing) else policy
    return {
        "law": name, "subjects": subjects, "seed": seed, "audits": shown.subjects, "value": shown.value,
        "low": shown.low, "high": shown.high, "truth": evaluate(problem, law, plan).value,
    }  # fmt: skip
