"""The best decision under a posterior.

In a state s the best decision maximises E[f(x, y) | s]. With unnormalised weights this is the largest column of
the pooled payoffs (:class:`proband.vocabulary.Reward`) over the support rows that agree with s.

**States of probability zero.** A law estimated from data meets outcomes that it has never seen together. No row
agrees with such a state and its posterior is undefined; the decision is then taken as for the most similar
subjects: the rows that agree with the largest number of known outcomes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Discrete, totals
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Pooling, outcome_codes


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
            best, value = self._best(row_cell, n_cells)
            actions[here], values[here] = (
                best[cell],
                np.divide(value[cell], mass, where=seen, out=np.zeros(len(mass))),
            )
            for n in here[~seen]:
                actions[n], values[n] = self._nearest(rows[n])
        return actions, values

    def perfect_information(self) -> float:
        """Return the expected reward if every test that can be run were done at no cost: no policy earns more."""
        return float(self.distribution.probabilities @ self.decide(self.distribution.support)[1])

    def values_of(self, state: ArrayLike) -> FloatArray:
        """Return the expected reward of every column of the payoff in one state: E[f(x, y) | s] for each y.

        For match there is one column: the probability of the likeliest outcome vector.
        """
        row = self.problem.states(state)[0]
        agrees = self.agreeing(row)
        pooled = self.stakes[agrees].sum(axis=0) if self._sums else self.stakes[agrees].max(axis=0)
        return np.asarray(pooled / self.distribution.probabilities[agrees].sum())

    def agreeing(self, row: FloatArray) -> IntArray:
        """Return the support rows that agree with a state; if none does, those that agree best."""
        known = ~np.isnan(row)
        agreement = (self.distribution.support[:, known] == row[known]).sum(axis=1)
        return np.flatnonzero(agreement == agreement.max())

    @property
    def _sums(self) -> bool:
        return self.problem.reward.pooling is Pooling.SUM

    def _best(self, row_cell: IntArray, n_cells: int) -> tuple[IntArray, FloatArray]:
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
        value = float(self.values_of(row).max())
        if self._sums:
            return self.problem.d + int(self.stakes[near].sum(axis=0).argmax()), value
        guess = self.distribution.support[near[self.stakes[near, 0].argmax()]].copy()
        guess[~np.isnan(row)] = row[~np.isnan(row)]
        return self.problem.d + int(outcome_codes(guess[None], self.problem.tests)[0]), value
