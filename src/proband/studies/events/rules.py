"""What an event may say: each kind has its rule, and whatever breaks it is no event that a study writes.

A chain of hashes shows that a log is as somebody wrote it, not that this was a study: anybody can compute hashes. So
the fold checks each event before it changes anything, and a batch checks its own before they are written: what is
written can always be read. A rule asks for the right types, for numbers in their range, and for what has to have
happened before: nobody arrives twice, is decided on twice, or is bound to a policy of the future.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from proband.errors import StudyError, TamperedError, shown
from proband.files import LARGEST_NUMBER, check_nesting
from proband.studies.ledger.chain import Event, as_seconds
from proband.studies.ledger.ledger import Ledger

WRONG = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError)
"""What a wrong event may raise where it is used; our own errors are among these."""

LATEST = 253_402_300_799.0
"""The last second of the year 9999, since 1970: times end there."""

MOST_SUBJECTS = 2**53
"""Subjects of a study by its horizon, and in one import of past records: floats tell so many apart."""

_NUMBERS = (float, int)


def check(ledger: Ledger, event: Event) -> float:
    """Return when an event happened, in seconds since 1970; raise unless a study could have written it next.

    Raises
    ------
    TamperedError
        Naming the entry and what is wrong with it.
    StudyError
        If it is of an unknown kind.
    """
    rule = _RULES.get(event.kind)
    if rule is None:
        raise StudyError(
            f"entry {event.number} is of the kind {shown(event.kind)}; this version knows {', '.join(_RULES)}; install "
            "a newer proband"
        )
    try:
        if event.time < ledger.time:
            raise ValueError(f"its time is {shown(event.time)}, before that of the entry before it, {ledger.time}")
        seconds = time_of(event)
        if "clock_behind" in event.data:
            _number("clock_behind", event.data["clock_behind"])
        rule(ledger, event, event.data)
    except WRONG as error:
        raise wrong(event, error) from error
    return seconds


def check_founding(event: Event) -> None:
    """Raise unless the first event of a study says what it must; its problem is checked when it is built."""
    data = event.data
    try:
        time_of(event)
        check_nesting(data)
        for name in ("name", "agent", "created"):
            _text(data, name)
        _whole("seed", data["seed"], 0)
        if data["horizon"] is not None:
            _whole("horizon", data["horizon"], 1)
            if data["horizon"] > MOST_SUBJECTS:
                raise ValueError(f"its horizon is {shown(data['horizon'])}; it must be at most {MOST_SUBJECTS:,}")
        if data["condition_number"] is not None:
            _number("condition_number", data["condition_number"])
        if not isinstance(data["problem"], Mapping):
            raise TypeError(f"its problem is {shown(data['problem'])}; it must be a table")
    except WRONG as error:
        raise wrong(event, error) from error


def time_of(event: Event) -> float:
    """Return when an event happened; raise ValueError unless it says so as a log does."""
    time = event.time
    seconds = as_seconds(time) if len(time) == 27 and time[26] == "Z" else math.nan
    if not seconds <= LATEST:
        raise ValueError(f"its time is {shown(time)}; it must be like 2024-05-01T12:00:00.000000Z")
    return seconds


def wrong(event: Event, error: Exception) -> TamperedError:
    """Return the error about an event that no study writes."""
    detail = f"{shown(error.args[0])} is missing or unknown" if type(error) is KeyError else error
    return TamperedError(
        f"entry {event.number} ({shown(event.kind)}) is none that a study writes: {detail}; it was altered together "
        "with its hash, or written by another program; compare with an earlier export"
    )


def _arrived(ledger: Ledger, event: Event, data: dict[str, Any]) -> None:
    if event.subject is None or event.subject in ledger.index:
        raise ValueError(f"subject {shown(event.subject)} arrived already, or has no name")
    coin, policy = data["coin"], data["policy"]
    if type(coin) not in _NUMBERS or not 0 <= coin < 1:
        raise ValueError(f"its coin is {shown(coin)}; a coin is 0 or more and below 1")
    if type(policy) is not int or not 0 <= policy < event.number:
        raise ValueError(f"its policy is {shown(policy)}; it must be the number of an earlier entry, or 0")
    _lease(data["lease"])
    if data["known"]:
        _outcomes(ledger, data["known"])
        for test in data["known"]:
            _available(ledger, ledger.problem.test_index(test))


def _observed(ledger: Ledger, event: Event, data: dict[str, Any]) -> None:
    i = _open(ledger, event)
    j = ledger.names.number(data["test"], data["outcome"])[0]
    if not ledger.operable[j]:
        _available(ledger, j)
    if ledger.columns.when[i, j]:
        raise ValueError(f"the test {data['test']!r} of subject {event.subject!r} was told before")
    _advised(ledger, i, data)


def _decided(ledger: Ledger, event: Event, data: dict[str, Any]) -> None:
    i = _open(ledger, event)
    decision, chance = data["decision"], data["chance"]
    if decision not in ledger.problem.decisions:
        ledger.names.decision(_text(data, "decision"))
    if chance is not None:
        _chance(chance)
    _advised(ledger, i, data)


def _taken(ledger: Ledger, event: Event, data: dict[str, Any]) -> None:
    _open(ledger, event)
    _lease(data["lease"])
    _truth("at_once", data["at_once"])
    _text(data, "from")


def _corrected(ledger: Ledger, event: Event, data: dict[str, Any]) -> None:
    i = _live(ledger, event)
    j = ledger.problem.test_index(data["test"])
    if not ledger.columns.when[i, j]:
        raise ValueError(f"the test {data['test']!r} of subject {event.subject!r} was never told")
    if data["outcome"] is not None:
        ledger.names.number(data["test"], data["outcome"])
    _text(data, "reason")


def _voided(ledger: Ledger, event: Event, data: dict[str, Any]) -> None:
    _live(ledger, event)
    _text(data, "reason")


def _revealed(ledger: Ledger, event: Event, data: dict[str, Any]) -> None:
    i = _live(ledger, event)
    if not ledger.columns.decided[i]:
        raise ValueError(f"subject {event.subject!r} is not decided yet")
    for j in _outcomes(ledger, data["outcomes"]):
        if ledger.columns.when[i, j]:
            raise ValueError(f"the test {ledger.problem.tests[j].name!r} of subject {event.subject!r} was told before")


def _imported(ledger: Ledger, event: Event, data: dict[str, Any]) -> None:
    tests, rows, counts, chances = (data[name] for name in ("tests", "rows", "counts", "chances"))
    if not all(type(part) is list for part in (tests, rows, counts, chances)) or not rows:
        raise TypeError("its tests, rows, counts and chances are no lists, or empty")
    if not len(rows) == len(counts) == len(chances) or any(
        type(row) is not list or len(row) != len(tests) for row in rows
    ):
        raise ValueError("its rows, counts and chances do not fit together")
    if len(set(tests)) < len(tests):
        raise ValueError(f"its tests {shown(tests)} repeat a name")
    if any(type(count) is not int or count < 1 for count in counts) or sum(counts) > MOST_SUBJECTS:
        raise ValueError(f"its counts are no whole numbers of 1 or more, or count more than {MOST_SUBJECTS:,} subjects")
    for chance in chances:
        if chance is not None:
            _chance(chance)
    _nobody(event)
    _text(data, "source")
    _text(data, "digest")


def _restarted(ledger: Ledger, event: Event, data: dict[str, Any]) -> None:
    _nobody(event)
    _text(data, "reason")


def _open(ledger: Ledger, event: Event) -> int:
    """Return the row of a subject that is neither decided nor voided."""
    i = ledger.index[event.subject]  # type: ignore[index]  # nobody is called None
    if i not in ledger.open:
        raise ValueError(f"subject {event.subject!r} was decided on or voided before")
    return i


def _live(ledger: Ledger, event: Event) -> int:
    i = ledger.index[event.subject]  # type: ignore[index]  # nobody is called None
    if ledger.columns.voided[i]:
        raise ValueError(f"subject {event.subject!r} was voided before")
    return i


def _nobody(event: Event) -> None:
    if event.subject is not None:
        raise ValueError(f"it is about subject {event.subject!r}, and can be about nobody")


def _outcomes(ledger: Ledger, given: Mapping[str, Any]) -> list[int]:
    """Return the tests of named outcomes, which have to exist."""
    return [ledger.names.number(test, outcome)[0] for test, outcome in given.items()]


def _available(ledger: Ledger, j: int) -> None:
    if ledger.unavailable[j]:
        raise ValueError(f"the test {ledger.problem.tests[j].name!r} is unavailable, and nobody can have run it")


def _advised(ledger: Ledger, i: int, data: dict[str, Any]) -> None:
    """Check what an event says of the advice that it answers."""
    if data["policy"] != ledger.columns.policy[i]:
        raise ValueError(f"its policy is {shown(data['policy'])}, and its subject's {ledger.columns.policy[i]}")
    cost = data["cost"]
    if type(cost) not in _NUMBERS or not 0 <= cost <= LARGEST_NUMBER:
        raise ValueError(f"its cost is {shown(cost)}; a cost is a finite number of 0 or more")
    if type(data["followed"]) is not bool or type(data["advised"]) is not str:
        raise TypeError("it does not say what was advised, or whether this was followed")


def _lease(lease: Any) -> None:
    if type(lease) not in _NUMBERS or not 0 <= lease <= LARGEST_NUMBER:
        raise ValueError(f"its lease is {shown(lease)}; a lease is a finite number of seconds, 0 or more")


def _chance(chance: Any) -> None:
    if type(chance) not in _NUMBERS or not 0 <= chance <= 1:
        raise ValueError(f"a chance is {shown(chance)}; a chance is from 0 to 1")


def _text(data: dict[str, Any], name: str) -> str:
    given = data[name]
    if type(given) is not str:
        raise TypeError(f"its {name} is {shown(given)}; it must be a text")
    return given


def _truth(name: str, given: Any) -> None:
    if type(given) is not bool:
        raise TypeError(f"its {name} is {shown(given)}; it must be true or false")


def _whole(name: str, given: Any, least: int) -> None:
    if type(given) is not int or given < least:
        raise ValueError(f"its {name} is {shown(given)}; it must be a whole number of {least} or more")


def _number(name: str, given: Any) -> None:
    if type(given) not in _NUMBERS or not abs(given) <= LARGEST_NUMBER:
        raise ValueError(f"its {name} is {shown(given)}; it must be a finite number")


_RULES: dict[str, Callable[[Ledger, Event, dict[str, Any]], None]] = {
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
