"""What came to light about a finished subject: tests that were not run on it, or cannot be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from proband.errors import StudyError
from proband.studies.events import checks
from proband.studies.events.kind import Data, Draft, Event, EventKind, Leases, Request
from proband.studies.ledger.ledger import Ledger, Outcome


def _new(ledger: Ledger, i: int, outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Return what is new in outcomes that came to light."""
    new: dict[str, Outcome] = {}
    for test, outcome in outcomes.items():
        j, value = ledger.number(test, outcome)
        before = ledger.columns.rows[i, j]
        if np.isnan(before):
            new[test] = ledger.stated(j, value)
        elif before != value:
            raise StudyError(
                f"test {test!r} of subject {ledger.columns.names[i]!r} was told as {ledger.stated(j, before)!r} and is "
                f"revealed as {outcome!r}; use correct if it was wrong"
            )
    if not new:
        raise StudyError(
            f"everything in {dict(outcomes)!r} is known of subject {ledger.columns.names[i]!r} already; reveal what "
            "is new"
        )
    return new


def _draft(ledger: Ledger, request: Request, leases: Leases | None) -> list[Draft]:
    i = checks.finished_subject(ledger, str(request.subject), "revealing")
    return [Draft(request.subject, {"outcomes": _new(ledger, i, request.content["outcomes"])})]


def _same(content: dict[str, Any], own: list[Data]) -> bool:
    return bool(own[0]["outcomes"].items() <= content["outcomes"].items())


def _read(ledger: Ledger, event: Event, data: Data) -> tuple[int, list[tuple[int, float]]]:
    i = checks.live_row(ledger, event)
    if not ledger.columns.decided[i]:
        raise ValueError(f"subject {event.subject!r} is not decided yet")
    outcomes = [ledger.number(test, outcome) for test, outcome in data["outcomes"].items()]
    for j, _ in outcomes:
        if ledger.columns.when[i, j]:
            raise ValueError(f"the test {ledger.problem.tests[j].name!r} of subject {event.subject!r} was told before")
    return i, outcomes


def _fold(ledger: Ledger, event: Event, seconds: float, meaning: tuple[int, list[tuple[int, float]]]) -> None:
    columns = ledger.columns
    i, outcomes = meaning
    for j, value in outcomes:
        ledger.amend(i, j, event.number)
        columns.rows[i, j], columns.when[i, j] = value, event.number
        if not ledger.unavailable[j]:  # nobody knows how likely it was that this truth came in
            columns.chance[i] = math.nan
    columns.touched[i] = event.number


REVEALED = EventKind("revealed", _draft, _same, _read, _fold, lambda ledger, event, data: data)
