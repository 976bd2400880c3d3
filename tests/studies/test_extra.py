"""Studies whose agent gives some subjects a part of the tests: asked for, recorded, replayed."""

from __future__ import annotations

import numpy as np
import pytest
from tests.studies.crowd import PROBLEMS, Clock, Crowd, bolts, gout

from proband import Records
from proband.agents import LeafCompletion
from proband.policies import Completing, Extra, branches
from proband.studies import Study, folded, replay
from proband.studies.events.created import make_agent
from proband.studies.learning import acting
from proband.studies.stores import MemoryStore
from proband.testing import check_agent

BUYER = "tests.studies.test_extra:Buyer"


class Buyer(LeafCompletion):
    """Leaf completion that often gives one or two tests alone to subjects where it stops."""

    def propose(self) -> Completing:
        policy = super().propose()
        operable = self.problem.operable.tolist()
        if not operable:
            return policy
        extra = Extra((operable[0], operable[-1]) if len(operable) > 2 else (operable[0],), 0.4)
        law = self.distribution_for_unavailable()
        return Completing(self.problem, policy.base, policy.completion, law, extra=extra)


def test_the_agent_keeps_its_contract() -> None:
    check_agent(
        lambda problem, law, horizon: Buyer(problem, first=16, draws=4),
        np.random.default_rng(3),
        instances=8,
        subjects=60,
    )


@pytest.mark.parametrize("name", ["bolts", "gout", "vector"])
def test_a_crowd_is_replayed_bit_for_bit(name: str) -> None:
    crowd = Crowd(PROBLEMS[name](), BUYER, np.random.default_rng([5, len(name)]))
    crowd.run(150)
    entries = crowd.store.read(crowd.problem.name)
    ledger = folded(entries)
    found = replay(entries, lambda: make_agent(ledger.problem, ledger.creation))
    assert found.differences == ()
    assert found.advices > 15


@pytest.mark.parametrize("name", ["bolts", "gout"])
def test_advised_subjects_end_in_one_of_three_ways_with_its_chance(name: str) -> None:
    problem, rng = PROBLEMS[name](), np.random.default_rng(4)
    study = Study.create(problem, agent=BUYER, store=MemoryStore(), clock=Clock(), replan="never", station="A")
    past = rng.integers(0, problem.k, size=(400, problem.d))
    study.learn_from(Records(past))
    study.replan()
    policy = study.policy()
    ways, reasons = set(), set()
    for x in rng.integers(0, problem.k, size=(60, problem.d)).astype(float):
        told = problem.describe(x)
        subject = study.arrive({problem.tests[i].name: told[problem.tests[i].name] for i in problem.context})
        while (advice := study.ask(subject)).kind == "test":
            assert study.ask(subject) == advice
            if advice.exploring:
                reasons.add(advice.reason.partition(" are ")[2].partition(",")[0])
            study.tell(subject, advice.action, told[advice.action])
        study.decide(subject)
        seen = study.records()
        branch = branches(problem, policy, x[None])
        alike = [n for n, (q, way) in enumerate(branch) if q[0] > 0 and same(way.states[0], seen.outcomes[-1])]
        assert alike
        open_leaf = np.isnan(branch[0][1].states[0, problem.operable]).any()
        assert seen.chances is not None
        assert seen.chances[-1] == (branch[1][0][0] if open_leaf else 1.0)
        assert problem.decision_action(advice.action) in [branch[n][1].actions[0] for n in alike]
        ways.add(alike[-1])
    assert 2 in ways
    assert any(reason.startswith("given ") for reason in reasons)
    assert study.replay().differences == ()


def same(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.array_equal(one, other, equal_nan=True))


def test_extra_tests_told_early_are_on_the_path() -> None:
    """What the policy would have asked for anyway, told in another order, leaves the chance known."""
    agent = Buyer(bolts(), first=16, draws=4)
    agent.learn(Records(np.random.default_rng(0).integers(0, bolts().k, size=(200, 3))))
    problem, policy = agent.problem, agent.policy()
    rows = np.array([[0.0, 1.0, 0.0], [1.0, 2.0, 1.0]])
    for way, (chance, episodes) in enumerate(branches(problem, policy, rows)):
        assert isinstance(policy, Completing)
        for row, q in zip(episodes.states, chance, strict=True):
            if q == 0:
                continue
            complete = policy.completion(policy.leaves(row))[0]
            u = [complete + policy.partly(policy.leaves(row))[0], 0.0, complete][way]
            found = acting.chance(problem, policy, row, float(u), steady=False)
            leaf_open = np.isnan(policy.leaves(row)[0]).any()
            assert found == (complete if leaf_open else 1.0)


def test_the_truth_may_come_later() -> None:
    study = Study.create(gout(), agent=BUYER, store=MemoryStore(), clock=Clock(), replan="now", station="A")
    study.learn_from(Records(np.random.default_rng(1).integers(0, 2, size=(300, 4))))
    for n in range(20):
        subject = study.arrive({"sex": "m"})
        while (advice := study.ask(subject)).kind == "test":
            study.tell(subject, advice.action, gout().tests[gout().test_index(advice.action)].names[n % 2])
        study.decide(subject)
        study.reveal(subject, {"crystals": "found"})
    assert study.replay().differences == ()
    assert study.summary().finished == 20
