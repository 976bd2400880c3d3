"""The planning problem when the reward depends on two linear combinations of Gaussian measurements.

x ~ N(μ, Σ), z = A x + b with two rows, and the reward g_y(z) of each decision is affine on rectangles. What was seen
enters only through the set O of tests done and the posterior mean m ∈ R² of z: the posterior covariance T[O] is a
function of O, and a further test i moves the mean along one line, by step[O, i]·ε with ε ~ N(0, 1) and

    step[O, i] = Cov(z, x_i | O) / sd(x_i | O) ∈ R²,        T[O ∪ {i}] = T[O] − step[O, i] step[O, i]ᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import ProblemError
from proband.piecewise import PiecewiseLinear
from proband.piecewise_plane import PiecewisePlane
from proband.planners.gaussian.line import Line
from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Plane:
    """Tests with Gaussian outcomes, and a reward that depends on two linear combinations z of them.

    Parameters
    ----------
    covariance : array_like of shape (d, d)
        Covariance of x; it may be singular.
    weights : array_like of shape (2, d)
        z = weights · x + a constant.
    mean_z : array_like of shape (2,)
        Prior mean of z, the constant included.
    costs : array_like of shape (d,)
    reward : PiecewisePlane
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
    >>> better = PiecewisePlane(([], []), [[[0.0]], [[0.0]]], [[[[1.0, 0.0]]], [[[0.0, 1.0]]]])
    >>> Plane(np.eye(3), [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], [0.0, 0.0], [0.1, 0.1, 0.1], better).d
    3
    """

    covariance: FloatArray
    weights: FloatArray
    mean_z: FloatArray
    costs: FloatArray
    reward: PiecewisePlane
    groups: IntArray
    group_costs: FloatArray
    operable: int
    context: int

    def __init__(
        self,
        covariance: ArrayLike,
        weights: ArrayLike,
        mean_z: ArrayLike,
        costs: ArrayLike,
        reward: PiecewisePlane,
        *,
        groups: ArrayLike | None = None,
        group_costs: ArrayLike | None = None,
        operable: int | None = None,
        context: int = 0,
    ) -> None:
        prices = np.array(costs, dtype=np.float64)
        d = len(prices) if prices.ndim == 1 else 0
        everything = (1 << d) - 1
        fields = {
            "covariance": np.array(covariance, dtype=np.float64),
            "weights": np.array(weights, dtype=np.float64),
            "mean_z": np.array(mean_z, dtype=np.float64),
            "costs": prices,
            "groups": np.full(d, -1, dtype=np.int64) if groups is None else np.array(groups, dtype=np.int64),
            "group_costs": prices.copy() if group_costs is None else np.array(group_costs, dtype=np.float64),
        }
        for name, array in fields.items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)
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


def _check(plane: Plane) -> None:
    """Raise unless the shapes are right and each score alone makes a line, which checks all the rest."""
    if plane.weights.shape != (2, plane.weights.shape[-1]) or plane.mean_z.shape != (2,):
        raise ProblemError(
            f"weights have shape {plane.weights.shape} and mean_z {plane.mean_z.shape}; with two scores they must be "
            "(2, d) and (2,); reshape them, or use a line for one score"
        )
    nothing = PiecewiseLinear([], [[0.0]], [[0.0]])
    for weights, mean in zip(plane.weights, plane.mean_z, strict=True):
        Line(
            plane.covariance, weights, mean, plane.costs, nothing, groups=plane.groups, group_costs=plane.group_costs,
            operable=plane.operable, context=plane.context,
        )  # fmt: skip
