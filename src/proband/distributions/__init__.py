"""Laws of the outcome vector x."""

from proband.distributions.discrete import Discrete, totals

__all__ = ["Discrete", "totals"]
