"""Past records as events: what was seen of subjects before the study, by name, equal rows counted together.

Rows may be incomplete. The order of past subjects does not matter to any agent, so equal rows are merged; a long table
becomes several events, written all or none.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from proband.agents.agent import fully_tested
from proband.errors import TableError
from proband.problem import Problem
from proband.studies import checks
from proband.studies.events import canonical, digest
from proband.studies.names import Names
from proband.studies.spreadsheets import read_past
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
        Of all of it.
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


def past_records(records: Records | str | os.PathLike[str], problem: Problem, source: str | None) -> Past:
    """Return past records, from a table if a path is given."""
    if not isinstance(records, Records):
        source = escaped(Path(records).name) if source is None else source
        records = read_past(records, problem)
    outcomes = as_states(records.outcomes, problem.tests)
    seen = records.counts > 0
    if not seen.any():
        raise TableError("the records show nobody; there is nothing to learn from; give one subject or more")
    complete = bool(fully_tested(problem, outcomes[seen]).all())
    chances = records.chances if records.chances is not None else np.full(len(outcomes), 1.0 if complete else np.nan)
    outcomes, counts, chances = _merged(outcomes[seen], records.counts[seen], chances[seen])
    content = canonical([_plain(outcomes), counts.tolist(), _plain(chances)])
    told = checks.text("the source", "records" if source is None else source)
    return Past(outcomes, counts, chances, told, digest(content))


def _merged(outcomes: FloatArray, counts: IntArray, chances: FloatArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """Count equal rows together, in the order of their first appearance."""
    rows = np.column_stack([outcomes, chances])
    told = np.column_stack([np.isnan(rows), np.nan_to_num(rows)])
    _, first, of_row = np.unique(told, axis=0, return_index=True, return_inverse=True)
    sums = np.bincount(of_row.reshape(-1), weights=counts, minlength=len(first)).astype(np.int64)
    order = np.argsort(first)
    return outcomes[first[order]], sums[order], chances[first[order]]


def _plain(array: FloatArray) -> list[Any]:
    plain = array.astype(object)
    plain[np.isnan(array)] = None
    return list(plain.tolist())


def _cells(names: Names, row: FloatArray) -> list[str | float | None]:
    return [None if np.isnan(value) else names.outcome(j, value) for j, value in enumerate(row)]
