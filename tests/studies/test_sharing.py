"""Plans that are made once: taken over by others, refused when they are not what they must be, claimed by one."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.processes import fork
from tests.studies.conftest import MakeStore
from tests.studies.crowd import Clock, bolts, fingerprint, law_of, same

from proband import Discrete, Problem, Records, Test
from proband.agents import Setting
from proband.policies import FixedSet, test_everything
from proband.rewards import Table
from proband.studies import Study, Subject
from proband.studies.learning import learners, replanning, sharing
from proband.studies.queries import planned
from proband.studies.stores import MemoryStore, Store
from proband.vocabulary import FloatArray, Kind, Policy

PLACE = f"{__name__}:Planner"
ROW = {"visual": "clean", "weight": "light", "ultrasonic": "ok"}


class Planner:
    """An agent with a new policy after every three subjects, which can be held up."""

    kinds = frozenset({Kind.LISTED})
    gate, planning, plans = threading.Event(), threading.Event(), 0

    def __init__(self, problem: Problem) -> None:
        self.problem, self.left, self.seen = problem, 3, 0.0
        self._policy: Policy = test_everything(problem)

    @classmethod
    def of(cls, setting: Setting) -> Planner:
        return cls(setting.problem)

    @property
    def commitment(self) -> int:
        return self.left

    def policy(self) -> Policy:
        return self._policy

    def learn(self, records: Records) -> None:
        self.seen += float(np.nansum(records.outcomes))
        self.left -= records.n
        if self.left <= 0:
            Planner.planning.set()
            assert Planner.gate.wait(30)
            Planner.plans += 1
            self.left, self._policy = 3, FixedSet(self.problem, ["visual"], Discrete([[0, 0, 0]], [1.0]))


@pytest.fixture(autouse=True)
def _worth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every plan is worth sharing, and nobody waits for long."""
    for name in ("QUICK", "WORTH"):
        monkeypatch.setattr(learners, name, 0.0)
    monkeypatch.setattr(replanning, "HEAD_START", 0.0)
    monkeypatch.setattr(sharing, "ALIVE", 0.02)
    monkeypatch.setattr(sharing, "OVER", 0.3)
    Planner.gate, Planner.planning, Planner.plans = threading.Event(), threading.Event(), 0
    Planner.gate.set()


Open = Callable[..., Study]


@pytest.fixture
def opened(make_store: MakeStore) -> Iterator[Open]:
    """Open one study again and again, each time like another process."""
    clock, studies = Clock(), list[Study]()
    Study.create(bolts(), agent=PLACE, store=make_store(), clock=clock, replan="never").close()

    def open_study(station: str = "A", replan: str = "aside") -> Study:
        studies.append(Study.open("bolts", store=make_store(), station=station, clock=clock, replan=replan))
        return studies[-1]

    yield open_study
    Planner.gate.set()
    for study in studies:
        study.close()


def finish(study: Study, n: int) -> None:
    for _ in range(n):
        study.decide(study.arrive(ROW))


def settle(study: Study) -> None:
    worker = study._replanner._worker
    if worker is not None:
        worker.join(30)


def until(happened: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_what_one_planned_is_taken_over_by_others_and_at_the_next_start(opened: Open) -> None:
    first = opened("A")
    finish(first, 4)
    settle(first)
    assert (Planner.plans, planned(first)[0]) == (1, 1)
    others = [opened(station, replan) for station, replan in (("B", "aside"), ("C", "now"), ("D", "never"))]
    for other in others:
        assert other.ask(other.arrive({"visual": "clean"})).kind == "decision"
        assert (planned(other)[0], planned(other)[2]) == (0, 1)
        assert same(fingerprint(other.problem, other.policy()), fingerprint(first.problem, first.policy()))
    assert Planner.plans == 1
    assert others[0].replay().differences == ()


def test_a_subject_keeps_its_policy_after_a_start(opened: Open) -> None:
    first = opened("A")
    early = first.arrive()
    finish(first, 3)
    settle(first)
    late = first.arrive({"visual": "clean"})
    finish(first, 3)
    settle(first)
    plans = Planner.plans
    again = opened("A")
    again.arrive()
    assert [again.ask(subject).kind for subject in (early, late)] == ["test", "decision"]
    assert again.ask(late).policy == late.policy
    assert Planner.plans == plans


def test_of_several_one_plans_and_the_others_go_on(opened: Open) -> None:
    first, second = opened("A"), opened("B")
    finish(first, 2)
    second.arrive()  # both have the first policy
    Planner.gate.clear()
    finish(first, 1)
    assert Planner.planning.wait(30)
    waiting = second.arrive()  # folds that a plan is due, and does not wait for it
    assert second.ask(waiting).action == "visual"
    until(lambda: second._replanner._worker is not None)
    Planner.gate.set()
    settle(first)
    settle(second)
    assert Planner.plans == 1
    assert (planned(first)[0], planned(second)[0]) == (1, 0)
    assert min(second.arrive().policy, first.arrive().policy) > waiting.policy


def test_who_made_the_last_plan_makes_the_next_one(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process has to load what planning takes, so it leaves the plan to the first while this one plans."""
    monkeypatch.setattr(replanning, "HEAD_START", 600.0)
    first, second = opened("A"), opened("B")
    finish(first, 3)
    settle(first)
    finish(second, 3)  # only the second knows that a plan is due
    until(lambda: second._replanner.planned.taken)
    assert second._replanner._worker is not None
    assert Planner.plans == 1
    first.arrive()
    settle(first)
    settle(second)
    assert (planned(first)[0], planned(second)[0]) == (2, 0)


def test_who_made_the_last_plan_is_gone_and_another_makes_the_next(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replanning, "HEAD_START", 0.2)
    first, second = opened("A"), opened("B")
    finish(first, 3)
    settle(first)
    first.close()
    began = time.monotonic()
    finish(second, 3)
    settle(second)
    assert (planned(second)[0], planned(second)[2]) == (1, 1)
    assert time.monotonic() - began >= 0.2
    finish(second, 3)
    settle(second)
    assert planned(second)[0] == 2


def test_the_claim_of_a_dead_planner_is_over(opened: Open, make_store: MakeStore) -> None:
    study = opened("A")
    store = make_store()
    assert isinstance(store, sharing.Swaps)
    assert store.swap("bolts", sharing.CLAIM, None, b"somebody who was killed 7")
    began = time.monotonic()
    finish(study, 3)
    settle(study)
    assert time.monotonic() - began > sharing.OVER
    assert planned(study)[0] == 1
    assert store.cached("bolts", sharing.CLAIM) is None


@pytest.mark.parametrize("d", [4, 30])
def test_who_plans_is_killed_and_another_takes_over_at_once(
    d: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default agent, with few tests and with many; the study goes on where somebody was killed over its plan."""
    monkeypatch.setattr(sharing, "OVER", 600.0)
    problem, url = line(d), f"sqlite:///{tmp_path}/line.db"
    with Study.create(problem, name="line", store=url, replan="never") as study:
        study.learn_from(Records(some(problem, 110)))
    child = fork()
    if not child:
        plan_for_ever(url)
    with Study.open("line", store=url, station="B", replan="aside") as other:
        store = other.store
        assert isinstance(store, sharing.Swaps)
        until(lambda: store.cached("line", sharing.CLAIM))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert store.cached("line", sharing.CLAIM)  # nobody gave it up
        subject = other.arrive()
        assert other.ask(subject).policy == 2
        assert (planned(other)[0] > 0, planned(other)[2]) == (True, 0)
        assert store.cached("line", sharing.CLAIM) is None
        finish_as_advised(other, subject)
        assert other.replay().differences == ()
    with Study.open("line", store=url, station="C", replan="aside") as third:
        third.arrive()
        assert planned(third)[2] == 1


def plan_for_ever(url: str) -> None:
    """Hold the claim in this process, and make no plan."""
    learners.Learners.learn_main = lambda *_: time.sleep(600)  # type: ignore[method-assign,assignment]
    with Study.open("line", store=url, station="A", replan="aside") as study:
        study.arrive()
    os._exit(1)


def line(d: int) -> Problem:
    tests = [Test(f"t{i}", 0.1 + 0.02 * i, outcomes=("ok", "bad")) for i in range(d)]
    return Problem(tests, ["pass", "fail"], Table(["t0"], [[1.0, 0.0], [-4.0, 0.0]]), name="line")


def some(problem: Problem, n: int) -> FloatArray:
    rng = np.random.default_rng(0)
    bad = rng.random((n, 1)) < 0.3
    return np.where(bad, rng.random((n, problem.d)) < 0.7, rng.random((n, problem.d)) < 0.1).astype(float)


def finish_as_advised(study: Study, subject: Subject) -> None:
    while (advice := study.ask(subject)).kind == "test":
        study.tell(subject, advice.action, "ok")
    study.decide(subject)


def test_a_claim_that_is_renewed_is_not_over(opened: Open) -> None:
    first, second = opened("A"), opened("B")
    finish(first, 2)
    second.arrive()
    Planner.gate.clear()
    finish(first, 1)
    assert Planner.planning.wait(30)
    second.arrive()
    end = time.monotonic() + 4 * sharing.OVER  # longer than a claim lives that nobody renews
    while time.monotonic() < end:
        assert planned(second)[0] == 0
        time.sleep(0.02)
    Planner.gate.set()
    settle(first)
    settle(second)
    assert Planner.plans == 1


def plans_of(store: Store) -> list[str]:
    assert isinstance(store, sharing.Swaps)
    return [name for name in store.kept("bolts") if name.startswith(f"{sharing.PLAN} ")]


def altered(content: bytes) -> dict[str, bytes]:
    frozen = content.partition(b"\n")[2]
    return {
        "a byte": content[:-1] + bytes([content[-1] ^ 1]),
        "no seal": frozen,
        "another seal": b"proband plan 1 " + b"0" * 64 + b"\n" + frozen,
        "half of it": content[: len(content) // 2],
        "nothing": b"",
        "something else": b"\x80\x04N.",
        "a later format": content.replace(b"plan 1", b"plan 2", 1),
    }


@pytest.mark.parametrize("how", [*altered(b"\n"), "another position", "another log", "other code"])
def test_what_is_not_what_it_must_be_is_refused_and_planned_anew(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store, clock = MemoryStore(), Clock()
    first = Study.create(bolts(), agent=PLACE, store=store, clock=clock, replan="now")
    finish(first, 4)
    [name] = plans_of(store)
    content = store.cached("bolts", name) or b""
    if how == "another position":
        store.forget("bolts", name)
        kind, code, since, position = name.split(" ")
        store.keep("bolts", f"{kind} {code} {since} {int(position) + 1}", content)
    elif how == "another log":
        finish(Study.create(bolts(), name="other", agent=PLACE, store=store, clock=clock, replan="now"), 4)
        [other] = [each for each in store.kept("other") if each.startswith(sharing.PLAN)]
        store.keep("bolts", other, store.cached("other", other) or b"")
    elif how == "other code":
        monkeypatch.setattr(sharing, "code_of", lambda agent: "0" * 16)
    else:
        store.keep("bolts", name, altered(content)[how])
    plans = Planner.plans
    second = Study.open("bolts", store=store, station="B", clock=clock, replan="now")
    assert second.ask(second.arrive({"visual": "clean"})).kind == "decision"
    assert (Planner.plans, planned(second)[2]) == (plans + 1, 0)
    assert second.replay().differences == ()


def test_plans_that_nobody_needs_are_dropped(opened: Open, make_store: MakeStore) -> None:
    study = opened("A", "now")
    bound = [study.arrive()]
    for _ in range(5):
        finish(study, 3)
        bound.append(study.arrive({"visual": "clean"}))
    store = make_store()
    assert len(plans_of(store)) == 5  # each has an open subject
    for subject in bound[:4]:
        study.void(subject, reason="dropped")
    finish(study, 9)
    assert 2 <= len(plans_of(store)) <= 4
    again = opened("B", "now")
    plans = Planner.plans
    again.arrive()
    assert [again.ask(subject).policy for subject in bound[4:]] == [subject.policy for subject in bound[4:]]
    assert Planner.plans == plans


class Plain:
    """A store of somebody's that can do what a store must, and nothing else."""

    def __init__(self, store: MemoryStore) -> None:
        for name in ("url", "create", "studies", "length", "read", "find", "append", "exclusive", "cached", "keep"):
            setattr(self, name, getattr(store, name))

    def close(self) -> None:
        """There is nothing to close."""


def test_a_store_that_keeps_no_plans_works_as_ever() -> None:
    store: Store = Plain(MemoryStore())  # type: ignore[assignment]
    study = Study.create(bolts(), agent=PLACE, store=store, clock=Clock(), replan="now")
    finish(study, 4)
    other = Study.open("bolts", store=store, station="B", replan="now")
    assert other.ask(other.arrive({"visual": "clean"})).kind == "decision"
    assert (planned(study)[0], planned(other)[0], planned(other)[2]) == (1, 1, 0)


class Odd(Planner):
    """An agent that holds something which cannot be kept."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.lock = threading.Lock()


def test_an_agent_that_cannot_be_frozen_plans_everywhere() -> None:
    store = MemoryStore()
    study = Study.create(bolts(), agent=f"{__name__}:Odd", store=store, clock=Clock(), replan="now")
    finish(study, 7)
    assert planned(study)[0] == 2
    assert plans_of(store) == []


@pytest.mark.slow
def test_the_default_agent_goes_on_where_another_process_stopped() -> None:
    """With corrections and voidings, at two stations that take over from each other; and all of it replays."""
    store, clock, problem = MemoryStore(), Clock(), bolts()
    truth = law_of(problem, np.random.default_rng(0))
    assert isinstance(truth, Discrete)
    rows = truth.sample(np.random.default_rng(1), 180)
    Study.create(problem, store=store, clock=clock, replan="never").close()
    taken = 0
    for turn in range(3):
        with Study.open("bolts", store=store, station="A", clock=clock, replan="now", lease=1) as study:
            for n, row in enumerate(rows[60 * turn : 60 * turn + 60]):
                bolt = study.arrive()
                while (advice := study.ask(bolt)).kind == "test":
                    j = problem.test_index(advice.action)
                    study.tell(bolt, advice.action, problem.tests[j].names[int(row[j])])
                study.decide(bolt)
                known = study.subject(bolt.name).known
                if n == 30 and "visual" in known:
                    other = {"clean": "rusty", "rusty": "clean"}[str(known["visual"])]
                    study.correct(bolt, "visual", other, reason="wrong tray")
            taken += planned(study)[2]
            assert study.replay().differences == ()
    assert taken >= 1
