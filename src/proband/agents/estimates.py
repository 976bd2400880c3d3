"""Estimators and plans of estimates, for each kind of problem: what a replanning agent takes unless it is given others.

How accurately to plan with an estimate: the plan of a law estimated from n rows loses something of the order of the
reward's range over n to the best one, for a smooth problem is flat at its optimum, and estimates are off by 1/√n.
Planning to a hundredth of that is as good as exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from proband.distributions import Distribution
from proband.errors import AgentError
from proband.estimators import EmpiricalBayes, Estimator, GaussianLikelihood, Likelihood, Structured
from proband.planners import Plan, plan
from proband.planners.options import Options
from proband.problem import Problem
from proband.rewards import Projection
from proband.vocabulary import Kind, Pooling

MOST_STATES = 2**20
"""Problems with more states are learned without a table of them."""

SHARE = 0.01
FINEST = 1e-6
COARSEST = 1e-3


@dataclass(frozen=True)
class PerSubject:
    """Limits of the plans that an agent plays: most tests to run on a subject, and most to pay for them.

    Examples
    --------
    >>> PerSubject(max_tests=4).given, PerSubject().given
    (True, False)
    """

    max_tests: int | None = None
    budget: float | None = None

    def __post_init__(self) -> None:
        Options(max_tests=self.max_tests, budget=self.budget)  # which checks them

    @property
    def given(self) -> bool:
        """Whether there is any limit."""
        return self.max_tests is not None or self.budget is not None

    def check(self, problem: Problem) -> None:
        """Raise if plans of a problem cannot be kept within limits while it is learned."""
        if self.given and problem.kind is not Kind.LISTED:
            raise AgentError(
                f"max_tests is {self.max_tests} and budget is {self.budget}; agents keep to limits for each subject "
                "where outcomes are listed, and these are measured; leave them out, or cut the numbers"
            )


NO_LIMITS = PerSubject()

Planner = Callable[[Problem, Distribution, int], Plan]
"""From a problem, a law and the number of subjects that it was estimated from to a plan."""


def has_many_tests(problem: Problem) -> bool:
    """Return whether a problem of listed outcomes has more states than can be listed, and a reward that adds up."""
    if problem.kind is not Kind.LISTED or problem.reward.pooling is not Pooling.SUM:
        return False
    operable = set(problem.operable.tolist())
    return (
        math.prod(int(k) + (i in operable) for i, k in enumerate(problem.k) if problem.tests[i].available) > MOST_STATES
    )


def suited_estimator(problem: Problem, seed: int = 0) -> Estimator:
    """Return the likelihood of complete and incomplete rows, with a prior fitted to the data where there is one.

    With many tests it is one with structure.
    """
    return Structured(problem, seed=seed) if has_many_tests(problem) else ESTIMATORS[problem.kind](problem)


def suited_planner(estimator: Any, limits: PerSubject = NO_LIMITS) -> Planner:
    """Return the planner for an estimator's laws: one with a penalty where the estimator names it."""
    if isinstance(estimator, Structured):
        return Regularised(estimator, limits)
    return partial(plan_estimate, limits=limits) if limits.given else plan_estimate


@dataclass(frozen=True)
class Regularised:
    """Grows plans with the penalty of an estimator's own, within limits."""

    estimator: Structured
    limits: PerSubject = NO_LIMITS

    def __call__(self, problem: Problem, distribution: Distribution, subjects: int) -> Plan:
        """Return the plan of an estimated law."""
        return plan(
            problem, distribution, method="rollout", node_penalty=self.estimator.penalty,
            max_tests=self.limits.max_tests, budget=self.limits.budget,
        )  # fmt: skip


ESTIMATORS: dict[Kind, Callable[[Problem], Estimator]] = {
    Kind.LISTED: lambda problem: Likelihood(problem, prior=EmpiricalBayes()),
    Kind.SCORES: GaussianLikelihood,
}


def plan_estimate(problem: Problem, distribution: Distribution, subjects: int, limits: PerSubject = NO_LIMITS) -> Plan:
    """Return the plan of an estimated law, as accurate as the number of subjects deserves."""
    tolerance = suited_tolerance(problem, subjects)
    return plan(problem, distribution, tolerance=tolerance, max_tests=limits.max_tests, budget=limits.budget)


def suited_tolerance(problem: Problem, n: int) -> float | None:
    """Return the accuracy, in units of the reward, that suits a law estimated from n subjects.

    None, for the planner's own choice, where the reward has no single score.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Piece, Projection, Score
    >>> limits = Piece("pass", 5.0, when={"length": (9.9, 10.1)})
    >>> reward = Projection([Score("length", {"length": 1.0})], [limits])
    >>> problem = Problem([Test("length", 1.0, outcomes=None)], ["pass", "fail"], reward)
    >>> suited_tolerance(problem, 100)
    0.0005
    """
    reward = problem.reward
    if not isinstance(reward, Projection) or len(reward.scores) > 1:
        return None
    span = reward.line(problem.decisions).span
    return span * min(max(SHARE / max(n, 1), FINEST), COARSEST) if span > 0 else None
