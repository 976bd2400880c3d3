"""What a kind of event is made of; each kind fills this in, in a file of its own.

A *request* is what somebody asks to be recorded. It is checked against the ledger when it has the turn at the log, as
its subject may have changed since it was made, and becomes one *draft* or more, written together, all or none. What is
in the log is *read* before it changes anything: a chain of hashes shows that a log is as somebody wrote it, not that
this was a study, for anybody can compute hashes. What was read is then *folded* into the ledger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from proband.studies.ledger.chain import Event
from proband.studies.ledger.leases import Leases
from proband.studies.ledger.ledger import Ledger

__all__ = ["PART", "Data", "Draft", "Event", "EventKind", "Leases", "Ledger", "Request", "StaleError", "same_under"]

PART = " part "
"""Stands between the key of a request and the number of its second, third, ... event."""

Data = dict[str, Any]
"""What an event says, as JSON values."""

Meaning = TypeVar("Meaning")


class StaleError(Exception):
    """The subject has changed since its advice was worked out: take another turn."""


class Request(NamedTuple):
    """Something to be recorded."""

    kind: str
    subject: str | None
    content: dict[str, Any]
    key: str
    keyed: bool  # whether the operator chose the key, so that it may be there already
    station: str
    further: int = 0  # how many events after the first may belong to it


class Draft(NamedTuple):
    """An event to be: whom it happens to, and what it says."""

    subject: str | None
    data: Data


@dataclass(frozen=True)
class EventKind(Generic[Meaning]):
    """A kind of event: its name, and what is done with it."""

    name: str
    # Returns drafts; raises if a request is stale or does not fit what is known; without leases nobody holds anything.
    draft: Callable[[Ledger, Request, Leases | None], list[Draft]]
    # Whether the content of a request and what its recorded events say are the same: the key came back.
    same: Callable[[dict[str, Any], list[Data]], bool]
    # Returns what the event means, as `fold` takes it; raises unless a study could have written it next: the right
    # types, numbers in their range, and what has to have happened before.
    read: Callable[[Ledger, Event, Data], Meaning]
    # Changes the ledger, given also the seconds since 1970; without a clock, and without chance.
    fold: Callable[[Ledger, Event, float, Meaning], None]
    # Returns the content of the request that it may have come from, for logs from elsewhere: drafted again, it must
    # say the same.
    asked: Callable[[Ledger, Event, Data], dict[str, Any]]


def same_under(*names: str) -> Callable[[dict[str, Any], list[Data]], bool]:
    """Compare what a request and a recorded event say under some names; None in a request leaves it open."""
    return lambda content, own: all(content[name] in (None, own[0][name]) for name in names)
