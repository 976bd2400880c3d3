"""Good sets quickly: greedy addition, then additions, removals and exchanges.

The moves are those of :mod:`proband.planners.subset.improving_kernel`. No bound comes with the answer;
:func:`~proband.planners.subset.solve.solve_subset` starts from it and proves one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import DistributionError
from proband.planners.subset.checking import check_size, checked_candidates, flags_of
from proband.planners.subset.improving_kernel import Sweep, climb
from proband.planners.subset.objective import FREE, IN, OUT, Candidates, Objective
from proband.prices import Flags
from proband.vocabulary import FloatArray

SMALLEST = 1e-10
"""Gain in F below which a move is rounding."""


def improve(
    covariance: ArrayLike,
    costs: ArrayLike,
    *,
    scale: float = 1.0,
    start: Iterable[int] = (),
    size: int | None = None,
    max_size: int | None = None,
    groups: ArrayLike | None = None,
    group_costs: ArrayLike | None = None,
    forced_in: Iterable[int] = (),
    forced_out: Iterable[int] = (),
) -> tuple[int, ...]:
    """Improve a set of tests by additions, removals and exchanges until none of them helps.

    The covariance need not be positive definite: a test that is a combination of those in the set is not added.

    Parameters
    ----------
    covariance : array_like of shape (d, d)
        Covariance of the tests' outcomes.
    costs, scale, groups, group_costs, forced_in, forced_out
        As in :func:`~proband.planners.subset.solve.solve_subset`.
    start : iterable of int
        The set to begin with; the empty set, and so greedy addition, by default.
    size : int, optional
        Number of tests that the set must have.
    max_size : int, optional
        Most tests that it may have.

    Returns
    -------
    tuple of int
        The tests, sorted.

    Examples
    --------
    >>> covariance = [[2.0, 1.9, 0.0], [1.9, 2.0, 0.0], [0.0, 0.0, 1.0]]
    >>> improve(covariance, [0.5, 0.4, 0.3])
    (0, 1, 2)
    >>> improve(covariance, [0.5, 0.4, 0.3], size=2)
    (1, 2)
    """
    candidates = checked_candidates(
        covariance, costs, scale=scale, groups=groups, group_costs=group_costs, forced_in=forced_in,
        forced_out=forced_out,
    )  # fmt: skip
    least, most = _sizes(candidates, size, max_size)
    found = _climbed(candidates, candidates.offset, flags_of(candidates, start), least, most)
    if found.sum() < least:
        raise DistributionError(
            f"size is {least} and the set found has {int(found.sum())} tests, of which the others are combinations; "
            "the covariance of a set must not be singular; ask for fewer tests"
        )
    return tuple(int(i) for i in np.flatnonzero(found))


def _sizes(candidates: Candidates, size: int | None, max_size: int | None) -> tuple[int, int]:
    forced, possible = int((candidates.state == IN).sum()), int((candidates.state != OUT).sum())
    if size is not None:
        check_size(candidates, size)
    if max_size is not None and max_size < max(forced, size or 0):
        raise DistributionError(
            f"max_size is {max_size} and {max(forced, size or 0)} tests are asked for; it must not be smaller; raise it"
        )
    if size is not None:
        return size, size
    return forced, possible if max_size is None else min(max_size, possible)


def climbed(candidates: Candidates, objective: Objective, start: Flags) -> Flags:
    """Climb from a set, given as flags, on the F and to the size of an objective."""
    least, most = _sizes(candidates, None if objective.size < 0 else objective.size, None)
    return _climbed(candidates, objective.offset, start, least, most)


def _climbed(candidates: Candidates, offset: FloatArray, start: Flags, least: int, most: int) -> Flags:
    inside: Flags = (start | (candidates.state == IN)) & (candidates.state != OUT)
    swept, cheapest = np.empty_like(candidates.correlation), np.empty((candidates.groups, 2))
    group, movable = candidates.prices.group, candidates.state == FREE
    at = Sweep(swept, inside, movable, offset, group, candidates.extra, cheapest)
    climb(at, candidates.correlation, least, most, SMALLEST)
    return inside
