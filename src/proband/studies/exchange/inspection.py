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
from typing import Any

from proband.errors import ProbandError, StudyError
from proband.studies.events import checks
from proband.studies.events.coins import coin
from proband.studies.events.created import founding_of, lease_of
from proband.studies.events.imported import ROWS
from proband.studies.ledger.chain import NO_HASH, Event, as_seconds, as_time, linked
from proband.studies.ledger.ledger import Ledger
from proband.studies.ledger.names import problem_from_dict
from proband.studies.log.fold import CREATED, advance, apply, founded
from proband.studies.stores.contract import Entry
from proband.texts import check_plain

AHEAD = 86_400.0
"""Seconds by which an event may lie ahead of this machine's clock."""

_RAW = (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
"""What comes of values of the wrong kind."""


def inspect_log(entries: Iterable[Entry], study: str, place: Callable[[int], str]) -> None:
    """Raise unless every entry could have been written by direct calls.

    Parameters
    ----------
    entries : iterable of Entry
        The whole log.
    study : str
        Its name.
    place : callable
        Says where the entry of a number stands; the message begins with it.
    """
    ledger: Ledger | None = None
    latest, keys = time.time() + AHEAD, set[str]()
    for entry, event in linked(entries):
        try:
            _check_frame(event, "" if ledger is None else ledger.time, latest)
            if event.key in keys:
                raise StudyError(f"its key {event.key!r} was used before; a key is used once; export the log again")
            keys.add(event.key)
            if ledger is None:
                _check_founding(event, study)
                ledger = founded(entry, event)
            else:
                _check(ledger, event)
                apply(ledger, event)
                advance(ledger, entry, event)
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
    checks.text("the key", event.key.partition(" part ")[0])
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


def _check_founding(event: Event, study: str) -> None:
    data = dict(event.data)
    if event.kind != CREATED or data["name"] != study:
        raise StudyError(
            f"the log begins with {event.kind!r} of {data.get('name')!r}; it must begin with {CREATED!r} of {study!r}; "
            "export it again"
        )
    made = founding_of(
        problem_from_dict(data["problem"]),
        **{name: data[name] for name in ("name", "agent", "seed", "horizon", "created", "condition_number")},
    )
    _same(data, made)


def _check(ledger: Ledger, event: Event) -> None:
    """Check an event against what is known before it."""
    if event.kind not in _KINDS:
        raise StudyError(f"it is of the kind {event.kind!r}; a log has {', '.join(_KINDS)}; install a newer proband")
    _same(event.data, _KINDS[event.kind](ledger, event, event.data))


def _same(given: Mapping[str, Any], right: Mapping[str, Any]) -> None:
    """Raise unless an event says what a direct call would have recorded."""
    for name, value in right.items():
        if name not in given or given[name] != value or type(given[name]) is not type(value):
            raise StudyError(
                f"it says {given.get(name)!r} under {name!r}; a direct call would have recorded {value!r}; export the "
                "log again"
            )


def _arrived(ledger: Ledger, event: Event, data: dict[str, Any]) -> dict[str, Any]:
    number = len(ledger.columns) + 1
    checks.new_subject(ledger, checks.text("the name of a subject", event.subject), number)
    _whole("policy", data["policy"], 0, ledger.position)
    return {
        "known": checks.known(ledger, data["known"]),
        "coin": coin(ledger.founding["seed"], number),
        "lease": lease_of(data["lease"]),
    }


def _observed(ledger: Ledger, event: Event, data: dict[str, Any]) -> dict[str, Any]:
    i = checks.open_subject(ledger, str(event.subject), "telling")
    j, value = checks.told(ledger, i, data["test"], data["outcome"])
    return {
        "outcome": ledger.names.outcome(j, value),
        "policy": int(ledger.columns.policy[i]),
        "cost": ledger.names.price(ledger.columns.rows[i], j),
        **_advised(ledger, data, data["test"]),
    }


def _decided(ledger: Ledger, event: Event, data: dict[str, Any]) -> dict[str, Any]:
    i = checks.open_subject(ledger, str(event.subject), "deciding")
    _chance(data["chance"])
    return {
        "decision": ledger.names.action(ledger.names.decision(data["decision"])),
        "policy": int(ledger.columns.policy[i]),
        "cost": float(ledger.columns.spent[i]),
        **_advised(ledger, data, data["decision"]),
    }


def _advised(ledger: Ledger, data: dict[str, Any], chosen: str) -> dict[str, Any]:
    """Return what an event must say of advice: the name of an action, and followed only if it is the chosen one."""
    names = ledger.names
    known = {test.name for test in ledger.problem.tests}
    advised = data["advised"] if data["advised"] in known else names.action(names.decision(data["advised"]))
    return {"advised": advised, "followed": bool(data["followed"] is True and advised == chosen)}


def _corrected(ledger: Ledger, event: Event, data: dict[str, Any]) -> dict[str, Any]:
    i = checks.live_subject(ledger, str(event.subject), "correcting")
    was, after = checks.corrected(ledger, i, data["test"], data["outcome"])
    return {"was": was, "outcome": after, "reason": checks.reason(data["reason"])}


def _voided(ledger: Ledger, event: Event, data: dict[str, Any]) -> dict[str, Any]:
    checks.live_subject(ledger, str(event.subject), "voiding")
    return {"reason": checks.reason(data["reason"])}


def _revealed(ledger: Ledger, event: Event, data: dict[str, Any]) -> dict[str, Any]:
    i = checks.finished_subject(ledger, str(event.subject), "revealing")
    return {"outcomes": checks.revealed(ledger, i, data["outcomes"])}


def _taken(ledger: Ledger, event: Event, data: dict[str, Any]) -> dict[str, Any]:
    i = checks.open_subject(ledger, str(event.subject), "taking over")
    return {"from": ledger.columns.holders[i], "at_once": data["at_once"] is True, "lease": lease_of(data["lease"])}


def _imported(ledger: Ledger, event: Event, data: dict[str, Any]) -> dict[str, Any]:
    tests = [test.name for test in ledger.problem.tests]
    rows, counts, chances = data["rows"], data["counts"], data["chances"]
    if not 1 <= len(rows) <= ROWS or not len(rows) == len(counts) == len(chances):
        raise StudyError(
            f"it has {len(rows)} rows, {len(counts)} counts and {len(chances)} chances; there are 1 to {ROWS} rows, "
            "with one of each; export the log again"
        )
    for cells, count, chance in zip(rows, counts, chances, strict=True):
        _whole("a count", count, 1, 2**53)
        _chance(chance)
        seen = ledger.names.row({test: cell for test, cell in zip(tests, cells, strict=True) if cell is not None})
        known = ledger.names.known(seen)
        _same(dict(enumerate(cells)), dict(enumerate(known.get(test) for test in tests)))  # type: ignore[arg-type]
    return {"tests": tests, "source": checks.text("the source", data["source"]), "digest": _hexadecimal(data["digest"])}


def _restarted(ledger: Ledger, event: Event, data: dict[str, Any]) -> dict[str, Any]:
    return {"reason": checks.reason(data["reason"])}


def _whole(what: str, given: object, least: int, most: int) -> None:
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        raise StudyError(f"{what} is {given!r}; it is a whole number from {least} to {most}; export the log again")


def _chance(given: object) -> None:
    if given is not None and not (isinstance(given, float) and 0 <= given <= 1):
        raise StudyError(f"a chance is {given!r}; it is a number from 0 to 1, or none; export the log again")


def _hexadecimal(given: str) -> str:
    return f"{int(given, 16):0{len(NO_HASH)}x}"


_KINDS: dict[str, Callable[[Ledger, Event, dict[str, Any]], dict[str, Any]]] = {
    "arrived": _arrived,
    "observed": _observed,
    "decided": _decided,
    "corrected": _corrected,
    "voided": _voided,
    "revealed": _revealed,
    "taken": _taken,
    "imported": _imported,
    "restarted": _restarted,
}
"""What each kind of event must say, as far as the log tells."""
