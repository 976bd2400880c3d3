"""Planning with one score: losses on panels of polynomials, split where the best action switches."""

from proband.planners.gaussian.line.problem import Line
from proband.planners.gaussian.line.solution import LineSolution
from proband.planners.gaussian.line.solve import solve_line

__all__ = ["Line", "LineSolution", "solve_line"]
