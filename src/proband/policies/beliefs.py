"""Beliefs about the scores z = A x + b of a projection reward, state by state.

Under a Gaussian law the belief about z in a state with known tests O is N(mean, covariance): the covariance is a
function of O alone, the mean is linear in what was seen. Sets of tests are bit masks: bit i is test i.
"""

from __future__ import annotations

import numpy as np

from proband.distributions import Gaussian
from proband.errors import ProblemError, TooLargeError
from proband.problem import Problem
from proband.rewards import Projection
from proband.vocabulary import FloatArray, IntArray

MOST_TESTS = 62


class Beliefs:
    """What is believed of z in each state.

    Parameters
    ----------
    problem : Problem
        With a :class:`~proband.rewards.Projection` reward.
    distribution : Gaussian

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


def masks_of(rows: FloatArray) -> IntArray:
    """Return the set of known tests of each state (n, d) as a bit mask, shape (n,)."""
    bits = np.int64(1) << np.arange(rows.shape[1], dtype=np.int64)
    return np.asarray(~np.isnan(rows) @ bits, dtype=np.int64)


def members(mask: int, d: int) -> IntArray:
    """Return the tests of a bit mask."""
    return np.array([i for i in range(d) if mask >> i & 1], dtype=np.int64)
