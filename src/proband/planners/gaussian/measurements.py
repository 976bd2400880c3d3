"""What a line and a plane share: Gaussian tests, what they cost, and which of them can be run."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import PlanError, ProblemError, StateError, TooLargeError
from proband.policies.beliefs import members
from proband.prices import Prices
from proband.vocabulary import FloatArray, IntArray

MOST_TESTS = 62
"""Sets of tests are bits of a signed 64-bit number."""

INDEFINITE = 1e-8
"""A covariance may have an eigenvalue this far below 0, as a share of the largest: rounding, and no more."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """The tests of a planning problem whose reward depends on scores; see :class:`~proband.planners.gaussian.Line`.

    Parameters
    ----------
    covariance : array_like of shape (d, d)
        Covariance of x; it may be singular.
    weights : array_like of shape (d,), or (2, d) for two scores
        z = weights · x + a constant.
    costs : array_like of shape (d,)
    groups : array_like of shape (d,), optional
        A number for each test, the same for tests of one group, -1 for none; by default there are no groups.
    group_costs : array_like of shape (d,), optional
        The price of a test once another *run* test of its group was done.
    operable : int, optional
        Bits of the tests that can be run; by default all that are not in `context`.
    context : int, default 0
        Bits of the tests known on arrival: free, in every state, opening no group.
    """

    covariance: FloatArray
    weights: FloatArray
    costs: FloatArray
    groups: IntArray
    group_costs: FloatArray
    operable: int
    context: int

    def __init__(
        self,
        covariance: ArrayLike,
        weights: ArrayLike,
        costs: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        group_costs: ArrayLike | None = None,
        operable: int | None = None,
        context: int = 0,
    ) -> None:
        prices = np.array(costs, dtype=np.float64)
        if prices.ndim != 1:
            raise ProblemError(f"costs have shape {prices.shape}; there must be one for each test; give a list")
        d = len(prices)
        arrays = {
            "covariance": np.array(covariance, dtype=np.float64),
            "weights": np.array(weights, dtype=np.float64),
            "costs": prices,
            "groups": np.full(d, -1, dtype=np.int64) if groups is None else np.array(groups, dtype=np.int64),
            "group_costs": prices.copy() if group_costs is None else np.array(group_costs, dtype=np.float64),
        }
        for name, array in arrays.items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "operable", (1 << d) - 1 & ~context if operable is None else int(operable))
        object.__setattr__(self, "context", int(context))
        self._check()

    @property
    def d(self) -> int:
        """Number of tests."""
        return len(self.costs)

    @property
    def tests(self) -> IntArray:
        """Indices of the tests that can be run, shape (m,)."""
        return members(self.operable, self.d)

    @property
    def known(self) -> IntArray:
        """Indices of the tests known on arrival."""
        return members(self.context, self.d)

    @property
    def prices(self) -> Prices:
        """What the tests that can be run cost."""
        return Prices(self.costs, self.groups, self.group_costs).only(self.tests)

    def sets(self, masks: ArrayLike) -> IntArray:
        """Return sets of tests, given as bits of all, as bits of those that can be run, shape (n,)."""
        given = np.atleast_1d(np.asarray(masks, dtype=np.int64))
        wrong = ((given & self.context) != self.context) | ((given & ~(self.context | self.operable)) != 0)
        if wrong.any():
            raise StateError(
                f"the tested set is {int(given[wrong][0]):#b}; it must have all tests known on arrival "
                f"({self.context:#b}) and beside them only tests that can be run ({self.operable:#b}); correct it"
            )
        sets = np.zeros(len(given), dtype=np.int64)
        for i, test in enumerate(self.tests):
            sets |= (given >> test & 1) << i
        return sets

    def _check(self) -> None:
        d = self.d
        if d > MOST_TESTS:
            raise TooLargeError(
                f"there are {d} tests; the Gaussian planner takes {MOST_TESTS} or fewer; leave some out"
            )
        shapes = {"covariance": (d, d), "groups": (d,), "group_costs": (d,)}
        for name, shape in shapes.items():
            check_array(name, getattr(self, name), shape)
        for name in ("costs", "group_costs"):
            prices = getattr(self, name)
            if not np.isfinite(prices).all() or (prices < 0).any():
                raise ProblemError(f"{name} are {prices.tolist()}; they must be finite and 0 or more; give the prices")
        if self.operable & self.context or not 0 <= self.operable | self.context < 1 << d:
            raise ProblemError(
                f"operable is {self.operable:#b} and context {self.context:#b}; they are bits of {d} tests, and none "
                "is in both; correct them"
            )
        _check_covariance(self.covariance)


def check_limits(tolerance: float | None, max_tests: int | None) -> None:
    """Raise unless a solver can be asked for these."""
    if tolerance is not None and not 0 < tolerance < math.inf:
        raise PlanError(f"tolerance is {tolerance}; it must be above 0 and finite; give one, or leave it out")
    if max_tests is not None and max_tests < 0:
        raise PlanError(f"max_tests is {max_tests}; it must be 0 or more; give a limit, or leave it out")


def check_array(name: str, array: FloatArray | IntArray, shape: tuple[int, ...]) -> None:
    """Raise unless an array is finite and of a shape."""
    if array.shape != shape or not np.isfinite(array).all():
        raise ProblemError(f"{name} have shape {array.shape}; they must be finite, of shape {shape}; correct them")


def _check_covariance(covariance: FloatArray) -> None:
    if not len(covariance):
        return
    scale = np.sqrt(np.maximum(np.diag(covariance), 0))
    scale = np.where(scale > 0, scale, 1.0)
    correlation = covariance / scale / scale[:, None]
    lowest = np.linalg.eigvalsh((correlation + correlation.T) / 2)[0]
    if np.abs(correlation - correlation.T).max() > INDEFINITE or lowest < -INDEFINITE * len(covariance):
        raise ProblemError(
            f"the covariance is not symmetric and positive semi-definite (lowest eigenvalue of the correlations "
            f"{lowest:.3g}); no law has it; correct it"
        )
