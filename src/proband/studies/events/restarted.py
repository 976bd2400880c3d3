"""Learning starts afresh: from here on the agent knows nothing of earlier subjects and records."""

from __future__ import annotations

from proband.studies.events import checks
from proband.studies.events.kind import Data, Draft, Event, EventKind, Leases, Ledger, Request, same_under


def _draft(ledger: Ledger, request: Request, leases: Leases | None) -> list[Draft]:
    return [Draft(None, {"reason": request.content["reason"]})]


def _read(ledger: Ledger, event: Event, data: Data) -> None:
    checks.nobody(event)
    checks.written(data, "reason")


def _fold(ledger: Ledger, event: Event, seconds: float, meaning: None) -> None:
    ledger.restarts.append(event.number)
    ledger.forcing.append(event.number)


RESTARTED = EventKind("restarted", _draft, same_under("reason"), _read, _fold, checks.asked_with_reason)
