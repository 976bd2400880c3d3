"""The Gaussian planner for a reward of two linear combinations: one grid after another, each twice as fine.

States are (tested set O, posterior mean m ∈ R² of z). On one grid all sets are solved, largest first
(:mod:`~proband.planners.gaussian.plane.induction`). Kinks of the value are curves here, which no grid follows; so the
grid is refined until what every first test loses changes by less than a share of the tolerance. The reported error is
the last such change, times a safety factor, and what sums over the first outcome change when they are half as fine:
two grids may agree by accident. It covered the truth (a much finer grid) on some hundreds of random instances, and is
an estimate, no bound.
"""

from __future__ import annotations

import math
import time

import numpy as np

from proband.errors import TooLargeError
from proband.piecewise.plane_kernel import expect_many
from proband.planners.gaussian.measurements import check_limits
from proband.planners.gaussian.plane.induction import Induction, Rule, Sets
from proband.planners.gaussian.plane.instance import Instance, standardise
from proband.planners.gaussian.plane.problem import Plane
from proband.planners.gaussian.plane.solution import PlaneSolution
from proband.planners.memory import available_memory, human_bytes, human_number
from proband.planners.progress import Progress, Report
from proband.vocabulary import FloatArray

RELATIVE_TOLERANCE = 1e-3
WIDEST = 1.0
"""Panels of the first grid, in prior deviations of a score."""
FINEST = 2.0**-7
"""Panels are not refined beyond this."""
SAFETY = 3.0
"""The reported error is this many times what the last refinement changed ..."""
BELIEVED = 1e-4
"""... but two grids alone are not believed beyond this share of the scale: they may agree by accident ..."""
FASTEST_FALL = 8.0
"""... and from one grid to the next it falls by no more than this."""
GROWTH = 6.0
"""About how much longer a grid takes than one with panels twice as wide."""
REPORTED = 0.2
"""Seconds between two reports."""
MOST_TESTS = 18
MOST_SETS = 2**14
BYTES_A_SET = 1e5
"""About what a set takes on the second grid."""


def solve_plane(
    plane: Plane,
    *,
    tolerance: float | None = None,
    max_tests: int | None = None,
    memory_limit: float | None = None,
    time_limit: float | None = None,
    progress: Report | None = None,
) -> PlaneSolution:
    """Find the best policy of a plane.

    Parameters
    ----------
    plane : Plane
    tolerance : float, optional
        Wanted accuracy of the value, in units of the reward; by default 1e-3 of the largest loss that deciding at once
        can have, or of the span of the reward where this is smaller. The estimate of the accuracy reached is `error`
        of the solution.
    max_tests : int, optional
        Most tests to run on a subject.
    memory_limit : float, optional
        Bytes that may be used; by default what is free.
    time_limit : float, optional
        Seconds after which no finer grid is begun, and one that is begun is given up; the first one is always finished.
    progress : callable, optional
        Called now and then with how many tested sets are solved on a grid, the `width` of whose panels, in prior
        deviations, is among the details; `value` and `bound` are those of deciding at once and of perfect information.

    Examples
    --------
    A part is good if two dimensions are both above 0; each has a test of its own.

    >>> from proband.piecewise import PiecewisePlane
    >>> reward = PiecewisePlane(
    ...     ([0.0], [0.0]), [[[-1.0, -1.0], [-1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]], np.zeros((2, 2, 2, 2))
    ... )
    >>> plane = Plane(np.eye(2), np.eye(2), [0.5, 0.0], [0.05, 0.05], reward)
    >>> solution = solve_plane(plane)
    >>> round(solution.value, 3), solution.actions([0b00, 0b10], [[0.5, 0.0], [0.5, -1.0]])
    (0.271, array([1, 3]))
    """
    began = time.perf_counter()
    check_limits(tolerance, max_tests)
    instance = standardise(plane)
    m = len(instance.peers)
    memory = available_memory() if memory_limit is None else memory_limit
    most = m if max_tests is None else min(m, max_tests)
    _check_size(m, most, memory)
    scale = _scale(plane, instance)
    wanted = RELATIVE_TOLERANCE * scale if tolerance is None else tolerance
    reach = min(max(math.sqrt(2 * math.log(50 * max(scale / wanted, 1.0))), 4.0), 8.0)
    run = _Refining(Sets.of(instance, most), reach, scale, wanted, memory, time_limit, began, progress)
    induction, error = run.solve()
    return PlaneSolution(plane, induction, error, error <= wanted, time.perf_counter() - began)


class _Refining:
    """Solves grid after grid until the estimated error is small, or time or memory run out."""

    def __init__(
        self, sets: Sets, reach: float, scale: float, wanted: float, memory: float, limit: float | None, began: float,
        progress: Report | None,
    ) -> None:  # fmt: skip
        self.sets, self.reach, self.wanted, self.memory, self.progress = sets, reach, wanted, memory, progress
        self.began, self.deadline = began, math.inf if limit is None else began + limit
        self.scale, self.rest = scale, scale * math.exp(-(reach**2) / 2)
        prior = sets.instance.prior
        n = len(sets.instance.surfaces.heights)
        *decisions, self.perfect = expect_many(sets.instance.surfaces, np.zeros((1, 2)), prior, n + 1)[0].tolist()
        self.stopping = max(decisions)
        self.rounding = 1e-13 * max(scale, abs(self.stopping), abs(self.perfect))

    def solve(self) -> tuple[Induction, float]:
        """Return the finest induction that was finished, and the estimate of its error."""
        width = WIDEST
        best = self._grid(width, math.inf)
        assert best is not None
        before, taken = self._losses(best), time.perf_counter() - self.began
        error = gap = float(max(before[0], self.perfect - self.stopping - before[0])) + self.rounding
        least = BELIEVED * self.scale
        while width > FINEST and self._may_refine(best, taken):
            width, start = width / 2, time.perf_counter()
            finer = self._grid(width, self.deadline)
            if finer is None:
                break
            best, after, taken = finer, self._losses(finer), time.perf_counter() - start
            change = SAFETY * float(np.abs(after - before).max())
            summing = abs(float(after[0]) - finer.loss_on_arrival(coarser=2.0))
            error = min(gap, max(change, least) + summing + self.rest + self.rounding)
            before, least = after, error / FASTEST_FALL
            if error <= self.wanted:
                break
        return best, error

    def _may_refine(self, induction: Induction, taken: float) -> bool:
        size = sum(table.nbytes for table in induction.tables.values() if table is not None)
        return 5 * size < self.memory and time.perf_counter() + GROWTH * taken < self.deadline

    def _grid(self, width: float, deadline: float) -> Induction | None:
        """Return the solution on one grid, None if it is not finished in time."""
        induction = Induction(self.sets, Rule(width, self.reach))
        steps, reported, total = induction.solve(), -math.inf, sum(map(len, self.sets.levels))
        for solved in steps:
            now = time.perf_counter()
            if now > deadline and solved < total:
                steps.close()
                return None
            if self.progress is not None and (now - reported > REPORTED or solved == total):
                reported = now
                self.progress(
                    Progress(
                        seconds=now - self.began, value=self.stopping, bound=self.perfect, what="sets", done=solved,
                        total=total, details={"width": width},
                    )
                )  # fmt: skip
        return induction

    def _losses(self, induction: Induction) -> FloatArray:
        """Return the loss of a new subject, then those of all tests that may come first."""
        first, second = self.sets.instance.arrival_steps
        points = np.unique(np.array([[0.0, 0.0], first, -first, second, -second]), axis=0)
        losses = induction.action_losses(0, points)
        return np.array([induction.loss_on_arrival(), *losses[np.isfinite(losses)]])


def _scale(plane: Plane, instance: Instance) -> float:
    """Return the largest loss of deciding at once at the prior deviations, or the span of the reward if it is less."""
    line = np.linspace(-3.0, 3.0, 19)
    places = ((0.0, *instance.surfaces.knots_1), (0.0, *instance.surfaces.knots_2))
    points = np.array([[x + u, y + v] for x in places[0] for y in places[1] for u in line for v in line])
    expected = expect_many(instance.surfaces, points, instance.prior, plane.reward.n + 1)
    largest = float((expected[:, -1] - expected[:, :-1].max(axis=1)).max())
    return min((scale for scale in (largest, plane.reward.span) if scale > 0), default=1.0)


def _check_size(m: int, most: int, memory: float) -> None:
    """Raise unless the two coarsest grids fit."""
    sets = sum(math.comb(m, size) for size in range(most + 1))
    needed = sets * BYTES_A_SET
    if m > MOST_TESTS or sets > MOST_SETS or needed > memory:
        raise TooLargeError(
            f"with two scores, {m} tests that can be run make {human_number(sets)} tested sets, each with a grid of "
            f"its own, about {human_bytes(needed)} at the least; the limits are {MOST_TESTS} tests, "
            f"{human_number(MOST_SETS)} sets and {human_bytes(memory)}; use fewer tests, or max_tests, or bin the "
            "measurements (proband.binning)"
        )
