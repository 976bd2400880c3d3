"""Checks of what is handed to the subset solver; each message names the value, the rule and the remedy."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import DistributionError
from proband.planners.subset.objective import IN, OUT, Candidates, States
from proband.prices import Flags, Prices
from proband.vocabulary import FloatArray, IntArray


def checked_candidates(
    covariance: ArrayLike,
    costs: ArrayLike,
    *,
    scale: float = 1.0,
    groups: ArrayLike | None = None,
    group_costs: ArrayLike | None = None,
    forced_in: Iterable[int] = (),
    forced_out: Iterable[int] = (),
) -> Candidates:
    """Check everything but definiteness, which takes a factorisation."""
    matrix = _checked_covariance(covariance)
    d = len(matrix)
    if not (math.isfinite(scale) and scale > 0):
        raise DistributionError(
            f"scale is {scale}; it must be finite and above 0; give the worth of one nat of entropy"
        )
    cost = _checked_costs("costs", costs, d)
    if (groups is None) != (group_costs is None):
        raise DistributionError("one of groups and group_costs is missing; the two go together; give both, or neither")
    group = np.full(d, -1, dtype=np.int64) if groups is None else _checked_groups(groups, d)
    cheap = cost if group_costs is None else _checked_group_costs(group_costs, group, cost)
    if not math.isfinite(2 / float(scale)) or not math.isfinite(float(cost.max()) * (2 / float(scale))):
        raise DistributionError(
            f"costs reach {cost.max():g} at scale {scale:g}; their ratio must not overflow; use other units"
        )
    deviation = np.sqrt(matrix.diagonal())
    correlation = matrix / deviation[:, None] / deviation
    np.fill_diagonal(correlation, 1.0)
    names, numbers = np.unique(group, return_inverse=True)
    count = len(names) - int(names[0] < 0)
    numbers = numbers.astype(np.int64) - int(names[0] < 0)
    prices, state = Prices(cost, numbers, cheap), _states(d, forced_in, forced_out)
    return Candidates(matrix, correlation, prices, count, float(scale), state)


def _checked_covariance(covariance: ArrayLike) -> FloatArray:
    try:
        matrix = np.array(covariance, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DistributionError(f"the covariance is no array of numbers ({error}); give a (d, d) matrix") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise DistributionError(
            f"the covariance has shape {matrix.shape}; it must be (d, d), d of 1 or more; reshape it"
        )
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise DistributionError(
            f"the covariance of tests {i} and {j} is {matrix[i, j]}; covariances must be finite; fill or drop the tests"
        )
    variance = matrix.diagonal()
    if (variance <= 0).any():
        i = int(np.argmin(variance))
        raise DistributionError(
            f"the variance of test {i} is {variance[i]:g}; a variance must be above 0; leave out tests that never vary"
        )
    uneven = np.abs(matrix - matrix.T) / np.sqrt(variance)[:, None] / np.sqrt(variance)
    if uneven.max() > 1e-8:
        i, j = np.unravel_index(int(np.argmax(uneven)), uneven.shape)
        raise DistributionError(
            f"the covariance of tests {i} and {j} is {matrix[i, j]:.9g} and {matrix[j, i]:.9g} the other way round; a "
            "covariance must be symmetric; give (C + Cᵀ)/2"
        )
    return np.asarray(matrix + matrix.T) / 2


def _checked_costs(name: str, costs: ArrayLike, d: int) -> FloatArray:
    try:
        prices = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DistributionError(f"{name} are no numbers ({error}); give one price for each of the {d} tests") from error
    if prices.ndim == 0:
        prices = np.full(d, float(prices))
    if prices.shape != (d,):
        raise DistributionError(
            f"{name} have shape {prices.shape}; there must be one for each of the {d} tests; give the missing prices"
        )
    if not (np.isfinite(prices) & (prices >= 0)).all():
        i = int(np.flatnonzero(~(np.isfinite(prices) & (prices >= 0)))[0])
        raise DistributionError(
            f"{name}: test {i} has {prices[i]}; a cost must be finite and 0 or more; give the price"
        )
    return prices


def _checked_group_costs(group_costs: ArrayLike, group: IntArray, cost: FloatArray) -> FloatArray:
    """Return the price of each test once its group is open; what is given for tests without a group is not read."""
    given = np.array(group_costs, dtype=np.float64)
    cheap = _checked_costs("group_costs", np.where(group >= 0, given, cost) if given.ndim < 2 else given, len(cost))
    if (cheap > cost).any():
        i = int(np.flatnonzero(cheap > cost)[0])
        raise DistributionError(
            f"the group cost of test {i} is {cheap[i]:g} and its cost {cost[i]:g}; the price within an open group is "
            "the lower one; swap them"
        )
    return cheap


def _checked_groups(groups: ArrayLike, d: int) -> IntArray:
    given = np.asarray(groups)
    if given.shape != (d,) or not (np.issubdtype(given.dtype, np.integer) and (given >= -1).all()):
        raise DistributionError(
            f"groups have shape {given.shape} and type {given.dtype}; each of the {d} tests needs the number of its "
            "group, -1 for none; give whole numbers of -1 or more"
        )
    return given.astype(np.int64)


def _states(d: int, forced_in: Iterable[int], forced_out: Iterable[int]) -> States:
    state = np.zeros(d, dtype=np.int8)
    for name, forced, mark in (("forced_in", forced_in, 1), ("forced_out", forced_out, 2)):
        for i in checked_tests(name, forced, d):
            if state[i] not in (0, mark):
                raise DistributionError(f"test {i} is in forced_in and in forced_out; it cannot be both; drop one")
            state[i] = mark
    return state


def checked_tests(name: str, tests: Iterable[int], d: int) -> list[int]:
    """Return numbers of tests after checking that they are."""
    numbers = list(tests)
    for i in numbers:
        if isinstance(i, (bool, np.bool_)) or not isinstance(i, (int, np.integer)) or not 0 <= i < d:
            raise DistributionError(f"{name} has {i!r}; tests are numbered 0 to {d - 1}; give these numbers")
    return numbers


def flags_of(candidates: Candidates, start: Iterable[int] | None) -> Flags:
    """Return a set to start from as flags, shape (d,)."""
    flags = np.zeros(candidates.d, dtype=np.bool_)
    flags[checked_tests("start", start or (), candidates.d)] = True
    return flags


def check_size(candidates: Candidates, size: int) -> None:
    """Raise if no set of this size keeps to what is forced."""
    least, most = int((candidates.state == IN).sum()), int((candidates.state != OUT).sum())
    whole = isinstance(size, (int, np.integer)) and not isinstance(size, (bool, np.bool_))
    if not whole or not least <= size <= most:
        raise DistributionError(
            f"size is {size!r}; with {least} of {candidates.d} tests forced in and {candidates.d - most} forced out it "
            f"must be a whole number from {least} to {most}; choose one of these"
        )


def check_tolerance(tolerance: float) -> None:
    """Raise if a tolerance is no number of 0 or more."""
    if not tolerance >= 0:
        raise DistributionError(f"tolerance is {tolerance}; it must be 0 or more; give the gap that you accept")
