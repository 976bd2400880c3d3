"""The best decision for scores of measurements.

With a projection reward, E[f(x, y) | s] is the expectation of a piecewise-linear function of the scores z = A x + b
under the Gaussian belief about z, N(mean, covariance), in closed form: the covariance is a function of the known tests
alone, the mean is linear in what was seen. Sets of tests are bit masks: bit i is test i.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Gaussian
from proband.errors import ProblemError, TooLargeError
from proband.prices import as_bits
from proband.problem import Problem
from proband.rewards import Projection
from proband.vocabulary import FloatArray, IntArray

if TYPE_CHECKING:
    from proband.piecewise import PiecewiseLinear, PiecewisePlane

MOST_TESTS = 62


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
