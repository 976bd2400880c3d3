"""What was told of a subject turns out to be wrong: another outcome takes its place, or none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from proband.errors import StudyError
from proband.studies.events import checks
from proband.studies.events.kind import Data, Draft, Event, EventKind, Leases, Request
from proband.studies.ledger.ledger import Ledger, Outcome
from proband.vocabulary import Kind


def stated(ledger: Ledger, test: str, outcome: Outcome | None) -> Outcome | None:
    """Return an outcome as the log has it; None withdraws the one that was told."""
    return None if outcome is None else ledger.stated(*ledger.number(test, outcome))


def _change(ledger: Ledger, i: int, test: str, outcome: Outcome | None) -> tuple[Outcome, Outcome | None]:
    """Return what a told outcome was and what it shall be."""
    j, name = ledger.problem.test_index(test), ledger.columns.names[i]
    before = ledger.columns.rows[i, j]
    if np.isnan(before):
        raise StudyError(
            f"test {test!r} of subject {name!r} was never told; only what was told can be corrected; use tell or reveal"
        )
    was, after = ledger.stated(j, before), stated(ledger, test, outcome)
    if after == was:
        raise StudyError(f"test {test!r} of subject {name!r} is {was!r} already; there is nothing to correct")
    return was, after


def _draft(ledger: Ledger, request: Request, leases: Leases | None) -> list[Draft]:
    content = request.content
    i = checks.live_subject(ledger, str(request.subject), "correcting")
    checks.not_held(ledger, i, request.station, leases)
    was, after = _change(ledger, i, content["test"], content["outcome"])
    data = {"test": content["test"], "outcome": after, "was": was, "reason": content["reason"]}
    return [Draft(request.subject, data)]


def _same(content: dict[str, Any], own: list[Data]) -> bool:
    return all(content[name] == own[0][name] for name in ("test", "outcome", "reason"))


def _read(ledger: Ledger, event: Event, data: Data) -> tuple[int, int, float]:
    i = checks.live_row(ledger, event)
    j = ledger.problem.test_index(data["test"])
    if not ledger.columns.when[i, j]:
        raise ValueError(f"the test {data['test']!r} of subject {event.subject!r} was never told")
    value = math.nan if data["outcome"] is None else ledger.number(data["test"], data["outcome"])[1]
    checks.written(data, "reason")
    return i, j, value


def _fold(ledger: Ledger, event: Event, seconds: float, meaning: tuple[int, int, float]) -> None:
    columns = ledger.columns
    i, j, value = meaning
    ledger.amend(i, j, event.number)
    columns.steady[i], columns.touched[i] = False, event.number
    if math.isnan(value) or ledger.problem.kind is not Kind.SETS:
        columns.chance[i] = math.nan  # a set is measured whatever it shows: another value changes no chance
    columns.rows[i, j] = value
    if math.isnan(value):
        columns.paid[i, j], columns.when[i, j] = math.nan, 0
        columns.spent[i] = math.fsum(columns.paid[i][~np.isnan(columns.paid[i])].tolist())


def _asked(ledger: Ledger, event: Event, data: Data) -> Data:
    return {"test": data["test"], "outcome": data["outcome"], "reason": checks.reason(data["reason"])}


CORRECTED = EventKind("corrected", _draft, _same, _read, _fold, _asked)
