"""What trees are grown on, where they are written, and what growing them needs, as bundles of arrays.

A tree over n rows has at most 2n - 1 nodes, since every leaf has a row of its own. So each node owns the places of
its largest possible subtree: the root of a tree over rows lo .. hi has place 2 lo, its first child the next place, and
each further child begins where the places of the one before end. A subtree is then replaced by a better one in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.bundle import Bundle
from proband.planners.sparse.arrays import Arrays, check_arrays
from proband.vocabulary import FloatArray, IntArray

NO_LIMIT = 1 << 40
"""Tests for a subject where nothing limits them."""

TIE = 1e-12
"""Values that differ by less than this share of what is at stake are equal."""

Cells = tuple[NDArray[np.int32], NDArray[np.uint8], IntArray]
"""Outcomes of each test and row (m, n), which cells each row shows (n, cells), and each test's first cell (m + 1,)."""

FEW_CELLS = 8
"""Sums are taken over all cells if a test has no more than these on average, else over those that a row shows."""

UNPAYABLE = 1e300
"""Cheapest price where there is no test."""

AFFORDABLE = 1 + 1e-9
"""A budget is kept up to rounding."""


@dataclass(frozen=True, eq=False)
class Rows(Bundle):
    """The rows, with prices and limits. Cell `offset[j]` + b is "test j shows b"."""

    codes: NDArray[np.int32]  # outcome of each test and row
    shown: NDArray[np.uint8]  # of each row and cell, 1 where it is shown; no cells if they are many
    offset: IntArray  # first cell of each test, and the number of cells
    weight: FloatArray
    stakes: FloatArray
    ceiling: FloatArray  # most that each row can bring
    first: IntArray  # where the entries of each row begin:
    column: IntArray  # their column, `ideal` first, then, if they are `apart`, `stakes`, then subjects, if they count,
    amount: FloatArray  # and what they add to it
    price: FloatArray
    group_price: FloatArray
    group: IntArray  # from 0 on, -1 for none
    allowed: NDArray[np.bool_]
    apart: bool  # whether the stakes of decisions differ by something else than `ideal` does
    columns: int  # of sums
    enough: float  # subjects that each outcome of a test must have, or none; 0: they do not count
    max_tests: int
    budget: float
    penalty: float
    least: float  # cheapest price
    free: float  # prices below it count as this in scores
    tolerance: float


@dataclass(frozen=True, eq=False)
class Grove(Bundle):
    """Trees, each node at its place (see above)."""

    order: IntArray  # the rows: those of a node stand together,
    lo: IntArray  # from here
    hi: IntArray  # to here
    parent: IntArray  # -1: none
    outcome: IntArray  # of the parent's test
    pieces: IntArray  # children
    test: IntArray  # -1: stop
    telling: IntArray  # the test by which the tree was first grown here, -1: none
    depth: IntArray  # tests before
    spent: FloatArray  # and what they cost
    price: FloatArray  # of the test
    mass: FloatArray
    stop: FloatArray  # worth of stopping,
    column: IntArray  # and what to decide then
    most: FloatArray  # worth of knowing all, at no cost
    value: FloatArray  # of the subtree, less the penalty of its nodes


@dataclass(frozen=True, eq=False)
class Work(Bundle):
    """Working arrays of growing."""

    used: IntArray  # how often a test was run on the way (or is not allowed)
    open: IntArray  # the same for each group
    slab: FloatArray  # levels of sums (columns, cells)
    base: FloatArray  # such sums, of the node whose tests are tried (1, columns, cells)
    total: FloatArray  # sums over all cells of a test (columns, 1)
    cell_mass: FloatArray  # of each cell: its mass,
    cell_order: FloatArray  # how far it is in order,
    cell_best: FloatArray  # and the worth of its best decision
    score: FloatArray  # of each test
    candidate: IntArray  # the tests to be tried at a node
    row: IntArray  # rows on their way to another place, or to be added up,
    amount: FloatArray  # and what they add
    begin: IntArray  # of each outcome: where its rows go
    stack: IntArray
    visited: IntArray  # nodes, parents first
    level: IntArray  # of each node: its slab,
    feeds: IntArray  # whether its sums are to be taken off those of its parent,
    single: IntArray  # best test if a decision must follow, -1: none,
    single_value: FloatArray  # and its value
    waiting: IntArray  # nodes whose tests are still to be tried


def check(
    codes: ArrayLike, weight: ArrayLike, stakes: ArrayLike, cost: ArrayLike, group: ArrayLike | None,
    group_cost: ArrayLike | None, starts: Sequence[ArrayLike] | None, max_tests: int | None, budget: float | None,
    penalty: float,
) -> Arrays:  # fmt: skip
    """Return the checked input; rows may have no mass, as some have in draws of weights."""
    mass = np.asarray(weight, dtype=np.float64)
    some = np.where(mass == 0, 1.0, mass)
    return check_arrays(codes, some, stakes, cost, "sum", group_cost, group, max_tests, budget, starts, penalty)


def ideal_of(stakes: FloatArray) -> FloatArray:
    """What knowing all about each row would decide, and how much hangs on it: best - worst, on the best column.

    Parameters
    ----------
    stakes : ndarray (n, a)
        Mass times reward of each decision.

    Examples
    --------
    >>> ideal_of(np.array([[0.5, 0.0], [-10.0, 0.0]]))
    array([[ 0.5,  0. ],
           [ 0. , 10. ]])
    """
    made = np.zeros(stakes.shape)
    made[np.arange(len(stakes)), stakes.argmax(axis=1)] = np.ptp(stakes, axis=1)
    return made


@dataclass(frozen=True, eq=False)
class Enough:
    """How many subjects each outcome of a test must have, or none, and how many each row (n,) stands for."""

    least: float
    subjects: FloatArray


def new_rows(
    arrays: Arrays, weight: FloatArray, stakes: FloatArray, ideal: FloatArray, ceiling: ArrayLike | None,
    allowed: ArrayLike | None, cells: Cells, enough: Enough | None = None,
) -> Rows:  # fmt: skip
    """Bundle checked rows with one set of weights."""
    may = np.ones(arrays.cost.size, dtype=np.bool_) if allowed is None else np.array(allowed, dtype=np.bool_)
    if may.shape != arrays.cost.shape:
        raise ValueError(f"allowed {may.shape} must have one entry for each of {arrays.cost.size} tests")
    apart, values = _summed(stakes, ideal, enough)
    first, column, amount = _entries(values)
    lowest = np.minimum(arrays.cost, arrays.group_cost)[may]
    return Rows(
        *cells,
        weight=weight,
        stakes=stakes,
        ceiling=np.ascontiguousarray(stakes.max(axis=1) if ceiling is None else ceiling, dtype=np.float64),
        first=first,
        column=column,
        amount=amount,
        price=arrays.cost,
        group_price=arrays.group_cost,
        group=numbered(arrays.group),
        allowed=may,
        apart=apart,
        columns=values.shape[1],
        enough=0.0 if enough is None else float(enough.least),
        max_tests=NO_LIMIT if arrays.max_tests is None else int(arrays.max_tests),
        budget=float("inf") if arrays.budget is None else float(arrays.budget) * AFFORDABLE,
        penalty=float(arrays.penalty),
        least=float(lowest.min(initial=UNPAYABLE)),
        free=1e-9 * float(arrays.cost.max(initial=0.0)) or 1.0,
        tolerance=TIE * float(np.abs(stakes).max(axis=1).sum()),
    )


def cells_of(codes: IntArray) -> Cells:
    """Return the outcomes of each test and row, which cells each row shows, and the first cell of each test."""
    from proband.planners.rollout.running_kernel import write_cells  # compiled

    outcomes = codes.max(axis=0, initial=0) + 1
    offset = np.concatenate(([0], np.cumsum(outcomes))).astype(np.int64)
    cells = offset[-1] if offset[-1] <= FEW_CELLS * codes.shape[1] else 0
    by_test, shown = np.empty(codes.shape[::-1], dtype=np.int32), np.zeros((len(codes), cells), dtype=np.uint8)
    write_cells(codes, offset, by_test, shown)
    return by_test, shown, offset


def numbered(group: IntArray) -> IntArray:
    """Return groups numbered from 0 on, with -1 for none."""
    names = np.unique(group[group >= 0])
    return np.where(group >= 0, np.searchsorted(names, group), -1).astype(np.int64)


def _summed(stakes: FloatArray, ideal: FloatArray, enough: Enough | None) -> tuple[bool, FloatArray]:
    """What is added up over rows, shape (n, columns), and whether stakes are.

    The best decision of a cell follows from `ideal` where stakes differ from it by the same for each decision: always
    with two decisions, and for labels to be named. Otherwise the stakes are added up in columns of their own.
    """
    rest = stakes - ideal
    apart = bool((np.ptp(rest, axis=1) > TIE * np.abs(stakes).max(initial=0.0)).any())
    parts = [ideal, stakes - stakes.min(axis=1, keepdims=True)] if apart else [ideal]
    return apart, np.hstack(parts if enough is None else [*parts, enough.subjects[:, None]])


def _entries(values: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """What each row adds to which column: most rows have one label, so that most columns get nothing."""
    row, column = np.nonzero(values)
    first = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(values))))).astype(np.int64)
    return first, column.astype(np.int64), np.ascontiguousarray(values[row, column])


def new_grove(n: int) -> Grove:
    """Allocate the places of trees over n rows."""
    places = dict.fromkeys(Grove.__dataclass_fields__, 2 * n)
    return Grove.zeros(**{**places, "order": n})


def new_work(rows: Rows, n: int, width: int) -> Work:
    """Allocate the working arrays for n rows and so many tests to be tried at a node."""
    tests, columns, cells = rows.price.size, rows.columns, int(rows.offset[-1])
    by_node = dict.fromkeys(("stack", "visited", "level", "feeds", "single", "single_value", "waiting"), 2 * n)
    return Work.zeros(
        **by_node,
        used=tests,
        open=int(rows.group.max(initial=0)) + 1,
        # A slab is kept while a child of at most half of the rows is grown, so halving bounds their number.
        slab=(int(n).bit_length() + 2, columns, cells),
        base=(1, columns, cells),
        total=(columns, 1),
        cell_mass=cells,
        cell_order=cells,
        cell_best=cells,
        score=tests,
        candidate=width,
        row=n,
        amount=n,
        begin=int(np.diff(rows.offset).max(initial=1)) + 1,
    )
