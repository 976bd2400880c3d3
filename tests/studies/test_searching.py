from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from proband import Problem, Study
from proband.errors import UnknownNameError

A, B, C, D, E = "bolt 10", "Bolt 9", "nut 1", "nut 2", "screw"
SEEN = {
    "bolt 10": ("clean", "ok", "pass"),
    "Bolt 9": ("rusty", "crack", "fail"),
    "nut 1": ("rusty", "ok", None),
    "nut 2": ("clean", None, "pass"),
}


@pytest.fixture
def study(problem: Problem) -> Iterator[Study]:
    with Study.create(problem, store="memory:", agent="test-everything", station="line 1") as made:
        for name, (visual, ultrasonic, decision) in SEEN.items():
            made.arrive(subject=name)
            made.tell(name, "visual", visual)
            if ultrasonic is not None:
                made.tell(name, "ultrasonic", ultrasonic)
            if decision is not None:
                made.decide(name, decision)
        made.void("nut 2", reason="lost")
        made.speaking(station="line 2").arrive(subject="screw")
        yield made


def names(study: Study, **wanted: Any) -> list[str]:
    found = study.find(**wanted)
    assert found.total == len(found.subjects)
    return [subject.name for subject in found.subjects]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, [*SEEN, "screw"]),
        ({"name": "BOLT"}, ["bolt 10", "Bolt 9"]),
        ({"status": "open"}, ["nut 1", "screw"]),
        ({"status": "voided"}, ["nut 2"]),
        ({"decision": "pass"}, ["bolt 10", "nut 2"]),
        ({"station": "line 2"}, ["screw"]),
        ({"outcomes": {"visual": "rusty", "ultrasonic": "ok"}}, ["nut 1"]),
        ({"outcomes": {"ultrasonic": None}}, ["nut 2", "screw"]),
        ({"name": "none"}, []),
    ],
)
def test_subjects_are_found(study: Study, wanted: dict[str, Any], expected: list[str]) -> None:
    assert names(study, **wanted) == expected


@pytest.mark.parametrize(
    ("sort", "rising", "falling"),
    [
        ("subject", [B, A, C, D, E], [E, D, C, A, B]),
        ("number", [A, B, C, D, E], [E, D, C, B, A]),
        ("status", [C, E, A, B, D], [D, A, B, C, E]),
        ("ultrasonic", [A, C, B, D, E], [B, A, C, D, E]),
        ("decision", [B, A, D, C, E], [A, D, B, C, E]),
        ("spent", [E, D, A, B, C], [A, B, C, D, E]),
        ("tests", [E, D, A, B, C], [A, B, C, D, E]),
        ("station", [A, B, C, D, E], [E, A, B, C, D]),
        ("finished", [A, B, D, C, E], [D, B, A, C, E]),
    ],
)  # fmt: skip
def test_they_come_in_any_order_and_what_is_not_known_is_last(
    study: Study, sort: str, rising: list[str], falling: list[str]
) -> None:
    assert names(study, sort=sort) == rising
    assert names(study, sort=sort, descending=True) == falling


def test_they_come_in_pages(study: Study) -> None:
    found = study.find(sort="subject", skip=1, limit=2)
    assert (found.total, [subject.name for subject in found.subjects]) == (5, ["bolt 10", "nut 1"])


@pytest.mark.parametrize("wrong", [{"sort": "age"}, {"status": "lost"}, {"outcomes": {"age": "new"}}])
def test_what_does_not_exist_is_refused(study: Study, wrong: dict[str, Any]) -> None:
    with pytest.raises((UnknownNameError, LookupError)):
        study.find(**wrong)


def test_the_trail_goes_backwards_in_pages(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    length, numbers, before = sum(1 for _ in study.events()), list[int](), None
    while True:
        looked = study.trail(before=before, limit=4)
        numbers += [event.number for event in looked.events]
        before = looked.next
        if before is None:
            break
    assert numbers == list(range(length, 0, -1))
    monkeypatch.setattr("proband.studies.searching.PIECE", 3)
    monkeypatch.setattr("proband.studies.searching.FURTHEST", 7)
    looked = study.trail(kind="created")
    assert looked == ([], length - 6)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"kind": "voided"}, [("voided", D)]),
        ({"subject": "BOLT", "kind": "decided"}, [("decided", B), ("decided", A)]),
        ({"actor": "nobody"}, []),
    ],
)
def test_events_are_found(study: Study, wanted: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert [(event.kind, event.subject) for event in study.trail(**wanted).events] == expected
