"""Requests: what an operator asks to be recorded, as plain data, and the events that come of it.

A request is data and not a call, so that whoever has the turn at the log can write the requests of others together with
its own (:mod:`proband.studies.journal`). It is checked against the ledger when it is written, by whoever writes it.
Requests that are written together must not depend on each other: each subject is touched by one of them at most, and
newcomers are numbered as they come.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from proband.errors import StudyError
from proband.studies import checks
from proband.studies.coins import coin
from proband.studies.events import Event, canonical
from proband.studies.ledger import Ledger


class StaleError(Exception):
    """The subject has changed since its advice was worked out, or is about to: take another turn."""


@dataclass(frozen=True)
class Request:
    """Something to be recorded.

    Attributes
    ----------
    study : str
    kind : str
        Of the event.
    subject : str or None
    content : dict
        What it says, as JSON values.
    key : str
        Idempotency key.
    keyed : bool
        Whether the operator chose the key, so that it may be there already.
    actor, station, version : str
        Who asks, where, and with which software.
    clock : float
        The station's time when it was made, in seconds since 1970.
    stamp : float
        The same by the machine's monotonic clock, which all of its processes share: a request may wait for its turn.
    """

    study: str
    kind: str
    subject: str | None
    content: dict[str, Any]
    key: str
    keyed: bool
    actor: str
    station: str
    version: str
    clock: float
    stamp: float

    @property
    def now(self) -> float:
        """The station's time now."""
        return self.clock + max(0.0, time.monotonic() - self.stamp)

    def to_text(self) -> str:
        """Return the request as JSON."""
        return canonical(vars(self))

    @classmethod
    def from_text(cls, text: str) -> Request:
        """Build a request; the inverse of :meth:`to_text`."""
        return cls(**json.loads(text))


class Draft(NamedTuple):
    """An event to be: whom it happens to, what it says, and what is added to the key of the first one."""

    subject: str | None
    data: dict[str, Any]
    suffix: str = ""


@dataclass
class Touches:
    """What requests that are written together have touched so far."""

    touched: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    newcomers: int = 0

    def add(self, request: Request, drafts: list[Draft]) -> None:
        """Count the drafts of a request."""
        self.touched.update(draft.subject for draft in drafts if draft.subject is not None)
        self.keys.update(request.key + draft.suffix for draft in drafts)
        self.newcomers += request.kind == "arrived"


def drafts_of(ledger: Ledger, request: Request, touches: Touches, now: float) -> list[Draft]:
    """Return the events that a request asks for; raise if it does not fit what is known, or is stale."""
    drafts = _KINDS[request.kind].draft(ledger, request, touches, now)
    touched = any(draft.subject in touches.touched for draft in drafts if draft.subject is not None)
    if touched or any(request.key + draft.suffix in touches.keys for draft in drafts):
        raise StaleError
    return drafts


def answers(request: Request, event: Event) -> bool:
    """Return whether a recorded event answers a request."""
    named = request.subject in (None, event.subject)
    return event.kind == request.kind and named and _KINDS[request.kind].same(request.content, event.data)


def _arrived(ledger: Ledger, request: Request, touches: Touches, now: float) -> list[Draft]:
    number = len(ledger.columns) + touches.newcomers + 1
    name = checks.new_subject(ledger, request.subject, number, touches.touched)
    content = request.content
    data = {"known": checks.known(ledger, content["known"]), "coin": coin(ledger.founding["seed"], number)}
    return [Draft(name, {**data, "policy": content["policy"], "lease": content["lease"]})]


def _observed(ledger: Ledger, request: Request, touches: Touches, now: float) -> list[Draft]:
    content = request.content
    i = _open_and_ours(ledger, request, now, "telling")
    j, value = checks.told(ledger, i, content["test"], content["outcome"])
    _fresh(ledger, i, content)
    return [
        Draft(
            request.subject,
            {
                "test": content["test"],
                "outcome": ledger.names.outcome(j, value),
                "policy": int(ledger.columns.policy[i]),
                "advised": ledger.names.action(content["action"]),
                "followed": content["action"] == j,
                "cost": ledger.names.price(ledger.columns.rows[i], j),
            },
        )
    ]


def _decided(ledger: Ledger, request: Request, touches: Touches, now: float) -> list[Draft]:
    content = request.content
    i = _open_and_ours(ledger, request, now, "deciding")
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


def _taken(ledger: Ledger, request: Request, touches: Touches, now: float) -> list[Draft]:
    content = request.content
    if request.subject is None:
        i = _waiting(ledger, touches, now)
    else:
        i = checks.open_subject(ledger, request.subject, "taking over")
    if not content["at_once"]:
        checks.not_held(ledger, i, request.station, now)
    data = {"from": ledger.columns.holders[i], "at_once": content["at_once"], "lease": content["lease"]}
    return [Draft(ledger.columns.names[i], data)]


def _corrected(ledger: Ledger, request: Request, touches: Touches, now: float) -> list[Draft]:
    content = request.content
    i = checks.live_subject(ledger, str(request.subject), "correcting")
    checks.not_held(ledger, i, request.station, now)
    was, after = checks.corrected(ledger, i, content["test"], content["outcome"])
    data = {"test": content["test"], "outcome": after, "was": was, "reason": content["reason"]}
    return [Draft(request.subject, data)]


def _voided(ledger: Ledger, request: Request, touches: Touches, now: float) -> list[Draft]:
    i = checks.live_subject(ledger, str(request.subject), "voiding")
    checks.not_held(ledger, i, request.station, now)
    return [Draft(request.subject, {"reason": request.content["reason"]})]


def _revealed(ledger: Ledger, request: Request, touches: Touches, now: float) -> list[Draft]:
    i = checks.finished_subject(ledger, str(request.subject), "revealing")
    return [Draft(request.subject, {"outcomes": checks.revealed(ledger, i, request.content["outcomes"])})]


def _imported(ledger: Ledger, request: Request, touches: Touches, now: float) -> list[Draft]:
    parts = enumerate(request.content["parts"], start=1)
    return [Draft(None, data, "" if n == 1 else f" part {n}") for n, data in parts]


def _restarted(ledger: Ledger, request: Request, touches: Touches, now: float) -> list[Draft]:
    return [Draft(None, {"reason": request.content["reason"]})]


def _open_and_ours(ledger: Ledger, request: Request, now: float, doing: str) -> int:
    i = checks.open_subject(ledger, str(request.subject), doing)
    checks.not_held(ledger, i, request.station, now)
    return i


def _fresh(ledger: Ledger, i: int, content: dict[str, Any]) -> None:
    """Raise unless the subject is as it was when its advice was worked out."""
    if content["seen"] != ledger.columns.touched[i]:
        raise StaleError


def _waiting(ledger: Ledger, touches: Touches, now: float) -> int:
    """Return the open subject that arrived first among those whose lease has run out."""
    columns = ledger.columns
    rows = np.fromiter(ledger.open, dtype=np.int64, count=len(ledger.open))
    for i in rows[columns.lease_end[rows] <= now].tolist():
        if columns.names[i] not in touches.touched:
            return int(i)
    raise StudyError(
        f"none of the {len(ledger.open)} open subjects waits for a station: their leases have not run out; name one "
        "and take it over at once, or let a new one arrive"
    )


def _same(*names: str) -> Callable[[dict[str, Any], dict[str, Any]], bool]:
    """Compare what a request and a recorded event say under some names; None in a request leaves it open."""
    return lambda content, data: all(content[name] in (None, data[name]) for name in names)


def _same_correction(content: dict[str, Any], data: dict[str, Any]) -> bool:
    return all(content[name] == data[name] for name in ("test", "outcome", "reason"))


def _same_truth(content: dict[str, Any], data: dict[str, Any]) -> bool:
    return bool(data["outcomes"].items() <= content["outcomes"].items())


def _same_past(content: dict[str, Any], data: dict[str, Any]) -> bool:
    return bool(content["parts"][0]["digest"] == data["digest"])


class _Kind(NamedTuple):
    draft: Callable[[Ledger, Request, Touches, float], list[Draft]]
    same: Callable[[dict[str, Any], dict[str, Any]], bool]


_KINDS: dict[str, _Kind] = {
    "arrived": _Kind(_arrived, _same("known")),
    "observed": _Kind(_observed, _same("test", "outcome")),
    "decided": _Kind(_decided, _same("decision")),
    "taken": _Kind(_taken, _same("at_once")),
    "corrected": _Kind(_corrected, _same_correction),
    "voided": _Kind(_voided, _same("reason")),
    "revealed": _Kind(_revealed, _same_truth),
    "imported": _Kind(_imported, _same_past),
    "restarted": _Kind(_restarted, _same("reason")),
}
