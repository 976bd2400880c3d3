"""A log from elsewhere: every event is checked as if it were told now, before any of it is taken into a store.

A chain of hashes shows that nobody changed a log after it was written; it says nothing of who wrote it. So an event
that a direct call would refuse, or that says something else than a direct call would have recorded, is refused: names
and reasons that act or are too long, unknown tests and outcomes, subjects that are not open, prices and coins that are
not those of the problem and the seed, times that run back or lie in the future. What cannot be known from the log alone
is taken as it stands: which advice was given (replaying the log tells), and how long leases lasted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from proband.errors import ProbandError, StudyError
from proband.studies.events import EVENTS, checks, created
from proband.studies.events.kind import PART, Data, Request
from proband.studies.ledger.chain import Event, as_seconds, as_time, linked
from proband.studies.ledger.ledger import Ledger
from proband.studies.log.fold import followed
from proband.studies.stores.contract import Entry
from proband.texts import check_plain

AHEAD = 86_400.0
"""Seconds by which an event may lie ahead of this machine's clock."""

_RAW = (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
"""What comes of values of the wrong kind."""


def inspect_log(entries: Iterable[Entry], study: str, place: Callable[[int], str]) -> None:
    """Raise unless every entry of a whole log could have been written by direct calls.

    What `place` says of a number, where that entry stands, begins the message.
    """
    ledger: Ledger | None = None
    latest, keys = time.time() + AHEAD, set[str]()
    for entry, event in linked(entries):
        try:
            _check_frame(event, "" if ledger is None else ledger.time, latest)
            if event.key in keys:
                raise StudyError(f"its key {event.key!r} was used before; a key is used once; export the log again")
            keys.add(event.key)
            checks.same(event.data, created.expected(event, study) if ledger is None else _expected(ledger, event))
            ledger = followed(ledger, entry, event)
        except ProbandError as error:
            raise StudyError(f"{place(event.number)}: {error}") from error
        except _RAW as error:
            raise StudyError(
                f"{place(event.number)}: it is no event that proband writes ({type(error).__name__}: {error}); "
                "a log is taken whole or not at all; export it again"
            ) from error
    if ledger is None:
        raise StudyError(f"{place(0)}: there is no event; a study begins with the one that created it; export it again")


def _check_frame(event: Event, before: str, latest: float) -> None:
    """Check what every event has."""
    for name in ("kind", "actor", "station", "version"):
        checks.text(f"the {name}", getattr(event, name))
    _check_texts(event.data)
    checks.text("the key", event.key.partition(PART)[0])
    seconds = as_seconds(event.time)
    if as_time(seconds) != event.time or event.time < before or seconds > latest:
        raise StudyError(
            f"its time is {event.time!r}, after {before!r}; times are in UTC, to the microsecond, never run back and "
            "lie at most a day ahead of this machine's clock; set the clock, or export the log again"
        )


def _check_texts(value: object) -> None:
    """Check that no text anywhere within acts."""
    if isinstance(value, str):
        check_plain("a text", value, StudyError)
    elif isinstance(value, Mapping):
        for name, part in value.items():
            check_plain("a name", name, StudyError)
            _check_texts(part)
    elif isinstance(value, list):
        for part in value:
            _check_texts(part)


def _expected(ledger: Ledger, event: Event) -> Data:
    """Return what a direct call would have recorded, by what is known before the event."""
    kind = EVENTS.get(event.kind)
    if kind is None:
        raise StudyError(f"it is of the kind {event.kind!r}; a log has {', '.join(EVENTS)}; install a newer proband")
    content = kind.asked(ledger, event, event.data)
    request = Request(event.kind, event.subject, content, event.key, keyed=True, station=event.station)
    return kind.draft(ledger, request, None)[0].data
