"""The Gaussian planner for a reward of one linear combination: all sets of tests, largest first.

States are (tested set O, posterior mean m of z). With the losses r_O against perfect information
(:mod:`~proband.planners.gaussian.line.instance`), sets of one size depend on those with one test more only, and are
solved side by side by all cores. A tolerance ε is shared out: with L sizes of sets beside the empty one, each set may
add ε/(L + 2) of its own, the last share being for what is known on arrival.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from proband.errors import PlanError, TooLargeError
from proband.planners.gaussian.line.basis_kernel import N
from proband.planners.gaussian.line.induction_kernel import solve_sets
from proband.planners.gaussian.line.instance import Instance, standardise
from proband.planners.gaussian.line.problem import Line
from proband.planners.gaussian.line.solution import LineSolution
from proband.planners.gaussian.line.tables import Level, Panels, Settings
from proband.planners.memory import available_memory, human_bytes, human_number
from proband.planners.options import Standing
from proband.vocabulary import FloatArray, IntArray

Share = tuple[NDArray[np.int32], FloatArray, Panels]
"""Numbers of panels, errors and panels of some sets."""

RELATIVE_TOLERANCE = 1e-6
FINEST = 5e-14
"""No set is asked for more accuracy than this, in standard units: rounding."""

ROUNDING = 2e-14
"""Differences between actions below this, in standard units, are rounding."""

BYTES_A_PANEL = 8 * N + 8 + 8 + 2
BYTES_A_SET = 8 + 4 + 8 + 8
PANELS_A_TURN = 6
"""About what a set takes around one turn of the best decision."""

MOST_SETS = 2**26
LARGEST_SHARE = 256
"""Sets that a core takes at a time, at most."""


@dataclass(frozen=True)
class Headway(Standing):
    """How far the induction has come; `value` and `bound` are those of deciding at once and of perfect information."""

    solved: int
    sets: int


def solve_line(
    line: Line,
    *,
    tolerance: float | None = None,
    max_tests: int | None = None,
    memory_limit: float | None = None,
    time_limit: float | None = None,
    progress: Callable[[Headway], None] | None = None,
) -> LineSolution:
    """Find the best policy of a line.

    Parameters
    ----------
    line : Line
    tolerance : float, optional
        Wanted accuracy of all values, in units of the reward; by default 1e-6 of the largest loss that deciding at
        once can have. The accuracy reached is `error` of the solution.
    max_tests : int, optional
        Most tests to run on a subject.
    memory_limit : float, optional
        Bytes that may be used; by default what is free.
    time_limit : float, optional
        Seconds after which the sets not reached yet decide at once.
    progress : callable, optional
        Called with a :class:`Headway` now and then.

    Examples
    --------
    A bolt is good if its strength is above 0; the first test tells the strength, the second a part of it.

    >>> from proband.piecewise import PiecewiseLinear
    >>> reward = PiecewiseLinear([0.0], [[-1.0, 1.0], [0.0, 0.0]], np.zeros((2, 2)))
    >>> line = Line([[1.0, 0.8], [0.8, 1.0]], [1.0, 0.0], 0.2, [0.3, 0.05], reward)
    >>> solution = solve_line(line)
    >>> round(solution.value, 5), solution.actions([0b00, 0b10, 0b10], [0.2, 0.1, 1.5])
    (0.35852, array([1, 0, 2]))
    """
    began = time.perf_counter()
    _check_limits(tolerance, max_tests)
    instance, units = standardise(line)
    sizes = len(line.tests) if max_tests is None else min(len(line.tests), max_tests)
    memory = available_memory() if memory_limit is None else memory_limit
    _check_size(instance, sizes, memory)
    share = (RELATIVE_TOLERANCE if tolerance is None else tolerance / units.scale) / (sizes + 2)
    stopping = float(line.reward.expectation(line.mean_z, units.sd).max())
    perfect = float(line.reward.upper_envelope().expectation(line.mean_z, units.sd)[0])
    deadline = math.inf if time_limit is None else began + time_limit
    induction = _Induction(instance, settings_for(max(share, FINEST)), sizes, memory, deadline)
    for solved, sets in induction.solve():
        if progress is not None:
            progress(Headway(time.perf_counter() - began, stopping, perfect, solved, sets))
    largest = float(induction.error.max(initial=0.0)) + induction.settings.allowance * (units.arrival > 0)
    return LineSolution(
        line=line,
        instance=instance,
        units=units,
        settings=induction.settings,
        levels=tuple(induction.levels[::-1]),
        error=units.scale * largest + 1e-15 * max(abs(stopping), abs(perfect)),
        complete=induction.complete,
        seconds=time.perf_counter() - began,
    )


def settings_for(share: float) -> Settings:
    """Return settings with which a set adds at most `share`, in standard units, to the error."""
    part = 0.05 * share
    return Settings(
        tail=2 * part,
        cut=part / 2,
        tie=max(part, ROUNDING),
        window=float(-ndtri(min(part / 2, 0.1))),
        reach=_half_width(part),
        width=2 * _half_width(2 * part),
        allowance=3 * part + max(part, ROUNDING),
    )


def _half_width(accuracy: float) -> float:
    """Return a half width, in standard deviations, on which 16 nodes follow a normal density to an accuracy.

    The Chebyshev coefficient of degree 16 of exp(−a²x²/2) is 2·I_8(a²/4)·exp(−a²/4), about 2·(a²/8)^8/8!.
    """
    return math.sqrt(8 * min(accuracy * math.factorial(8) / 2, 1.0) ** (1 / 8))


class _Induction:
    """Solves level after level and keeps the panels."""

    def __init__(self, instance: Instance, settings: Settings, sizes: int, memory: float, deadline: float) -> None:
        self.instance, self.settings, self.memory, self.deadline = instance, settings, memory, deadline
        sets = np.arange(2 ** len(instance.peers), dtype=np.int64)
        self.first = np.zeros(len(sets), dtype=np.int64)
        self.length = np.zeros(len(sets), dtype=np.int32)
        self.error = np.zeros(len(sets))
        self.sets = [sets[np.bitwise_count(sets) == size] for size in range(sizes + 1)]
        self.levels: list[Level] = []
        self.complete = True

    def solve(self) -> Iterator[tuple[int, int]]:
        """Solve all levels; yields how many sets are done, and how many there are."""
        total, solved, cores = sum(map(len, self.sets)), 0, os.cpu_count() or 1
        below = self._level(Panels(np.zeros(0), np.zeros(0), np.zeros((0, N)), np.zeros(0, dtype=np.int16)))
        threads = ThreadPoolExecutor(cores)
        try:
            for sets in self.sets[::-1]:
                shares = _shares(sets, cores)
                solve = partial(self._solve, below, not self.levels)
                found = []
                for result in map(solve, shares) if len(shares) == 1 else threads.map(solve, shares):
                    found.append(result)
                    solved += len(result[0])
                    yield solved, total
                below = self._keep(sets, found)
                self._check_memory(solved, total)
        finally:
            threads.shutdown(cancel_futures=True)  # also where an interrupt, or the caller, ends it early

    def _solve(self, below: Level, final: bool, sets: IntArray) -> Share:
        late = time.perf_counter() > self.deadline
        if late and not final:
            self.complete = False
        counts, errors, panels = solve_sets(self.instance, below, self.settings, sets, final, late)
        return counts, errors, Panels(*panels)

    def _keep(self, sets: IntArray, found: list[Share]) -> Level:
        counts = np.concatenate([share[0] for share in found])
        self.length[sets], self.error[sets] = counts, np.concatenate([share[1] for share in found])
        self.first[sets] = np.cumsum(counts) - counts
        panels = Panels(*(np.concatenate(parts) for parts in zip(*(share[2] for share in found), strict=True)))
        self.levels.append(self._level(panels))
        return self.levels[-1]

    def _level(self, panels: Panels) -> Level:
        return Level(self.first, self.length, self.error, panels)

    def _check_memory(self, solved: int, total: int) -> None:
        used = BYTES_A_PANEL * sum(len(level.panels.low) for level in self.levels)
        growth = total / solved if 10 * solved > total else 1.0
        expected = BYTES_A_SET * len(self.first) + used * growth
        if expected > self.memory:
            raise _too_large(expected, total, len(self.instance.peers), self.memory)


def _shares(sets: IntArray, cores: int) -> list[IntArray]:
    """Cut the sets of a level into what a core takes at a time."""
    size = min(LARGEST_SHARE, max(16, len(sets) // (4 * cores)))
    return [sets[start : start + size] for start in range(0, len(sets), size)]


def _check_limits(tolerance: float | None, max_tests: int | None) -> None:
    if tolerance is not None and not (math.isfinite(tolerance) and tolerance > 0):
        raise PlanError(f"tolerance is {tolerance}; it must be above 0; give the accuracy that you need")
    if max_tests is not None and max_tests < 0:
        raise PlanError(f"max_tests is {max_tests}; it must be 0 or more; give a limit, or leave it out")


def _check_size(instance: Instance, sizes: int, memory: float) -> None:
    """Raise unless the panels will fit, as far as that can be told before."""
    m, turns = len(instance.peers), len(instance.turns)
    sets = sum(math.comb(m, size) for size in range(sizes + 1))
    expected = float(BYTES_A_SET * 2**m + sets * BYTES_A_PANEL * PANELS_A_TURN * turns)
    if expected > memory or 2**m > MOST_SETS:
        raise _too_large(expected, sets, m, memory)


def _too_large(expected: float, sets: int, m: int, memory: float) -> TooLargeError:
    return TooLargeError(
        f"the Gaussian planner would need about {human_bytes(expected)} for {human_number(sets)} sets of {m} tests "
        f"that can be run; the limit is {human_bytes(memory)}; leave out tests, or limit their number with max_tests"
    )
