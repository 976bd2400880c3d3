"""Events: what happened in a study, sealed into the entries of a log, each chained to the one before.

An event becomes an entry by its canonical JSON (sorted keys, no blanks, shortest floats, no NaN):

    body_n = canonical(event_n, previous = hash_{n-1}),    hash_n = sha256(body_n),    hash_0 = 64 zeros.

So the hash of the last entry vouches for the whole log: whoever alters, reorders or drops an entry has to write every
later hash anew, and a copy of one hash, kept elsewhere, shows it.

Examples
--------
>>> first = Event(
...     1, "restarted", None, {"reason": "new supplier"}, "2024-05-01T12:00:00.000000Z", "QA", "line 1", "0", "k"
... )
>>> entry = seal(first)
>>> unseal(entry) == first
True
>>> unseal(entry._replace(body=entry.body.replace("new", "old")))
Traceback (most recent call last):
proband.errors.TamperedError: entry 1 was altered: ...
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from proband.errors import ClockError, StudyError, TamperedError, shown
from proband.studies.stores.contract import Entry

FORMAT = 1
"""Of the events that this version writes, and the newest that it reads."""

NO_HASH = "0" * 64
"""What stands for the entry before the first."""

LATEST = 253_402_300_799.0
"""The last second of the year 9999, since 1970: times end there."""

CLOCKS = 946_684_800.0, 4_102_444_800.0
"""What a clock may say, in seconds since 1970: from 2000 up to 2100."""

_FIELDS = ("actor", "data", "key", "kind", "number", "previous", "station", "subject", "time", "version")
_TYPES = {
    (str, dict, str, str, int, str, str, subject, str, str)  # of the fields, in their order
    for subject in (str, type(None))
}
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    Attributes
    ----------
    number : int
        Its place in the log: 1, 2, ...
    kind : str
        One of created, arrived, observed, decided, corrected, voided, revealed, taken, imported, restarted.
    subject : str or None
        Whom it happened to.
    data : dict
        What it says, as JSON values.
    time : str
        ISO 8601, UTC, to the microsecond; never before that of an earlier event.
    actor, station : str
        Who told, and where.
    version : str
        Of the software.
    key : str
        Idempotency key.
    previous : str
        Hash of the entry before.
    """

    number: int
    kind: str
    subject: str | None
    data: dict[str, Any]
    time: str
    actor: str
    station: str
    version: str
    key: str
    previous: str = NO_HASH


def seal(event: Event) -> Entry:
    """Return the entry of an event."""
    body = canonical({name: getattr(event, name) for name in _FIELDS})
    return Entry(event.number, event.key, digest(body), body)


def unseal(entry: Entry) -> Event:
    """Return the event of an entry, after checking that the entry is whole."""
    try:
        whole = digest(entry.body) == entry.hash
    except (AttributeError, TypeError):  # a damaged store may give anything for a text
        whole = False
    if not whole:
        raise TamperedError(
            f"entry {entry.number} was altered: its hash is not that of its content; compare with an earlier export"
        )
    event = _event(entry)
    if event.number != entry.number or event.key != entry.key:
        raise TamperedError(
            f"entry {entry.number} was altered or moved: it calls itself {event.number}, key {event.key!r}, and is "
            f"filed under {entry.number}, key {entry.key!r}; compare with an earlier export"
        )
    return event


def linked(entries: Iterable[Entry], *, after: int = 0, previous: str = NO_HASH) -> Iterator[tuple[Entry, Event]]:
    """Yield successive entries and their events, after checking the chain; `previous` is the hash of entry `after`."""
    for entry in entries:
        event = unseal(entry)
        if event.number != after + 1:
            raise TamperedError(
                f"entry {after + 1} is missing: entry {event.number} stands in its place; entries were dropped or "
                "reordered; compare with an earlier export"
            )
        if event.previous != previous:
            place = f"entry {after} was altered or replaced" if after else "entry 1 is not the first of its log"
            raise TamperedError(
                f"{place}: entry {event.number} follows an entry with the hash {event.previous[:12]}..., not "
                f"{previous[:12]}...; compare with an earlier export"
            )
        yield entry, event
        after, previous = event.number, entry.hash


def canonical(content: object) -> str:
    """Return JSON in its one canonical form.

    Examples
    --------
    >>> canonical({"b": 0.1, "a": [None, "é"]})
    '{"a":[null,"é"],"b":0.1}'
    """
    try:
        text = _encode(content)
        text.encode()
    except (ValueError, TypeError) as error:  # NaN, infinities, lone surrogates, and what is no JSON
        raise StudyError(
            f"this cannot be recorded as JSON ({error}); use finite numbers and whole characters"
        ) from error
    return text


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal digits."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def as_time(seconds: float) -> str:
    """Return a time for people and logs from seconds since 1970.

    Examples
    --------
    >>> as_time(0.25)
    '1970-01-01T00:00:00.250000Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")[:26] + "Z"


def as_seconds(time: str) -> float:
    """Return the seconds since 1970; the inverse of :func:`as_time`.

    Examples
    --------
    >>> as_seconds("1970-01-01T00:00:00.250000Z")
    0.25
    """
    return datetime.fromisoformat(time).timestamp()


def moment(clock: float) -> float:
    """Return what a clock says, if that can be: an event has its date for good, and no later one an earlier date."""
    if not CLOCKS[0] <= clock < CLOCKS[1]:
        first, last = (as_time(year)[:4] for year in CLOCKS)
        raise ClockError(
            f"the clock says {clock!r} seconds since 1970; the time of a station must lie between the years {first} "
            f"and {last}; set the clock"
        )
    return clock


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no number")


_decode = json.JSONDecoder(parse_constant=_refuse).raw_decode
_setters = [getattr(Event, name).__set__ for name in _FIELDS]


def _event(entry: Entry) -> Event:
    try:
        content, end = _decode(entry.body)
        if tuple(content) != _FIELDS or end != len(entry.body):
            raise ValueError(f"its fields are {shown(list(content))}")
        values = content.values()
        if tuple(map(type, values)) not in _TYPES:
            raise TypeError("a field is of a wrong type")
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise TamperedError(
            f"entry {entry.number} is no event ({error}); it was altered, or written by another program or a newer "
            "version; compare with an earlier export"
        ) from error
    event = object.__new__(Event)
    for put, value in zip(_setters, values, strict=True):  # half the time of Event(**content), and logs are long
        put(event, value)
    return event
