"""Nodes of the search: what is in, what is out, and two matrices over the tests still free.

A node keeps I (in) and the free tests E; the rest is out. With the correlations R of all tests it holds

    M = R[E,E | I], the covariance of the free tests given what is in, and W = M⁻¹, and with them
    inside = F(I),    whole = F(I ∪ E)   (without the groups' opening prices).

The two mirror each other. Taking test i in: inside grows by log M[i,i] + offset_i, M loses i by a Schur complement and
W by leaving out its row and column. Leaving i out: whole grows by log W[i,i] − offset_i, W loses i by a Schur
complement and M by leaving out its row and column. Nodes on the path of a depth-first search each have a level of
arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from proband.compiling import inner
from proband.planners.subset.matrix_kernel import eliminate, leave_out_row
from proband.planners.subset.objective import FREE, IN, OUT, Objective, States
from proband.vocabulary import FloatArray, IntArray

INSIDE, WHOLE, WEIGHT, BOUND = 0, 1, 2, 3
"""Columns of `Levels.figures`."""
LEFT, TAKEN = 0, 1
"""Columns of `Levels.counts`: how many tests are free, and how many in."""
BOTTOM: Any = np.int64(0)
"""The lowest level; no Python integer, for which numba would compile everything that takes a level once more."""
MOST_NUMBERS = 16_000_000
"""Entries of each of the two stacks of matrices; with more tests there are fewer levels than tests."""


class Levels(NamedTuple):
    """A stack of nodes: M and W (levels, d, d), the numbers of the free tests, states of all tests, and figures.

    `point` is where the relaxation of the nearest node above ended, by test.
    """

    given: FloatArray
    inverse: FloatArray
    tests: IntArray
    state: States
    point: FloatArray
    figures: FloatArray
    counts: IntArray


def new_levels(d: int) -> Levels:
    """Return an empty stack for d tests: a level for each, or as many as fit (memory is used as levels are reached)."""
    levels = min(d + 1, max(8, MOST_NUMBERS // (d * d)))
    return Levels(
        np.empty((levels, d, d)),
        np.empty((levels, d, d)),
        np.empty((levels, d), dtype=np.int64),
        np.zeros((levels, d), dtype=np.int8),
        np.empty((levels, d)),
        np.empty((levels, 4)),
        np.empty((levels, 2), dtype=np.int64),
    )


@inner
def take_in(objective: Objective, levels: Levels, top: int, i: int) -> None:
    """Take the free test at position i in."""
    k, test = levels.counts[top, LEFT], levels.tests[top, i]
    levels.figures[top, INSIDE] += eliminate(levels.given[top], k, i) + objective.offset[test]
    leave_out_row(levels.inverse[top], k, i)
    levels.state[top, test] = IN
    levels.counts[top, TAKEN] += 1
    levels.counts[top, LEFT] = k - 1
    levels.tests[top, i] = levels.tests[top, k - 1]


@inner
def leave_out(objective: Objective, levels: Levels, top: int, i: int) -> None:
    """Leave the free test at position i out."""
    k, test = levels.counts[top, LEFT], levels.tests[top, i]
    levels.figures[top, WHOLE] += eliminate(levels.inverse[top], k, i) - objective.offset[test]
    leave_out_row(levels.given[top], k, i)
    levels.state[top, test] = OUT
    levels.counts[top, LEFT] = k - 1
    levels.tests[top, i] = levels.tests[top, k - 1]


@inner
def copy_up(levels: Levels, top: int) -> None:
    """Copy the node of a level to the next one."""
    k = levels.counts[top, LEFT]
    for r in range(k):
        for c in range(k):
            levels.given[top + 1, r, c] = levels.given[top, r, c]
            levels.inverse[top + 1, r, c] = levels.inverse[top, r, c]
        levels.tests[top + 1, r] = levels.tests[top, r]
    for test in range(levels.state.shape[1]):
        levels.state[top + 1, test] = levels.state[top, test]
        levels.point[top + 1, test] = levels.point[top, test]
    for column in range(4):
        levels.figures[top + 1, column] = levels.figures[top, column]
    levels.counts[top + 1, LEFT], levels.counts[top + 1, TAKEN] = levels.counts[top, LEFT], levels.counts[top, TAKEN]


@inner
def settle(objective: Objective, levels: Levels, top: int, mark: States) -> None:
    """Settle free tests as marked; from the last on, since a test that goes leaves its place to the last one."""
    for i in range(levels.counts[top, LEFT] - 1, -1, -1):
        if mark[i] == IN:
            take_in(objective, levels, top, i)
        elif mark[i] == OUT:
            leave_out(objective, levels, top, i)


@inner
def restore(objective: Objective, levels: Levels, state: States, bound: float) -> None:
    """Build the node of the given states in level 0, from R and R⁻¹."""
    d = len(state)
    for i in range(d):
        for j in range(d):
            levels.given[0, i, j] = objective.correlation[i, j]
            levels.inverse[0, i, j] = objective.inverse[i, j]
        levels.tests[0, i], levels.state[0, i], levels.point[0, i] = i, FREE, 0.5
    levels.counts[0, LEFT], levels.counts[0, TAKEN] = d, 0
    levels.figures[0, INSIDE], levels.figures[0, WHOLE] = 0.0, objective.everything
    levels.figures[0, WEIGHT], levels.figures[0, BOUND] = 0.5, bound
    settle(objective, levels, BOTTOM, state)
