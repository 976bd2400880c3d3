"""Laws of the outcome vector x."""

from proband.distributions.discrete import Discrete, totals
from proband.distributions.gaussian import Gaussian

Law = Discrete | Gaussian
"""The laws that planners know."""

__all__ = ["Discrete", "Gaussian", "Law", "totals"]
