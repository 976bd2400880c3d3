"""Laws of the outcome vector x."""

from proband.distributions.discrete import Discrete, totals, weighted_sum
from proband.distributions.gaussian import Gaussian
from proband.distributions.protocol import Distribution, Solvable

__all__ = ["Discrete", "Distribution", "Gaussian", "Solvable", "totals", "weighted_sum"]
