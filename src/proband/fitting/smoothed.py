"""Plans in which every state has pseudo-subjects of its own (:mod:`proband.fitting.smoothed_kernel`), over a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proband.fitting.grid import Grid
from proband.planners.layout import Layout
from proband.prices import Prices
from proband.vocabulary import FloatArray, IntArray

PSEUDO = 16.0
"""Pseudo-subjects in every state."""


@dataclass(frozen=True)
class Limits:
    """What a plan may do: most tests, most to pay, subjects that each outcome of a test must have, or none.

    `time_limit` is in seconds, for a search.
    """

    max_tests: int | None = None
    budget: float | None = None
    min_leaf: int = 1
    time_limit: float = 10.0


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Brought:
    """What a policy brings to n rows: rewards minus costs, costs, and numbers of tests, shape (n,) each."""

    value: FloatArray
    cost: FloatArray
    tests: FloatArray


@dataclass(frozen=True, eq=False)
class Solved:
    """Plans for some candidates, which share masses.

    Attributes
    ----------
    grid : Grid
    masses : FloatArray of shape (2 + 2 decisions, cells)
    actions : array of shape (candidates, states)
        A position among the tests that can be run, or their number + a decision.
    fixed : FloatArray of shape (sets,)
        What deciding is worth once exactly these tests were run, a subject.
    """

    grid: Grid
    masses: FloatArray
    actions: NDArray[np.uint8]
    fixed: FloatArray

    def treat(self, candidate: int, rows: FloatArray) -> Brought:
        """Take complete rows (n, d) from arrival to decision by one candidate's plan."""
        from proband.planners import dense_kernel

        layout, problem = self.grid.layout, self.grid.problem
        outcomes = np.ascontiguousarray(rows[:, layout.tests], dtype=np.int64)
        last, _, costs, tests = dense_kernel.walk(
            self.actions[candidate], layout.offset, layout.k, layout.prices, layout.peers,
            layout.context_number(rows), outcomes, np.int64(0),
        )  # fmt: skip
        decisions = self.actions[candidate][last].astype(np.int64) - layout.m
        return Brought(problem.realised(rows, problem.d + decisions) - costs, costs, tests.astype(np.float64))

    def treat_with(self, tests: IntArray, rows: FloatArray) -> Brought:
        """Take complete rows (n, d) from arrival to decision by running a fixed set of tests."""
        grid, problem = self.grid, self.grid.problem
        columns = [*problem.context, *tests]
        place, n_places = _numbered(grid.cells, rows, columns, problem.k)
        pooled = np.array([np.bincount(place[: len(grid.cells)], weights=m, minlength=n_places) for m in self.masses])
        here = pooled[:, place[len(grid.cells) :]]
        n = (len(pooled) - 2) // 2
        ratio = PSEUDO / np.maximum(here[1], 1e-300)
        decisions = (here[2 : 2 + n] + ratio * here[2 + n :]).argmax(axis=0)
        cost = float(problem.prices.adding(np.zeros((1, problem.d), dtype=np.bool_), tests)[0]) if len(tests) else 0.0
        value = problem.realised(rows, problem.d + decisions) - cost
        return Brought(value, np.full(len(rows), cost), np.full(len(rows), float(len(tests))))


def _numbered(cells: FloatArray, rows: FloatArray, columns: list[int], k: IntArray) -> tuple[IntArray, int]:
    """Number what some columns show in cells and rows, from 0."""
    both = np.vstack([cells[:, columns], rows[:, columns]]).astype(np.int64)
    if not columns:
        return np.zeros(len(both), dtype=np.int64), 1
    return np.ravel_multi_index(tuple(both.T), tuple(k[columns])), int(np.prod(k[columns]))


def solve(
    grid: Grid, masses: FloatArray, *, scale: FloatArray, penalties: FloatArray, limits: Limits = NO_LIMITS
) -> Solved:
    """Solve all states for candidates that multiply prices with `scale` and pay `penalties`, shape (candidates,)."""
    from proband.fitting import smoothed_kernel

    layout = grid.layout
    spent = dearest(layout)
    most = layout.m if limits.max_tests is None else limits.max_tests
    budget = math.inf if limits.budget is None else limits.budget + 1e-9
    least = float(limits.min_leaf) if limits.min_leaf > 1 else 0.0
    actions = np.empty((len(scale), layout.n_states), dtype=np.uint8)
    fixed = np.zeros(len(layout.size))
    scale, penalties = (np.ascontiguousarray(given, dtype=np.float64) for given in (scale, penalties))
    start, own_masses, own_values = 0, masses, np.empty((masses.shape[1], len(scale)))
    child_start, child_masses, child_values = 0, masses[:, :0].copy(), own_values[:0].copy()
    for level, n in enumerate(layout.level_sizes[::-1]):
        sets = np.ascontiguousarray(layout.order[layout.level_bounds[level] : layout.level_bounds[level + 1]])
        if level:
            child_start, child_masses, child_values = start, own_masses, own_values
            start += len(child_values)
            own_masses, own_values = np.empty((len(masses), n)), np.empty((n, len(scale)))
        smoothed_kernel.solve_sets(
            sets, layout.size, layout.offset, layout.k, layout.prices, layout.peers, PSEUDO, least, most, spent,
            budget, scale, penalties, actions, fixed, child_start, child_masses, child_values, start, own_masses,
            own_values,
        )  # fmt: skip
    total = masses[0].sum() + PSEUDO * masses[1].sum()
    return Solved(grid, masses, actions, fixed / total)


def dearest(layout: Layout) -> FloatArray:
    """Return the most that each set of tests can have cost, whatever their order was, shape (sets,)."""
    prices = layout.problem.prices.only(layout.tests)
    return most_paid(prices)


def most_paid(prices: Prices) -> FloatArray:
    """Return the most that each set of tests costs in any order, numbered by its bits."""
    totals = np.zeros(1)
    for price in prices.group_cost:
        totals = np.concatenate([totals, totals + price])
    for group in np.unique(prices.group[prices.group >= 0]):
        opened = np.zeros(1)
        for i, opening in enumerate(prices.opening):
            opened = np.concatenate([opened, np.maximum(opened, opening) if prices.group[i] == group else opened])
        totals += opened
    return totals
