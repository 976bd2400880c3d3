"""From a projection problem and a Gaussian law to the arrays of the solvers, and back to a plan."""

from __future__ import annotations

from proband.distributions import Gaussian
from proband.errors import PlanError
from proband.piecewise import PiecewiseLinear
from proband.planners.gaussian.line.problem import Line
from proband.planners.gaussian.line.solution import LineSolution
from proband.planners.gaussian.line.solve import solve_line
from proband.planners.gaussian.plan import GaussianPlan
from proband.planners.gaussian.plane import Plane, PlaneSolution, solve_plane
from proband.planners.options import Options, serves
from proband.policies.beliefs import reward_function
from proband.problem import Problem
from proband.rewards import Projection
from proband.vocabulary import IntArray, Kind


@serves(Kind.SCORES)
def plan_gaussian(problem: Problem, distribution: Gaussian, options: Options) -> GaussianPlan:
    """Return the best policy for measured tests and a reward of one or two scores."""
    if not isinstance(problem.reward, Projection):
        raise PlanError(
            f"the reward is {type(problem.reward).__name__}; the gaussian planner needs a projection; write the reward "
            "as one, or bin the measurements (proband.binning)"
        )
    if options.budget is not None:
        raise PlanError(
            f"budget is {options.budget}; the gaussian planner has no budget per subject; use max_tests, or leave it "
            "out"
        )
    return GaussianPlan(problem, distribution, _solve(problem, problem.reward, distribution, options), options)


def _solve(problem: Problem, reward: Projection, law: Gaussian, options: Options) -> LineSolution | PlaneSolution:
    prices, function = problem.prices, reward_function(problem)
    weights = reward.matrix(problem.tests)
    mean = weights @ law.mean + reward.offsets
    operable, context = _mask(problem.operable), _mask(problem.context)
    if isinstance(function, PiecewiseLinear):
        line = Line(
            covariance=law.covariance, weights=weights[0], mean_z=float(mean[0]), costs=prices.cost,
            groups=prices.group, group_costs=prices.group_cost, operable=operable, context=context, reward=function,
        )  # fmt: skip
        return solve_line(
            line, tolerance=options.tolerance, max_tests=options.max_tests, memory_limit=options.memory_limit,
            time_limit=options.time_limit, progress=options.progress,
        )  # fmt: skip
    plane = Plane(
        covariance=law.covariance, weights=weights, mean_z=mean, costs=prices.cost, groups=prices.group,
        group_costs=prices.group_cost, operable=operable, context=context, reward=function,
    )  # fmt: skip
    return solve_plane(
        plane, tolerance=options.tolerance, max_tests=options.max_tests, memory_limit=options.memory_limit,
        time_limit=options.time_limit, progress=options.progress,
    )  # fmt: skip


def _mask(tests: IntArray) -> int:
    return sum(1 << int(i) for i in tests)
