"""A subject is taken out of the study: it stays in the log, and counts no more."""

from __future__ import annotations

from proband.studies.events import checks
from proband.studies.events.kind import Data, Draft, Event, EventKind, Leases, Request, same_under
from proband.studies.ledger.ledger import VOIDING, Ledger


def _draft(ledger: Ledger, request: Request, leases: Leases | None) -> list[Draft]:
    i = checks.live_subject(ledger, str(request.subject), "voiding")
    checks.not_held(ledger, i, request.station, leases)
    return [Draft(request.subject, {"reason": request.content["reason"]})]


def _read(ledger: Ledger, event: Event, data: Data) -> int:
    i = checks.live_row(ledger, event)
    checks.written(data, "reason")
    return i


def _fold(ledger: Ledger, event: Event, seconds: float, i: int) -> None:
    ledger.amend(i, VOIDING, event.number)
    ledger.columns.voided[i], ledger.columns.touched[i] = event.number, event.number
    ledger.open.pop(i, None)


VOIDED = EventKind("voided", _draft, same_under("reason"), _read, _fold, checks.asked_with_reason)
