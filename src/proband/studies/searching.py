"""Finding subjects among many by what became of them and what their tests showed, in any order; and events, backwards.

Subjects are found in the ledger's columns, all at once; objects are made of the rows that are asked for alone. Events
are read from the store, from the end of the log on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proband.errors import UnknownNameError
from proband.studies.ledger.chain import Event, unseal
from proband.studies.ledger.ledger import FINISHED, OPEN, VOIDED, Ledger, Outcome
from proband.studies.ledger.subject import Subject, subject_of
from proband.studies.operations import Station
from proband.vocabulary import IntArray

STATUSES = (OPEN, FINISHED, VOIDED)

PIECE = 500
"""Events that are read at a time."""

FURTHEST = 20_000
"""Events that are looked at for one answer; who asks goes on from there."""

ORDERS = ("number", "subject", "status", "decision", "spent", "tests", "station", "finished")
"""What subjects are sorted by, beside the names of tests."""


@dataclass(frozen=True)
class Search:
    """Which subjects are looked for, and in which order; the fields are the arguments of :func:`find`."""

    name: str = ""
    status: str | None = None
    decision: str | None = None
    station: str | None = None
    outcomes: Mapping[str, Outcome | None] = field(default_factory=dict)
    sort: str = "number"
    descending: bool = False

    def among(self, ledger: Ledger) -> IntArray:
        """Return the rows of the subjects in a ledger."""
        found = np.flatnonzero(
            _of_name(ledger, self.name)
            & _of_status(ledger, self.status)
            & _equal(ledger.columns.decisions, self.decision)
            & _equal(ledger.columns.holders, self.station)
            & _showing(ledger, self.outcomes)
        )
        return _ordered(ledger, found, self.sort, descending=self.descending)


class Found(NamedTuple):
    """Subjects that were found: how many in all, and some of them."""

    total: int
    subjects: list[Subject]


class Looked(NamedTuple):
    """Events that were found, the latest first, and before which event to look on; None at the beginning."""

    events: list[Event]
    next: int | None


def trail(
    study: Station,
    *,
    before: int | None = None,
    limit: int = 100,
    kind: str = "",
    subject: str = "",
    actor: str = "",
) -> Looked:
    """Find events, the latest first.

    Parameters
    ----------
    before : int, optional
        Only events with a smaller number; by default from the end on.
    limit : int
        How many at most.
    kind : str
        Of which kind; by default of any.
    subject, actor : str
        Part of the subject's and of the actor's name; upper and lower case are one.
    """
    journal = study._journal
    journal.check_open()
    end = journal.store.length(journal.study) + 1 if before is None else before
    last, found = max(1, end - FURTHEST), list[Event]()
    wanted = subject.casefold(), actor.casefold()
    while end > last:
        start = max(last, end - PIECE)
        entries = journal.store.read(journal.study, start - 1, end - start)
        for event in map(unseal, reversed(entries)):
            fits = kind in ("", event.kind) and wanted[1] in event.actor.casefold()
            if fits and wanted[0] in (event.subject or "").casefold():
                found.append(event)
                if len(found) == limit:
                    return Looked(found, event.number if event.number > 1 else None)
        end = start
    return Looked(found, end if end > 1 else None)


def find(
    study: Station,
    *,
    name: str = "",
    status: str | None = None,
    decision: str | None = None,
    station: str | None = None,
    outcomes: Mapping[str, Outcome | None] | None = None,
    sort: str = "number",
    descending: bool = False,
    skip: int = 0,
    limit: int | None = None,
) -> Found:
    """Find subjects; what is not known is last in every order.

    Parameters
    ----------
    name : str
        Part of their names; upper and lower case are one.
    status, decision, station : str, optional
        What became of them, and who holds them.
    outcomes : mapping, optional
        What tests showed; None where a test was not run.
    sort : str
        One of :data:`ORDERS`, or the name of a test; what is equal is in the order of arrival.
    descending : bool
    skip, limit : int
        Which of them are returned.
    """
    search = Search(name, status, decision, station, outcomes or {}, sort, descending)
    study._journal.refresh()
    with study._journal.lock:
        ledger = study._journal.ledger
        order = search.among(ledger)
        return Found(len(order), [subject_of(ledger, int(i)) for i in order[skip:][:limit]])


def _of_name(ledger: Ledger, part: str) -> NDArray[np.bool_]:
    wanted = part.casefold()
    names = ledger.columns.names
    return np.array([wanted in name.casefold() for name in names], dtype=np.bool_) if wanted else _all(ledger)


def _of_status(ledger: Ledger, status: str | None) -> NDArray[np.bool_]:
    if status is None:
        return _all(ledger)
    if status not in STATUSES:
        raise UnknownNameError(f"the status is {status!r}; subjects are {', '.join(STATUSES)}; choose one")
    fits: NDArray[np.bool_] = _statuses(ledger) == STATUSES.index(status)
    return fits


def _statuses(ledger: Ledger) -> IntArray:
    columns, n = ledger.columns, len(ledger.columns)
    return np.where(columns.voided[:n] > 0, 2, np.where(columns.decided[:n] > 0, 1, 0))


def _equal(values: list[Any], wanted: str | None) -> Any:
    return True if wanted is None else np.array([value == wanted for value in values], dtype=np.bool_)


def _showing(ledger: Ledger, outcomes: Mapping[str, Outcome | None]) -> NDArray[np.bool_]:
    rows = ledger.columns.rows[: len(ledger.columns)]
    fits: NDArray[np.bool_] = _all(ledger)
    for test, outcome in outcomes.items():
        if outcome is None:
            np.logical_and(fits, np.isnan(rows[:, ledger.problem.test_index(test)]), out=fits)
        else:
            j, value = ledger.number(test, outcome)
            np.logical_and(fits, rows[:, j] == value, out=fits)
    return fits


def _ordered(ledger: Ledger, found: IntArray, sort: str, *, descending: bool) -> IntArray:
    values, known = _sorted_by(ledger, found, sort)
    _, ranks = np.unique(values, return_inverse=True)
    ranks = -ranks if descending else ranks
    return found[np.lexsort((found if not descending or sort != "number" else -found, ranks, ~known))]


def _sorted_by(ledger: Ledger, found: IntArray, sort: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return what subjects are sorted by, and where it is known."""
    columns, everywhere = ledger.columns, np.ones(len(found), dtype=np.bool_)
    if sort not in ORDERS:
        if sort not in {test.name for test in ledger.problem.tests}:
            orders = ", ".join(ORDERS)
            raise UnknownNameError(f"nothing is called {sort!r}; sort by {orders}, or the name of a test; choose one")
        shown = columns.rows[found, ledger.problem.test_index(sort)]
        return np.nan_to_num(shown), ~np.isnan(shown)
    if sort in ("subject", "station"):
        texts = columns.names if sort == "subject" else columns.holders
        return np.array([_natural(texts[i]) for i in found], dtype=np.str_), everywhere
    if sort == "decision":
        decisions = [columns.decisions[i] for i in found]
        return np.array([each or "" for each in decisions], dtype=np.str_), np.array(list(map(bool, decisions)))
    numbers: dict[str, Any] = {
        "number": lambda: found,
        "status": lambda: _statuses(ledger)[found],
        "spent": lambda: columns.spent[found],
        "tests": lambda: (~np.isnan(columns.paid[found])).sum(axis=1),
        "finished": lambda: columns.decided[found],
    }
    values = np.asarray(numbers[sort]())
    return values, values > 0 if sort == "finished" else everywhere


def _natural(name: str) -> str:
    """Return a name such that its numbers are sorted by size.

    Examples
    --------
    >>> sorted(["bolt 10", "Bolt 9"], key=_natural)
    ['Bolt 9', 'bolt 10']
    """
    parts: list[str] = []
    digits = ""
    for letter in name.casefold():
        if letter.isdecimal() and letter.isascii():
            digits += letter
            continue
        parts.append(digits.rjust(12, "0") if digits else "")
        parts.append(letter)
        digits = ""
    return "".join((*parts, digits.rjust(12, "0") if digits else ""))


def _all(ledger: Ledger) -> NDArray[np.bool_]:
    return np.ones(len(ledger.columns), dtype=np.bool_)
