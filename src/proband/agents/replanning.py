"""Agents that learn from every subject, complete or not, and plan again as subjects accrue.

The law is estimated by the ignorable likelihood (``docs/estimators.md``): without it, skipped tests bias the law. A
discrete law has a prior, too: without it, plans stop too early on outcomes that were never seen. A new plan is made
whenever the number of subjects has grown by `growth`.

One class serves every kind of problem: estimator and planner are passed in, those of the kind by default.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, Self

import numpy as np

from proband.agents.agent import FOREVER
from proband.agents.blockwise import Blockwise, in_order
from proband.agents.estimates import PerSubject, Planner, suited_estimator, suited_planner
from proband.agents.setting import Setting
from proband.distributions import Distribution
from proband.errors import AgentError
from proband.estimators import Estimator
from proband.policies import test_everything
from proband.problem import Problem
from proband.vocabulary import Kind, Policy, Records


class Replanning(Blockwise):
    """Test everything on the first subjects, then plan, play, learn and plan again.

    Parameters
    ----------
    problem : Problem
    seed : int, default 0
        Of the agent's own randomness (posterior draws).
    first : int, default 64
        How many subjects are tested completely at the beginning.
    growth : float, default 0.15
        By which share the number of subjects grows between two plans; infinite for one plan only.
    shortest : int, default 8
        Length of a block, at least.
    estimator : Estimator, optional
        Learns the law; by default the likelihood of the problem's kind. Some agents draw from its posterior, too.
    planner : callable, optional
        From problem, law and number of subjects to a plan; by default :func:`proband.plan`, as accurately as pays.
    max_tests, budget : optional
        Most tests to run on a subject who is decided as planned, and most to pay for them. Those from whom is learned,
        the first ones and those whom a coin chooses, are tested beyond.

    Attributes
    ----------
    begun, length : int
        After how many subjects the block began, and how many it has.
    memoryless : bool
        Whether a policy follows from what was learned before its block, and not from the policies before. Whoever
        learns a whole history then makes no plans on the way.
    """

    kinds = frozenset({Kind.LISTED, Kind.SCORES})
    memoryless = False
    limited = True

    def __init__(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        first: int = 64,
        growth: float = 0.15,
        shortest: int = 8,
        estimator: Estimator | None = None,
        planner: Planner | None = None,
        max_tests: int | None = None,
        budget: float | None = None,
    ) -> None:
        if first < 1 or not growth > 0:
            raise AgentError(f"first is {first}, growth is {growth}; both must be positive; correct them")
        super().__init__(problem, first)
        self.limits = PerSubject(max_tests, budget)
        self.limits.check(problem)
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.growth = growth
        self.shortest = shortest
        self.estimator: Any = suited_estimator(problem, seed) if estimator is None else estimator
        self.planner = suited_planner(self.estimator, self.limits) if planner is None else planner
        self.begun, self.length = 0, first
        self._policy: Policy | None = test_everything(problem, self.distribution_for_unavailable())

    @classmethod
    def of(cls, setting: Setting) -> Self:
        """Return the agent for a setting."""
        return cls(setting.problem, seed=setting.seed, max_tests=setting.max_tests, budget=setting.budget)

    def policy(self) -> Policy:
        """Return the policy of the block; one that needs nothing but what was learned is made when it is asked for."""
        if self._policy is None:
            self._policy = self.next_policy()
        return self._policy

    def absorb(self, block: list[Records]) -> None:
        """Learn from the finished block, and plan again."""
        self.estimator.update_counts(*in_order(block))
        more = self.growth * self.t
        self.begun, self.length = self.t, max(self.shortest, math.floor(more)) if more < FOREVER else FOREVER
        self._policy = None if self.memoryless else self.next_policy()
        self.left = self.length

    def distribution_for_unavailable(self) -> Distribution | None:
        """Return the law with which to decide when all tests were run and some are unavailable."""
        return None if self.problem.all_available else self.estimator.distribution()

    @abstractmethod
    def next_policy(self) -> Policy:
        """Return the policy of the next block, from what was learned."""


class Greedy(Replanning):
    """Play the plan of the current estimate, always: no exploration after the first subjects.

    It can be stuck for ever on a wrong plan that shows it nothing new.
    """

    def next_policy(self) -> Policy:
        """Return the plan of the estimate."""
        return self.planner(self.problem, self.estimator.distribution(), self.t)


class Thompson(Replanning):
    """Play the plan of one posterior draw in each block (posterior sampling)."""

    def next_policy(self) -> Policy:
        """Return the plan of a draw."""
        return self.planner(self.problem, self.estimator.draw(self.rng), self.t)
