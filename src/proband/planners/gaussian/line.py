"""The planning problem when the reward depends on one linear combination z of Gaussian measurements.

x ~ N(μ, Σ), z = w·x + constant, and the reward g_y(z) of each decision is piecewise linear in z. What was seen enters
only through the set O of tests done and the posterior mean m of z: the posterior variance τ²[O] is a function of O, and
a further test i moves the mean by step[O, i]·ε, ε ~ N(0, 1), with

    step[O, i] = Cov(z, x_i | O) / sd(x_i | O),        τ²[O ∪ {i}] = τ²[O] − step[O, i]².
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import ProblemError, TooLargeError
from proband.piecewise import PiecewiseLinear
from proband.vocabulary import FloatArray, IntArray

MOST_TESTS = 62
"""Sets of tests are bits of a signed 64-bit number."""

INDEFINITE = 1e-8
"""A covariance may have an eigenvalue this far below 0, as a share of the largest: rounding, and no more."""


@dataclass(frozen=True, eq=False)
class Line:
    """Tests with Gaussian outcomes, and a reward that depends on one linear combination z of them.

    Parameters
    ----------
    covariance : array_like of shape (d, d)
        Covariance of x; it may be singular.
    weights : array_like of shape (d,)
        z = weights · x + a constant.
    mean_z : float
        Prior mean of z, the constant included.
    costs : array_like of shape (d,)
    reward : PiecewiseLinear
        One function of z for each decision.
    groups : array_like of shape (d,), optional
        A number for each test, the same for tests of one group, -1 for none; by default there are no groups.
    group_costs : array_like of shape (d,), optional
        The price of a test once another *run* test of its group was done.
    operable : int, optional
        Bits of the tests that can be run; by default all that are not in `context`.
    context : int, default 0
        Bits of the tests known on arrival: free, in every state, opening no group.

    Examples
    --------
    >>> reward = PiecewiseLinear([0.0], [[-1.0, 1.0], [0.0, 0.0]], np.zeros((2, 2)))
    >>> Line([[1.0, 0.5], [0.5, 1.0]], [1.0, 0.0], 0.2, [0.3, 0.05], reward).d
    2
    """

    covariance: FloatArray
    weights: FloatArray
    mean_z: float
    costs: FloatArray
    reward: PiecewiseLinear
    groups: IntArray
    group_costs: FloatArray
    operable: int
    context: int

    def __init__(
        self,
        covariance: ArrayLike,
        weights: ArrayLike,
        mean_z: float,
        costs: ArrayLike,
        reward: PiecewiseLinear,
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
        everything = (1 << d) - 1
        fields = {
            "covariance": np.array(covariance, dtype=np.float64),
            "weights": np.array(weights, dtype=np.float64),
            "costs": prices,
            "groups": np.full(d, -1, dtype=np.int64) if groups is None else np.array(groups, dtype=np.int64),
            "group_costs": prices.copy() if group_costs is None else np.array(group_costs, dtype=np.float64),
        }
        for name, array in fields.items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "mean_z", float(mean_z))
        object.__setattr__(self, "reward", reward)
        object.__setattr__(self, "operable", everything & ~context if operable is None else int(operable))
        object.__setattr__(self, "context", int(context))
        _check(self)

    @property
    def d(self) -> int:
        """Number of tests."""
        return len(self.costs)

    @property
    def tests(self) -> IntArray:
        """Indices of the tests that can be run, shape (m,)."""
        return _bits(self.operable)

    @property
    def known(self) -> IntArray:
        """Indices of the tests known on arrival."""
        return _bits(self.context)


def _bits(mask: int) -> IntArray:
    return np.array([i for i in range(mask.bit_length()) if mask >> i & 1], dtype=np.int64)


def _check(line: Line) -> None:
    d = line.d
    if d > MOST_TESTS:
        raise TooLargeError(f"there are {d} tests; the Gaussian planner takes {MOST_TESTS} or fewer; leave some out")
    shapes = {"covariance": (d, d), "weights": (d,), "groups": (d,), "group_costs": (d,)}
    for name, shape in shapes.items():
        array = getattr(line, name)
        if array.shape != shape or not np.isfinite(array).all():
            raise ProblemError(f"{name} have shape {array.shape}; they must be finite, of shape {shape}; correct them")
    if not math.isfinite(line.mean_z):
        raise ProblemError(f"mean_z is {line.mean_z}; it must be a finite number; correct it")
    for name in ("costs", "group_costs"):
        prices = getattr(line, name)
        if not np.isfinite(prices).all() or (prices < 0).any():
            raise ProblemError(f"{name} are {prices.tolist()}; they must be finite and 0 or more; give the prices")
    if line.operable & line.context or not 0 <= line.operable | line.context < 1 << d:
        raise ProblemError(
            f"operable is {line.operable:#b} and context {line.context:#b}; they are bits of {d} tests, and none is in "
            "both; correct them"
        )
    _check_covariance(line.covariance)


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
