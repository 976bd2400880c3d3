from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest
from tests.studies.crowd import Clock, bolts

from proband import Discrete, Records
from proband.agents import Setting
from proband.policies import FixedSet, test_everything
from proband.problem import Problem
from proband.studies import Study
from proband.studies.stores import MemoryStore
from proband.vocabulary import Kind, Policy

PLACE = f"{__name__}:Slow"
ROW = {"visual": "clean", "weight": "light", "ultrasonic": "ok"}


class Slow:
    """An agent with a new policy after every three subjects, which waits to be allowed to plan."""

    kinds = frozenset({Kind.LISTED})
    gate = threading.Event()
    planning = threading.Event()
    plans = 0
    fails = False

    def __init__(self, problem: Problem) -> None:
        self.problem, self.left, self.learned = problem, 3, 0
        self._policy: Policy = test_everything(problem)

    @classmethod
    def of(cls, setting: Setting) -> Slow:
        return cls(setting.problem)

    @property
    def commitment(self) -> int:
        return self.left

    def policy(self) -> Policy:
        return self._policy

    def learn(self, records: Records) -> None:
        self.learned += records.n
        self.left -= records.n
        if self.left <= 0:
            Slow.planning.set()
            assert Slow.gate.wait(30)
            Slow.plans += 1
            if Slow.fails:
                raise MemoryError("the plan does not fit")
            self.left, self._policy = 3, FixedSet(self.problem, ["visual"], Discrete([[0, 0, 0]], [1.0]))


@pytest.fixture
def slow() -> Callable[..., Study]:
    Slow.gate, Slow.planning, Slow.plans, Slow.fails = threading.Event(), threading.Event(), 0, False

    def make(replan: str) -> Study:
        return Study.create(bolts(), agent=PLACE, store=MemoryStore(), station="A", clock=Clock(), replan=replan)

    return make


def finish(study: Study, n: int) -> None:
    for _ in range(n):
        study.decide(study.arrive(ROW))


def settle(study: Study) -> None:
    worker = study._replanner._worker
    if worker is not None:
        worker.join(30)


def test_nobody_waits_for_a_plan_that_is_being_made(slow: Callable[..., Study]) -> None:
    study = slow("background")
    waiting = study.arrive()
    finish(study, 3)
    assert Slow.planning.wait(30)
    late = study.arrive()  # all of this while the thread plans
    assert [study.ask(subject).action for subject in (waiting, late)] == ["visual", "visual"]
    study.tell(late, "visual", "clean")
    assert study.ask(late).action == "weight"
    study.decide(study.arrive(ROW))
    Slow.gate.set()
    settle(study)
    assert study.ask(study.arrive({"visual": "clean"})).kind == "decision"  # the new policy
    assert study.ask(late).action == "weight"  # the policy that it met
    assert study.arrive().policy > late.policy
    assert study.replay().differences == ()
    study.close()


def test_now_plans_at_once_and_never_only_when_told(slow: Callable[..., Study]) -> None:
    Slow.gate.set()
    study = slow("now")
    finish(study, 3)
    assert Slow.plans == 1
    assert study.arrive().policy == 7
    other = Study.open("bolts", store=study.store, station="B", replan="never")
    other.arrive()
    plans = Slow.plans
    finish(other, 9)
    assert Slow.plans == plans
    before = other.arrive().policy
    assert other.replan() > before
    assert other.arrive().policy > before


def test_many_amendments_are_learned_in_one_go(slow: Callable[..., Study]) -> None:
    Slow.gate.set()
    study = slow("background")
    finish(study, 12)
    settle(study)
    Slow.gate.clear()
    Slow.planning.clear()
    plans = Slow.plans
    study.correct("1", "visual", "rusty", reason="typo")
    assert Slow.planning.wait(30)
    for n in range(2, 12):
        study.correct(str(n), "visual", "rusty", reason="typo")
    Slow.gate.set()
    study._replanner._stopping.set()
    settle(study)
    assert Slow.plans == plans + 4  # one agent that began anew, and no more while it rests
    study._replanner._stopping.clear()
    study.replan()
    assert Slow.plans == plans + 8


def test_closing_leaves_a_plan_that_is_being_made_and_throws_it_away(slow: Callable[..., Study]) -> None:
    study = slow("background")
    waiting = [study.arrive() for _ in range(2)]
    finish(study, 3)
    assert Slow.planning.wait(30)
    before = study._replanner.newest
    worker = study._replanner._worker
    assert worker is not None
    closing = threading.Thread(target=study.close)
    closing.start()
    closing.join(30)
    assert not closing.is_alive()
    assert worker.is_alive()  # still at the plan
    Slow.gate.set()
    worker.join(30)
    assert not worker.is_alive()
    assert study._replanner.newest is before
    assert Slow.plans == 1  # and it has not gone on
    again = Study.open("bolts", store=study.store, station="A", replan="never")
    assert [again.ask(subject).action for subject in waiting] == ["visual", "visual"]


def test_what_goes_wrong_in_the_thread_is_told_and_the_study_goes_on(slow: Callable[..., Study]) -> None:
    Slow.gate.set()
    study = slow("background")
    study.arrive()
    Slow.fails = True
    finish(study, 3)
    settle(study)
    assert study.ask(study.arrive()).action == "visual"
    assert study.summary().trouble == "the plan does not fit"
    with pytest.raises(MemoryError, match="does not fit"):
        study.replan()
    Slow.fails = False
    study.replan()
    assert study.summary().trouble is None


def test_a_station_that_opens_late_plans_once_for_all_open_subjects(slow: Callable[..., Study]) -> None:
    Slow.gate.set()
    study = slow("now")
    subjects = []
    for _ in range(4):
        subjects.append(study.arrive())
        finish(study, 3)
    plans = Slow.plans
    late = Study.open("bolts", store=study.store, station="late", replan="never")
    for subject in reversed(subjects):
        assert late.ask(subject) == study.ask(subject)
    assert Slow.plans - plans <= 3


def test_policies_are_shared_between_positions(slow: Callable[..., Study]) -> None:
    Slow.gate.set()
    study = slow("now")
    other = Study.open("bolts", store=study.store, station="B", replan="now")
    other.arrive()
    finish(study, 4)
    mine, theirs = study.arrive(), other.arrive()
    plans = Slow.plans
    assert other.take(mine, at_once=True).policy != theirs.policy
    other.ask(mine)
    assert Slow.plans == plans or mine.policy > theirs.policy


def test_learning_agents_replan_by_themselves_in_the_background() -> None:
    study = Study.create(bolts(), agent="greedy", store=MemoryStore(), station="A")
    rng = np.random.default_rng(0)
    for _ in range(75):
        x = study.problem.describe(np.array([rng.integers(2), rng.integers(3), rng.integers(2)], dtype=float))
        study.decide(study.arrive(x))
    settle(study)
    assert study.tree().root.action >= 0
    assert study.summary().exploration is not None
    study.close()
