r"""Exact and anytime plans over past subjects: the public entry of the sparse planner (Algorithm 1 on the support).

At a set S of rows that agree with what was seen, a plan stops, worth :math:`\max_y \sum_{r \in S} stakes_{ry}` (or
:math:`\max_{r \in S} stakes_r` for the match reward), or runs a test, which costs its price times the mass of S and
splits S by outcome; a penalty of nodes is paid once for every test node. The search keeps an interval around the
optimal value that only shrinks; it ends with a proof or at a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from proband.planners.progress import Progress, Report
from proband.planners.sparse.arrays import check_arrays
from proband.planners.sparse.driver import Search, grown
from proband.planners.sparse.limits import Limits
from proband.planners.sparse.memo import memo_bytes
from proband.planners.sparse.pair import new_pair, run_pair
from proband.planners.sparse.policy import IncumbentTree
from proband.planners.sparse.trees import Trees, check_trees
from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class SupportPlan(Trees):
    """A policy over the support with a certificate: penalised <= largest possible <= bound.

    Without a penalty of nodes, `penalised` is `value`.

    Attributes
    ----------
    value : float
        Expected reward less costs of the policy, evaluated on the rows given; no penalty is taken off.
    values : ndarray (start sets,)
        The same for each start set; they add up to `value`.
    bound : float
        Upper bound, rounding included, on the value of any policy less the penalty of its nodes.
    bounds : ndarray (start sets,)
        The same for each start set.
    nodes : ndarray (start sets,)
        Test nodes of the tree of each start set.
    penalty : float
        What each of them costs in `penalised`.
    ceiling : float
        What perfect information would bring at no cost.
    status : str
        "optimal", or what ended the search: "time", "work", "memory", "nodes", "interrupted".
    roots, node_test, children : ndarray
        The tree of each start set (`Trees`); children are -1 where no row has the outcome.
    node_column : ndarray (nodes,)
        Column of `stakes` to decide for when stopping at the node; for kind "max" the row.
    rows : int
        Distinct rows that were searched: those with equal codes in one start set are one.
    expansions, states, memory, seconds, work
        What it took: sets of rows expanded, states held, bytes of memo, wall-clock time, units of work (`Limits`).
    """

    value: float
    values: FloatArray
    bound: float
    bounds: FloatArray
    nodes: IntArray
    penalty: float
    ceiling: float
    status: str
    node_column: IntArray
    rows: int
    expansions: int
    states: int
    memory: int
    seconds: float
    work: int

    @property
    def penalised(self) -> float:
        """What the search maximises: the value less the penalty of the test nodes."""
        return self.value - self.penalty * int(self.nodes.sum())

    @property
    def gap(self) -> float:
        """Bound less what it bounds."""
        return self.bound - self.penalised


def solve_support(
    codes: ArrayLike,
    weight: ArrayLike,
    stakes: ArrayLike,
    cost: ArrayLike,
    *,
    kind: str = "sum",
    group_cost: ArrayLike | None = None,
    group: ArrayLike | None = None,
    max_tests: int | None = None,
    budget: float | None = None,
    starts: Sequence[ArrayLike] | None = None,
    penalty: float = 0.0,
    warm: Trees | None = None,
    limits: Limits | None = None,
    progress: Report | None = None,
) -> SupportPlan:
    """Plan tests over past subjects, exactly or as well as the limits allow.

    Parameters
    ----------
    codes : array_like of int (n, m)
        Outcome of test j for row r, 0 .. k_j - 1.
    weight : array_like (n,)
        Positive mass of each row.
    stakes : array_like (n, a)
        Mass times reward of each decision; for kind "max" (n, 1), the worth of naming the row.
    cost : array_like (m,)
        Price of each test.
    kind : {"sum", "max"}
        How stakes add up over the rows left when stopping.
    group_cost, group : array_like (m,), optional
        Price once another test of the same group was run, and the group's id (-1 for none).
    max_tests : int, optional
        Most tests for a subject.
    budget : float, optional
        Most a subject may cost; a test may be run while the sum stays within it.
    starts : sequence of row index arrays, optional
        Disjoint sets of rows known on arrival; values add up. Default: one set with every row.
    penalty : float, default 0
        What every test node of the tree costs, in units of `stakes`, however many subjects pass it: the policy is the
        best by its value less this, so more penalty means a smaller tree.
    warm : Trees, optional
        A tree for each start set to begin with, such as the last plan: the result is never worse on these rows. It
        stops where a limit forbids its test and at outcomes that it did not know.
    limits : Limits, optional
        When to stop short of a proof.
    progress : callable, optional
        Called between slices with the states held; returning False ends the search.

    Returns
    -------
    SupportPlan
        The best policy found, with its certificate. Ctrl-C ends the search with status "interrupted".

    Examples
    --------
    >>> plan = solve_support(
    ...     [[0, 0], [0, 1], [1, 0], [1, 1]], [0.25] * 4, [[0.25, 0], [0.25, 0], [0.25, 0], [0, 0.25]], [0.05, 0.04]
    ... )
    >>> plan.status, round(plan.value, 3), plan.node_test.tolist()
    ('optimal', 0.935, [1, -1, 0, -1, -1])
    >>> small = solve_support(
    ...     [[0, 0], [0, 1], [1, 0], [1, 1]],
    ...     [0.25] * 4,
    ...     [[0.25, 0], [0.25, 0], [0.25, 0], [0, 0.25]],
    ...     [0.05, 0.04],
    ...     penalty=0.1,
    ... )
    >>> round(small.value, 3), int(small.nodes.sum())
    (0.75, 0)
    """
    arrays = check_arrays(codes, weight, stakes, cost, kind, group_cost, group, max_tests, budget, starts, penalty)
    compile_kernels()
    trees = None if warm is None else check_trees(warm, arrays)
    limits = limits or Limits()
    searches = [Search(arrays, limits)] if limits.cores < 2 else new_pair(arrays, limits)
    for search in searches:
        if trees is not None:
            search.plant(trees)
    status = _run(searches, progress)
    return _report(searches, IncumbentTree(searches[0], arrays), status)


@cache
def compile_kernels() -> None:
    """Compile (or load) every kernel on a tiny instance, so that limits do not count it."""
    arrays = check_arrays(np.eye(3), np.ones(3), np.eye(3), np.full(3, 0.1), "sum", None, None, 2, None, None)
    search = Search(arrays, Limits(slice_work=1, improving=0.0))
    for _ in range(3):
        search.improve()
    while search.advance():
        search.memo = grown(search.memo, (search.memo.key.size, 1, 1))
    search.settle()
    tree = IncumbentTree(search, arrays)
    search.plant(check_trees(Trees(**tree.flat()), arrays))


def _run(searches: list[Search], progress: Report | None) -> str:
    """Search until solved or stopped; returns the status."""
    search = searches[0]

    def goes_on() -> bool:
        return progress is None or progress(_progress(search)) is not False

    if len(searches) > 1:
        return run_pair(search, searches[1], goes_on)
    status = "optimal"
    try:
        search.improve()
        while status == "optimal" and search.advance():
            status = search.stopped_by() or ("optimal" if goes_on() else "interrupted")
    except KeyboardInterrupt:
        status = "interrupted"
    search.settle()
    return status


def _progress(search: Search) -> Progress:
    return Progress(
        seconds=search.seconds,
        value=search.value,
        bound=search.bound,
        what="states",
        done=search.states,
        details={"expansions": search.expansions},
    )


def _report(searches: list[Search], tree: IncumbentTree, status: str) -> SupportPlan:
    search = searches[0]
    rounding = 4 * search.instance.tolerance * (search.compiled.merged.weight.size + 1)
    penalty = search.instance.penalty
    return SupportPlan(
        value=tree.value,
        values=tree.values,
        bound=max(search.bound + rounding, tree.value - penalty * int(tree.nodes.sum())),
        bounds=np.maximum(search.bounds + rounding, tree.values - penalty * tree.nodes),
        nodes=tree.nodes,
        penalty=penalty,
        ceiling=search.ceiling,
        status=status,
        **tree.flat(),
        node_column=np.array(tree.column, dtype=np.int64),
        rows=search.compiled.merged.weight.size,
        expansions=sum(each.expansions for each in searches),
        states=sum(each.states for each in searches),
        memory=sum(memo_bytes(each.memo) for each in searches),
        seconds=search.seconds,
        work=sum(each.work for each in searches),
    )
