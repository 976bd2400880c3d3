"""Columns of a table as tests: numbers are cut, texts are outcomes, what is missing stays so.

Numbers are cut where a small tree on this column alone tells the labels apart best, near the quantiles where there is
nothing to tell apart.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from proband.problem import Problem
from proband.rewards import Table
from proband.vocabulary import FloatArray, IntArray, Test

TRUTH = "what is decided about"
"""The test that stands for y: past subjects have it, others never."""

LEAST = 5
"""So many of the past are on either side of a cut, at least."""

MOST_LEVELS = 100
"""Different texts of a column, at most."""


@dataclass(frozen=True)
class Column:
    """How the cells of one column become outcomes: by cuts (ascending), or by a list of texts."""

    name: str
    cuts: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, cells: NDArray[Any], labels: IntArray, bins: int) -> Column:
        """Return how cells (n,) are read, from those of the past and the labels (n,) that belong to them."""
        seen = np.array([not missing(cell) for cell in cells.tolist()], dtype=np.bool_)
        known = cells[seen].tolist()
        if not all(isinstance(cell, numbers.Real) for cell in known):
            texts = sorted({str(cell) for cell in known})
            if len(texts) > MOST_LEVELS:
                raise ValueError(
                    f"column {name!r} has {len(texts)} different texts, such as {texts[0]!r}; a test has {MOST_LEVELS} "
                    "outcomes at most; leave the column out, or put texts together"
                )
            return cls(name, texts=tuple(texts))
        numbers_known = np.asarray(known, dtype=np.float64)
        values = np.unique(numbers_known)
        if len(values) <= bins:
            return cls(name, cuts=tuple(((values[1:] + values[:-1]) / 2).tolist()))
        tree = DecisionTreeClassifier(max_leaf_nodes=bins, min_samples_leaf=LEAST, random_state=0)
        splits = tree.fit(numbers_known[:, None], labels[seen]).tree_
        found = np.unique(splits.threshold[splits.feature >= 0])
        if not len(found):
            found = np.unique(np.quantile(numbers_known, np.arange(1, bins) / bins))
        return cls(name, cuts=tuple(found[(found > values[0]) & (found <= values[-1])].tolist()))

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The names of the outcomes."""
        if self.texts:
            return self.texts
        for digits in (4, 6, 17):
            cuts = [f"{cut:.{digits}g}" for cut in self.cuts]
            if len(set(cuts)) == len(cuts):
                break
        if not cuts:
            return ("any",)
        between = [f"{low} to {high}" for low, high in pairwise(cuts)]
        return (f"below {cuts[0]}", *between, f"{cuts[-1]} or more")

    def read(self, cells: NDArray[Any]) -> FloatArray:
        """Return the outcomes of cells (n,); NaN where a cell is missing, or shows a text that was never seen."""
        if self.texts:
            place = {text: float(n) for n, text in enumerate(self.texts)}
            return np.array([np.nan if missing(cell) else place.get(str(cell), np.nan) for cell in cells.tolist()])
        values = np.array([np.nan if missing(cell) else self._number(cell) for cell in cells.tolist()])
        return np.where(np.isnan(values), np.nan, np.searchsorted(np.array(self.cuts), values, side="right"))

    def _number(self, cell: Any) -> float:
        try:
            return float(cell)
        except (TypeError, ValueError):
            raise ValueError(
                f"column {self.name!r} has {cell!r}, and had numbers alone at fit; give a number, or leave it empty"
            ) from None


def missing(cell: Any) -> bool:
    """Return whether a cell shows nothing: None, NaN, pandas' NA, an empty text."""
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return True
    return (isinstance(cell, float | np.floating) and bool(np.isnan(cell))) or type(cell).__name__ in (
        "NAType",
        "NaTType",
    )


def numbered(given: Mapping[Any, Any], names: Sequence[str]) -> dict[Any, Any]:
    """Return a mapping by name where it was by number: columns that had no names at fit are x0, x1 and so on."""
    places: dict[Any, str] = {i: name for i, name in enumerate(names) if name == f"x{i}"}
    return {places.get(key, key): cell for key, cell in given.items()}


def prices(given: Any, names: Sequence[str]) -> list[float]:
    """Return the price of each column: one for all, a sequence, or a mapping by name (others are free)."""
    if isinstance(given, Mapping):
        given = numbered(given, names)
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(
                f"costs has {unknown[0]!r}, which is no column; columns are {', '.join(names)}; correct it"
            )
        return [float(given.get(name, 0.0)) for name in names]
    if isinstance(given, numbers.Real):
        return [float(given)] * len(names)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(f"costs is {given!r}; give a number, one for each column, or a mapping from columns to costs")
    found = [float(cost) for cost in given]
    if len(found) != len(names):
        raise ValueError(f"costs has {len(found)} entries, and X {len(names)} columns; give one cost for each column")
    return found


def grouped(groups: Mapping[str, Mapping[str, float]] | None, names: Sequence[str]) -> dict[str, tuple[str, float]]:
    """Return the group of each column in one, and its price once another column of it was looked at."""
    found: dict[str, tuple[str, float]] = {}
    for group, members in (groups or {}).items():
        for name, price in numbered(members, names).items():
            if name not in names or name in found:
                raise ValueError(
                    f"group {group!r} has {name!r}; a group has columns, and a column is in one group; correct groups"
                )
            found[name] = (str(group), float(price))
    return found


def problem_of(
    names: Sequence[str],
    columns: Sequence[Column],
    costs: Sequence[float],
    groups: Mapping[str, tuple[str, float]],
    truths: Sequence[str],
    decisions: Sequence[str],
    rewards: FloatArray,
) -> Problem:
    """Return the problem of which column to look at next; `rewards` has shape (truths, decisions)."""
    tests = []
    for name, column, cost in zip(names, columns, costs, strict=True):
        group, within = groups.get(name, (None, None))
        tests.append(Test(name, cost, outcomes=column.outcomes, group=group, group_cost=within))
    tests.append(Test(TRUTH, outcomes=tuple(truths), available=False))
    return Problem(tests, list(decisions), Table([TRUTH], rewards.tolist()))
