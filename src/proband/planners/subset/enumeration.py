"""All sets of tests at once (:mod:`proband.planners.subset.enumeration_kernel`), for few tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import TooLargeError
from proband.planners.subset.checking import checked_candidates
from proband.planners.subset.enumeration_kernel import fill_values
from proband.planners.subset.objective import IN, OUT, Candidates, inverse_of
from proband.prices import Flags
from proband.vocabulary import FloatArray, IntArray

MOST = 26
"""Tests whose sets fit half a gigabyte."""


def enumerate_values(
    covariance: ArrayLike,
    costs: ArrayLike,
    *,
    scale: float = 1.0,
    groups: ArrayLike | None = None,
    group_costs: ArrayLike | None = None,
) -> FloatArray:
    """Return f of every set of tests.

    Parameters
    ----------
    covariance : array_like of shape (d, d)
        Positive definite; d is 26 at most.
    costs, scale, groups, group_costs
        As in :func:`~proband.planners.subset.solve.solve_subset`.

    Returns
    -------
    ndarray of shape (2^d,)
        f of the set whose bits are the index: test i is in it if ``index >> i & 1``.

    Examples
    --------
    >>> enumerate_values([[1.0, 0.6], [0.6, 1.0]], [1.0, 0.5]).round(4)
    array([0.    , 0.4189, 0.9189, 1.1147])
    """
    candidates = checked_candidates(covariance, costs, scale=scale, groups=groups, group_costs=group_costs)
    _check_few(candidates.d)
    inverse_of(candidates)
    values = _all_values(candidates, np.arange(candidates.d))
    values *= candidates.scale / 2
    return values


def _all_values(candidates: Candidates, tests: IntArray) -> FloatArray:
    """Return F of every set of some of the tests, shape (2^k,)."""
    k = len(tests)
    values, given, cheapest = np.zeros(1 << k), np.empty((k, k, k)), np.full((k + 1, candidates.groups), np.inf)
    correlation, group = candidates.correlation[np.ix_(tests, tests)], candidates.prices.group[tests]
    fill_values(correlation, candidates.offset[tests], group, candidates.extra[tests], given, cheapest, values)
    return values


def _check_few(d: int) -> None:
    if d > MOST:
        raise TooLargeError(f"{d} tests have 2^{d} sets; at most {MOST} tests are enumerated; use branch and bound")


def best_of_all(candidates: Candidates, size: int | None) -> tuple[Flags, int]:
    """Return the best set that keeps to what is forced and to the size, as flags, and how many sets there are."""
    tests = np.flatnonzero(candidates.state != OUT)
    _check_few(len(tests))
    values = _all_values(candidates, tests)
    sets = np.arange(len(values))
    needed = int((1 << np.flatnonzero(candidates.state[tests] == IN)).sum())
    allowed = (sets & needed) == needed
    if size is not None:
        allowed &= np.bitwise_count(sets) == size
    best = int(np.argmax(np.where(allowed, values, -np.inf)))
    inside = np.zeros(candidates.d, dtype=np.bool_)
    inside[tests] = best >> np.arange(len(tests)) & 1
    return inside, len(values)
