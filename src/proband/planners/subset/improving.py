"""Good sets quickly: greedy addition, then additions, removals and exchanges.

The moves are those of :mod:`proband.planners.subset.improving_kernel`. No bound comes with the answer;
:func:`~proband.planners.subset.solve.solve_subset` starts from it and proves one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.errors import DistributionError
from proband.planners.subset.checking import check_size, checked_pool, flags_of
from proband.planners.subset.improving_kernel import climb
from proband.planners.subset.objective import Instance, Pool
from proband.vocabulary import FloatArray

__all__ = ["climbed", "improve"]

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
    costs : array_like of shape (d,)
        Price of each test.
    scale : float, default 1
        Worth of one nat of entropy.
    start : iterable of int
        The set to begin with; the empty set, and so greedy addition, by default.
    size : int, optional
        Number of tests that the set must have.
    max_size : int, optional
        Most tests that it may have.
    groups, group_costs, forced_in, forced_out
        As in :func:`~proband.planners.subset.solve.solve_subset`.

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
    pool = checked_pool(
        covariance,
        costs,
        scale=scale,
        groups=groups,
        group_costs=group_costs,
        forced_in=forced_in,
        forced_out=forced_out,
    )
    least, most = _sizes(pool, size, max_size)
    found = _climbed(pool, pool.offset, flags_of(pool, start), least, most)
    if found.sum() < least:
        raise DistributionError(
            f"size is {least} and the set found has {int(found.sum())} tests, of which the others are combinations; "
            "the covariance of a set must not be singular; ask for fewer tests"
        )
    return tuple(int(i) for i in np.flatnonzero(found))


def _sizes(pool: Pool, size: int | None, max_size: int | None) -> tuple[int, int]:
    forced, possible = int((pool.state == 1).sum()), int((pool.state != 2).sum())
    if size is not None:
        check_size(pool, size)
    if max_size is not None and max_size < max(forced, size or 0):
        raise DistributionError(
            f"max_size is {max_size} and {max(forced, size or 0)} tests are asked for; it must not be smaller; raise it"
        )
    if size is not None:
        return size, size
    return forced, possible if max_size is None else min(max_size, possible)


def climbed(pool: Pool, instance: Instance, start: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Climb from a set, given as flags, on the F and to the size of an instance."""
    least, most = _sizes(pool, None if instance.size < 0 else instance.size, None)
    return _climbed(pool, instance.offset, start, least, most)


def _climbed(pool: Pool, offset: FloatArray, start: NDArray[np.bool_], least: int, most: int) -> NDArray[np.bool_]:
    begin = (start | (pool.state == 1)) & (pool.state != 2)
    inside: NDArray[np.bool_] = climb(
        pool.correlation, begin, pool.state == 0, offset, pool.prices.group, pool.extra, pool.groups,
        least, most, SMALLEST,
    )  # fmt: skip
    return inside
