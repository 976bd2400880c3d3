"""The fold: each event changes the ledger in one way, without a clock and without randomness of its own.

Requests were checked before they were written, but a log may come from elsewhere: each event is checked by its kind
before it changes anything. Both are kept lean, because a study is opened by folding.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

from proband.errors import StudyError, TamperedError, shown
from proband.studies.events import EVENTS
from proband.studies.events import created as creation
from proband.studies.events.checks import number
from proband.studies.events.kind import EventKind
from proband.studies.ledger.chain import FORMAT, LATEST, Event, as_seconds, linked
from proband.studies.ledger.ledger import Ledger
from proband.studies.stores.contract import Entry, Store

WRONG = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError)
"""What a wrong event may raise where it is used; our own errors are among these."""

ENTRIES = 20_000
"""Entries that are read at a time."""

Checked = tuple[EventKind[Any], float, Any]
"""An event that a study could have written: its kind, when it happened in seconds since 1970, what it means."""


def check(ledger: Ledger, event: Event) -> Checked:
    """Read an event; raise unless it is of a known kind and a study could have written it next."""
    kind = EVENTS.get(event.kind)
    if kind is None:
        raise StudyError(
            f"entry {event.number} is of the kind {shown(event.kind)}; this version knows {', '.join(EVENTS)}; install "
            "a newer proband"
        )
    try:
        if event.time < ledger.time:
            raise ValueError(f"its time is {shown(event.time)}, before that of the entry before it, {ledger.time}")
        seconds = _seconds(event.time)
        if "clock_behind" in event.data:
            number("clock_behind", event.data["clock_behind"])
        return kind, seconds, kind.read(ledger, event, event.data)
    except WRONG as error:
        raise _wrong(event, error) from error


def apply(ledger: Ledger, event: Event) -> None:
    """Change the ledger as an event says; raise, and change nothing, if it is none that a study writes."""
    kind, seconds, meaning = check(ledger, event)
    try:
        kind.fold(ledger, event, seconds, meaning)
    except WRONG as error:
        raise _wrong(event, error) from error


def begun(entry: Entry, event: Event) -> Ledger:
    """Return the ledger after the first event of a study."""
    first = creation.CREATED
    if event.kind != first:
        raise StudyError(f"the log begins with {event.kind!r}; a study begins with {first!r}; it is no study's log")
    written = event.data.get("format")
    if written != FORMAT:
        raise StudyError(
            f"the study was written in format {written!r}; this version reads {FORMAT}; install a newer proband"
        )
    try:
        _seconds(event.time)
        ledger = creation.read(event)
    except WRONG as error:
        raise _wrong(event, error) from error
    ledger.advance(entry, event)
    return ledger


def followed(ledger: Ledger | None, entry: Entry, event: Event) -> Ledger:
    """Return the ledger after one more event; None stands for the one before the first."""
    if ledger is None:
        return begun(entry, event)
    apply(ledger, event)
    ledger.advance(entry, event)
    return ledger


def fold(ledger: Ledger, entries: Iterable[Entry]) -> None:
    """Fold the entries that follow the ledger's position, after checking the chain; skip those folded before."""
    position = ledger.position
    new = (entry for entry in entries if entry.number > position)
    for entry, event in linked(new, after=position, previous=ledger.hash):
        apply(ledger, event)
        ledger.advance(entry, event)


def folded(entries: Iterable[Entry]) -> Ledger:
    """Return the ledger of a whole log."""
    rest = iter(entries)
    for entry, event in linked(itertools.islice(rest, 1)):
        ledger = begun(entry, event)
        fold(ledger, rest)
        return ledger
    raise StudyError("the log is empty; a study begins with the event that created it; it is no study's log")


def read_entries(store: Store, study: str, *, after: int = 0) -> Iterator[Entry]:
    """Yield the entries of a study, some at a time."""
    while True:
        entries = store.read(study, after, ENTRIES)
        yield from entries
        if len(entries) < ENTRIES:
            return
        after = entries[-1].number


def _seconds(time: str) -> float:
    """Return when an event happened; raise ValueError unless it says so as a log does."""
    seconds = as_seconds(time) if len(time) == 27 and time[26] == "Z" else math.nan
    if not seconds <= LATEST:
        raise ValueError(f"its time is {shown(time)}; it must be like 2024-05-01T12:00:00.000000Z")
    return seconds


def _wrong(event: Event, error: Exception) -> TamperedError:
    """Return the error about an event that no study writes."""
    detail = f"{shown(error.args[0])} is missing or unknown" if type(error) is KeyError else error
    return TamperedError(
        f"entry {event.number} ({shown(event.kind)}) is none that a study writes: {detail}; it was altered together "
        "with its hash, or written by another program; compare with an earlier export"
    )
