"""A station takes a subject over from another one."""

from __future__ import annotations

from proband.errors import StudyError, shown
from proband.studies.events import checks
from proband.studies.events.kind import Data, Draft, Event, EventKind, Leases, Ledger, Request, same_under


def _waiting(ledger: Ledger, leases: Leases | None) -> int:
    """Return the open subject that arrived first among those whose lease has run out."""
    for i in ledger.open:
        if leases is None or leases.over(i):
            return i
    raise StudyError(
        f"none of the {len(ledger.open)} open subjects waits for a station: their leases have not run out; name one "
        "and take it over at once, or let a new one arrive"
    )


def _draft(ledger: Ledger, request: Request, leases: Leases | None) -> list[Draft]:
    content, subject = request.content, request.subject
    i = _waiting(ledger, leases) if subject is None else checks.open_subject(ledger, subject, "taking over")
    if not content["at_once"]:
        checks.not_held(ledger, i, request.station, leases)
    data = {"from": ledger.columns.holders[i], "at_once": content["at_once"], "lease": content["lease"]}
    return [Draft(ledger.columns.names[i], data)]


def _read(ledger: Ledger, event: Event, data: Data) -> int:
    i = checks.open_row(ledger, event)
    checks.lease(data["lease"])
    if type(data["at_once"]) is not bool:
        raise TypeError(f"its at_once is {shown(data['at_once'])}; it must be true or false")
    checks.written(data, "from")
    return i


def _fold(ledger: Ledger, event: Event, seconds: float, i: int) -> None:
    ledger.columns.lease[i] = event.data["lease"]
    ledger.hold(i, event, seconds)


def _asked(ledger: Ledger, event: Event, data: Data) -> Data:
    return {"at_once": data["at_once"] is True, "lease": checks.lease_of(data["lease"])}


TAKEN = EventKind("taken", _draft, same_under("at_once"), _read, _fold, _asked)
