"""The best decision under a posterior.

In a state s the best decision maximises E[f(x, y) | s]. With unnormalised weights this is the largest column of
the pooled payoffs (:class:`proband.vocabulary.Reward`) over the support rows that agree with s.

**States of probability zero.** A law estimated from data meets outcomes that it has never seen together. No row
agrees with such a state and its posterior is undefined; the decision is then taken as for the most similar
subjects: the rows that agree with the largest number of known outcomes.

**Measurements.** With a projection reward, E[f(x, y) | s] is the expectation of a piecewise-linear function of the
scores z = A x + b under the Gaussian belief about z, N(mean, covariance), in closed form: the covariance is a function
of the known tests alone, the mean is linear in what was seen. Sets of tests are bit masks: bit i is test i. An entropy
reward leaves nothing to decide.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.distributions import Discrete, Distribution, Gaussian, totals
from proband.errors import ProblemError, TooLargeError
from proband.prices import as_bits
from proband.problem import Problem
from proband.rewards import Projection
from proband.vocabulary import FloatArray, IntArray, Kind, Pooling, outcome_codes

if TYPE_CHECKING:
    from proband.piecewise import PiecewiseLinear, PiecewisePlane

MOST_TESTS = 62
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


class Beliefs:
    """What is believed of the scores z of a projection reward in each state.

    Examples
    --------
    >>> from proband import Gaussian, Problem, Test
    >>> from proband.rewards import Piece, Projection, Score
    >>> reward = Projection([Score("sum", {"a": 1.0, "b": 1.0})], [Piece("pass", slope={"sum": 1.0})])
    >>> tests = [Test("a", 1.0, outcomes=None), Test("b", 1.0, outcomes=None)]
    >>> beliefs = Beliefs(Problem(tests, ["pass"], reward), Gaussian([0, 0], [[1, 0.5], [0.5, 1]]))
    >>> masks, means = beliefs.of(np.array([[2.0, np.nan]]))
    >>> masks, means, beliefs.covariance(1)
    (array([1]), array([[3.]]), array([[0.75]]))
    """

    def __init__(self, problem: Problem, distribution: Gaussian) -> None:
        if not isinstance(problem.reward, Projection):
            raise ProblemError(
                f"the reward is {type(problem.reward).__name__}; beliefs about scores need a Projection; give one"
            )
        distribution.check(problem)
        if problem.d > MOST_TESTS:
            raise TooLargeError(
                f"the problem has {problem.d} tests; sets of them are numbered for at most {MOST_TESTS}; leave some out"
            )
        self.problem = problem
        self.distribution = distribution
        self.matrix = problem.reward.matrix(problem.tests)
        self.prior = self.matrix @ distribution.mean + problem.reward.offsets
        self._known: dict[int, tuple[FloatArray, FloatArray]] = {}

    def of(self, rows: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return, for checked states (n, d), their masks (n,) and the posterior means of z (n, scores)."""
        masks = masks_of(rows)
        means = np.empty((len(rows), len(self.prior)))
        for mask in np.unique(masks):
            here = np.flatnonzero(masks == mask)
            known = members(int(mask), self.problem.d)
            gain, _ = self._belief(int(mask))
            means[here] = self.prior + (rows[np.ix_(here, known)] - self.distribution.mean[known]) @ gain.T
        return masks, means

    def covariance(self, mask: int) -> FloatArray:
        """Return the posterior covariance of z once a set of tests is known, shape (scores, scores)."""
        return self._belief(mask)[1]

    def _belief(self, mask: int) -> tuple[FloatArray, FloatArray]:
        if mask not in self._known:
            known = np.zeros(self.problem.d, dtype=np.bool_)
            known[members(mask, self.problem.d)] = True
            gain, covariance = self.distribution.posterior(known)
            prior = self.matrix @ self.distribution.covariance @ self.matrix.T
            posterior = self.matrix @ covariance @ self.matrix.T
            posterior = (posterior + posterior.T) / 2
            zero = np.diagonal(posterior) <= 1e-12 * np.diagonal(prior)
            posterior[zero] = 0.0
            posterior[:, zero] = 0.0
            self._known[mask] = self.matrix @ gain, posterior
        return self._known[mask]


class ProjectionDecider:
    """Best decisions under a Gaussian law and a projection reward.

    Examples
    --------
    >>> from proband import Gaussian, Problem, Test
    >>> from proband.rewards import Piece, Projection, Score
    >>> reward = Projection([Score("sum", {"a": 1.0})], [Piece("pass", slope={"sum": 1.0})])
    >>> problem = Problem([Test("a", 1.0, outcomes=None)], ["pass", "fail"], reward)
    >>> actions, values = ProjectionDecider(problem, Gaussian([0.5], [[1]])).decide([[float("nan")], [-2.0]])
    >>> [problem.action_name(a) for a in actions], values
    (['pass', 'fail'], array([0.5, 0. ]))
    """

    def __init__(self, problem: Problem, distribution: Gaussian) -> None:
        self.problem = problem
        self.beliefs = Beliefs(problem, distribution)
        self.reward = reward_function(problem)

    def decide(self, states: ArrayLike) -> tuple[IntArray, FloatArray]:
        """Return the best decision of each state, as an action, and its expected reward; both of shape (n,)."""
        expected = self.expected(self.problem.states(states))
        best = expected.argmax(axis=1)
        return np.asarray(self.problem.d + best), expected[np.arange(len(best)), best]

    def values_of(self, state: ArrayLike) -> FloatArray:
        """Return the expected reward of every decision in one state, shape (decisions,)."""
        return np.asarray(self.expected(self.problem.states(state))[0])

    def expected(self, rows: FloatArray) -> FloatArray:
        """Return E[f(x, y) | s] for checked states (n, d), shape (n, decisions)."""
        masks, means = self.beliefs.of(rows)
        values = np.empty((len(rows), len(self.problem.decisions)))
        for mask in np.unique(masks):
            here = masks == mask
            values[here] = self.expected_of(means[here], self.beliefs.covariance(int(mask)))
        return values

    def expected_of(self, means: FloatArray, covariance: FloatArray) -> FloatArray:
        """Return the expected reward of each decision for beliefs with means (n, scores), shape (n, decisions)."""
        from proband.piecewise import PiecewiseLinear

        if isinstance(self.reward, PiecewiseLinear):
            return self.reward.expectation(means[:, 0], np.full(len(means), np.sqrt(covariance[0, 0])))
        return self.reward.expectation(means, covariance)


class StopDecider:
    """The decision of an entropy problem: stop; it brings nothing beyond the entropy of what was measured."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def decide(self, states: ArrayLike) -> tuple[IntArray, FloatArray]:
        """Return the action "stop" for each state, and zeros."""
        n = len(self.problem.states(states))
        return np.full(n, self.problem.d, dtype=np.int64), np.zeros(n)


def reward_function(problem: Problem) -> PiecewiseLinear | PiecewisePlane:
    """Return the reward of a projection problem as a function of its one or two scores."""
    from proband.piecewise import PiecewisePlane  # compiled: not for those who read policies without scores

    assert isinstance(problem.reward, Projection)
    if len(problem.reward.scores) == 1:
        return problem.reward.line(problem.decisions)
    knots, intercepts, slopes = problem.reward.cells(problem.decisions)
    return PiecewisePlane((knots[0], knots[1]), intercepts, slopes)


def masks_of(rows: FloatArray) -> IntArray:
    """Return the set of known tests of each state (n, d) as a bit mask, shape (n,)."""
    return as_bits(~np.isnan(rows))


def members(mask: int, d: int) -> IntArray:
    """Return the tests of a bit mask."""
    return np.array([i for i in range(d) if mask >> i & 1], dtype=np.int64)


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
