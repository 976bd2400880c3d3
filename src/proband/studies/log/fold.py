"""The fold: each event changes the ledger in one way, without a clock and without randomness of its own.

Requests were checked before they were written (checks), but a log may come from elsewhere: each
event is checked against its rule before it changes anything. Both are kept lean, because
a study is opened by folding.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable

import numpy as np

from proband.errors import StudyError
from proband.rewards import Entropy
from proband.studies.events.rules import LATEST, WRONG, check, check_founding, wrong
from proband.studies.ledger.chain import FORMAT, Event, linked
from proband.studies.ledger.ledger import VOIDING, Amendment, Clock, Imported, Ledger
from proband.studies.ledger.names import problem_from_dict
from proband.studies.stores.contract import Entry

CREATED = "created"


def founded(entry: Entry, event: Event) -> Ledger:
    """Return the ledger after the first event of a study."""
    if event.kind != CREATED:
        raise StudyError(f"the log begins with {event.kind!r}; a study begins with {CREATED!r}; it is no study's log")
    written = event.data.get("format")
    if written != FORMAT:
        raise StudyError(
            f"the study was written in format {written!r}; this version reads {FORMAT}; install a newer proband"
        )
    check_founding(event)
    try:
        ledger = Ledger(problem_from_dict(event.data["problem"]), event.data)
    except WRONG as error:
        raise wrong(event, error) from error
    advance(ledger, entry, event)
    return ledger


def fold(ledger: Ledger, entries: Iterable[Entry]) -> None:
    """Fold the entries that follow the ledger's position, after checking the chain; skip those folded before."""
    position = ledger.position
    new = (entry for entry in entries if entry.number > position)
    for entry, event in linked(new, after=position, previous=ledger.hash):
        apply(ledger, event)
        advance(ledger, entry, event)


def folded(entries: Iterable[Entry]) -> Ledger:
    """Return the ledger of a whole log."""
    rest = iter(entries)
    for entry, event in linked(itertools.islice(rest, 1)):
        ledger = founded(entry, event)
        fold(ledger, rest)
        return ledger
    raise StudyError("the log is empty; a study begins with the event that created it; it is no study's log")


def apply(ledger: Ledger, event: Event) -> None:
    """Change the ledger as an event says; raise, and change nothing, if it is none that a study writes."""
    seconds = check(ledger, event)
    try:
        _HANDLERS[event.kind](ledger, event, seconds)
    except WRONG as error:
        raise wrong(event, error) from error


def advance(ledger: Ledger, entry: Entry, event: Event) -> None:
    """Move the position of a ledger to an event that was applied."""
    ledger.position, ledger.hash, ledger.time = event.number, entry.hash, event.time
    ledger.kinds[event.kind] = ledger.kinds.get(event.kind, 0) + 1
    if "clock_behind" in event.data:
        ledger.clock.append(Clock(event.number, event.station, event.data["clock_behind"]))


def _arrived(ledger: Ledger, event: Event, seconds: float) -> None:
    data = event.data
    name = str(event.subject)
    columns = ledger.columns
    i = columns.add(name, event.station)
    ledger.index[name] = i
    ledger.open[i] = None
    columns.coin[i], columns.policy[i], columns.lease[i] = data["coin"], data["policy"], data["lease"]
    columns.arrived[i], columns.arrived_at[i] = event.number, seconds
    for test, outcome in data["known"].items():
        j, value = ledger.names.number(test, outcome)
        columns.rows[i, j], columns.when[i, j] = value, event.number
        if ledger.operable[j]:
            columns.steady[i] = False
    _hold(ledger, i, event, seconds)


def _observed(ledger: Ledger, event: Event, seconds: float) -> None:
    data = event.data
    columns = ledger.columns
    i = ledger.index[str(event.subject)]
    j, value = ledger.names.number(data["test"], data["outcome"])
    columns.rows[i, j], columns.when[i, j] = value, event.number
    if ledger.operable[j]:
        columns.paid[i, j] = data["cost"]
        columns.spent[i] += data["cost"]
    if not data["followed"]:
        columns.deviations[i] += 1
        columns.steady[i] = False
    _hold(ledger, i, event, seconds)


def _decided(ledger: Ledger, event: Event, seconds: float) -> None:
    data = event.data
    columns = ledger.columns
    i = ledger.index[str(event.subject)]
    columns.decided[i], columns.finished_at[i], columns.touched[i] = event.number, seconds, event.number
    columns.decisions[i] = data["decision"]
    columns.obeyed[i] = data["followed"]
    if data["chance"] is not None:
        columns.chance[i] = data["chance"]
    del ledger.open[i]
    ledger.order.append(i)
    ledger.ended.append(event.number)


def _corrected(ledger: Ledger, event: Event, seconds: float) -> None:
    data = event.data
    columns = ledger.columns
    i = ledger.index[str(event.subject)]
    j = ledger.problem.test_index(data["test"])
    _amend(ledger, i, j, event.number)
    columns.steady[i], columns.touched[i] = False, event.number
    if data["outcome"] is None or not isinstance(ledger.problem.reward, Entropy):
        columns.chance[i] = math.nan  # a set is measured whatever it shows: another value changes no chance
    if data["outcome"] is None:
        columns.rows[i, j], columns.paid[i, j], columns.when[i, j] = math.nan, math.nan, 0
        columns.spent[i] = math.fsum(columns.paid[i][~np.isnan(columns.paid[i])].tolist())
    else:
        columns.rows[i, j] = ledger.names.number(data["test"], data["outcome"])[1]


def _voided(ledger: Ledger, event: Event, seconds: float) -> None:
    i = ledger.index[str(event.subject)]
    _amend(ledger, i, VOIDING, event.number)
    ledger.columns.voided[i], ledger.columns.touched[i] = event.number, event.number
    ledger.open.pop(i, None)


def _revealed(ledger: Ledger, event: Event, seconds: float) -> None:
    data = event.data
    columns = ledger.columns
    i = ledger.index[str(event.subject)]
    for test, outcome in data["outcomes"].items():
        j, value = ledger.names.number(test, outcome)
        _amend(ledger, i, j, event.number)
        columns.rows[i, j], columns.when[i, j] = value, event.number
        if not ledger.unavailable[j]:  # nobody knows how likely it was that this truth came in
            columns.chance[i] = math.nan
    columns.touched[i] = event.number


def _taken(ledger: Ledger, event: Event, seconds: float) -> None:
    i = ledger.index[str(event.subject)]
    ledger.columns.lease[i] = event.data["lease"]
    _hold(ledger, i, event, seconds)


def _imported(ledger: Ledger, event: Event, seconds: float) -> None:
    data = event.data
    rows = np.full((len(data["rows"]), ledger.problem.d), np.nan)
    for n, cells in enumerate(data["rows"]):
        for test, outcome in zip(data["tests"], cells, strict=True):
            if outcome is not None:
                j, rows[n, j] = ledger.names.number(test, outcome)
    chances = np.array([math.nan if chance is None else chance for chance in data["chances"]], dtype=np.float64)
    counts = np.array(data["counts"], dtype=np.int64)
    ledger.imports.append(Imported(event.number, rows, counts, chances, data["source"]))
    ledger.forcing.append(event.number)


def _restarted(ledger: Ledger, event: Event, seconds: float) -> None:
    ledger.restarts.append(event.number)
    ledger.forcing.append(event.number)


def _hold(ledger: Ledger, i: int, event: Event, seconds: float) -> None:
    """Let a station hold a subject: from the time of its own clock on, and not from that of an earlier event."""
    columns = ledger.columns
    columns.holders[i] = event.station
    columns.lease_end[i] = min(seconds - event.data.get("clock_behind", 0.0) + columns.lease[i], LATEST)
    columns.touched[i] = event.number


def _amend(ledger: Ledger, i: int, j: int, number: int) -> None:
    """Keep what a finished subject was before."""
    columns = ledger.columns
    if columns.decided[i]:
        was = math.nan if j == VOIDING else float(columns.rows[i, j])
        ledger.amendments.append(Amendment(number, i, j, was, float(columns.chance[i])))
        if not ledger.forcing or ledger.forcing[-1] != number:
            ledger.forcing.append(number)


_HANDLERS: dict[str, Callable[[Ledger, Event, float], None]] = {
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
