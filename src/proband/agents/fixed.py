"""Agents that do not learn: the clairvoyant, and the one that tests everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from proband.agents.agent import FOREVER, shows_unavailable
from proband.agents.setting import Setting
from proband.distributions import Distribution
from proband.errors import AgentError
from proband.estimators import Estimator, GaussianLikelihood, Likelihood
from proband.planners import plan
from proband.policies import test_everything
from proband.problem import Problem
from proband.vocabulary import Kind, Policy, Records

HISTORIES: dict[Kind, Callable[[Problem], Estimator]] = {
    Kind.LISTED: Likelihood,
    Kind.SCORES: GaussianLikelihood,
    Kind.SETS: GaussianLikelihood,
}
"""Which estimator learns from history, for each kind of problem."""


class Fixed:
    """An agent whose policy no coming subject changes."""

    kinds = frozenset(Kind)
    _policy: Policy

    @property
    def commitment(self) -> int:
        """The policy stays for ever."""
        return FOREVER

    def policy(self) -> Policy:
        """Return the policy."""
        return self._policy


class Clairvoyant(Fixed):
    """Knows the true law and plays the best plan from the first subject on: regret is measured against it."""

    def __init__(self, problem: Problem, distribution: Distribution) -> None:
        self._policy = plan(problem, distribution)

    @classmethod
    def of(cls, setting: Setting) -> Self:
        """Return the agent for a setting that tells the true law."""
        if setting.truth is None:
            raise AgentError("the clairvoyant was not told the true law; only a simulation can; choose another agent")
        return cls(setting.problem, setting.truth)

    def learn(self, records: Records) -> None:
        """Learn nothing: everything is known."""


class TestEverything(Fixed):
    """Runs every test on every subject.

    Where a test is unavailable, deciding needs a law: give one, or let the agent estimate it from the history that
    it is told (records that show the unavailable tests).
    """

    __test__ = False  # pytest would take the class for a test case

    def __init__(self, problem: Problem, distribution: Distribution | None = None) -> None:
        self.problem = problem
        learns = distribution is None and not problem.all_available
        self._history = HISTORIES[problem.kind](problem) if learns else None
        known = distribution if self._history is None else self._history.distribution()
        self._policy = test_everything(problem, known)

    @classmethod
    def of(cls, setting: Setting) -> Self:
        """Return the agent for a setting."""
        return cls(setting.problem)

    def learn(self, records: Records) -> None:
        """Learn nothing, but what history shows of unavailable tests."""
        if self._history is not None and shows_unavailable(self.problem, records):
            self._history.update(records)
            self._policy = test_everything(self.problem, self._history.distribution())
