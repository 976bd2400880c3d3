"""Requests: what an operator asks to be recorded, as plain data, and the events that come of it.

A request is checked against the ledger when it has the turn at the log, as the subject may have changed since it was
made. Some become several events, which are written together, all or none: the first has the key of the request, the
others have it with a number added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from proband.errors import StudyError
from proband.studies.events import checks
from proband.studies.events.coins import coin
from proband.studies.ledger.chain import Event
from proband.studies.ledger.leases import Leases
from proband.studies.ledger.ledger import Ledger

_PART = " part "


class StaleError(Exception):
    """The subject has changed since its advice was worked out: take another turn."""


@dataclass(frozen=True)
class Request:
    """Something to be recorded.

    Attributes
    ----------
    kind : str
        Of the event.
    subject : str or None
    content : dict
        What it says, as JSON values.
    key : str
        Idempotency key.
    keyed : bool
        Whether the operator chose the key, so that it may be there already.
    station : str
        Who asks.
    """

    kind: str
    subject: str | None
    content: dict[str, Any]
    key: str
    keyed: bool
    station: str

    @property
    def size(self) -> int:
        """How many outcomes it tells."""
        return len(self.content["told"]) if self.kind == "observed" else 0


class Draft(NamedTuple):
    """An event to be: whom it happens to, what it says, and what is added to the key of the first one."""

    subject: str | None
    data: dict[str, Any]
    suffix: str = ""


def drafts_of(ledger: Ledger, request: Request, leases: Leases) -> list[Draft]:
    """Return the events that a request asks for; raise if it does not fit what is known, or is stale."""
    return _KINDS[request.kind].draft(ledger, request, leases)


def answers(request: Request, events: Sequence[Event]) -> bool:
    """Return whether a recorded event, which others may follow in the log, answers a request."""
    event = events[0]
    own = [event.data, *(other.data for other in events[1:] if other.key.startswith(request.key + _PART))]
    named = request.subject in (None, event.subject)
    return event.kind == request.kind and named and _KINDS[request.kind].same(request.content, own)


def _arrived(ledger: Ledger, request: Request, leases: Leases) -> list[Draft]:
    number = len(ledger.columns) + 1
    name = checks.new_subject(ledger, request.subject, number)
    content = request.content
    data = {"known": checks.known(ledger, content["known"]), "coin": coin(ledger.founding["seed"], number)}
    return [Draft(name, {**data, "policy": content["policy"], "lease": content["lease"]})]


def _observed(ledger: Ledger, request: Request, leases: Leases) -> list[Draft]:
    """Draft one event for each outcome; each sees what those before it showed."""
    i = _open_and_ours(ledger, request, leases, "telling")
    told = request.content["told"]
    values = [checks.told(ledger, i, each["test"], each["outcome"]) for each in told]
    _fresh(ledger, i, request.content)
    row, drafts = ledger.columns.rows[i].copy(), []
    for n, (each, (j, value)) in enumerate(zip(told, values, strict=True), start=1):
        data = {
            "test": each["test"],
            "outcome": ledger.names.outcome(j, value),
            "policy": int(ledger.columns.policy[i]),
            "advised": ledger.names.action(each["action"]),
            "followed": each["action"] == j,
            "cost": ledger.names.price(row, j),
        }
        drafts.append(Draft(request.subject, data, _suffix(n)))
        row[j] = value
    return drafts


def _decided(ledger: Ledger, request: Request, leases: Leases) -> list[Draft]:
    content = request.content
    i = _open_and_ours(ledger, request, leases, "deciding")
    _fresh(ledger, i, content)
    return [
        Draft(
            request.subject,
            {
                "decision": ledger.names.action(content["chosen"]),
                "policy": int(ledger.columns.policy[i]),
                "advised": ledger.names.action(content["action"]),
                "followed": content["action"] == content["chosen"],
                "cost": float(ledger.columns.spent[i]),
                "chance": content["chance"],
            },
        )
    ]


def _taken(ledger: Ledger, request: Request, leases: Leases) -> list[Draft]:
    content = request.content
    if request.subject is None:
        i = _waiting(ledger, leases)
    else:
        i = checks.open_subject(ledger, request.subject, "taking over")
    if not content["at_once"]:
        checks.not_held(ledger, i, request.station, leases)
    data = {"from": ledger.columns.holders[i], "at_once": content["at_once"], "lease": content["lease"]}
    return [Draft(ledger.columns.names[i], data)]


def _corrected(ledger: Ledger, request: Request, leases: Leases) -> list[Draft]:
    content = request.content
    i = checks.live_subject(ledger, str(request.subject), "correcting")
    checks.not_held(ledger, i, request.station, leases)
    was, after = checks.corrected(ledger, i, content["test"], content["outcome"])
    data = {"test": content["test"], "outcome": after, "was": was, "reason": content["reason"]}
    return [Draft(request.subject, data)]


def _voided(ledger: Ledger, request: Request, leases: Leases) -> list[Draft]:
    i = checks.live_subject(ledger, str(request.subject), "voiding")
    checks.not_held(ledger, i, request.station, leases)
    return [Draft(request.subject, {"reason": request.content["reason"]})]


def _revealed(ledger: Ledger, request: Request, leases: Leases) -> list[Draft]:
    i = checks.finished_subject(ledger, str(request.subject), "revealing")
    return [Draft(request.subject, {"outcomes": checks.revealed(ledger, i, request.content["outcomes"])})]


def _imported(ledger: Ledger, request: Request, leases: Leases) -> list[Draft]:
    """Draft the parts of an import, unless others imported something since it was compared with what is there."""
    restart, seen = ledger.last_restart(ledger.position), request.content["seen"]
    if seen not in (None, [restart, sum(imported.number > restart for imported in ledger.imports)]):
        raise StaleError
    return [Draft(None, data, _suffix(n)) for n, data in enumerate(request.content["parts"], start=1)]


def _restarted(ledger: Ledger, request: Request, leases: Leases) -> list[Draft]:
    return [Draft(None, {"reason": request.content["reason"]})]


def _open_and_ours(ledger: Ledger, request: Request, leases: Leases, doing: str) -> int:
    i = checks.open_subject(ledger, str(request.subject), doing)
    checks.not_held(ledger, i, request.station, leases)
    return i


def _fresh(ledger: Ledger, i: int, content: dict[str, Any]) -> None:
    """Raise unless the subject is as it was when its advice was worked out."""
    if content["seen"] != ledger.columns.touched[i]:
        raise StaleError


def _waiting(ledger: Ledger, leases: Leases) -> int:
    """Return the open subject that arrived first among those whose lease has run out."""
    for i in ledger.open:
        if leases.over(i):
            return i
    raise StudyError(
        f"none of the {len(ledger.open)} open subjects waits for a station: their leases have not run out; name one "
        "and take it over at once, or let a new one arrive"
    )


def _suffix(n: int) -> str:
    """Return what is added to a request's key for its n-th event."""
    return "" if n == 1 else f"{_PART}{n}"


Recorded = list[dict[str, Any]]
"""What the events of a request say."""


def _same(*names: str) -> Callable[[dict[str, Any], Recorded], bool]:
    """Compare what a request and a recorded event say under some names; None in a request leaves it open."""
    return lambda content, own: all(content[name] in (None, own[0][name]) for name in names)


def _same_told(content: dict[str, Any], own: Recorded) -> bool:
    names = ("test", "outcome")
    return [[each[name] for name in names] for each in content["told"]] == [
        [data[name] for name in names] for data in own
    ]


def _same_correction(content: dict[str, Any], own: Recorded) -> bool:
    return all(content[name] == own[0][name] for name in ("test", "outcome", "reason"))


def _same_truth(content: dict[str, Any], own: Recorded) -> bool:
    return bool(own[0]["outcomes"].items() <= content["outcomes"].items())


def _same_past(content: dict[str, Any], own: Recorded) -> bool:
    return bool(content["parts"][0]["digest"] == own[0]["digest"])


class _Kind(NamedTuple):
    draft: Callable[[Ledger, Request, Leases], list[Draft]]
    same: Callable[[dict[str, Any], Recorded], bool]


_KINDS: dict[str, _Kind] = {
    "arrived": _Kind(_arrived, _same("known")),
    "observed": _Kind(_observed, _same_told),
    "decided": _Kind(_decided, _same("decision")),
    "taken": _Kind(_taken, _same("at_once")),
    "corrected": _Kind(_corrected, _same_correction),
    "voided": _Kind(_voided, _same("reason")),
    "revealed": _Kind(_revealed, _same_truth),
    "imported": _Kind(_imported, _same_past),
    "restarted": _Kind(_restarted, _same("reason")),
}
