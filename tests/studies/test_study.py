from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from tests.studies.crowd import Clock, Crowd, bolts, gout, rods, vector

from proband import Problem, Records, Test
from proband.errors import (
    HeldError,
    KeyReusedError,
    ProbandError,
    StoreError,
    StudyError,
    StudyExistsError,
    UnknownStudyError,
)
from proband.rewards import Entropy
from proband.studies import Study
from proband.studies.stores import Entry, MemoryStore


def make(problem: Problem | None = None, agent: str | None = "test-everything", **options: object) -> Study:
    settings = {"store": MemoryStore(), "station": "A", "actor": "QA", "clock": Clock(), "replan": "now", **options}
    return Study.create(bolts() if problem is None else problem, agent=agent, **settings)  # type: ignore[arg-type]


def beside(study: Study, station: str = "B", **options: object) -> Study:
    settings = {"clock": study._journal.clock, "replan": "now", **options}
    return Study.open(study.name, store=study.store, station=station, **settings)  # type: ignore[arg-type]


def test_a_subject_from_arrival_to_decision() -> None:
    study = make()
    bolt = study.arrive(subject="bolt 1")
    assert (bolt.name, bolt.number, bolt.status, dict(bolt.known)) == ("bolt 1", 1, "open", {})
    advice = study.ask(bolt)
    assert (advice.action, advice.kind, advice.cost, advice.spent, advice.unit) == ("visual", "test", 0.05, 0.0, "EUR")
    study.tell(bolt, "visual", "clean")
    study.tell(bolt, "weight", "light")
    assert study.ask(bolt).cost == 0.25  # the rig is set up
    bolt = study.tell(bolt, "ultrasonic", "crack")
    assert bolt.ran == ("visual", "weight", "ultrasonic")
    assert bolt.spent == pytest.approx(0.4)
    advice = study.ask(bolt)
    assert (advice.action, advice.kind, advice.cost) == ("fail", "decision", 0.0)
    assert study.decide(bolt) == "fail"
    bolt = study.subject("bolt 1")
    assert (bolt.status, bolt.decision, bolt.followed, bolt.deviations) == ("finished", "fail", True, 0)
    assert study.subjects(open=True) == []
    assert [event.kind for event in study.events()] == ["created", "arrived", *["observed"] * 3, "decided"]


def test_where_there_is_one_decision_it_need_not_be_learned() -> None:
    sites = Problem([Test(name, 1.0, outcomes=None) for name in ("park", "road")], ["stop"], Entropy(), name="sites")
    study = make(sites, agent=None)
    day = study.arrive()
    assert study.ask(day).action == "park"
    assert study.decide(day) == "stop"
    assert study.subject(day.name).followed is False


def test_every_event_says_who_where_when_and_what_was_advised() -> None:
    study = make()
    bolt = study.arrive()
    study.tell(bolt, "weight", "light")
    *_, event = study.events()
    assert (event.actor, event.station, event.subject, event.kind) == ("QA", "A", "1", "observed")
    assert event.data == {
        "test": "weight",
        "outcome": "light",
        "policy": 1,
        "advised": "visual",
        "followed": False,
        "cost": 0.1,
    }
    assert event.time > next(study.events()).time
    assert study.subject("1").deviations == 1


def test_several_outcomes_are_told_together_as_one_by_one() -> None:
    together, single = make(agent="safe-leaf-completion"), make(agent="safe-leaf-completion")
    shown = {"visual": "clean", "ultrasonic": "ok", "weight": "light"}  # the second one against the advice
    for study in (together, single):
        study.learn_from(Records(np.tile([[0, 1, 0], [1, 0, 1]], (100, 1))))
        study.replan()
        study.arrive(subject="bolt")
    bolt = together.tell("bolt", shown)
    for test, outcome in shown.items():
        one = single.tell("bolt", test, outcome)
    assert (bolt.known, bolt.ran, bolt.spent, bolt.deviations) == (one.known, one.ran, one.spent, one.deviations)
    assert bolt.ran == ("visual", "ultrasonic", "weight")
    assert bolt.spent == pytest.approx(0.05 + 0.3 + 0.06)  # the rig is set up for the third
    recorded = [[event.data for event in study.events() if event.kind == "observed"] for study in (together, single)]
    assert recorded[0] == recorded[1]
    assert together.ask("bolt") == single.ask("bolt")
    assert together.decide("bolt") == single.decide("bolt")
    assert together.replay().differences == ()


def test_several_outcomes_are_told_all_or_none() -> None:
    study = make()
    bolt = study.arrive()
    study.tell(bolt, "weight", "light")
    before = study.verify()
    for wrong, message in (
        ({"visual": "clean", "ultrasonic": "huge"}, "'huge' does not exist"),
        ({"visual": "clean", "weight": "heavy"}, "showed 'light' already"),
        ({"visual": "clean", "xray": "ok"}, "'xray' does not exist"),
        ({}, "nothing is told of subject '1'"),
    ):
        with pytest.raises(ProbandError, match=message):
            study.tell(bolt, wrong)
        assert study.verify() == before
    assert study.tell(bolt, {"visual": "clean", "ultrasonic": "ok"}).known == {
        "visual": "clean",
        "weight": "light",
        "ultrasonic": "ok",
    }


def test_several_outcomes_under_one_key_are_recorded_once() -> None:
    study = make()
    bolt = study.arrive()
    shown = {"visual": "clean", "weight": "light"}
    for desk in (study, beside(study, "A"), study):
        desk.tell(bolt, shown, key="scan")
    assert [event.key for event in study.events()][2:] == ["scan", "scan part 2"]
    for other in (
        {"visual": "clean"},
        {"weight": "light", "visual": "clean"},
        {"visual": "clean", "weight": "heavy"},
        {**shown, "ultrasonic": "ok"},
    ):
        with pytest.raises(KeyReusedError, match=r"'scan' was used for 'observed'.*other content"):
            study.tell(bolt, other, key="scan")
    study.tell(bolt, "ultrasonic", "ok", key="single")
    study.tell(bolt, {"ultrasonic": "ok"}, key="single")
    with pytest.raises(KeyReusedError):
        study.tell(bolt, "visual", "clean", key="scan")
    assert study.verify().length == 5


def test_an_operator_may_stop_early_and_decide_otherwise() -> None:
    study = make(agent="greedy")
    study.learn_from(Records(np.tile([0, 1, 0], (64, 1))))
    study.replan()
    one, two = study.arrive(), study.arrive()
    assert study.ask(one).action == "pass"
    assert study.decide(one, "fail") == "fail"
    study.tell(two, "ultrasonic", "ok")
    assert study.decide(two) == "pass"
    summary = study.summary()
    assert (summary.decisions_against_advice, summary.tests_against_advice) == (1, 1)
    assert summary.decisions == {"fail": 1, "pass": 1}


def test_without_a_law_an_early_decision_must_be_named() -> None:
    study = make(agent="greedy")
    bolt = study.arrive()
    with pytest.raises(StudyError, match=r"run 'visual', or name the decision"):
        study.decide(bolt)
    assert study.decide(bolt, "pass") == "pass"
    assert study.subject("1").followed is False


def test_what_is_known_against_the_policys_wish_is_used() -> None:
    study = make(agent="safe-leaf-completion")
    study.learn_from(Records(np.tile([[0, 1, 0]], (200, 1))))
    study.replan()
    bolt = study.arrive()
    assert study.ask(bolt).action == "pass"
    study.tell(bolt, "ultrasonic", "crack")
    assert study.ask(bolt).action == "fail"


def test_what_comes_with_a_subject_costs_nothing() -> None:
    study = make(gout())
    patient = study.arrive({"sex": "f", "urate": "low"})
    assert patient.spent == 0.0
    assert patient.ran == ()
    assert study.ask(patient).action == "swelling"
    study.tell(patient, "swelling", "no")
    assert study.subject(patient.name).ran == ("swelling",)


def test_what_is_known_on_arrival_is_told_first() -> None:
    study = make(gout())
    patient = study.arrive()
    advice = study.ask(patient)
    assert (advice.action, advice.cost, advice.exploring) == ("sex", 0.0, False)
    patient = study.tell(patient, "sex", "m")
    assert patient.ran == ()
    assert study.ask(patient).action == "swelling"


def test_the_truth_that_comes_later_teaches_the_agent() -> None:
    study = make(gout(), agent="test-everything")

    def decision() -> str:
        patient = study.arrive({"sex": "f", "swelling": "yes", "urate": "high"})
        return study.decide(patient)

    before = decision()
    for number in range(1, 2):
        study.reveal(str(number), {"crystals": "found" if before == "wait" else "none"})
    patients = [study.arrive({"sex": "f", "swelling": "yes", "urate": "high"}) for _ in range(12)]
    for patient in patients:
        study.decide(patient)
        study.reveal(patient, {"crystals": "found" if before == "wait" else "none"})
    assert study.replan() > 1
    assert decision() != before
    assert study.records().outcomes[0, 3] == (1.0 if before == "wait" else 0.0)
    assert study.replay().differences == ()


def test_corrections_are_events_and_the_agent_learns_again() -> None:
    study = make()
    bolt = study.arrive()
    study.tell(bolt, "visual", "rusty")
    study.tell(bolt, "weight", "light")
    study.tell(bolt, "ultrasonic", "crack")
    corrected = study.correct(bolt, "visual", "clean", reason="wrong bolt")
    assert corrected.known["visual"] == "clean"
    assert corrected.spent == pytest.approx(0.4)
    withdrawn = study.correct(bolt, "ultrasonic", None, reason="probe was off")
    assert "ultrasonic" not in withdrawn.known
    assert withdrawn.spent == pytest.approx(0.15)
    assert study.ask(bolt).action == "ultrasonic"
    study.tell(bolt, "ultrasonic", "ok")
    study.decide(bolt)
    study.correct(bolt, "ultrasonic", "crack", reason="came back from the customer")
    assert study.records().outcomes.tolist() == [[0.0, 0.0, 1.0]]
    assert [event.data["was"] for event in study.events() if event.kind == "corrected"] == ["rusty", "crack", "ok"]


def test_a_voided_subject_counts_no_more() -> None:
    study = make()
    for _ in range(2):
        bolt = study.arrive({"visual": "clean", "weight": "light", "ultrasonic": "ok"})
        study.decide(bolt)
    study.void("1", reason="a test piece")
    study.void(study.arrive(), reason="fell off the belt")
    assert [subject.status for subject in study.subjects()] == ["voided", "finished", "voided"]
    assert study.records().n == 1
    summary = study.summary()
    assert (summary.open, summary.finished, summary.voided) == (0, 1, 2)


def test_learning_starts_afresh_after_a_restart() -> None:
    study = make(agent="greedy")
    study.learn_from(Records(np.tile([0, 1, 0], (64, 1))))
    study.replan()
    bolt = study.arrive()
    assert study.ask(bolt).action == "pass"
    study.restart(reason="new supplier")
    study.replan()
    assert study.ask(bolt).action == "pass"  # it keeps the policy that it met
    assert study.ask(study.arrive()).action == "visual"
    assert list(study.observations()) == []
    assert study.summary().restarted == 4


def test_past_records_are_imported_once() -> None:
    study = make(agent="greedy")
    past = Records([[0.0, 1.0, 0.0], [1.0, math.nan, math.nan], [0.0, 1.0, 0.0]])
    assert study.learn_from(past, source="2023") == 3
    assert study.learn_from(past, source="2023, again") == 0
    assert study.learn_from(Records([[0, 1, 0]])) == 1
    assert study.summary().imported == 4
    imported = [event.data for event in study.events() if event.kind == "imported"]
    assert [data["counts"] for data in imported] == [[2, 1], [1]]
    assert imported[0]["rows"] == [["clean", "nominal", "ok"], ["rusty", None, None]]
    assert [data["chances"] for data in imported] == [[None, None], [1.0]]
    study.restart(reason="new supplier")
    assert study.learn_from(past) == 3  # the agent has forgotten them


def test_a_long_import_is_several_events_and_all_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proband.studies.events.imported.ROWS", 3)
    study = make(agent="greedy")
    rows = np.array([[a, b, c] for a in range(2) for b in range(3) for c in range(2)], dtype=float)
    assert study.learn_from(Records(rows)) == 12
    assert study.learn_from(Records(rows)) == 0
    assert [event.kind for event in study.events()] == ["created", *["imported"] * 4]


def test_the_same_key_gives_the_same_answer_and_is_recorded_once() -> None:
    study = make(agent="greedy")
    study.learn_from(Records(np.tile([0, 1, 0], (64, 1))))
    other = beside(study, "A")
    first = study.arrive({"visual": "clean"}, key="k1")
    assert other.arrive({"visual": "clean"}, key="k1").name == first.name
    for desk in (study, other, study):
        desk.tell(first, "weight", "light", key="k2")
        desk.correct(first, "weight", "heavy", reason="typo", key="k3")
    assert len({desk.decide(first, key="k4") for desk in (study, other, study)}) == 1
    for desk in (study, other):
        desk.reveal(first, {"ultrasonic": "ok"}, key="k5")
        desk.void(first, reason="test piece", key="k6")
        desk.restart(reason="new lot", key="k7")
    assert study.verify().length == 2 + 7
    with pytest.raises(KeyReusedError, match=r"'k1' was used for 'arrived' of subject '1'.*take a new key"):
        study.arrive({"visual": "rusty"}, key="k1")
    with pytest.raises(KeyReusedError, match="other content"):
        study.tell(first, "weight", "heavy", key="k2")
    with pytest.raises(KeyReusedError, match="other content"):
        study.tell(first, "weight", "light", key="k1")
    assert study.verify().length == 2 + 7


def test_another_station_waits_for_the_lease_or_takes_over() -> None:
    clock = Clock()
    study = make(lease=60, clock=clock)
    other = beside(study, "B", lease=30)
    bolt = study.arrive()
    for attempt in (
        lambda: other.tell(bolt, "visual", "clean"),
        lambda: other.decide(bolt, "pass"),
        lambda: other.void(bolt, reason="mine"),
        lambda: other.take(bolt),
    ):
        with pytest.raises(HeldError, match=r"held by station 'A' until .* take it over at once"):
            attempt()
    with pytest.raises(StudyError, match="none of the 1 open subjects waits"):
        other.take()
    assert other.ask(bolt).action == "visual"  # anybody may ask
    assert other.take(bolt, at_once=True).station == "B"
    with pytest.raises(HeldError, match="held by station 'B'"):
        study.tell(bolt, "visual", "clean")
    clock.seconds += 31
    assert study.summary().waiting == 1
    assert study.take().name == bolt.name
    clock.seconds += 61
    assert other.tell(bolt, "visual", "clean").station == "B"  # after the lease, it just goes through


def test_no_date_in_the_log_keeps_a_later_subject() -> None:
    clock = Clock()
    study = make(clock=clock)
    beside(study, "wrong", clock=Clock(4_000_000_000.0)).arrive()  # in 2096
    bolt = study.arrive()
    assert bolt.held_until < "2024"
    other = beside(study, "B")
    clock.seconds += 901
    assert {other.take().name, other.take().name} == {"1", bolt.name}  # neither waits for the year 2096
    assert other.tell(bolt, "visual", "clean").station == "B"


class Flaky(MemoryStore):
    """Fails at an append, before it is done or after."""

    before = after = False

    def append(self, study: str, entries: Sequence[Entry], expected: int) -> None:
        if self.before:
            raise StoreError("the disk is full")
        super().append(study, entries, expected)
        if self.after:
            raise StoreError("the connection was lost")


def test_a_store_that_fails_acknowledges_nothing() -> None:
    store = Flaky()
    study = make(store=store)
    bolt = study.arrive()
    store.before = True
    for attempt in (lambda: study.tell(bolt, "visual", "clean"), study.arrive, lambda: study.decide(bolt, "pass")):
        with pytest.raises(StoreError, match="disk is full"):
            attempt()
    assert study.verify().length == 2
    assert study.ask(bolt).action == "visual"
    store.before = False
    assert study.tell(bolt, "visual", "clean").known == {"visual": "clean"}


def test_an_end_that_is_uncertain_is_looked_up_and_never_doubled() -> None:
    store = Flaky()
    study = make(store=store)
    store.after = True
    bolt = study.arrive()
    study.tell(bolt, "visual", "clean")
    assert study.verify().length == 3
    assert study.subject(bolt.name).known == {"visual": "clean"}


def test_a_writer_that_gets_in_between_is_no_error() -> None:
    class Crossed(MemoryStore):
        crossing: Study | None = None

        def append(self, study: str, entries: Sequence[Entry], expected: int) -> None:
            other, self.crossing = self.crossing, None
            if other is not None:
                other.arrive()
            super().append(study, entries, expected)

    store = Crossed()
    study = make(store=store)
    store.crossing = beside(study)
    assert study.arrive().name == "2"
    assert study.verify().length == 3
    assert study.replay().differences == ()


def test_times_never_decrease_and_a_clock_that_jumps_back_is_told() -> None:
    clock = Clock()
    study = make(clock=clock)
    bolt = study.arrive()
    clock.seconds -= 3600
    study.tell(bolt, "visual", "clean")
    clock.seconds += 3599.5
    study.tell(bolt, "weight", "light")
    times = [event.time for event in study.events()]
    assert times == sorted(times)
    [warning] = study.summary().clock
    assert (warning.number, warning.station) == (3, "A")
    assert warning.seconds == pytest.approx(3600, abs=1)


def test_two_stations_see_each_other_at_once() -> None:
    study = make()
    other = beside(study, "A")
    bolt = study.arrive()
    other.tell(bolt, "visual", "clean")
    assert study.ask(bolt).action == "weight"
    study.tell(bolt, "weight", "light")
    assert other.subject(bolt.name).known == {"visual": "clean", "weight": "light"}


def test_a_study_is_opened_again_as_it_was() -> None:
    crowd = Crowd(bolts(), "safe-leaf-completion", np.random.default_rng(2))
    crowd.run(120)
    again = crowd.open("again")
    one = crowd.studies[0]
    assert again.table() == one.table()
    assert again.records() == one.records()
    assert again.summary(exploration=False, drift=False) == one.summary(exploration=False, drift=False)
    assert again.problem == one.problem


def test_creating_twice_and_opening_what_is_not_there() -> None:
    study = make()
    with pytest.raises(StudyExistsError):
        Study.create(bolts(), store=study.store)
    with pytest.raises(UnknownStudyError):
        Study.open("nuts", store=study.store)
    assert Study.create(bolts(), name="nuts", store=study.store).name == "nuts"


def test_decisions_of_a_match_have_names() -> None:
    study = make(vector())
    one, two, three = study.arrive(), study.arrive(), study.arrive()
    assert study.decide(one, "a=1, b=y=1, z") == "a=1, b=y=1, z"
    assert study.decide(two, {"a": "0", "b": "y"}) == "a=0, b=y"
    study.tell(three, "a", "1")
    study.tell(three, "b", "x")
    assert study.decide(three) == "a=1, b=x"
    assert study.replay().differences == ()


def test_measured_tests_are_told_as_numbers() -> None:
    study = make(rods(), agent=None)
    assert study.summary().agent == "safe-leaf-completion"
    rod = study.arrive({"length": 9.98})
    assert study.tell(rod, "width", 3).known == {"length": 9.98, "width": 3.0}
    assert study.decide(rod, "pass") == "pass"
    assert study.records().outcomes.tolist() == [[9.98, 3.0]]
    assert study.table()[0]["length"] == 9.98


def test_coins_depend_on_the_seed_and_the_number_alone() -> None:
    coins = [[make(seed=seed).arrive().coin for _ in range(2)] for seed in (0, 1, 2**80)]
    assert all(a == b for a, b in coins)
    assert len({a for a, _ in coins}) == 3
    study = make()
    tossed = np.array([study.arrive().coin for _ in range(400)])
    assert ((tossed >= 0) & (tossed < 1)).all()
    assert abs(tossed.mean() - 0.5) < 0.06
    assert len(np.unique(tossed)) == 400
