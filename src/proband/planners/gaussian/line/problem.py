"""The planning problem when the reward depends on one linear combination z of Gaussian measurements.

x ~ N(μ, Σ), z = w·x + constant, and the reward g_y(z) of each decision is piecewise linear in z. What was seen enters
only through the set O of tests done and the posterior mean m of z: the posterior variance τ²[O] is a function of O, and
a further test i moves the mean by step[O, i]·ε, ε ~ N(0, 1), with

    step[O, i] = Cov(z, x_i | O) / sd(x_i | O),        τ²[O ∪ {i}] = τ²[O] − step[O, i]².
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from proband.errors import ProblemError
from proband.piecewise import PiecewiseLinear
from proband.planners.gaussian.measurements import Measurements, check_array


@dataclass(frozen=True, eq=False)
class Line(Measurements):
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
    groups, group_costs, operable, context : optional
        What tests share, and which can be run; see :class:`~proband.planners.gaussian.measurements.Measurements`.

    Examples
    --------
    >>> reward = PiecewiseLinear([0.0], [[-1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
    >>> Line([[1.0, 0.5], [0.5, 1.0]], [1.0, 0.0], 0.2, [0.3, 0.05], reward).d
    2
    """

    mean_z: float
    reward: PiecewiseLinear

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
        super().__init__(
            covariance, weights, costs, groups=groups, group_costs=group_costs, operable=operable, context=context
        )
        object.__setattr__(self, "mean_z", float(mean_z))
        object.__setattr__(self, "reward", reward)
        check_array("weights", self.weights, (self.d,))
        if not math.isfinite(self.mean_z):
            raise ProblemError(f"mean_z is {self.mean_z}; it must be a finite number; correct it")
