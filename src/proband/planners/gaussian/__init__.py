"""Planning with Gaussian outcomes: (tested set) × (posterior mean of the scores), exact up to a controlled error."""

from proband.planners.gaussian.line.problem import Line
from proband.planners.gaussian.line.solution import LineSolution
from proband.planners.gaussian.line.solve import solve_line

__all__ = ["Line", "LineSolution", "solve_line"]
