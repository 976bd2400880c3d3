"""All sets of tests at once (:mod:`proband.planners.subset.enumeration_kernel`), for few tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.errors import TooLargeError
from proband.planners.subset.checking import checked_pool
from proband.planners.subset.enumeration_kernel import all_values
from proband.planners.subset.objective import Pool, inverse_of
from proband.vocabulary import FloatArray

__all__ = ["best_of_all", "enumerate_values"]

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
    pool = checked_pool(
        covariance, costs, scale=scale, groups=groups, group_costs=group_costs, forced_in=(), forced_out=()
    )
    _check_few(pool.d)
    inverse_of(pool)
    values: FloatArray = all_values(pool.correlation, pool.offset, pool.prices.group, pool.extra, pool.groups)
    values *= pool.scale / 2
    return values


def _check_few(d: int) -> None:
    if d > MOST:
        raise TooLargeError(f"{d} tests have 2^{d} sets; at most {MOST} tests are enumerated; use branch and bound")


def best_of_all(pool: Pool, size: int | None) -> tuple[NDArray[np.bool_], int]:
    """Return the best set that keeps to what is forced and to the size, as flags, and how many sets there are."""
    tests = np.flatnonzero(pool.state != 2)
    _check_few(len(tests))
    group = pool.prices.group[tests]
    values = all_values(
        pool.correlation[np.ix_(tests, tests)], pool.offset[tests], group, pool.extra[tests], pool.groups
    )
    sets = np.arange(len(values))
    needed = int((1 << np.flatnonzero(pool.state[tests] == 1)).sum())
    allowed = (sets & needed) == needed
    if size is not None:
        allowed &= np.bitwise_count(sets) == size
    best = int(np.argmax(np.where(allowed, values, -np.inf)))
    inside = np.zeros(pool.d, dtype=np.bool_)
    inside[tests] = best >> np.arange(len(tests)) & 1
    return inside, len(values)
