"""Piecewise-linear functions of one and of two variables, jumps allowed, and their expectations under a Gaussian."""

from proband.piecewise.line import PiecewiseLinear
from proband.piecewise.plane import PiecewisePlane

__all__ = ["PiecewiseLinear", "PiecewisePlane"]
