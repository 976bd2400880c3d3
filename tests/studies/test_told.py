"""Told = untold: a study at two stations has the agent that a plain loop over the same subjects has, bit for bit.

The study tells its agent with which chance each subject was tested completely, by the policy that it met on arrival; a
loop over subjects that come one after the other tells nothing. Both must teach the same. Where subjects are open while
the policy changes, the loop has to tell, too: nobody else knows which policy a subject met.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from tests.studies.crowd import PROBLEMS, Clock, fingerprint, law_of, same

from proband import Records
from proband.agents import agents_for
from proband.policies import chances, follow
from proband.studies import Ledger, Study, folded
from proband.studies.events.created import make_agent
from proband.studies.learning.replay import agent_at
from proband.studies.stores import MemoryStore
from proband.vocabulary import FloatArray, Policy

SUBJECTS, PAST, NAME = 30, 70, "study"
CASES = [
    (problem, agent)
    for problem, make in PROBLEMS.items()
    for agent in agents_for(make())
    if agent != "clairvoyant" and (problem != "vector" or agent == "safe-leaf-completion")
]


class Log(NamedTuple):
    """What a study recorded, and what nobody in it knew."""

    ledger: Ledger
    past: FloatArray
    truth: dict[str, FloatArray]


def run(problem_name: str, agent: str, at_once: int) -> Log:
    """Let two stations treat subjects as advised, up to `at_once` of them side by side and in any order."""
    problem, rng = PROBLEMS[problem_name](), np.random.default_rng(5)
    law, store, clock = law_of(problem, rng), MemoryStore(), Clock()
    made = {
        "horizon": 90 if agent == "explore-then-commit" else None,
        "condition_number": 4.0 if agent == "elimination" else None,
    }
    first = Study.create(
        problem, name=NAME, agent=agent, store=store, seed=7, station="0", replan="now", clock=clock, **made
    )
    past, truth = law.sample(rng, PAST), dict[str, FloatArray]()
    first.learn_from(Records(past), source="the first lot")
    stations = [first, Study.open(NAME, store=store, station="1", replan="now", clock=clock)]
    while len(truth) < SUBJECTS or first.subjects(open=True):
        study = stations[int(rng.integers(2))]
        waiting = study.subjects(open=True)
        if len(truth) < SUBJECTS and (not waiting or (len(waiting) < at_once and rng.random() < 0.4)):
            if at_once == 1:
                study.replan()  # the other station may have finished a subject meanwhile
            x = law.sample(rng, 1)[0]
            known = {problem.tests[i].name for i in problem.context}
            subject = study.arrive({name: value for name, value in problem.describe(x).items() if name in known})
            truth[subject.name] = x
            continue
        subject = study.take(waiting[int(rng.integers(len(waiting)))], at_once=True)
        advice = study.ask(subject)
        if advice.kind == "test":
            study.tell(subject, advice.action, problem.describe(truth[subject.name])[advice.action])
        else:
            study.decide(subject)
    for study in stations:
        study.close()
    return Log(folded(store.read(NAME)), past, truth)


def loop(log: Log, *, tells: bool) -> Iterator[tuple[int, Policy]]:
    """Go through the same subjects with an agent of one's own; yield its policy after each number of events."""
    ledger, columns = log.ledger, log.ledger.columns
    problem, agent = ledger.problem, make_agent(ledger.problem, ledger.creation)
    agent.learn(Records(log.past))
    policies: dict[int, Policy] = {ledger.imports[0].number: agent.policy()}
    for i, ended in zip(ledger.order, ledger.ended, strict=True):
        met = policies[max(number for number in policies if number <= columns.policy[i])]
        x, coin = log.truth[columns.names[i]], columns.coin[[i]]
        state = follow(problem, met, x[None], coins=coin).states
        chance = chances(problem, met, state)
        assert np.array_equal(problem.states(columns.rows[[i]]), problem.states(state), equal_nan=True)
        assert np.array_equal(columns.chance[[i]], chance, equal_nan=True)
        agent.learn(Records(problem.states(state), chances=chance if tells else None))
        policies[ended] = agent.policy()
    yield from policies.items()


def check(log: Log, *, tells: bool) -> None:
    ledger = log.ledger
    for n, (position, policy) in enumerate(loop(log, tells=tells)):
        if n % 4 == 0 or position == ledger.ended[-1]:
            studied = agent_at(ledger, lambda: make_agent(ledger.problem, ledger.creation), position).policy()
            assert same(fingerprint(ledger.problem, policy), fingerprint(ledger.problem, studied)), position


@pytest.mark.parametrize(("problem", "agent"), CASES)
def test_one_after_the_other(problem: str, agent: str) -> None:
    check(run(problem, agent, at_once=1), tells=False)


@pytest.mark.parametrize(("problem", "agent"), CASES)
def test_open_side_by_side_while_the_policy_changes(problem: str, agent: str) -> None:
    log = run(problem, agent, at_once=6)
    check(log, tells=True)
    if agent != "safe-leaf-completion":  # all others learn from what was seen alone
        check(log, tells=False)
    columns = log.ledger.columns
    met, ended = columns.policy[log.ledger.order], np.array(log.ledger.ended)
    assert (np.searchsorted(ended, ended) > np.searchsorted(ended, met, side="right")).any()  # others ended in between
