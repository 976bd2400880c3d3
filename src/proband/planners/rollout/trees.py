r"""Trees grown by information, pruned by price, and improved by rollouts: no clock, no chance, no proof.

At a set S of rows that agree with what was seen, stopping is worth :math:`\max_y \sum_{r \in S} stakes_{ry}`, and a
test costs its price times the mass of S, and once the penalty of nodes. A tree is grown by the test with the largest
fall of the entropy of `ideal` (what would be decided if all were known, and how much hangs on it) for its price, until
no test can pay even if it told all; then, from the leaves up, a node stops, or runs the one test that is best if a
decision follows, where that is worth more. *Rollouts* improve it: from the root down, the `width` most telling tests of
each node are each followed by a tree grown in this way, and the best of them is kept, so that no step loses value.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from proband.planners.rollout.arrays import Cells, Enough, Rows, cells_of, check, ideal_of, new_rows
from proband.planners.rollout.growth import Growth, run
from proband.planners.sparse.arrays import Arrays
from proband.planners.sparse.trees import Trees
from proband.vocabulary import FloatArray, IntArray

WIDTH = 3
"""Tests tried at a node unless told otherwise."""


@dataclass(frozen=True, kw_only=True)
class GrownTree(Trees):
    """A tree for each start set (`Trees`), with its value; a `warm` start for `solve_support`.

    Attributes
    ----------
    value : float
        Expected reward less costs, on the rows given; no penalty is taken off.
    values : ndarray (start sets,)
        The same for each start set; they add up to `value`.
    bound : float
        No policy has a larger value: it stops, or pays for a test at least, and learns no more than everything.
    nodes : ndarray (start sets,)
        Test nodes of the tree of each start set.
    penalty : float
        What each of them costs in `penalised`.
    node_column : ndarray (nodes,)
        Column of `stakes` to decide for when stopping at the node.
    usage : ndarray (m,)
        Mass of the rows that run each test.
    """

    value: float
    values: FloatArray
    bound: float
    nodes: IntArray
    penalty: float
    node_column: IntArray
    usage: FloatArray

    @property
    def penalised(self) -> float:
        """What is maximised: the value less the penalty of the test nodes."""
        return self.value - self.penalty * int(self.nodes.sum())


def grow_tree(
    codes: ArrayLike,
    weight: ArrayLike,
    stakes: ArrayLike,
    ideal: ArrayLike | None,
    cost: ArrayLike,
    *,
    group: ArrayLike | None = None,
    group_cost: ArrayLike | None = None,
    starts: Sequence[ArrayLike] | None = None,
    max_tests: int | None = None,
    budget: float | None = None,
    penalty: float = 0.0,
    width: int = WIDTH,
    allowed: ArrayLike | None = None,
    ceiling: ArrayLike | None = None,
    enough: Enough | None = None,
) -> GrownTree:
    """Plan tests over past subjects quickly and well, without a proof.

    Parameters
    ----------
    codes : array_like of int (n, m)
        Outcome of test j for row r, 0 .. k_j - 1.
    weight : array_like (n,)
        Mass of each row, 0 or more.
    stakes : array_like (n, a)
        Mass times reward of each decision.
    ideal : array_like (n, a) or None
        For each decision the weight with which it would be the best one if all were known: the sum over what stays
        hidden of mass times (best - worst reward), on the best decision. None: that of the rows of `stakes`.
    cost : array_like (m,)
        Price of each test.
    group, group_cost : array_like (m,), optional
        The group's id (-1 for none), and the price once another test of the same group was run.
    starts : sequence of row index arrays, optional
        Disjoint sets of rows known on arrival. Default: one set with every row.
    max_tests, budget : optional
        Most tests for a subject, most that they may cost.
    penalty : float, default 0
        What every test node costs, in units of `stakes`, however many subjects pass it.
    width : int, default 3
        Tests tried at each node; with 1 the tree is grown and pruned, and no more.
    allowed : array_like of bool (m,), optional
        Tests that may be run. Default: all.
    ceiling : array_like (n,), optional
        The most that each row can bring. Default: the best of its stakes.
    enough : Enough, optional
        Subjects that each outcome of a test must have, or none, and those that each row stands for.

    Examples
    --------
    >>> tree = grow_tree(
    ...     [[0, 0], [0, 1], [1, 0], [1, 1]],
    ...     [0.25] * 4,
    ...     [[0.25, 0], [0.25, 0], [0.25, 0], [0, 0.25]],
    ...     None,
    ...     [0.05, 0.04],
    ... )
    >>> round(tree.value, 3), tree.node_test.tolist(), tree.usage.tolist()
    (0.935, [1, -1, 0, -1, -1], [0.5, 1.0])
    """
    arrays = check(codes, weight, stakes, cost, group, group_cost, starts, max_tests, budget, penalty)
    rows = _rows(arrays, weight, arrays.stakes, ideal, ceiling, allowed, cells_of(arrays.codes), enough)
    made = Growth(arrays, rows, width)
    values = made.values
    return GrownTree(
        value=float(values.sum()),
        values=values,
        bound=max(float(made.bounds.sum()), float(values.sum())),
        nodes=made.nodes,
        penalty=arrays.penalty,
        usage=made.usage,
        **made.flat(),
    )


def grow_many(
    codes: ArrayLike,
    weights: ArrayLike,
    stakes: ArrayLike,
    ideal: ArrayLike | None,
    cost: ArrayLike,
    *,
    group: ArrayLike | None = None,
    group_cost: ArrayLike | None = None,
    starts: Sequence[ArrayLike] | None = None,
    max_tests: int | None = None,
    budget: float | None = None,
    penalty: float = 0.0,
    width: int = 1,
    allowed: ArrayLike | None = None,
    cores: int = 2,
) -> tuple[FloatArray, FloatArray]:
    """Grow a tree for each of many weights of the same rows, such as posterior draws.

    Parameters
    ----------
    codes : array_like of int (n, m)
    weights : array_like (J, n)
    stakes, ideal : array_like (J, n, a)
        As for `grow_tree`, for each of the weights.
    cost, group, group_cost, starts, max_tests, budget, penalty, allowed
        As for `grow_tree`.
    width : int, default 1
        Tests tried at each node.
    cores : int, default 2
        Trees that are grown at the same time; the result is the same with any number.

    Returns
    -------
    values : ndarray (J,)
        Value of each tree on its own weights.
    usage : ndarray (m,)
        Mass of the rows that run each test, the mean over the trees.

    Examples
    --------
    >>> values, usage = grow_many(
    ...     [[0], [1]], [[0.5, 0.5], [0.9, 0.1]], [[[0.5, 0], [0, 0.5]], [[0.9, 0], [0, 0.1]]], None, [0.2]
    ... )
    >>> values.round(2).tolist(), usage.tolist()
    ([0.8, 0.9], [0.5])
    """
    mass, worth = (np.ascontiguousarray(x, dtype=np.float64) for x in (weights, stakes))
    if mass.ndim != 2 or worth.ndim != 3 or len(worth) != len(mass) or not len(mass):
        raise ValueError(f"weights {mass.shape} and stakes {worth.shape} must be (J, n) and (J, n, a), with J of 1 up")
    ideals = [None] * len(mass) if ideal is None else np.ascontiguousarray(ideal, dtype=np.float64)
    arrays = check(codes, mass[0], worth[0], cost, group, group_cost, starts, max_tests, budget, penalty)
    cells = cells_of(arrays.codes)

    def grown(draw: int) -> tuple[float, FloatArray]:
        rows = _rows(arrays, mass[draw], worth[draw], ideals[draw], None, allowed, cells)
        made = Growth(arrays, rows, width)
        return float(made.values.sum()), made.usage

    if cores < 2 or len(mass) < 2:
        figures = [grown(draw) for draw in range(len(mass))]
    else:
        with ThreadPoolExecutor(cores) as pool:  # kernels hold no interpreter lock
            figures = list(pool.map(grown, range(len(mass))))
    return np.array([value for value, _ in figures]), np.mean([usage for _, usage in figures], axis=0)


def tree_value(
    tree: GrownTree,
    codes: ArrayLike,
    weight: ArrayLike,
    stakes: ArrayLike,
    cost: ArrayLike,
    *,
    group: ArrayLike | None = None,
    group_cost: ArrayLike | None = None,
    starts: Sequence[ArrayLike] | None = None,
) -> float:
    """Return the value of a tree, its decisions included, on other weights and stakes of rows with the same tests.

    An outcome that the tree does not know ends, once its test is paid, in the decision of the node before.

    Examples
    --------
    >>> tree = grow_tree([[0], [1]], [0.5, 0.5], [[0.5, 0], [0, 0.5]], None, [0.2])
    >>> round(tree_value(tree, [[0], [1]], [0.9, 0.1], [[0.9, 0], [0, 0.1]], [0.2]), 3)
    0.8
    """
    arrays = check(codes, weight, stakes, cost, group, group_cost, starts, None, None, 0.0)
    mass = np.ascontiguousarray(weight, dtype=np.float64)
    leaf, paid, _ = run(tree, arrays, mass)
    here = np.flatnonzero(leaf >= 0)
    return float(arrays.stakes[here, tree.node_column[leaf[here]]].sum() - mass @ paid)


def _rows(
    arrays: Arrays, weight: ArrayLike, stakes: FloatArray, ideal: ArrayLike | None, ceiling: ArrayLike | None,
    allowed: ArrayLike | None, cells: Cells, enough: Enough | None = None,
) -> Rows:  # fmt: skip
    """Bundle checked rows, with the ideal decisions of their stakes if none are given."""
    mass = np.ascontiguousarray(weight, dtype=np.float64)
    best = ideal_of(stakes) if ideal is None else np.ascontiguousarray(ideal, dtype=np.float64)
    if best.shape != stakes.shape or not (best >= 0).all():
        raise ValueError(f"ideal {best.shape} must be like stakes {stakes.shape}, with no number below 0")
    return new_rows(arrays, mass, stakes, best, ceiling, allowed, cells, enough)
