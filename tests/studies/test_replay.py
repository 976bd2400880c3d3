"""Replay is bit-equal: the log alone gives the same advice, the same coins, and the same agent."""

from __future__ import annotations

import numpy as np
import pytest
from tests.studies.crowd import PROBLEMS, Crowd, fingerprint, same

from proband.agents.registry import agents_for
from proband.studies import folded, replay
from proband.studies.events.created import make_agent
from proband.studies.learning.replay import agent_at

CASES = [
    (agent, problem)
    for problem in ("bolts", "gout", "rods", "network")
    for agent in agents_for(PROBLEMS[problem]())
    if agent != "clairvoyant"
]


SLOW = {("leaf-completion", "rods"), ("safe-leaf-completion", "rods")}
"""Every plan of these takes a tenth of a second, and every amendment makes all of them anew."""


@pytest.mark.filterwarnings("ignore:.*the width U.t. of Algorithm 4 is above 1")
@pytest.mark.parametrize(("agent", "problem"), [*CASES, ("safe-leaf-completion", "vector")])
def test_a_crowd_is_replayed_bit_for_bit(agent: str, problem: str) -> None:
    crowd = Crowd(PROBLEMS[problem](), agent, np.random.default_rng([len(agent), len(problem)]))
    crowd.run(60 if (agent, problem) in SLOW else 120)
    entries = crowd.store.read(crowd.problem.name)
    ledger = folded(entries)

    def make() -> object:
        return make_agent(ledger.problem, ledger.creation)

    found = replay(entries, make)  # type: ignore[arg-type]
    assert found.differences == ()
    assert found.advices > 15

    for study in crowd.studies:
        position = study.replan()
        fresh = agent_at(ledger, make, position)  # type: ignore[arg-type]
        assert same(fingerprint(crowd.problem, study.policy()), fingerprint(crowd.problem, fresh.policy()))

    late = crowd.open("late")
    for subject in late.subjects(open=True):
        advices = [study.ask(subject) for study in (late, *crowd.studies)]
        assert len(set(advices)) == 1
