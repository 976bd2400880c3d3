"""Everything that a tired operator does wrong gets an answer, and leaves the log as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.studies.crowd import Clock, bolts, gout

from proband import Problem, Test
from proband.errors import AgentError, ProbandError, ProblemError, StateError, StudyError, UnknownNameError
from proband.rewards import Table
from proband.studies import Study
from proband.studies.ledger.chain import seal, unseal
from proband.studies.stores import MemoryStore

Attempt = Callable[[Any], Any]


@pytest.fixture
def study() -> Study:
    """Patient 1 is open and was examined for swelling, 2 is finished, 3 is voided."""
    study = Study.create(
        gout(), agent="test-everything", store=MemoryStore(), station="A", clock=Clock(), replan="now", actor="QA"
    )
    for number in range(3):
        study.arrive({"sex": "f"})
        if number < 2:
            study.tell(str(number + 1), "swelling", "yes")
    study.tell("2", "urate", "low")
    study.decide("2")
    study.void("3", reason="left")
    return study


MISTAKES: dict[str, tuple[Attempt, type[ProbandError], str]] = {
    "unknown subject": (lambda s: s.ask("9"), UnknownNameError, r"'9' does not exist.*arrive first"),
    "telling of an unknown subject": (lambda s: s.tell("9", "urate", "low"), UnknownNameError, "does not exist"),
    "unknown test": (lambda s: s.tell("1", "xray", "low"), UnknownNameError, "test 'xray' does not exist"),
    "unknown outcome": (lambda s: s.tell("1", "urate", "huge"), UnknownNameError, "'huge' does not exist"),
    "outcome of a wrong type": (lambda s: s.tell("1", "urate", True), StateError, "a name or a number"),
    "missing outcome": (lambda s: s.tell("1", "urate", None), StateError, "a name or a number"),
    "test run already": (lambda s: s.tell("1", "swelling", "no"), StudyError, "showed 'yes' already.*use correct"),
    "unavailable test": (lambda s: s.tell("1", "crystals", "none"), StudyError, "unavailable.*reveal"),
    "unavailable on arrival": (lambda s: s.arrive({"crystals": "none"}), StudyError, "come to light later"),
    "unknown on arrival": (lambda s: s.arrive({"sex": "x"}), UnknownNameError, "'x' does not exist"),
    "telling after the decision": (lambda s: s.tell("2", "urate", "low"), StudyError, "is finished.*use reveal"),
    "asking after the decision": (lambda s: s.ask("2"), StudyError, "is finished, decided"),
    "deciding twice": (lambda s: s.decide("2", "treat"), StudyError, "is finished"),
    "unknown decision": (lambda s: s.decide("1", "operate"), UnknownNameError, "'operate' does not exist"),
    "decision of a wrong type": (lambda s: s.decide("1", {"a": "b"}), UnknownNameError, "choose one of treat, wait"),
    "correcting what was never told": (
        lambda s: s.correct("1", "urate", "low", reason="typo"),
        StudyError,
        "never told.*use tell",
    ),
    "correcting to the same": (
        lambda s: s.correct("1", "swelling", "yes", reason="typo"),
        StudyError,
        "is 'yes' already; there is nothing to correct",
    ),
    "correcting without a reason": (lambda s: s.correct("1", "swelling", "no", reason=" "), StudyError, "say why"),
    "correcting the voided": (lambda s: s.correct("3", "sex", "m", reason="typo"), StudyError, "was voided"),
    "voiding without a reason": (lambda s: s.void("1", reason=""), StudyError, "say why"),
    "a reason as long as a book": (lambda s: s.void("1", reason="x" * 2001), StudyError, "has 2,001 characters"),
    "voiding twice": (lambda s: s.void("3", reason="again"), StudyError, "was voided.*under another name"),
    "telling of the voided": (lambda s: s.tell("3", "urate", "low"), StudyError, "was voided"),
    "revealing the voided": (lambda s: s.reveal("3", {"crystals": "none"}), StudyError, "was voided"),
    "revealing too early": (lambda s: s.reveal("1", {"crystals": "none"}), StudyError, "not decided yet"),
    "revealing nothing new": (lambda s: s.reveal("2", {"sex": "f"}), StudyError, "known of subject '2' already"),
    "revealing otherwise": (lambda s: s.reveal("2", {"urate": "high"}), StudyError, "told as 'low'.*use correct"),
    "restarting without a reason": (lambda s: s.restart(reason=""), StudyError, "say why"),
    "arriving twice": (lambda s: s.arrive(subject="1"), StudyError, "arrived already.*another one"),
    "arriving without a name": (lambda s: s.arrive(subject=" "), StudyError, "printable characters"),
    "an empty key": (lambda s: s.arrive(key=""), StudyError, "the key is ''"),
    "a key with a line break": (lambda s: s.arrive(key="a\nb"), StudyError, "printable characters"),
    "taking the finished": (lambda s: s.take("2"), StudyError, "is finished"),
    "no plan to draw": (lambda s: s.tree(), StudyError, "no plan yet"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_answered_and_leave_no_trace(study: Study, name: str) -> None:
    attempt, error, message = MISTAKES[name]
    before = study.verify()
    with pytest.raises(error, match=message):
        attempt(study)
    assert study.verify() == before


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"agent": "oracle"}, UnknownNameError, "agent 'oracle' does not exist; choose one of"),
        ({"agent": "clairvoyant"}, AgentError, "true law"),
        ({"agent": "explore-then-commit"}, AgentError, "needs a horizon"),
        ({"seed": -1}, StudyError, "seed is -1"),
        ({"seed": 0.5}, StudyError, "whole number"),
        ({"horizon": 0}, StudyError, "horizon is 0"),
        ({"name": ""}, StudyError, "the name of the study is ''"),
        ({"lease": -1}, StudyError, "lease is -1"),
        ({"lease": float("nan")}, StudyError, "lease is nan"),
        ({"station": "a\tb"}, StudyError, "the station"),
        ({"replan": "later"}, StudyError, "replan is 'later'"),
    ],
)
def test_a_study_that_cannot_begin(settings: dict[str, Any], error: type[ProbandError], message: str) -> None:
    store = MemoryStore()
    with pytest.raises(error, match=message):
        Study.create(gout(), store=store, **settings)
    assert store.studies() == []


def test_a_reward_that_no_file_can_hold() -> None:
    problem = Problem([Test("a", 1.0)], ["x"], lambda x, y: x[:, 0], name="f")
    with pytest.raises(ProblemError, match="reward"):
        Study.create(problem, store=MemoryStore())


def test_a_foreign_problem(study: Study) -> None:
    assert Study.open("gout", store=study.store, problem=gout()).name == "gout"
    with pytest.raises(StudyError, match=r"another problem \('gout'\) than the given one \('bolts'\)"):
        Study.open("gout", store=study.store, problem=bolts())
    dearer = Problem([Test("a", 1.0)], ["x"], Table(["a"], [[1.0], [0.0]]), name="gout")
    with pytest.raises(StudyError, match="must be the same"):
        Study.open("gout", store=study.store, problem=dearer)


def test_a_closed_study(study: Study) -> None:
    study.close()
    study.close()
    for attempt in (
        study.arrive,
        lambda: study.ask("1"),
        lambda: study.tell("1", "urate", "low"),
        lambda: study.decide("1"),
        study.take,
        lambda: study.void("1", reason="x"),
        lambda: study.restart(reason="x"),
        study.summary,
        study.replan,
        study.verify,
        lambda: list(study.events()),
    ):
        with pytest.raises(StudyError, match=r"was closed.*open it again"):
            attempt()


def test_a_newer_format_and_a_newer_kind_of_event(study: Study) -> None:
    entries = study.store.read("gout")
    newer = unseal(entries[0])
    store = MemoryStore()
    store.create("gout", seal(_with(newer, data={**newer.data, "format": 2})))
    with pytest.raises(StudyError, match="format 2; this version reads 1; install a newer proband"):
        Study.open("gout", store=store)
    last = unseal(entries[-1])
    unknown = seal(_with(last, number=last.number + 1, kind="photographed", key="new", previous=entries[-1].hash))
    study.store.append("gout", [unknown], len(entries))
    for attempt in (study.arrive, lambda: Study.open("gout", store=study.store)):
        with pytest.raises(StudyError, match=r"kind 'photographed'.*install a newer proband"):
            attempt()


def test_a_log_of_something_else() -> None:
    store = MemoryStore()
    event = unseal(_first())
    store.create("x", seal(_with(event, kind="arrived")))
    with pytest.raises(StudyError, match="no study's log"):
        Study.open("x", store=store)


def test_an_agent_of_a_newer_version() -> None:
    store = MemoryStore()
    event = unseal(_first())
    store.create("gout", seal(_with(event, data={**event.data, "agent": "oracle"})))
    study = Study.open("gout", store=store)
    with pytest.raises(UnknownNameError, match="install a newer proband"):
        study.arrive()


def _first() -> Any:
    store = MemoryStore()
    Study.create(gout(), store=store)
    return store.read("gout")[0]


def _with(event: Any, **changes: Any) -> Any:
    return type(event)(**{name: changes.get(name, getattr(event, name)) for name in event.__dataclass_fields__})
