"""From an entropy problem and a Gaussian law to the best set of tests, as a plan."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Gaussian
from proband.errors import PlanError, StateError
from proband.planners.evaluation import set_reward
from proband.planners.options import Options, serves
from proband.planners.plans import Explanation, Plan
from proband.planners.progress import Report
from proband.planners.subset.every_size import sizes
from proband.planners.subset.solve import TOLERANCE, SubsetSolution, solve_subset
from proband.policies import FixedSet
from proband.policies.tree import Alternative
from proband.problem import Problem
from proband.rewards import Entropy
from proband.vocabulary import FloatArray, IntArray, Kind


class SubsetPlan(Plan):
    """The best fixed set of an entropy problem.

    Attributes
    ----------
    chosen : tuple of int
        The tests of the set.
    solution : SubsetSolution
    """

    method = "subset"
    distribution: Gaussian

    def __init__(self, problem: Problem, distribution: Gaussian, solution: SubsetSolution) -> None:
        super().__init__(problem, distribution)
        self.solution = solution
        self.chosen = solution.chosen
        self.value, self.bound = solution.value, solution.bound
        self._policy = FixedSet(problem, [problem.tests[i].name for i in problem.cheapest_order if i in self.chosen])

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return the first missing test of the set, or stop, for each state."""
        return self._policy.act(states)

    def values(self, states: ArrayLike) -> FloatArray:
        """Return λ times the entropy still to be measured, given what is known, minus its costs, shape (n,)."""
        rows = self.problem.states(states)
        return np.array([self._worth(row, set(self.chosen)) for row in rows])

    def explain(self, state: ArrayLike) -> Explanation:
        """Return what adding or leaving each test would change, given what is known and the rest of the set."""
        rows = self.problem.states(state)
        if len(rows) != 1:
            raise StateError(f"{len(rows)} states are given; one state is explained at a time; give one row")
        row, action = rows[0], int(self.act(rows)[0])
        scores = {self.problem.d: self._worth(row, set())}
        for i in np.flatnonzero(np.isnan(row)).tolist():
            scores[i] = self._worth(row, {*self.chosen, i})
        best = max(scores.values())
        ranked = sorted(scores, key=lambda a: (-scores[a], a != action, a))
        return Explanation(action, 1.0, tuple(Alternative(a, scores[a], best - scores[a]) for a in ranked))

    def _worth(self, row: FloatArray, tests: set[int]) -> float:
        """Return what is still to be gained by measuring the tests that are not known."""
        known, filled, cost = ~np.isnan(row), row.copy(), 0.0
        for i in (j for j in self.problem.cheapest_order if j in tests and not known[j]):
            cost += float(self.problem.costs(filled)[0, i])
            filled[i] = 0.0
        before, after = (
            set_reward(self.problem, self.distribution, np.flatnonzero(part)) for part in (known, ~np.isnan(filled))
        )
        return after - before - cost


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
        distribution.covariance,
        prices.cost,
        scale=_scale(problem),
        groups=prices.group,
        group_costs=prices.group_cost,
        forced_in=forced_in,
        forced_out=forced_out,
        time_limit=options.time_limit,
        tolerance=TOLERANCE if options.tolerance is None else options.tolerance,
        progress=options.progress,
    )
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
        distribution.covariance,
        sizes=wanted,
        costs=prices.cost,
        scale=_scale(problem),
        groups=prices.group,
        group_costs=prices.group_cost,
        forced_in=forced_in,
        forced_out=forced_out,
        time_limit=time_limit,
        progress=progress,
    )


def _scale(problem: Problem) -> float:
    if isinstance(problem.reward, Entropy):
        return problem.reward.scale
    raise PlanError(
        f"the reward is {type(problem.reward).__name__}; the subset planner maximises entropy; use method="
        '"gaussian", or an Entropy reward'
    )
