"""The classical problem for many sizes at once: for each s the set of s tests with the largest entropy.

One search at a price on each test (:mod:`proband.planners.subset.ladder`) bounds all sizes, so that they help each
other. With costs the value of a size is f of its best set: what s tests can earn.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from math import inf, nan

from numpy.typing import ArrayLike

from proband.planners.progress import Progress, Report
from proband.planners.subset.branch_and_bound import StopRule
from proband.planners.subset.checking import check_size, check_tolerance, checked_candidates
from proband.planners.subset.ladder import Ladder
from proband.planners.subset.objective import IN, OUT, Candidates
from proband.planners.subset.solution import SubsetSolution
from proband.planners.subset.solve import Found, prepare


def sizes(
    covariance: ArrayLike,
    *,
    sizes: Iterable[int] | None = None,
    costs: ArrayLike = 0.0,
    scale: float = 1.0,
    groups: ArrayLike | None = None,
    group_costs: ArrayLike | None = None,
    forced_in: Iterable[int] = (),
    forced_out: Iterable[int] = (),
    time_limit: float | None = None,
    tolerance: float = 1e-9,
    progress: Report | None = None,
) -> list[SubsetSolution]:
    """Choose the best set of each size, and prove it.

    Parameters
    ----------
    covariance : array_like of shape (d, d)
        Covariance of the tests' outcomes, positive definite.
    sizes : iterable of int, optional
        The sizes; all that what is forced leaves by default.
    costs, scale, groups, group_costs, forced_in, forced_out, tolerance
        As in :func:`~proband.planners.subset.solve.solve_subset`. Without costs the value is the entropy H(S) in nats,
        and log det C[S,S] is 2·H(S) − |S|·log(2πe).
    time_limit : float, optional
        Seconds for all sizes together; compilation is not counted.
    progress : callable, optional
        Called about every 20 ms with a :class:`~proband.planners.progress.Progress`; returning False ends the search.

    Returns
    -------
    list of SubsetSolution
        One for each size, in the order given. The method is "Lagrangian" where a price on each test proved it. Ctrl-C
        ends the search: sizes not proved by then have status "interrupted" and the bound reached.

    Examples
    --------
    >>> found = sizes([[2.0, 1.9, 0.3], [1.9, 2.0, 0.4], [0.3, 0.4, 1.0]], sizes=[1, 2])
    >>> [(solution.chosen, round(solution.value, 3), solution.status) for solution in found]
    [((0,), 1.766, 'optimal'), ((0, 2), 3.161, 'optimal')]
    """
    prepare()
    candidates = checked_candidates(
        covariance, costs, scale=scale, groups=groups, group_costs=group_costs, forced_in=forced_in,
        forced_out=forced_out,
    )  # fmt: skip
    asked = _checked_sizes(candidates, sizes)
    check_tolerance(tolerance)
    task = _EverySize(
        candidates, asked, 2 / candidates.scale * tolerance, inf if time_limit is None else time_limit, progress
    )
    task.run()
    return [task.solution(size) for size in asked]


def _checked_sizes(candidates: Candidates, sizes: Iterable[int] | None) -> list[int]:
    if sizes is None:
        return list(range(int((candidates.state == IN).sum()), int((candidates.state != OUT).sum()) + 1))
    asked = list(sizes)
    for size in asked:
        check_size(candidates, size)
    return [int(size) for size in asked]


class _EverySize:
    """One call: prices for every size, then a search with the size for each one not proved, nearest first."""

    def __init__(
        self, candidates: Candidates, asked: list[int], tolerance: float, seconds: float, progress: Report | None
    ) -> None:
        self.began = time.perf_counter()
        self.ladder = Ladder(candidates, tolerance)
        self.candidates, self.asked, self.seconds, self.progress = candidates, asked, seconds, progress
        self.status: dict[int, str] = {}
        self.method: dict[int, str] = {}
        self.spent: dict[int, float] = defaultdict(float)
        self.nodes: dict[int, int] = defaultdict(int)

    def run(self) -> None:
        try:
            self.ladder.seed(self.asked)
            left = sorted(set(self.asked))
            self._each(left, self.ladder.lower, "Lagrangian", self.began + self.seconds / 2)
            left = [size for size in left if not self.ladder.proved(size)]
            left.sort(key=lambda size: self.ladder.bounds[size] - self.ladder.values[size])
            self._each(left, self.ladder.search, "branch and bound", self.began + self.seconds)
        except KeyboardInterrupt:
            self.status = dict.fromkeys(self.asked, "interrupted")

    def _each(self, left: list[int], search: Callable[[int, StopRule], str], method: str, until: float) -> None:
        """Give each size its share of the time left."""
        for k, size in enumerate(left):
            if "interrupted" in self.status.values():
                break
            now, nodes = time.perf_counter(), self.ladder.nodes
            deadline = now + max(until - now, 0.0) / (len(left) - k)
            self.method[size] = method
            self.status[size] = search(size, StopRule(deadline, inf, lambda _: self._report()))
            self.spent[size] += time.perf_counter() - now
            self.nodes[size] += self.ladder.nodes - nodes

    def _report(self) -> bool | None:
        if self.progress is None:
            return None
        proved = sum(self.ladder.proved(size) for size in self.asked)
        seconds = time.perf_counter() - self.began
        asked, details = len(self.asked), {"nodes": self.ladder.nodes}
        return self.progress(
            Progress(seconds=seconds, value=nan, bound=nan, what="sizes", done=proved, total=asked, details=details)
        )

    def solution(self, size: int) -> SubsetSolution:
        """What is known of a size."""
        status = "optimal" if self.ladder.proved(size) else self.status.get(size, "interrupted")
        method, inside, bound = self.method.get(size, "Lagrangian"), self.ladder.sets[size], self.ladder.bounds[size]
        return Found(inside, bound, self.nodes[size], method, status).solution(self.candidates, self.spent[size])
