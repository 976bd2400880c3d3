"""From an entropy problem and a Gaussian law to the best set of tests, as a plan."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Gaussian
from proband.errors import PlanError, StateError
from proband.planners.evaluation import set_reward
from proband.planners.options import Options, Progress, Standing, serves
from proband.planners.plans import Explanation, Plan
from proband.planners.subset.solve import TOLERANCE, SubsetSolution, solve_subset
from proband.planners.subset.solve import Progress as Searched
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
def plan_subset(problem: Problem, distribution: Gaussian, options: Options) -> SubsetPlan:
    """Return the set that brings most: entropy minus costs."""
    if not isinstance(problem.reward, Entropy):
        raise PlanError(
            f"the reward is {type(problem.reward).__name__}; the subset planner maximises entropy; use method="
            '"gaussian", or an Entropy reward'
        )
    if options.max_tests is not None or options.budget is not None:
        raise PlanError(
            f"max_tests is {options.max_tests} and budget is {options.budget}; the subset planner weighs entropy "
            "against costs; ask proband.planners.subset.solve_subset for a set of a given size"
        )
    prices = problem.prices
    solution = solve_subset(
        distribution.covariance,
        prices.cost,
        scale=problem.reward.scale,
        groups=prices.group,
        group_costs=prices.group_cost,
        time_limit=options.time_limit,
        tolerance=TOLERANCE if options.tolerance is None else options.tolerance,
        progress=None if options.progress is None else _standing(options.progress),
    )
    return SubsetPlan(problem, distribution, solution)


def _standing(tell: Progress) -> Callable[[Searched], None]:
    """Return a callback of the search that tells how far it has come as every planner does."""
    return lambda found: tell(Standing(found.seconds, found.value, found.bound))
