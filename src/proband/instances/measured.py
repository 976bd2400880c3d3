"""Quality control by measurement: bolts with one number that matters, shafts with two.

Their laws are factor models: what goes wrong in the plant moves several measurements at once. The numbers are invented,
not measured; the problem files below ``instances/problems`` explain prices and rewards.
"""

from __future__ import annotations

import numpy as np

from proband.distributions import Gaussian
from proband.instances.instance import Instance, packaged_problem

BOLT_MEANS = (60.0, 95.0, 1.75, 31.0, 560.0, 905.0)
BOLT_SPREADS = (0.12, 0.9, 0.012, 1.9, 32.0, 52.0)
BOLT_FACTORS = (  # share of the furnace's temperature and of the tools' wear in each measurement
    (0.10, 0.85), (0.30, 0.70), (0.05, 0.80), (0.86, -0.10), (0.90, -0.15), (0.95, -0.12),
)  # fmt: skip
SHAFT_SPREADS = (9.0, 10.0, 9.0, 10.0)
SHAFT_FACTORS = ((0.80, 0.20), (0.85, -0.45), (0.95, 0.00), (0.85, 0.45))


def bolts_measured() -> Instance[Gaussian]:
    """Return the inspection of bolts by measurement: six tests, one score.

    Examples
    --------
    >>> instance = bolts_measured()
    >>> instance.problem.tests[5].unit, instance.distribution.d
    ('MPa', 6)
    """
    law = _factor_law(BOLT_MEANS, BOLT_SPREADS, BOLT_FACTORS)
    return Instance("bolts-measured", packaged_problem("bolts-measured"), law)


def shafts() -> Instance[Gaussian]:
    """Return the inspection of ground shafts: three calipers, a sensor known on arrival, two scores.

    Examples
    --------
    >>> [score.name for score in shafts().problem.reward.scores]
    ['diameter', 'taper']
    """
    return Instance("shafts", packaged_problem("shafts"), _factor_law((2.0,) * 4, SHAFT_SPREADS, SHAFT_FACTORS))


def _factor_law(
    means: tuple[float, ...], spreads: tuple[float, ...], factors: tuple[tuple[float, float], ...]
) -> Gaussian:
    """Return the law of measurements whose correlations come from common factors."""
    loadings, sd = np.array(factors), np.array(spreads)
    correlation = loadings @ loadings.T
    np.fill_diagonal(correlation, 1.0)
    return Gaussian(means, correlation * np.outer(sd, sd))
