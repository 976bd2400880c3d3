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

from proband.piecewise import PiecewisePlane
from proband.planners.gaussian.measurements import Measurements, check_array
from proband.vocabulary import FloatArray


@dataclass(frozen=True, eq=False)
class Plane(Measurements):
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
    groups, group_costs, operable, context : optional
        What tests share, and which can be run; see :class:`~proband.planners.gaussian.measurements.Measurements`.

    Examples
    --------
    >>> better = PiecewisePlane(([], []), [[[0.0]], [[0.0]]], [[[[1.0, 0.0]]], [[[0.0, 1.0]]]])
    >>> Plane(np.eye(3), [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], [0.0, 0.0], [0.1, 0.1, 0.1], better).d
    3
    """

    mean_z: FloatArray
    reward: PiecewisePlane

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
        super().__init__(
            covariance, weights, costs, groups=groups, group_costs=group_costs, operable=operable, context=context
        )
        means = np.array(mean_z, dtype=np.float64)
        means.setflags(write=False)
        object.__setattr__(self, "mean_z", means)
        object.__setattr__(self, "reward", reward)
        check_array("weights", self.weights, (2, self.d))
        check_array("means of z", self.mean_z, (2,))
