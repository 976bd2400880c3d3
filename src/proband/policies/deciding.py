"""The best decision under a posterior.

In a state s the best decision maximises E[f(x, y) | s]. With unnormalised weights this is the largest column of
the pooled payoffs (:class:`proband.vocabulary.Reward`) over the support rows that agree with s.

**States of probability zero.** A law estimated from data meets outcomes that it has never seen together. No row
agrees with such a state and its posterior is undefined; the decision is then taken as for the most similar
subjects: the rows that agree with the largest number of known outcomes.

Scores of measurements are decided on by :mod:`proband.policies.beliefs`. An entropy reward leaves nothing to decide.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.distributions import Discrete, Distribution, totals
from proband.policies.beliefs import ProjectionDecider
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Kind, Pooling, outcome_codes

FEW, AT_ONCE = 16, 2048
"""So many states of probability zero are decided one by one at most, and together at most."""

CLOSE = 1e-9
"""Columns that differ by a smaller share of what they hold may be in another order once sums are taken in another."""


class Decider:
    """Best decisions under a discrete law.

    Parameters
    ----------
    problem : Problem
    distribution : Discrete

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 2.0)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> decider = Decider(problem, Discrete([[0], [1]], [0.97, 0.03]))
    >>> actions, values = decider.decide([[float("nan")], [1]])
    >>> [problem.action_name(a) for a in actions], values.round(2).tolist()
    (['pass', 'fail'], [0.37, 0.0])
    """

    def __init__(self, problem: Problem, distribution: Discrete) -> None:
        distribution.check(problem)
        self.problem = problem
        self.distribution = distribution
        self.stakes = distribution.probabilities[:, None] * problem.payoff(distribution.support)

    def decide(self, states: ArrayLike) -> tuple[IntArray, FloatArray]:
        """Return the best decision of each state, as an action, and its expected reward; both of shape (n,)."""
        rows = self.problem.states(states)
        actions = np.empty(len(rows), dtype=np.int64)
        values = np.empty(len(rows))
        for here, cell, row_cell, n_cells in self.distribution.cells(rows):
            mass = totals(row_cell, self.distribution.probabilities, n_cells)[cell]
            seen = mass > 0
            best, value = self.best(row_cell, n_cells)
            actions[here] = best[cell]
            values[here] = np.divide(value[cell], mass, where=seen, out=np.zeros(len(mass)))
            unseen = here[~seen]
            if self._sums and len(unseen) > FEW:
                for piece in np.array_split(unseen, -(-len(unseen) // AT_ONCE)):
                    actions[piece], values[piece] = self._all_nearest(rows[piece])
            else:
                for n in unseen:
                    actions[n], values[n] = self._nearest(rows[n])
        return actions, values

    def decide_at(self, state: FloatArray, rows: IntArray) -> tuple[int, float]:
        """Return the best decision of one state, and its expected reward, where `rows` are those that agree with it.

        The same as `decide` tells, without looking for the rows.
        """
        mass = float(totals(np.zeros_like(rows), self.distribution.probabilities[rows], 1)[0])
        if mass <= 0:
            return self._nearest(self.problem.states(state)[0])
        stakes = self.stakes[rows]
        if self._sums:
            pooled = [float(totals(np.zeros_like(rows), column, 1)[0]) for column in stakes.T]
            best = int(np.argmax(pooled))
            return self.problem.d + best, pooled[best] / mass
        winner = rows[[int(stakes[:, 0].argmax())]]
        code = outcome_codes(self.distribution.support[winner], self.problem.tests)
        return self.problem.d + int(code[0]), float(stakes[:, 0].max()) / mass

    def perfect_information(self) -> float:
        """Return the expected reward if every test that can be run were done at no cost: no policy earns more."""
        p = self.distribution.probabilities
        if self.problem.all_available:  # each row is a cell of its own
            return float(p @ (self.stakes.max(axis=1) / p))
        return float(p @ self.decide(self.distribution.support)[1])

    def values_of(self, state: ArrayLike) -> FloatArray:
        """Return the expected reward of every column of the payoff in one state: E[f(x, y) | s] for each y.

        For match there is one column: the probability of the likeliest outcome vector.
        """
        row = self.problem.states(state)[0]
        return self.values_at(self.agreeing(row))

    def values_at(self, rows: IntArray) -> FloatArray:
        """Return the expected reward of every column of the payoff over some support rows."""
        pooled = self.stakes[rows].sum(axis=0) if self._sums else self.stakes[rows].max(axis=0)
        return np.asarray(pooled / self.distribution.probabilities[rows].sum())

    def total(self, rows: IntArray, cells: IntArray, n_cells: int) -> float:
        """Return the unnormalised value of deciding in each of the cells that some support rows fall into, in all."""
        stakes = self.stakes[rows]
        if self._sums:
            return float(np.max([totals(cells, column, n_cells) for column in stakes.T], axis=0).sum())
        likeliest = np.zeros(n_cells)
        np.maximum.at(likeliest, cells, stakes[:, 0])
        return float(likeliest.sum())

    def agreeing(self, row: FloatArray) -> IntArray:
        """Return the support rows that agree with a state; if none does, those that agree best."""
        agreement = np.zeros(len(self.distribution), dtype=np.int32)
        for i in np.flatnonzero(~np.isnan(row)):
            agreement += self._columns[i] == row[i]
        return np.flatnonzero(agreement == agreement.max())

    @cached_property
    def _columns(self) -> FloatArray:
        """The support, each test's outcomes side by side: states know few of many tests."""
        return np.ascontiguousarray(self.distribution.support.T)

    @property
    def _sums(self) -> bool:
        return self.problem.reward.pooling is Pooling.SUM

    def best(self, row_cell: IntArray, n_cells: int) -> tuple[IntArray, FloatArray]:
        """Return the best action and the unnormalised value of deciding, for every cell."""
        if self._sums:
            pooled = np.column_stack([totals(row_cell, column, n_cells) for column in self.stakes.T])
            best = pooled.argmax(axis=1)
            return np.asarray(self.problem.d + best), pooled[np.arange(n_cells), best]
        order = np.lexsort((-np.arange(len(row_cell)), self.stakes[:, 0], row_cell))
        winner = np.zeros(n_cells, dtype=np.int64)
        value = np.zeros(n_cells)
        winner[row_cell[order]] = order  # the last of a cell wins: largest stake, then first row
        value[row_cell[order]] = self.stakes[order, 0]
        codes = outcome_codes(self.distribution.support[winner], self.problem.tests)
        return self.problem.d + codes, value

    def _nearest(self, row: FloatArray) -> tuple[int, float]:
        """Decide in a state of probability zero, as for the most similar rows."""
        near = self.agreeing(row)
        value = float(self.values_at(near).max())
        if self._sums:
            return self.problem.d + int(self.stakes[near].sum(axis=0).argmax()), value
        guess = self.distribution.support[near[self.stakes[near, 0].argmax()]].copy()
        guess[~np.isnan(row)] = row[~np.isnan(row)]
        return self.problem.d + int(outcome_codes(guess[None], self.problem.tests)[0]), value

    def _all_nearest(self, rows: FloatArray) -> tuple[IntArray, FloatArray]:
        """Decide in states (n, d) of probability zero where rewards add up: the same decisions as `_nearest` takes.

        Agreement is counted by a product of matrices, and what agreeing rows bring by another one. Sums of floating
        point depend on the order in which they are taken; where that could matter, they are taken as there.
        """
        mine, theirs = self._indicators(self.distribution.support), self._indicators(rows)
        agreement = theirs @ mine.T
        near = (agreement == agreement.max(axis=1, keepdims=True)).astype(np.float64)
        pooled, mass = near @ self.stakes, near @ self.distribution.probabilities
        best, value = pooled.argmax(axis=1), pooled.max(axis=1)
        ahead = value - np.where(np.arange(pooled.shape[1]) == best[:, None], -np.inf, pooled).max(axis=1)
        actions, values = self.problem.d + best, value / mass
        for n in np.flatnonzero(ahead <= CLOSE * np.abs(pooled).max(axis=1)):
            actions[n] = self.problem.d + self.stakes[near[n] > 0].sum(axis=0).argmax()
        return actions, values

    def _indicators(self, rows: FloatArray) -> NDArray[np.float32]:
        """Return 1 for each known outcome, shape (n, sum of k)."""
        known = [rows[:, [i]] == np.arange(k) for i, k in enumerate(self.problem.k)]  # NaN is no outcome
        return np.concatenate(known, axis=1).astype(np.float32)


class StopDecider:
    """The decision of an entropy problem: stop; it brings nothing beyond the entropy of what was measured."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def decide(self, states: ArrayLike) -> tuple[IntArray, FloatArray]:
        """Return the action "stop" for each state, and zeros."""
        n = len(self.problem.states(states))
        return np.full(n, self.problem.d, dtype=np.int64), np.zeros(n)


AnyDecider = Decider | ProjectionDecider | StopDecider

DECIDERS: dict[Kind, Callable[[Problem, Any], AnyDecider]] = {
    Kind.LISTED: Decider,
    Kind.SCORES: ProjectionDecider,
    Kind.SETS: lambda problem, distribution: StopDecider(problem),
}
"""What decides in problems of each kind."""


def decider_for(problem: Problem, distribution: Distribution) -> AnyDecider:
    """Return what decides best under a law."""
    distribution.check(problem)
    return DECIDERS[problem.kind](problem, distribution.solvable())
