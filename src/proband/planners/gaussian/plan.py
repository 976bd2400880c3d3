"""A plan under a Gaussian law: a policy on (tested set) × (posterior mean of the scores) that can explain itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Gaussian
from proband.errors import StateError
from proband.piecewise import PiecewiseLinear
from proband.planners.gaussian.line.solution import LineSolution
from proband.planners.gaussian.plane import PlaneSolution
from proband.planners.options import Options
from proband.planners.plans import Explanation, Plan, ranked
from proband.policies import ProjectionDecider
from proband.policies.nodes import Alternative
from proband.problem import Problem
from proband.rewards import Projection
from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True)
class Branch:
    """A stretch of a score on which the reward is linear, and the probability that the score lies in it."""

    low: float
    high: float
    probability: float


@dataclass(frozen=True)
class Belief:
    """What is believed of one score in a state."""

    score: str
    unit: str
    mean: float
    sd: float
    branches: tuple[Branch, ...]


@dataclass(frozen=True)
class GaussianExplanation(Explanation):
    """Why a Gaussian plan acts as it does.

    Attributes
    ----------
    action, alternatives
        As for any plan; a state of a continuous law has no probability of its own, `probability` is 1.
    beliefs : tuple of Belief
        The posterior of each score and the probability of each branch of the reward.
    """

    beliefs: tuple[Belief, ...]


class GaussianPlan(Plan):
    """The plan of a projection problem under a Gaussian law.

    Attributes
    ----------
    error : float
        Estimate of the numerical error of `value`. With one score it holds for the values of all states: its
        propagation from state to state is rigorous, what each state adds is estimated.
    solution : LineSolution or PlaneSolution
    """

    method = "gaussian"
    distribution: Gaussian

    def __init__(
        self,
        problem: Problem,
        distribution: Gaussian,
        solution: LineSolution | PlaneSolution,
        options: Options | None = None,
    ) -> None:
        super().__init__(problem, distribution)
        self.solution = solution
        self.options = Options() if options is None else options
        self.decider = ProjectionDecider(problem, distribution)
        self.value = float(solution.value)
        self.error = float(solution.error)
        self.bound = self.value + self.error

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return the plan's action in each state (n, d): shape (n,)."""
        rows = self.problem.states(states)
        actions, known = self.missing_context(rows)
        if known.any():
            masks, means = self.decider.beliefs.of(rows[known])
            actions[known] = self.solution.actions(masks, self._means(means))
        return actions

    def values(self, states: ArrayLike) -> FloatArray:
        """Return the expected remaining reward of following the plan from each state, shape (n,).

        The context must be known, or nothing at all: then the value is that of a new subject.
        """
        rows = self.problem.states(states)
        _, known = self.missing_context(rows)
        values = np.full(len(rows), self.value)
        if not np.isnan(rows[~known]).all():
            raise StateError(
                "what is known on arrival is missing in a state that knows other tests; it comes first; fill it in"
            )
        if known.any():
            masks, means = self.decider.beliefs.of(rows[known])
            values[known] = self.solution.values(masks, self._means(means))
        return values

    def explain(self, state: ArrayLike) -> GaussianExplanation:
        """Return the belief about each score, and every possible action with its value."""
        rows = self.one_state(state)[None]
        action = int(self.act(rows)[0])
        masks, means = self.decider.beliefs.of(rows)
        if action < self.problem.d and self.problem.tests[action].on_arrival:
            alternatives: tuple[Alternative, ...] = (Alternative(action, self.value, 0.0),)
        else:
            scores = np.asarray(self.solution.action_values(int(masks[0]), self._means(means)[0]))
            possible = {int(a): float(scores[a]) for a in np.flatnonzero(~np.isnan(scores))}
            alternatives = ranked(possible, action)
        return GaussianExplanation(action, 1.0, alternatives, self._beliefs(int(masks[0]), means[0]))

    def _means(self, means: FloatArray) -> FloatArray:
        """Return posterior means as the solver takes them: numbers for one score, pairs for two."""
        return means[:, 0] if means.shape[1] == 1 else means

    def _beliefs(self, mask: int, means: FloatArray) -> tuple[Belief, ...]:
        reward, covariance = self.problem.reward, self.decider.beliefs.covariance(mask)
        assert isinstance(reward, Projection)
        knots, _, _ = reward.cells(self.problem.decisions)
        beliefs = []
        for n, score in enumerate(reward.scores):
            sd = float(np.sqrt(covariance[n, n]))
            flat = PiecewiseLinear(knots[n], np.zeros((1, len(knots[n]) + 1)), np.zeros((1, len(knots[n]) + 1)))
            chances = np.asarray(flat.branch_probabilities(means[n : n + 1], np.array([sd]))).reshape(-1)
            ends = [-np.inf, *knots[n].tolist(), np.inf]
            branches = tuple(Branch(a, b, float(p)) for a, b, p in zip(ends, ends[1:], chances, strict=False))
            beliefs.append(Belief(score.name, score.unit, float(means[n]), sd, branches))
        return tuple(beliefs)
