"""Planning with two scores: losses on one grid after another, each twice as fine."""

from proband.planners.gaussian.plane.problem import Plane
from proband.planners.gaussian.plane.solution import PlaneSolution
from proband.planners.gaussian.plane.solve import solve_plane

__all__ = ["Plane", "PlaneSolution", "solve_plane"]
