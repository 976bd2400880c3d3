"""The instances that every method of the benchmark solves."""

import numpy as np

from proband.piecewise import PiecewiseLinear, PiecewisePlane
from proband.planners.gaussian import Line
from proband.planners.gaussian.plane import Plane

COST = 0.05
REWARDS = {
    "limits": PiecewiseLinear([-1.0, 1.0], [[-2.0, 1.0, -2.0], [0.0, 0.0, 0.0]], np.zeros((2, 3))),
    "threshold": PiecewiseLinear([0.2], [[-1.0, 1.0], [0.0, 0.0]], np.zeros((2, 2))),
    "asymmetric loss": PiecewiseLinear([], [[0.0], [0.2]], [[1.0], [-0.5]]),
}
"""Pass (1, or −2 outside two limits) or fail (0); pass (1 or −1) or fail; two losses linear in z."""


BOTH = "two scores"
CORNER = PiecewisePlane(([-0.3], [-0.4]), [[[-2.0, -2.0], [-2.0, 1.0]], np.zeros((2, 2))], np.zeros((2, 2, 2, 2)))
"""Pass (1 where both scores are above a limit, −2 elsewhere) or fail (0)."""


def case(d, kind="limits", seed=0, cost=COST):
    """d correlated tests at one price; z is their weighted sum, of variance 1 and mean 0.3, or two such sums."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(d, d))
    covariance = factors @ factors.T / d + 0.1 * np.eye(d)
    if kind == BOTH:
        weights = rng.normal(size=(2, d))
        weights /= np.sqrt(np.einsum("si,ij,sj->s", weights, covariance, weights))[:, None]
        return Plane(covariance, weights, [0.3, 0.3], np.full(d, cost), CORNER)
    weights = rng.uniform(0.5, 1.5, size=d)
    weights /= (weights @ covariance @ weights) ** 0.5
    return Line(covariance, weights, 0.3, np.full(d, cost), REWARDS[kind])
