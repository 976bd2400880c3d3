"""A test was run on a subject and showed something; several outcomes that are told at once are one event each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from proband.errors import StudyError
from proband.studies.events import checks
from proband.studies.events.kind import Data, Draft, Event, EventKind, Leases, Request
from proband.studies.ledger.ledger import Ledger, Outcome


class Told(NamedTuple):
    """An outcome: by its names, as the log has it, and by its numbers, as it stands in a state."""

    test: str
    outcome: Outcome
    j: int
    value: float


def told_of(ledger: Ledger, test: str, outcome: Outcome) -> Told:
    """Return what was told, translated once and for all."""
    j, value = ledger.number(test, outcome)
    return Told(test, ledger.stated(j, value), j, value)


def _check(ledger: Ledger, i: int, told: Told) -> None:
    """Raise unless an outcome can be told of a subject now."""
    before = ledger.columns.rows[i, told.j]
    if ledger.unavailable[told.j]:
        raise StudyError(
            f"test {told.test!r} is unavailable: it cannot be run on a subject; reveal its outcome when the subject is "
            "finished"
        )
    if not np.isnan(before):
        raise StudyError(
            f"test {told.test!r} of subject {ledger.columns.names[i]!r} showed {ledger.stated(told.j, before)!r} "
            "already; a test is told once; use correct if that was wrong"
        )


def _draft(ledger: Ledger, request: Request, leases: Leases | None) -> list[Draft]:
    """Draft one event for each outcome; each sees what those before it showed."""
    i = checks.open_and_ours(ledger, request, leases, "telling")
    outcomes: list[Told] = request.content["told"]
    for told in outcomes:
        _check(ledger, i, told)
    checks.fresh(ledger, i, request)
    row, drafts = ledger.columns.rows[i].copy(), []
    for told, (action, name) in zip(outcomes, request.content["advised"], strict=True):
        data = {
            "test": told.test,
            "outcome": told.outcome,
            "policy": int(ledger.columns.policy[i]),
            "advised": name,
            "followed": action == told.j,
            "cost": ledger.price(row, told.j),
        }
        drafts.append(Draft(request.subject, data))
        row[told.j] = told.value
    return drafts


def _same(content: dict[str, Any], own: list[Data]) -> bool:
    return [(told.test, told.outcome) for told in content["told"]] == [(data["test"], data["outcome"]) for data in own]


def _read(ledger: Ledger, event: Event, data: Data) -> tuple[int, int, float]:
    i = checks.open_row(ledger, event)
    j, value = ledger.number(data["test"], data["outcome"])
    if not ledger.operable[j]:
        checks.available(ledger, j)
    if ledger.columns.when[i, j]:
        raise ValueError(f"the test {data['test']!r} of subject {event.subject!r} was told before")
    checks.advice(ledger, i, data)
    return i, j, value


def _fold(ledger: Ledger, event: Event, seconds: float, meaning: tuple[int, int, float]) -> None:
    data, columns = event.data, ledger.columns
    i, j, value = meaning
    columns.rows[i, j], columns.when[i, j] = value, event.number
    if ledger.operable[j]:
        columns.paid[i, j] = data["cost"]
        columns.spent[i] += data["cost"]
    if not data["followed"]:
        columns.deviations[i] += 1
        columns.steady[i] = False
    ledger.hold(i, event, seconds)


def _asked(ledger: Ledger, event: Event, data: Data) -> Data:
    told = told_of(ledger, data["test"], data["outcome"])
    return {"told": [told], "advised": [checks.advised(ledger, data, told.test, told.j)], "seen": None}


OBSERVED = EventKind("observed", _draft, _same, _read, _fold, _asked)
