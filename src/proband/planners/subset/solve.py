"""Cost-sensitive maximum-entropy sampling, solved exactly: the public entry for one set.

Maximise f(S) = scale·H(S) − cost(S) of :mod:`proband.planners.subset.objective` over sets S of tests, of any size or of
a given one. The problem is NP-hard; without a size it is nevertheless easy in practice, since most tests are settled by
persistency (:mod:`proband.planners.subset.search_kernel`). With a size, prices on the number of tests come first
(:mod:`proband.planners.subset.ladder`). Whatever ends the search, value ≤ max f ≤ bound.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import DistributionError
from proband.planners.progress import Progress, Report
from proband.planners.subset.branch_and_bound import BranchAndBound, StopRule
from proband.planners.subset.checking import check_size, check_tolerance, checked_candidates, flags_of
from proband.planners.subset.enumeration import best_of_all
from proband.planners.subset.ladder import Ladder
from proband.planners.subset.objective import IN, OUT, Candidates, objective_of
from proband.planners.subset.solution import SubsetSolution
from proband.prices import Flags

TOLERANCE = 1e-9
"""Gap, in units of the reward, at which a search ends."""

FEW = 10
"""Up to this many free tests all sets are enumerated."""


def solve_subset(
    covariance: ArrayLike,
    costs: ArrayLike,
    *,
    scale: float = 1.0,
    groups: ArrayLike | None = None,
    group_costs: ArrayLike | None = None,
    size: int | None = None,
    forced_in: Iterable[int] = (),
    forced_out: Iterable[int] = (),
    time_limit: float | None = None,
    node_limit: int | None = None,
    tolerance: float = TOLERANCE,
    progress: Report | None = None,
    start: Iterable[int] | None = None,
    method: str | None = None,
) -> SubsetSolution:
    """Choose the set of tests with the largest entropy less costs, and prove it.

    Parameters
    ----------
    covariance : array_like of shape (d, d)
        Covariance of the tests' outcomes, positive definite.
    costs : array_like of shape (d,)
        Price of each test, 0 or more; one number for all of them will do.
    scale : float, default 1
        Worth of one nat of entropy.
    groups : array_like of int of shape (d,), optional
        Number of the group with which a test shares a preparation, -1 for none.
    group_costs : array_like of shape (d,), optional
        Price of a test once its group is open, `costs` at most; not read for tests without a group.
    size : int, optional
        Number of tests to choose; any by default.
    forced_in, forced_out : iterable of int
        Tests that must be, and must not be, chosen.
    time_limit : float, optional
        Seconds after which the best set so far is returned with its bound; compilation is not counted.
    node_limit : int, optional
        Nodes after which it is.
    tolerance : float, default 1e-9
        Gap, in units of the reward, at which the search ends.
    progress : callable, optional
        Called with a :class:`~proband.planners.progress.Progress` between bursts of about 20 ms; returning False ends
        the search.
    start : iterable of int, optional
        A set to begin with; ignored if it is not allowed.
    method : {"enumeration", "branch and bound", "Lagrangian"}, optional
        By default the first for up to 10 tests; beyond, the third with a size and the second without. "Lagrangian" is
        prices on the number of tests, then branch and bound if these do not prove the size.

    Returns
    -------
    SubsetSolution
        The best set found, with its certificate. Ctrl-C ends the search with status "interrupted".

    Examples
    --------
    >>> covariance = [[2.0, 1.9, 0.3], [1.9, 2.0, 0.4], [0.3, 0.4, 1.0]]
    >>> solution = solve_subset(covariance, [1.0, 1.0, 1.0])
    >>> solution.chosen, round(solution.value, 3), solution.status
    ((0, 2), 1.161, 'optimal')
    >>> solve_subset(covariance, [1.0, 1.0, 1.0], size=1, forced_out=[1]).chosen
    (0,)
    """
    prepare()
    began = time.perf_counter()
    candidates = checked_candidates(
        covariance, costs, scale=scale, groups=groups, group_costs=group_costs, forced_in=forced_in,
        forced_out=forced_out,
    )  # fmt: skip
    if size is not None:
        check_size(candidates, size)
    check_tolerance(tolerance)
    task = _Request(
        candidates,
        None if size is None else int(size),
        2 / candidates.scale * tolerance,
        began,
        math.inf if time_limit is None else began + time_limit,
        math.inf if node_limit is None else node_limit,
        progress,
        flags_of(candidates, start),
    )
    found = METHODS[_checked_method(task, method)](task)
    return found.solution(candidates, time.perf_counter() - began)


@dataclass(frozen=True)
class _Request:
    """One call of the solver."""

    candidates: Candidates
    size: int | None
    tolerance: float
    began: float
    deadline: float
    nodes: float
    progress: Report | None
    start: Flags

    def stop_rule(
        self, *, until: float, spent: int, figures: Callable[[BranchAndBound], tuple[float, float]]
    ) -> StopRule:
        """Return when to stop one search of the task, which reports value and bound of F as `figures` says."""
        progress = self.progress
        if progress is None:
            return StopRule(until, self.nodes - spent)

        def report(search: BranchAndBound) -> bool | None:
            value, bound = (self.candidates.scale / 2 * figure for figure in figures(search))
            seconds = time.perf_counter() - self.began
            done, left = spent + search.nodes, {"open": len(search.open)}
            return progress(Progress(seconds=seconds, value=value, bound=bound, what="nodes", done=done, details=left))

        return StopRule(until, self.nodes - spent, report)


@dataclass(frozen=True)
class Found:
    """What a search says of its best set, in units of F."""

    inside: Flags
    bound: float
    nodes: int
    method: str
    status: str

    def solution(self, candidates: Candidates, seconds: float) -> SubsetSolution:
        """The same in units of the reward, which is evaluated anew."""
        chosen = tuple(np.flatnonzero(self.inside).tolist())
        value = candidates.reward_of(chosen)
        bound = max(candidates.scale / 2 * self.bound, value)
        return SubsetSolution(chosen, value, bound, self.nodes, self.method, self.status, seconds)


def _checked_method(task: _Request, name: str | None) -> str:
    if name is None:
        few = (task.candidates.state != OUT).sum() <= FEW
        name = "enumeration" if few else "branch and bound" if task.size is None else "Lagrangian"
    if name not in METHODS or (name == "Lagrangian" and task.size is None):
        raise DistributionError(
            f"method is {name!r} and size is {task.size}; the methods are {list(METHODS)}, the last one with a size "
            "only; choose another, or leave it out"
        )
    return name


def _enumerated(task: _Request) -> Found:
    margin = objective_of(task.candidates).margin
    inside, sets = best_of_all(task.candidates, task.size)
    value = 2 / task.candidates.scale * task.candidates.reward_of(np.flatnonzero(inside))
    return Found(inside, value + 2 * margin, sets, "enumeration", "optimal")


def _searched(task: _Request) -> Found:
    search = BranchAndBound(task.candidates, objective_of(task.candidates, size=task.size), task.tolerance)
    search.climb()
    search.offer(task.start)
    status = search.run(task.stop_rule(until=task.deadline, spent=0, figures=lambda this: (this.value, this.bound)))
    return Found(search.chosen, search.bound, search.nodes, "branch and bound", status)


def _priced(task: _Request) -> Found:
    size = int(task.size or 0)
    ladder = Ladder(task.candidates, task.tolerance)
    ladder.seed([size])
    if task.candidates.allow(task.start):
        ladder.add(task.start)

    def figures(search: BranchAndBound) -> tuple[float, float]:
        return ladder.values[size], min(ladder.bounds[size], search.bound + ladder.price * size)

    half = task.began + (task.deadline - task.began) / 2
    method = "Lagrangian"
    try:
        status = ladder.lower(size, task.stop_rule(until=half, spent=0, figures=figures))
        if status != "interrupted" and not ladder.proved(size):
            method = "branch and bound"
            status = ladder.search(size, task.stop_rule(until=task.deadline, spent=ladder.nodes, figures=figures))
    except KeyboardInterrupt:  # between two searches
        status = "interrupted"
    return Found(ladder.sets[size], ladder.bounds[size], ladder.nodes, method, status)


METHODS: dict[str, Callable[[_Request], Found]] = {
    "enumeration": _enumerated,
    "branch and bound": _searched,
    "Lagrangian": _priced,
}


@cache
def prepare() -> None:
    """Compile (or load) every kernel on three tests, so that limits do not count it."""
    zero, group = np.zeros(3), np.array([0, 0, -1])
    candidates = checked_candidates(np.eye(3) + 0.5, zero, groups=group, group_costs=zero)
    for method in METHODS.values():
        method(_Request(candidates, 2, 0.0, 0.0, math.inf, math.inf, None, candidates.state == IN))
