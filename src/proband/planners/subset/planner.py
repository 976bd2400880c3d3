"""From an entropy problem and a Gaussian law to the best set of tests."""

from __future__ import annotations

from collections.abc import Iterable

from proband.distributions import Gaussian
from proband.errors import PlanError
from proband.planners.options import Options, serves
from proband.planners.progress import Report
from proband.planners.subset.every_size import sizes
from proband.planners.subset.plan import SubsetPlan
from proband.planners.subset.solution import SubsetSolution
from proband.planners.subset.solve import TOLERANCE, solve_subset
from proband.problem import Problem
from proband.rewards import Entropy
from proband.vocabulary import Kind


@serves(Kind.SETS)
def plan_subset(
    problem: Problem,
    distribution: Gaussian,
    options: Options,
    *,
    forced_in: Iterable[int] = (),
    forced_out: Iterable[int] = (),
) -> SubsetPlan:
    """Return the set that brings most, entropy minus costs, with and without the tests that must be in or out."""
    if options.max_tests is not None or options.budget is not None:
        raise PlanError(
            f"max_tests is {options.max_tests} and budget is {options.budget}; the subset planner weighs entropy "
            "against costs; ask proband.planners.subset.solve_subset for a set of a given size"
        )
    prices = problem.prices
    solution = solve_subset(
        distribution.covariance, prices.cost, scale=_scale(problem), groups=prices.group,
        group_costs=prices.group_cost, forced_in=forced_in, forced_out=forced_out, time_limit=options.time_limit,
        tolerance=TOLERANCE if options.tolerance is None else options.tolerance, progress=options.progress,
    )  # fmt: skip
    return SubsetPlan(problem, distribution, solution)


def plan_sizes(
    problem: Problem,
    distribution: Gaussian,
    *,
    wanted: Iterable[int] | None = None,
    forced_in: Iterable[int] = (),
    forced_out: Iterable[int] = (),
    time_limit: float | None = None,
    progress: Report | None = None,
) -> list[SubsetSolution]:
    """Return, for each size wanted, the set that brings most; the arguments are those of :func:`sizes`."""
    prices = problem.prices
    return sizes(
        distribution.covariance, sizes=wanted, costs=prices.cost, scale=_scale(problem), groups=prices.group,
        group_costs=prices.group_cost, forced_in=forced_in, forced_out=forced_out, time_limit=time_limit,
        progress=progress,
    )  # fmt: skip


def _scale(problem: Problem) -> float:
    if isinstance(problem.reward, Entropy):
        return problem.reward.scale
    raise PlanError(
        f"the reward is {type(problem.reward).__name__}; the subset planner maximises entropy; use method="
        '"gaussian", or an Entropy reward'
    )
