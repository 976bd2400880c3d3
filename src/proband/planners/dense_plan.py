"""Plans that have every state in a table: that of a law, and one that borrows its tests from a plan under another law.

States are numbered as in :mod:`proband.planners.layout`; :mod:`proband.planners.dense` fills the tables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.distributions import Discrete
from proband.errors import StateError
from proband.planners.discrete_plan import DiscretePlan
from proband.planners.layout import Layout
from proband.policies import Episodes
from proband.vocabulary import FloatArray, IntArray, Pooling

Actions = NDArray[np.uint8 | np.int32]


@dataclass(frozen=True)
class Solution:
    """Unnormalised values and coded actions of all states.

    Attributes
    ----------
    values : FloatArray of shape (states,)
        P(s)·v(s).
    actions : array of shape (states,)
        A position in `Layout.tests`, or m + the best column of the payoff, or one more where P(s) = 0.
    """

    values: FloatArray
    actions: Actions


class DensePlan(DiscretePlan):
    """An exact plan that has every state in a table (`solution`), numbered by its `layout`."""

    method = "dense"
    exact = True

    def __init__(self, layout: Layout, distribution: Discrete, solution: Solution) -> None:
        super().__init__(layout.problem, distribution)
        self.layout = layout
        self.solution = solution
        if self.exact:
            self.value = self.bound = root_value(layout, solution)
        self._looks_up = self.problem.reward.pooling is Pooling.MAXIMUM

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return the best action of each state, shape (n,).

        Tests known on arrival come first where they are missing; a state of probability zero gets the decision
        for the most similar outcome vectors (:mod:`proband.policies.deciding`).
        """
        rows = self.problem.states(states)
        actions, known = self.missing_context(rows)
        codes = self.solution.actions[self.layout.number(rows[known])]
        actions[known] = meaning_of_codes(self, self.layout, rows[known], codes)
        return actions

    def run(self, rows: FloatArray) -> Episodes:
        """Take subjects with complete outcome vectors (n, d) from arrival to decision, in compiled code."""
        needed = [*self.layout.context, *self.layout.tests]
        if np.isnan(rows[:, needed]).any():
            raise StateError("an outcome is NaN; a subject's whole outcome vector must be known to run it; fill it in")
        own = np.array_equal(rows, self.distribution.support)
        last, sets, costs, tests = self._own_walk if own else self._walk(rows)
        states = np.where(self.layout.done(sets), rows, np.nan)
        if self._looks_up:
            return Episodes(states, self._look_up(last, states), costs, tests)
        codes = self.solution.actions[last]
        return Episodes(states, meaning_of_codes(self, self.layout, states, codes), costs, tests)

    def _walk(self, rows: FloatArray, begun: int = 0) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
        """Take complete outcome vectors (n, d) to decision; `begun` are the tests done before, as bits."""
        from proband.planners import dense_kernel

        layout = self.layout
        arrays = (layout.offset, layout.k, layout.prices, layout.peers)
        outcomes = np.ascontiguousarray(rows[:, layout.tests], dtype=np.int64)
        last, sets, costs, tests = dense_kernel.walk(
            self.solution.actions, *arrays, layout.context_number(rows), outcomes, np.int64(begun)
        )
        return last, sets, costs, tests

    @cached_property
    def _own_walk(self) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
        """The same for the rows of the plan's law."""
        return self._walk(self.distribution.support)

    def _look_up(self, last: IntArray, states: FloatArray) -> IntArray:
        """Return the best decisions in last states, by the plan's rows that end there."""
        ends, actions = self._decisions
        place = np.minimum(np.searchsorted(ends, last), len(ends) - 1)
        found = ends[place] == last
        chosen = actions[place]
        if not found.all():
            chosen[~found] = self.decider.decide(states[~found])[0]
        return chosen

    @cached_property
    def _decisions(self) -> tuple[IntArray, IntArray]:
        """The numbers of the states in which subjects of the plan's law end, and the best decisions there."""
        ends, of_row = np.unique(self._own_walk[0], return_inverse=True)
        return ends, self.decider.best(of_row, len(ends))[0]

    def _values(self, rows: FloatArray, mass: FloatArray) -> FloatArray:
        return np.asarray(self.solution.values[self.layout.number(rows)] / mass)


class BorrowedPlan(DensePlan):
    """The tests of a plan made under another law, with the decisions that are best under this one.

    What it is worth, in every state, is worked out under this law by following it; how much better the best plan is,
    is not known.
    """

    exact = False
    bound = math.inf

    def __init__(self, layout: Layout, distribution: Discrete, solution: Solution) -> None:
        super().__init__(layout, distribution, solution)
        self._looks_up = True

    @cached_property
    def value(self) -> float:  # type: ignore[override]
        """Expected total reward of a new subject under this law."""
        return self.evaluation.value

    def _values(self, rows: FloatArray, mass: FloatArray) -> FloatArray:
        return np.array([self._followed(row) for row in rows])

    def _followed(self, row: FloatArray) -> float:
        """Return what following the tests from a state brings under this law, with the best decisions after them."""
        agrees = np.flatnonzero(self.distribution.agrees(row))
        begun = sum(1 << bit for bit, i in enumerate(self.layout.tests) if not np.isnan(row[i]))
        last, _, costs, _ = self._walk(self.distribution.support[agrees], begun)
        ends, cells = np.unique(last, return_inverse=True)
        p = self.distribution.probabilities[agrees]
        return float((self.decider.total(agrees, cells, len(ends)) - p @ costs) / p.sum())

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return the action of each state, shape (n,)."""
        rows = self.problem.states(states)
        actions = super().act(rows)
        deciding = actions >= self.problem.d
        actions[deciding] = self.decider.decide(rows[deciding])[0]
        return actions


def meaning_of_codes(plan: DiscretePlan, layout: Layout, rows: FloatArray, codes: Actions) -> IntArray:
    """Turn stored codes into actions; decisions that a code does not tell are looked up."""
    problem = plan.problem
    meaning = np.full(layout.m + plan.problem.n_columns + 1, -1, dtype=np.int64)
    meaning[: layout.m] = layout.tests
    if problem.reward.pooling is Pooling.SUM:
        meaning[layout.m : -1] = problem.d + np.arange(len(meaning) - 1 - layout.m)
    actions = meaning[codes]
    untold = actions < 0
    if untold.any():
        actions[untold] = plan.decider.decide(rows[untold])[0]
    return actions


def root_value(layout: Layout, solution: Solution) -> float:
    """Return the value before anything is known: a sum over what may be known on arrival."""
    return float(solution.values[layout.offset[0] :].sum())
