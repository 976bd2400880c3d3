"""Past records as events: what was seen of subjects before the study, by name, equal rows counted together.

Rows may be incomplete. The order of past subjects does not matter to any agent, so equal rows are merged; a long table
becomes several events, written all or none.

Past subjects have no names, so that nobody can tell whether two equal rows are one subject. What can be told is
whether a table is one that was imported before: in whatever order, the same rows, each as often. And a table that comes
back under the same name with all of its rows and more is taken for the same one, and what is more for new.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from proband.agents.agent import fully_tested
from proband.errors import StudyError, TableError
from proband.problem import Problem
from proband.studies.events import checks
from proband.studies.exchange.spreadsheets import read_past
from proband.studies.ledger.chain import canonical, digest
from proband.studies.ledger.ledger import Imported
from proband.studies.ledger.names import Names
from proband.texts import escaped
from proband.vocabulary import FloatArray, IntArray, Records, as_states

ROWS = 10_000
"""Distinct rows in one event."""


@dataclass(frozen=True, eq=False)
class Past:
    """Distinct rows, how often each was seen, and with which chance it was complete.

    Attributes
    ----------
    outcomes : FloatArray of shape (u, d)
    counts : IntArray of shape (u,)
    chances : FloatArray of shape (u,)
    source : str
    digest : str
        Of all of the table, whatever the order of its rows.
    """

    outcomes: FloatArray
    counts: IntArray
    chances: FloatArray
    source: str
    digest: str

    @property
    def n(self) -> int:
        """Number of subjects."""
        return int(self.counts.sum())

    def parts(self, names: Names) -> Iterator[dict[str, Any]]:
        """Yield the data of the events."""
        tests = [test.name for test in names.problem.tests]
        for start in range(0, len(self.counts), ROWS):
            part = slice(start, start + ROWS)
            yield {
                "tests": tests,
                "rows": [_cells(names, row) for row in self.outcomes[part]],
                "counts": self.counts[part].tolist(),
                "chances": [None if math.isnan(chance) else chance for chance in self.chances[part].tolist()],
                "source": self.source,
                "digest": self.digest,
            }

    def beyond(self, earlier: Sequence[Imported]) -> Past:
        """Return what a table has more than was imported before under the same name.

        Raises
        ------
        StudyError
            If rows of before are missing, and others are there again: nobody can tell whether it is the same table.
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


def past_records(records: Records | str | os.PathLike[str], problem: Problem, source: str | None) -> Past:
    """Return past records, from a table if a path is given."""
    if not isinstance(records, Records):
        source = escaped(Path(records).name)[: checks.LONGEST] if source is None else source
        records = read_past(records, problem)
    outcomes = as_states(records.outcomes, problem.tests)
    seen = records.counts > 0
    if not seen.any():
        raise TableError("the records show nobody; there is nothing to learn from; give one subject or more")
    complete = bool(fully_tested(problem, outcomes[seen]).all())
    chances = records.chances if records.chances is not None else np.full(len(outcomes), 1.0 if complete else np.nan)
    name = "records" if source is None else checks.text("the source", source)
    return _merged(outcomes[seen], records.counts[seen], chances[seen], name)


def _merged(outcomes: FloatArray, counts: IntArray, chances: FloatArray, source: str) -> Past:
    """Count equal rows together, in the order of their first appearance; the digest is that of the sorted rows."""
    rows = np.column_stack([outcomes, chances])
    told = np.column_stack([np.isnan(rows), np.nan_to_num(rows)])
    _, first, of_row = np.unique(told, axis=0, return_index=True, return_inverse=True)
    sums = np.bincount(of_row.reshape(-1), weights=counts, minlength=len(first)).astype(np.int64)
    content = canonical([_plain(outcomes[first]), sums.tolist(), _plain(chances[first])])
    order = np.argsort(first)
    return Past(outcomes[first[order]], sums[order], chances[first[order]], source, digest(content))


def _identity(row: FloatArray) -> bytes:
    """Return what makes two rows equal: which tests were run, and what they showed."""
    return (np.where(np.isnan(row), np.nan, row) + 0.0).tobytes()


def _plain(array: FloatArray) -> list[Any]:
    plain = array.astype(object)
    plain[np.isnan(array)] = None
    return list(plain.tolist())


def _cells(names: Names, row: FloatArray) -> list[str | float | None]:
    return [None if np.isnan(value) else names.outcome(j, value) for j, value in enumerate(row)]
