"""The best set of tests as a plan: without the search, so that a policy file is followed without compiled code."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Gaussian
from proband.planners.evaluation import set_reward
from proband.planners.plans import Explanation, Plan, ranked
from proband.planners.subset.solution import SubsetSolution
from proband.policies import FixedSet
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray


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
        row = self.one_state(state)
        action = int(self.act(row)[0])
        scores = {self.problem.d: self._worth(row, set())}
        for i in np.flatnonzero(np.isnan(row)).tolist():
            scores[i] = self._worth(row, {*self.chosen, i})
        return Explanation(action, 1.0, ranked(scores, action))

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
