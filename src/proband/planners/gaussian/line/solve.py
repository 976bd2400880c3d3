"""The Gaussian planner for a reward of one linear combination: all sets of tests, largest first.

States are (tested set O, posterior mean m of z). With the losses r_O against perfect information
(:mod:`~proband.planners.gaussian.line.instance`), all sets are solved
(:mod:`~proband.planners.gaussian.line.induction`). A tolerance ε is shared out: with L sizes of sets beside the empty
one, each set may add ε/(L + 2) of its own, the last share being for what is known on arrival.
"""

from __future__ import annotations

import math
import time

from scipy.special import ndtri

from proband.planners.gaussian.line.induction import Induction, check_size
from proband.planners.gaussian.line.instance import standardise
from proband.planners.gaussian.line.problem import Line
from proband.planners.gaussian.line.solution import LineSolution
from proband.planners.gaussian.line.tables import Settings
from proband.planners.gaussian.measurements import check_limits
from proband.planners.memory import available_memory
from proband.planners.progress import Progress, Report

RELATIVE_TOLERANCE = 1e-6
FINEST = 5e-14
"""No set is asked for more accuracy than this, in standard units: rounding."""

ROUNDING = 2e-14
"""Differences between actions below this, in standard units, are rounding."""


def solve_line(
    line: Line,
    *,
    tolerance: float | None = None,
    max_tests: int | None = None,
    memory_limit: float | None = None,
    time_limit: float | None = None,
    progress: Report | None = None,
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
        Called now and then with what is known and how many tested sets are solved; `value` and `bound` are those of
        deciding at once and of perfect information.

    Examples
    --------
    A bolt is good if its strength is above 0; the first test tells the strength, the second a part of it.

    >>> import numpy as np
    >>> from proband.piecewise import PiecewiseLinear
    >>> reward = PiecewiseLinear([0.0], [[-1.0, 1.0], [0.0, 0.0]], np.zeros((2, 2)))
    >>> line = Line([[1.0, 0.8], [0.8, 1.0]], [1.0, 0.0], 0.2, [0.3, 0.05], reward)
    >>> solution = solve_line(line)
    >>> round(solution.value, 5), solution.actions([0b00, 0b10, 0b10], [0.2, 0.1, 1.5])
    (0.35852, array([1, 0, 2]))
    """
    began = time.perf_counter()
    check_limits(tolerance, max_tests)
    instance, units = standardise(line)
    sizes = len(line.tests) if max_tests is None else min(len(line.tests), max_tests)
    memory = available_memory() if memory_limit is None else memory_limit
    check_size(instance, sizes, memory)
    share = (RELATIVE_TOLERANCE if tolerance is None else tolerance / units.scale) / (sizes + 2)
    stopping = float(line.reward.expectation(line.mean_z, units.sd).max())
    perfect = float(line.reward.upper_envelope().expectation(line.mean_z, units.sd)[0])
    deadline = math.inf if time_limit is None else began + time_limit
    induction = Induction(instance, settings_for(max(share, FINEST)), sizes, memory, deadline)
    for solved, sets in induction.solve():
        if progress is not None:
            seconds = time.perf_counter() - began
            progress(Progress(seconds=seconds, value=stopping, bound=perfect, what="sets", done=solved, total=sets))
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
