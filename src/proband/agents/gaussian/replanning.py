"""Agents for measured outcomes that learn from every subject, complete or not, and plan again as subjects accrue.

The law is estimated by EM on all rows (:mod:`proband.estimators.gaussian.em`). What is told of the subjects of one
block is collected and learned at its end, all at once: the estimator sorts a batch before it adds numbers up, so that
the agent is the same, bit for bit, in whatever order and pieces the subjects were learned.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from proband.agents.gaussian.tolerance import suited_tolerance
from proband.distributions import Gaussian
from proband.errors import AgentError
from proband.estimators.gaussian.likelihood import GaussianLikelihood, Shrinkage
from proband.planners import Plan, plan
from proband.policies import test_everything
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy, Records


class Collected:
    """Records of subjects, in the order in which they were told."""

    def __init__(self, problem: Problem) -> None:
        self._rows = [np.empty((0, problem.d))]
        self._counts = [np.empty(0, dtype=np.int64)]

    def add(self, records: Records) -> None:
        """Add records."""
        self._rows.append(records.outcomes)
        self._counts.append(records.counts)

    @property
    def rows(self) -> FloatArray:
        """What was seen, shape (n, d)."""
        return np.vstack(self._rows)

    @property
    def counts(self) -> IntArray:
        """How often, shape (n,)."""
        return np.concatenate(self._counts)


class GaussianReplanning(ABC):
    """Test everything on the first subjects, then plan, play, learn and plan again.

    Parameters
    ----------
    problem : Problem
        Its tests are measured.
    seed : int, default 0
        Of the agent's own randomness (posterior draws).
    first : int, default 64
        How many subjects are tested completely at the beginning.
    growth : float, default 0.15
        By which share the number of subjects grows between two plans.
    shrinkage : float or "automatic", optional
        Of the estimated covariances towards independent tests.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        first: int = 64,
        growth: float = 0.15,
        shrinkage: Shrinkage = None,
    ) -> None:
        if first < 1 or not growth > 0:
            raise AgentError(f"first is {first}, growth is {growth}; both must be positive; correct them")
        self.problem = problem
        self.rng = np.random.default_rng(seed)
        self.growth = growth
        self.estimator = GaussianLikelihood(problem, shrinkage=shrinkage)
        self.t = 0
        self.left = first
        self._block = Collected(problem)
        self._policy: Policy = test_everything(problem, self.law_for_unavailable())

    @property
    def commitment(self) -> int:
        """The rest of the block."""
        return self.left

    def policy(self) -> Policy:
        """Return the policy of the block."""
        return self._policy

    def learn(self, records: Records) -> None:
        """Collect what was seen; at the end of the block learn from it and plan again."""
        self._block.add(records)
        self.t += records.n
        self.left -= records.n
        if self.left <= 0:
            self.absorb(self._block.rows, self._block.counts)
            self._block = Collected(self.problem)
            self.left = max(8, math.floor(self.growth * self.t))
            self._policy = self.next_policy()

    def absorb(self, rows: FloatArray, counts: IntArray) -> None:
        """Learn from the rows (n, d) of the finished block."""
        self.estimator.update_counts(rows, counts)

    def plan_of(self, law: Gaussian) -> Plan:
        """Return the plan of a law, as accurate as the number of subjects deserves."""
        return plan(self.problem, law, tolerance=suited_tolerance(self.problem, self.t))

    def law_for_unavailable(self) -> Gaussian | None:
        """Return the law with which to decide when all tests were run and some are unavailable."""
        return None if self.problem.all_available else self.estimator.distribution()

    @abstractmethod
    def next_policy(self) -> Policy:
        """Return the policy of the next block, from what was learned."""


class GaussianGreedy(GaussianReplanning):
    """Play the plan of the current estimate, always: no exploration after the first subjects.

    It can be stuck for ever on a wrong plan that shows it nothing new.
    """

    def next_policy(self) -> Policy:
        """Return the plan of the estimate."""
        return self.plan_of(self.estimator.distribution())


class GaussianThompson(GaussianReplanning):
    """Play the plan of one posterior draw in each block (posterior sampling)."""

    def next_policy(self) -> Policy:
        """Return the plan of a draw."""
        [law] = self.estimator.draws(self.rng, 1)
        return self.plan_of(law)
