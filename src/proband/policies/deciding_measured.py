"""The best decision under a Gaussian posterior, in closed form.

With a projection reward, E[f(x, y) | s] is the expectation of a piecewise-linear function under the Gaussian belief
about z (:mod:`proband.policies.beliefs`). An entropy reward leaves nothing to decide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Distribution, Gaussian
from proband.policies.beliefs import Beliefs
from proband.policies.deciding import Decider
from proband.problem import Problem
from proband.rewards import Projection
from proband.vocabulary import FloatArray, IntArray, Kind

if TYPE_CHECKING:
    from proband.piecewise import PiecewiseLinear, PiecewisePlane


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
