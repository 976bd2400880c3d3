"""Agents that do not learn: the clairvoyant, and the one that tests everything."""

from __future__ import annotations

from proband.agents.agent import FOREVER, shows_unavailable
from proband.distributions import Law
from proband.estimators import GaussianLikelihood, Likelihood
from proband.planners import plan
from proband.policies import test_everything
from proband.problem import Problem
from proband.vocabulary import Policy, Records


class Clairvoyant:
    """Knows the true law and plays the best plan from the first subject on: regret is measured against it."""

    def __init__(self, problem: Problem, distribution: Law) -> None:
        self._policy = plan(problem, distribution)

    @property
    def commitment(self) -> int:
        """The policy never changes."""
        return FOREVER

    def policy(self) -> Policy:
        """Return the best plan."""
        return self._policy

    def learn(self, records: Records) -> None:
        """Learn nothing: everything is known."""


class TestEverything:
    """Runs every test on every subject.

    Where a test is unavailable, deciding needs a law: give one, or let the agent estimate it from the history that
    it is told (records that show the unavailable tests).
    """

    __test__ = False  # pytest would take the class for a test case

    def __init__(self, problem: Problem, distribution: Law | None = None) -> None:
        self.problem = problem
        learns = distribution is None and not problem.all_available
        self._history = _history(problem) if learns else None
        self._policy = test_everything(problem, self._history.distribution() if self._history else distribution)

    @property
    def commitment(self) -> int:
        """No coming subject changes the policy."""
        return FOREVER

    def policy(self) -> Policy:
        """Return the policy that runs every test."""
        return self._policy

    def learn(self, records: Records) -> None:
        """Learn nothing, but what history shows of unavailable tests."""
        if self._history is not None and shows_unavailable(self.problem, records):
            self._history.update(records)
            self._policy = test_everything(self.problem, self._history.distribution())


def _history(problem: Problem) -> Likelihood | GaussianLikelihood:
    return GaussianLikelihood(problem) if problem.measured else Likelihood(problem)
