"""Past records come in: what was seen of subjects before the study, by name, equal rows counted together.

Rows may be incomplete. The order of past subjects does not matter to any agent, so equal rows are merged; a long table
becomes several events, written all or none.

Past subjects have no names, so that nobody can tell whether two equal rows are one subject. What can be told is
whether a table is one that was imported before: in whatever order, the same rows, each as often. And a table that comes
back under the same name with all of its rows and more is taken for the same one, and what is more for new.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from proband.errors import StudyError, TableError, shown
from proband.problem import Problem
from proband.studies.events import checks
from proband.studies.events.kind import Data, Draft, EventKind, Leases, Request, StaleError
from proband.studies.ledger.chain import NO_HASH, Event, canonical, digest
from proband.studies.ledger.ledger import Imported, Ledger, Outcome
from proband.vocabulary import FloatArray, IntArray, Records, as_states

ROWS = 10_000
"""Distinct rows in one event."""


@dataclass(frozen=True, eq=False)
class PastRecords:
    """Distinct rows, how often each was seen, and with which chance it was complete."""

    outcomes: FloatArray
    counts: IntArray
    chances: FloatArray
    source: str
    digest: str  # of all of the table, whatever the order of its rows

    @property
    def n(self) -> int:
        """Number of subjects."""
        return int(self.counts.sum())

    def parts(self, ledger: Ledger) -> Iterator[Data]:
        """Yield the data of the events."""
        tests = [test.name for test in ledger.problem.tests]
        for start in range(0, len(self.counts), ROWS):
            part = slice(start, start + ROWS)
            yield {
                "tests": tests,
                "rows": [_cells(ledger, row) for row in self.outcomes[part]],
                "counts": self.counts[part].tolist(),
                "chances": [None if math.isnan(chance) else chance for chance in self.chances[part].tolist()],
                "source": self.source,
                "digest": self.digest,
            }

    def beyond(self, earlier: Sequence[Imported]) -> PastRecords:
        """Return what a table has more than was imported before under the same name.

        If rows of before are missing, and others are there again, nobody can tell whether it is the same table.
        """
        same = [imported for imported in earlier if imported.source == self.source]
        known = Counter[bytes]()
        for imported in same:
            for row, count in zip(imported.outcomes, imported.counts.tolist(), strict=True):
                known[_identity(row)] += count
        mine = Counter[bytes]()
        left = self.counts.copy()
        for n, row in enumerate(self.outcomes):
            mine[_identity(row)] += int(left[n])
            left[n] -= min(int(left[n]), known[_identity(row)])
        again, before = (mine & known).total(), known.total()
        if 0 < again < min(before, self.n):
            raise StudyError(
                f"{self.source}: {again:,} of its {self.n:,} rows are among the {before:,} that were imported under "
                f"this name before, of which {before - again:,} are missing now; a table that grows keeps its rows, "
                "and other subjects come under another name; give another source, or put the rows back"
            )
        new = left > 0
        return replace(self, outcomes=self.outcomes[new], counts=left[new], chances=self.chances[new])


class Learned(int):
    """How many past subjects were added; `recognised` are those of the table that were there already.

    Examples
    --------
    >>> found = Learned(1, recognised=500)
    >>> found == 1, found.recognised
    (True, 500)
    """

    recognised: int

    def __new__(cls, added: int, *, recognised: int = 0) -> Learned:
        """Make it from both numbers."""
        self = super().__new__(cls, added)
        self.recognised = recognised
        return self


def past_records(records: Records, problem: Problem, source: str | None) -> PastRecords:
    """Return past records as they are imported."""
    from proband.agents.agent import fully_tested

    outcomes = as_states(records.outcomes, problem.tests)
    seen = records.counts > 0
    if not seen.any():
        raise TableError("the records show nobody; there is nothing to learn from; give one subject or more")
    complete = bool(fully_tested(problem, outcomes[seen]).all())
    chances = records.chances if records.chances is not None else np.full(len(outcomes), 1.0 if complete else np.nan)
    name = "records" if source is None else checks.text("the source", source)
    return _merged(outcomes[seen], records.counts[seen], chances[seen], name)


def _merged(outcomes: FloatArray, counts: IntArray, chances: FloatArray, source: str) -> PastRecords:
    """Count equal rows together, in the order of their first appearance; the digest is that of the sorted rows."""
    rows = np.column_stack([outcomes, chances])
    told = np.column_stack([np.isnan(rows), np.nan_to_num(rows)])
    _, first, of_row = np.unique(told, axis=0, return_index=True, return_inverse=True)
    sums = np.bincount(of_row.reshape(-1), weights=counts, minlength=len(first)).astype(np.int64)
    content = canonical([_plain(outcomes[first]), sums.tolist(), _plain(chances[first])])
    order = np.argsort(first)
    return PastRecords(outcomes[first[order]], sums[order], chances[first[order]], source, digest(content))


def _identity(row: FloatArray) -> bytes:
    """Return what makes two rows equal: which tests were run, and what they showed."""
    return (np.where(np.isnan(row), np.nan, row) + 0.0).tobytes()


def _plain(array: FloatArray) -> list[Any]:
    plain = array.astype(object)
    plain[np.isnan(array)] = None
    return list(plain.tolist())


def _cells(ledger: Ledger, row: FloatArray) -> list[Outcome | None]:
    return [None if np.isnan(value) else ledger.stated(j, value) for j, value in enumerate(row)]


def _draft(ledger: Ledger, request: Request, leases: Leases | None) -> list[Draft]:
    """Draft the parts of an import, unless others imported something since it was compared with what is there."""
    restart, seen = ledger.last_restart(ledger.position), request.content["seen"]
    if seen not in (None, [restart, sum(imported.number > restart for imported in ledger.imports)]):
        raise StaleError
    return [Draft(None, data) for data in request.content["parts"]]


def _same(content: dict[str, Any], own: list[Data]) -> bool:
    return bool(content["parts"][0]["digest"] == own[0]["digest"])


def _read(ledger: Ledger, event: Event, data: Data) -> None:
    tests, rows, counts, chances = (data[name] for name in ("tests", "rows", "counts", "chances"))
    if not all(type(part) is list for part in (tests, rows, counts, chances)) or not rows:
        raise TypeError("its tests, rows, counts and chances are no lists, or empty")
    if not len(rows) == len(counts) == len(chances) or any(
        type(row) is not list or len(row) != len(tests) for row in rows
    ):
        raise ValueError("its rows, counts and chances do not fit together")
    if len(set(tests)) < len(tests):
        raise ValueError(f"its tests {shown(tests)} repeat a name")
    most = checks.MOST_SUBJECTS
    if any(type(count) is not int or count < 1 for count in counts) or sum(counts) > most:
        raise ValueError(f"its counts are no whole numbers of 1 or more, or count more than {most:,} subjects")
    for chance in chances:
        if chance is not None:
            checks.chance(chance)
    checks.nobody(event)
    checks.written(data, "source")
    checks.written(data, "digest")


def _fold(ledger: Ledger, event: Event, seconds: float, meaning: None) -> None:
    data = event.data
    rows = np.full((len(data["rows"]), ledger.problem.d), np.nan)
    for n, cells in enumerate(data["rows"]):
        for test, outcome in zip(data["tests"], cells, strict=True):
            if outcome is not None:
                j, rows[n, j] = ledger.number(test, outcome)
    chances = np.array([math.nan if chance is None else chance for chance in data["chances"]], dtype=np.float64)
    counts = np.array(data["counts"], dtype=np.int64)
    ledger.imports.append(Imported(event.number, rows, counts, chances, data["source"]))
    ledger.forcing.append(event.number)


def _asked(ledger: Ledger, event: Event, data: Data) -> Data:
    tests = [test.name for test in ledger.problem.tests]
    rows, counts, chances = data["rows"], data["counts"], data["chances"]
    if not 1 <= len(rows) <= ROWS or not len(rows) == len(counts) == len(chances):
        raise StudyError(
            f"it has {len(rows)} rows, {len(counts)} counts and {len(chances)} chances; there are 1 to {ROWS} rows, "
            "with one of each; export the log again"
        )
    for cells, count, chance in zip(rows, counts, chances, strict=True):
        checks.whole("a count", count, 1, checks.MOST_SUBJECTS)
        checks.exported_chance(chance)
        told = {test: cell for test, cell in zip(tests, cells, strict=True) if cell is not None}
        checks.same(dict(enumerate(cells)), dict(enumerate(_cells(ledger, ledger.row(told)))))
    digest = f"{int(data['digest'], 16):0{len(NO_HASH)}x}"
    part = {"tests": tests, "source": checks.text("the source", data["source"]), "digest": digest}
    return {"parts": [part], "seen": None}


IMPORTED = EventKind("imported", _draft, _same, _read, _fold, _asked)
