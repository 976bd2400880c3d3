"""A chain of hashes vouches for what was written, not for its sense: what no study writes is refused by its entry."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studies.crowd import PROBLEMS, Clock, Crowd, gout, vector

from proband import Problem, Records, Test
from proband.errors import StudyError, TamperedError
from proband.rewards import Table
from proband.studies import Study, import_study
from proband.studies.ledger.chain import Event, seal, unseal
from proband.studies.log.fold import apply, check, folded
from proband.studies.stores import MemoryStore
from proband.studies.stores.contract import Entry

Events = list[dict[str, Any]]


def a_study() -> Study:
    """Every kind of event: subject 1 is decided and revealed, 2 was corrected and is open, 3 is voided."""
    study = Study.create(gout(), agent="test-everything", store=MemoryStore(), station="A", actor="QA", clock=Clock())
    study.learn_from(Records([[0, 0, 1, 0], [1, np.nan, 1, 1]], counts=[2, 1]))
    for _ in range(3):
        study.arrive({"sex": "f"})
    for subject in ("1", "2"):
        study.tell(subject, "swelling", "yes")
    study.tell("1", "urate", "low")
    study.decide("1")
    study.reveal("1", {"crystals": "found"})
    study.correct("2", "swelling", "no", reason="misread")
    study.void("3", reason="left")
    study.take("2", at_once=True)
    study.restart(reason="new supplier")
    return study


def events_of(study: Study) -> Events:
    return [json.loads(entry.body) for entry in study.store.read(study.name)]


def first(events: Events, kind: str) -> dict[str, Any]:
    return next(event for event in events if event["kind"] == kind)


def chained(events: list[Any]) -> list[Entry]:
    """Seal events into a chain that is right, whatever they say."""
    entries: list[Entry] = []
    for event in events:
        content = {**event, "previous": entries[-1].hash if entries else "0" * 64}
        body = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        entries.append(Entry(len(entries) + 1, str(event.get("key")), sha256(body.encode()).hexdigest(), body))
    return entries


def numbered(events: Events) -> Events:
    return [{**event, "number": n, "key": f"k{n}"} for n, event in enumerate(events, start=1)]


Forgery = Callable[[Events], object]


def setting(kind: str, name: str, value: Any) -> Forgery:
    return lambda events: first(events, kind)["data"].update({name: value})


def dropping(kind: str, name: str) -> Forgery:
    return lambda events: first(events, kind)["data"].pop(name)


def again(kind: str) -> Forgery:
    return lambda events: events.insert(events.index(first(events, kind)) + 1, copy.deepcopy(first(events, kind)))


def earlier(kind: str) -> Forgery:
    """Put an event of a kind right behind the first."""
    return lambda events: events.insert(1, events.pop(events.index(first(events, kind))))


FORGERIES: dict[str, tuple[Forgery, str]] = {
    "a coin of one": (setting("arrived", "coin", 1.0), "its coin is 1.0"),
    "a negative coin": (setting("arrived", "coin", -0.1), "its coin is -0.1"),
    "a coin as text": (setting("arrived", "coin", "0.5"), "its coin is '0.5'"),
    "no coin": (dropping("arrived", "coin"), "'coin' is missing"),
    "a policy of the future": (
        setting("arrived", "policy", 99),
        "its policy is 99; it must be the number of an earlier",
    ),
    "a negative policy": (setting("arrived", "policy", -1), "its policy is -1"),
    "half a policy": (setting("arrived", "policy", 0.5), "its policy is 0.5"),
    "a negative lease": (setting("arrived", "lease", -1.0), "its lease is -1.0"),
    "a lease of 400 digits": (setting("arrived", "lease", 10**400), "its lease is 1000"),
    "an unknown test": (setting("arrived", "known", {"xray": "f"}), "test 'xray' does not exist"),
    "what nobody can know": (setting("arrived", "known", {"crystals": "none"}), "'crystals' is unavailable"),
    "known as a list": (setting("arrived", "known", ["sex"]), "items"),
    "arriving twice": (again("arrived"), "arrived already"),
    "arriving without a name": (lambda e: first(e, "arrived").update(subject=None), "has no name"),
    "a test told twice": (again("observed"), "was told before"),
    "a test of a stranger": (lambda e: first(e, "observed").update(subject="9"), "'9' is missing or unknown"),
    "a test of nobody": (lambda e: first(e, "observed").update(subject=None), "None is missing or unknown"),
    "an unknown outcome": (setting("observed", "outcome", "huge"), "'huge' does not exist"),
    "an outcome as list": (setting("observed", "outcome", ["yes"]), "a name or a number"),
    "an unavailable test": (
        lambda e: first(e, "observed")["data"].update(test="crystals", outcome="none"),
        "'crystals' is unavailable",
    ),
    "a negative cost": (setting("observed", "cost", -0.1), "its cost is -0.1"),
    "a cost that is true": (setting("observed", "cost", True), "its cost is True"),
    "a cost as text": (setting("observed", "cost", "0.1"), "its cost is '0.1'"),
    "an endless cost": (setting("observed", "cost", 10**400), "its cost is 1000"),
    "another policy": (setting("observed", "policy", 1), "its policy is 1, and its subject's"),
    "followed in words": (setting("observed", "followed", "yes"), "what was advised"),
    "no advice": (dropping("observed", "advised"), "'advised' is missing"),
    "a decision twice": (again("decided"), "was decided on or voided before"),
    "an unknown decision": (setting("decided", "decision", "operate"), "'operate' does not exist"),
    "a decision as number": (setting("decided", "decision", 1), "its decision is 1; it must be a text"),
    "a chance below zero": (setting("decided", "chance", -0.5), "a chance is -0.5"),
    "a chance above one": (setting("decided", "chance", 1.5), "a chance is 1.5"),
    "correcting what was never told": (setting("corrected", "test", "urate"), "was never told"),
    "correcting to nonsense": (setting("corrected", "outcome", "maybe"), "'maybe' does not exist"),
    "correcting without a reason": (setting("corrected", "reason", None), "its reason is None"),
    "voiding twice": (again("voided"), "was voided before"),
    "revealing twice": (again("revealed"), "was told before"),
    "revealing too early": (lambda e: first(e, "revealed").update(subject="2"), "is not decided yet"),
    "revealing a list": (setting("revealed", "outcomes", [["crystals", "none"]]), "items"),
    "taking the decided": (lambda e: first(e, "taken").update(subject="1"), "was decided on or voided before"),
    "taking for less than nothing": (setting("taken", "lease", -5), "its lease is -5"),
    "taking at some time": (setting("taken", "at_once", "now"), "its at_once is 'now'"),
    "negative counts": (setting("imported", "counts", [-1, 1]), "its counts"),
    "half a subject": (setting("imported", "counts", [0.5, 1]), "its counts"),
    "more subjects than there are": (setting("imported", "counts", [2**53, 1]), "more than 9,007,199,254,740,992"),
    "fewer counts than rows": (setting("imported", "counts", [1]), "do not fit together"),
    "a row too short": (setting("imported", "rows", [["f"], ["f"]]), "do not fit together"),
    "rows that are none": (setting("imported", "rows", 5), "no lists"),
    "no rows": (setting("imported", "rows", []), "no lists, or empty"),
    "an unknown column": (setting("imported", "tests", ["sex", "swelling", "urate", "xray"]), "'xray' does not exist"),
    "a column twice": (setting("imported", "tests", ["sex", "sex", "urate", "crystals"]), "repeat a name"),
    "columns in columns": (setting("imported", "tests", [["sex"], "swelling", "urate", "crystals"]), "unhashable"),
    "chances above one": (setting("imported", "chances", [2.0, None]), "a chance is 2.0"),
    "a source of numbers": (setting("imported", "source", 7), "its source is 7"),
    "past records of somebody": (lambda e: first(e, "imported").update(subject="1"), "can be about nobody"),
    "restarting without a reason": (dropping("restarted", "reason"), "'reason' is missing"),
    "a clock of words": (setting("observed", "clock_behind", "much"), "its clock_behind is 'much'"),
    "a time before the last": (
        lambda e: first(e, "decided").update(time="2001-01-01T00:00:00.000000Z"),
        "before that of the entry before it",
    ),
    "a local time": (lambda e: first(e, "restarted").update(time="2123-05-01T12:00:00.000000"), "it must be like 2024"),
    "no time": (lambda e: first(e, "restarted").update(time="2123-99-01T12:00:00.000000Z"), "month must be in 1..12"),
    "the end of time": (lambda e: first(e, "restarted").update(time="9999-12-31T23:59:59.999999Z"), "it must be like"),
}


def named(events: Events, original: Events) -> int:
    """Return the number of the first event that is not the original one."""
    numbers = zip(events, original, strict=False)
    return next((n for n, (one, other) in enumerate(numbers, start=1) if one != other), len(original) + 1)


@pytest.fixture(scope="module")
def honest() -> Events:
    return numbered(events_of(a_study()))


@pytest.mark.parametrize("name", FORGERIES)
def test_an_event_that_no_study_writes_is_refused_by_its_entry(name: str, honest: Events) -> None:
    forge, message = FORGERIES[name]
    events = copy.deepcopy(honest)
    forge(events)
    events = numbered(events)
    entry = named(events, honest)
    with pytest.raises(TamperedError) as caught:
        folded(chained(events))
    assert str(caught.value).startswith(f"entry {entry} (")
    assert message in str(caught.value)


def test_the_honest_log_is_taken(honest: Events) -> None:
    assert {event["kind"] for event in honest} >= {"arrived", "observed", "decided", "corrected", "voided", "revealed"}
    assert folded(chained(honest)).position == len(honest)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"problem": []}, "its problem is []"),
        ({"problem": {}}, "schema"),
        ({"seed": -1}, "its seed is -1"),
        ({"seed": "0"}, "its seed is '0'"),
        ({"horizon": 0}, "its horizon is 0"),
        ({"horizon": 10**60}, "it must be at most 9,007"),
        ({"condition_number": "4"}, "its condition_number is '4'"),
        ({"agent": ["doubling"]}, "its agent is ['doubling']"),
        ({"name": 5}, "its name is 5"),
        ({"created": None}, "its created is None"),
        ({"more": [[]] * 3, "problem": None}, "its problem is None"),
    ],
)
def test_a_beginning_that_no_study_has(changes: dict[str, Any], message: str, honest: Events) -> None:
    events = copy.deepcopy(honest)
    events[0]["data"].update(changes)
    with pytest.raises(StudyError) as caught:
        folded(chained(events))
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["seed", "horizon", "condition_number", "problem", "agent", "name", "created"])
def test_a_beginning_that_lacks_something(name: str, honest: Events) -> None:
    events = copy.deepcopy(honest)
    del events[0]["data"][name]
    with pytest.raises(TamperedError, match=f"entry 1 .*'{name}' is missing"):
        folded(chained(events))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": []}, "of a wrong type"),
        ({"subject": 5}, "of a wrong type"),
        ({"time": 5}, "of a wrong type"),
        ({"station": None}, "of a wrong type"),
        ({"number": True}, "of a wrong type"),
        ({"kind": ["arrived"]}, "of a wrong type"),
        ({"extra": 1}, "its fields are"),
        ({"data": {"cost": math.nan}}, "NaN is no number"),
        ({"data": {"cost": -math.inf}}, "-Infinity is no number"),
    ],
)
def test_what_is_no_event_at_all(changes: dict[str, Any], message: str, honest: Events) -> None:
    events = copy.deepcopy(honest)
    events[4].update(changes)
    with pytest.raises(TamperedError) as caught:
        folded(chained(events))
    assert str(caught.value).startswith("entry 5 is no event")
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["a coin of one", "deciding twice", "half a subject"])
def test_an_import_of_such_a_log_leaves_nothing(name: str, honest: Events, tmp_path: Path) -> None:
    events = copy.deepcopy(honest)
    (again("decided") if name == "deciding twice" else FORGERIES[name][0])(events)
    entries = chained(numbered(events))
    head = {"format": 1, "kind": "proband study", "study": "gout", "length": len(entries), "hash": entries[-1].hash}
    path = tmp_path / "gout.jsonl"
    path.write_text("\n".join([json.dumps(head), *(entry.body for entry in entries), ""]), encoding="utf-8")
    store = MemoryStore()
    with pytest.raises(StudyError, match=r"gout\.jsonl: line \d+: "):
        import_study(path, store=store)
    assert store.studies() == []
    store.create("gout", entries[0])
    store.append("gout", entries[1:], 1)
    with pytest.raises(TamperedError, match="is none that a study writes"):
        Study.open("gout", store=store)


@pytest.mark.parametrize("head", [{"study": 5}, {"length": "7"}, {"length": True}, {"hash": None}, {"study": ["gout"]}])
def test_a_first_line_that_lies(head: dict[str, Any], honest: Events, tmp_path: Path) -> None:
    entries = chained(honest)
    about = {"format": 1, "kind": "proband study", "study": "gout", "length": len(entries), "hash": entries[-1].hash}
    path = tmp_path / "gout.jsonl"
    path.write_text("\n".join([json.dumps(about | head), *(entry.body for entry in entries), ""]), encoding="utf-8")
    with pytest.raises(StudyError, match="first line is incomplete"):
        import_study(path, store=MemoryStore())


def test_a_refused_event_changes_nothing(honest: Events) -> None:
    ledger = folded(chained(honest[:4]))
    before = len(ledger.columns), dict(ledger.index), list(ledger.open)
    for name, value in (("lease", -1), ("coin", 2.0), ("known", {"sex": "x"})):
        event = unseal(chained(honest)[4])
        assert event.kind == "arrived"
        with pytest.raises(TamperedError):
            apply(ledger, Event(**{**_fields(event), "data": {**event.data, name: value}}))
        assert (len(ledger.columns), dict(ledger.index), list(ledger.open)) == before
    apply(ledger, unseal(chained(honest)[4]))


def _fields(event: Event) -> dict[str, Any]:
    return {name: getattr(event, name) for name in Event.__dataclass_fields__}


def test_decisions_on_whole_vectors() -> None:
    crowd = Crowd(vector(), "test-everything", np.random.default_rng(1), past=0)
    crowd.run(40)
    events = numbered(events_of(crowd.studies[0]))
    folded(chained(events))
    first(events, "decided")["data"]["decision"] = "a=0, b=y=1"
    with pytest.raises(TamperedError, match=r"entry \d+ \('decided'\).*'a=0, b=y=1' does not exist"):
        folded(chained(events))


def test_a_study_that_could_not_be_opened_is_not_created() -> None:
    tests = [Test(f"t{n}", 1.0, outcomes=["x"]) for n in range(33)]
    problem = Problem(tests, ["y"], Table([test.name for test in tests], np.zeros((1,) * 34)), name="wide")
    store = MemoryStore()
    with pytest.raises(StudyError, match="at most 32 targets"):
        Study.create(problem, store=store, agent="test-everything")
    with pytest.raises(StudyError, match=r"horizon is 1000.*at most 9,007"):
        Study.create(gout(), store=store, horizon=10**60)
    assert store.studies() == []


def test_nonsense_is_not_written() -> None:
    """Events are checked before they are written as they are when they are read."""
    study = a_study()
    before = study.store.length("gout")
    asked = {"known": {}, "policy": 10**9, "lease": "long"}
    with pytest.raises(TamperedError, match="is none that a study writes"):
        study._journal.write(study._journal.request("arrived", None, asked, "key"))
    assert study.store.length("gout") == before


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_a_crowd_writes_keeps_every_rule(name: str) -> None:
    crowd = Crowd(PROBLEMS[name](), "test-everything", np.random.default_rng(3))
    crowd.run(150)
    ledger = None
    for entry in crowd.store.read(name):
        if ledger is None:
            ledger = folded([entry])
        else:
            event = unseal(entry)
            check(ledger, event)
            apply(ledger, event)
            ledger.position, ledger.hash, ledger.time = event.number, entry.hash, event.time
    assert seal(unseal(entry)) == entry
