"""Studies on every store against one plain model: dictionaries of what was told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.studies.crowd import Clock, gout

from proband.errors import HeldError, StudyError
from proband.studies import Study
from proband.studies.stores import MemoryStore, SQLiteStore, Store

MakeStore = Callable[[], Store]
TESTS = ("sex", "swelling", "urate", "crystals")
COSTS = {"sex": 0.0, "swelling": 0.05, "urate": 0.1}
OUTCOMES = {"sex": "fm", "swelling": ("no", "yes"), "urate": ("low", "high"), "crystals": ("none", "found")}
STATIONS = ("A", "B")
LEASE = 60.0
WHICH, SUBJECT, TEST, BIT = st.integers(0, 1), st.integers(0, 8), st.sampled_from(TESTS), st.integers(0, 1)
_runs = count()


@dataclass
class Patient:
    """What the model knows of a subject."""

    known: dict[str, str]
    station: str
    until: float
    status: str = "open"
    ran: list[str] = field(default_factory=list)
    decision: str | None = None

    @property
    def spent(self) -> float:
        return sum(COSTS[test] for test in self.ran)


class Machine(RuleBasedStateMachine):
    """Two stations on one store, the model, and a clock that is set by hand."""

    make: MakeStore

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.name = f"gout {next(_runs)}"
        self.stores = [type(self).make(), type(self).make()]
        first = Study.create(
            gout(), name=self.name, agent="doubling-keep", store=self.stores[0], **self.how(0)
        )  # fmt: skip
        self.studies = [first, self.open(1)]
        self.patients: dict[str, Patient] = {}
        self.events = 1
        self.last: tuple[Callable[[Study], Any], str] | None = None

    def how(self, which: int) -> dict[str, Any]:
        replan = ("now", "never")[which]
        return {"station": STATIONS[which], "clock": self.clock, "lease": LEASE, "replan": replan}

    def open(self, which: int) -> Study:
        return Study.open(self.name, store=self.stores[which], **self.how(which))

    def do(self, which: int, attempt: Callable[[Study, str], Any], *, ok: bool, error: type = StudyError) -> bool:
        """Try something with a key; return whether it was recorded, which is what the model says."""
        key = f"key {self.events}"
        if not ok:
            with pytest.raises(error):
                attempt(self.studies[which], key)
            return False
        attempt(self.studies[which], key)
        self.last = (lambda study: attempt(study, key)), key
        self.events += 1
        return True

    def pick(self, n: int) -> tuple[str, Patient]:
        return list(self.patients.items())[n % len(self.patients)]

    def held(self, which: int, patient: Patient) -> bool:
        return patient.status == "open" and patient.station != STATIONS[which] and self.clock.seconds < patient.until

    def hold(self, which: int, patient: Patient) -> None:
        patient.station, patient.until = STATIONS[which], self.clock.seconds + LEASE

    @initialize(which=WHICH)
    def open_the_doors(self, which: int) -> None:
        for n in range(3):
            self.arrive((which + n) % 2, n, n % 2)

    @rule(which=WHICH, n=st.integers(0, 20), sex=st.none() | BIT)
    def arrive(self, which: int, n: int, sex: int | None) -> None:
        name, known = f"patient {n}", {} if sex is None else {"sex": "fm"[sex]}
        ok = name not in self.patients
        if self.do(which, lambda study, key: study.arrive(known, subject=name, key=key), ok=ok):
            self.patients[name] = Patient(known, STATIONS[which], self.clock.seconds + LEASE)

    @precondition(lambda self: self.patients)
    @rule(which=WHICH, n=SUBJECT, test=TEST, bit=BIT)
    def tell(self, which: int, n: int, test: str, bit: int) -> None:
        name, patient = self.pick(n)
        held, outcome = self.held(which, patient), OUTCOMES[test][bit]
        ok = patient.status == "open" and not held and test not in patient.known and test != "crystals"
        error = HeldError if held else StudyError
        if self.do(which, lambda study, key: study.tell(name, test, outcome, key=key), ok=ok, error=error):
            patient.known = {**patient.known, test: outcome}
            patient.ran += [test] if test != "sex" else []
            self.hold(which, patient)

    @precondition(lambda self: self.patients)
    @rule(which=WHICH, n=SUBJECT, bits=st.lists(BIT, min_size=3, max_size=3))
    def treat(self, which: int, n: int, bits: list[int]) -> None:
        """Take a patient over and follow the advice to the end."""
        if self.pick(n)[1].status == "open":
            self.take(which, n, True)
            for bit in bits:
                self.follow(which, n, bit)
            self.decide(which, n, "wait")

    @precondition(lambda self: self.patients)
    @rule(which=WHICH, n=SUBJECT, bit=BIT)
    def follow(self, which: int, n: int, bit: int) -> None:
        """Do what is advised."""
        name, patient = self.pick(n)
        if patient.status != "open":
            return
        advice = self.studies[which].ask(name)
        assert advice == self.studies[1 - which].ask(name)
        assert advice.spent == pytest.approx(patient.spent)
        if advice.kind == "test":
            self.tell(which, n, advice.action, bit)
        else:
            self.decide(which, n, None)

    @precondition(lambda self: self.patients)
    @rule(which=WHICH, n=SUBJECT, decision=st.sampled_from(["treat", "wait"]))
    def decide(self, which: int, n: int, decision: str | None) -> None:
        name, patient = self.pick(n)
        held = self.held(which, patient)
        ok, error = patient.status == "open" and not held, HeldError if held else StudyError
        if self.do(which, lambda study, key: study.decide(name, decision, key=key), ok=ok, error=error):
            patient.status, patient.decision = "finished", self.studies[which].subject(name).decision
            assert decision in (None, patient.decision)

    @precondition(lambda self: self.patients)
    @rule(which=WHICH, n=SUBJECT, k=st.integers(0, 11), bit=st.none() | BIT)
    def correct(self, which: int, n: int, k: int, bit: int | None) -> None:
        name, patient = self.pick(n)
        told = [*list(patient.known) * 3, *TESTS]  # mostly something that was told
        test = told[k % len(told)]
        outcome = None if bit is None else OUTCOMES[test][bit]
        ok = (
            patient.status != "voided" and not self.held(which, patient) and patient.known.get(test, outcome) != outcome
        )
        if self.do(which, lambda study, key: study.correct(name, test, outcome, reason="typo", key=key), ok=ok):
            known = {**patient.known, test: outcome}
            patient.known = {test: shown for test, shown in known.items() if shown is not None}
            patient.ran = [run for run in patient.ran if run in patient.known]

    @precondition(lambda self: self.patients)
    @rule(which=WHICH, n=SUBJECT)
    def void(self, which: int, n: int) -> None:
        name, patient = self.pick(n)
        ok = patient.status != "voided" and not self.held(which, patient)
        if self.do(which, lambda study, key: study.void(name, reason="left", key=key), ok=ok):
            patient.status = "voided"

    @precondition(lambda self: self.patients)
    @rule(which=WHICH, n=SUBJECT, k=st.integers(0, 11), bit=BIT)
    def reveal(self, which: int, n: int, k: int, bit: int) -> None:
        finished = [i for i, p in enumerate(self.patients.values()) if p.status == "finished"]
        name, patient = self.pick(finished[n % len(finished)] if finished else n)
        new = [*[test for test in TESTS if test not in patient.known] * 3, *TESTS]
        test = new[k % len(new)]
        outcome = OUTCOMES[test][bit]
        ok = patient.status == "finished" and test not in patient.known
        if self.do(which, lambda study, key: study.reveal(name, {test: outcome}, key=key), ok=ok):
            patient.known = {**patient.known, test: outcome}

    @precondition(lambda self: self.patients)
    @rule(which=WHICH, n=SUBJECT, at_once=st.booleans())
    def take(self, which: int, n: int, at_once: bool) -> None:
        name, patient = self.pick(n)
        ok = patient.status == "open" and (at_once or not self.held(which, patient))
        if self.do(which, lambda study, key: study.take(name, at_once=at_once, key=key), ok=ok):
            self.hold(which, patient)

    @rule(which=WHICH)
    def take_any(self, which: int) -> None:
        waiting = [name for name, p in self.patients.items() if p.status == "open" and p.until <= self.clock.seconds]
        taken: list[str] = []
        if self.do(which, lambda study, key: taken.append(study.take(key=key).name), ok=bool(waiting)):
            assert taken[0] == waiting[0]
            self.hold(which, self.patients[waiting[0]])

    @rule(seconds=st.sampled_from([1.0, 70.0]))
    def pass_time(self, seconds: float) -> None:
        self.clock.seconds += seconds

    @precondition(lambda self: len(self.patients) > 3)
    @rule(which=WHICH)
    def restart(self, which: int) -> None:
        self.do(which, lambda study, key: study.restart(reason="new laboratory", key=key), ok=True)

    @precondition(lambda self: self.last is not None)
    @rule(which=WHICH)
    def repeat(self, which: int) -> None:
        """The same request under the same key is answered, and adds nothing."""
        assert self.last is not None
        before = self.studies[which].verify()
        self.last[0](self.studies[which])
        assert self.studies[which].verify() == before

    @rule(which=WHICH)
    def reopen(self, which: int) -> None:
        self.studies[which].close()
        if not isinstance(self.stores[which], MemoryStore):
            self.stores[which].close()
            self.stores[which] = type(self).make()
        self.studies[which] = self.open(which)

    @rule(which=WHICH)
    def replan(self, which: int) -> None:
        assert self.studies[which].replan() == self.events

    @rule(which=WHICH)
    def replay(self, which: int) -> None:
        assert self.studies[which].replay().differences == ()

    @invariant()
    def both_stations_know_what_the_model_knows(self) -> None:
        for study in self.studies:
            found = {subject.name: subject for subject in study.subjects()}
            assert list(found) == list(self.patients)
            for name, patient in self.patients.items():
                subject = found[name]
                assert dict(subject.known) == patient.known
                assert (subject.status, subject.decision) == (patient.status, patient.decision)
                assert list(subject.ran) == patient.ran
                assert subject.spent == pytest.approx(patient.spent)
                assert subject.station == patient.station

    def teardown(self) -> None:
        assert self.studies[0].verify().length == self.events
        assert self.studies[0].replay().differences == ()
        for study, store in zip(self.studies, self.stores, strict=True):
            study.close()
            store.close()


EXAMPLES = {"memory": 50, "sqlite": 8, "postgresql": 8}


def test_a_study_does_what_the_model_does(make_store: MakeStore) -> None:
    machine: Any = type("MachineHere", (Machine,), {"make": staticmethod(make_store)})
    store = make_store()
    kind = "memory" if isinstance(store, MemoryStore) else "sqlite" if isinstance(store, SQLiteStore) else "postgresql"
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES[kind],
            stateful_step_count=50,
            suppress_health_check=list(HealthCheck),
            deadline=None,
        ),
    )
