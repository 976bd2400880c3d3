"""Agents that learn from every subject, complete or not, and plan again as subjects accrue.

The law is estimated by the ignorable likelihood with a prior (:mod:`proband.estimators.listed.likelihood`): without the
likelihood, skipped tests bias it; without the prior, plans stop too early on outcomes that were never seen. A new
plan is made whenever the number of subjects has grown by `growth`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from proband.distributions import Discrete
from proband.errors import AgentError
from proband.estimators import EmpiricalBayes, Likelihood, Observations, Prior
from proband.planners import plan
from proband.policies import test_everything
from proband.problem import Problem
from proband.vocabulary import Policy, Records


class Replanning(ABC):
    """Test everything on the first subjects, then plan, play, learn and plan again.

    Parameters
    ----------
    problem : Problem
    seed : int, default 0
        Of the agent's own randomness (posterior draws).
    first : int, default 64
        How many subjects are tested completely at the beginning.
    growth : float, default 0.15
        By which share the number of subjects grows between two plans.
    prior : Prior, optional
        By default fitted to the data (empirical Bayes).
    """

    def __init__(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        first: int = 64,
        growth: float = 0.15,
        prior: Prior | None = None,
    ) -> None:
        if first < 1 or not growth > 0:
            raise AgentError(f"first is {first}, growth is {growth}; both must be positive; correct them")
        self.problem = problem
        self.rng = np.random.default_rng(seed)
        self.growth = growth
        self.estimator = Likelihood(problem, prior=EmpiricalBayes() if prior is None else prior)
        self.t = 0
        self.left = first
        self._block = Observations(problem)
        law = None if problem.all_available else self.estimator.distribution()
        self._policy: Policy = test_everything(problem, law)

    @property
    def commitment(self) -> int:
        """The rest of the block."""
        return self.left

    def policy(self) -> Policy:
        """Return the policy of the block."""
        return self._policy

    def learn(self, records: Records) -> None:
        """Count what was seen; at the end of the block plan again."""
        self._block.add(records.outcomes, records.counts)
        self.t += records.n
        self.left -= records.n
        if self.left <= 0:
            self.absorb(self._block)
            self._block = Observations(self.problem)
            self.left = self.block_length()
            self._policy = self.next_policy()

    def absorb(self, block: Observations) -> None:
        """Learn from the finished block, all at once: then neither the order nor the number of records matters."""
        self.estimator.update_counts(block.rows, block.counts)

    def block_length(self) -> int:
        """Return for how many subjects the next policy is played."""
        return max(8, math.floor(self.growth * self.t))

    @abstractmethod
    def next_policy(self) -> Policy:
        """Return the policy of the next block, from what was learned."""


class Greedy(Replanning):
    """Play the plan of the current estimate, always: no exploration after the first subjects.

    It can be stuck for ever on a wrong plan that shows it nothing new.
    """

    def next_policy(self) -> Policy:
        """Return the plan of the estimate."""
        return plan(self.problem, self.estimator.distribution())


class Thompson(Replanning):
    """Play the plan of one posterior draw in each block (posterior sampling)."""

    def next_policy(self) -> Policy:
        """Return the plan of a draw."""
        weights = self.estimator.draws(self.rng, 1)[0]
        return plan(self.problem, Discrete.from_weights(self.estimator.support, weights))
