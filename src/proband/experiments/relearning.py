"""An agent that goes on learning after it has committed, with any estimator: what it is worth depends on which one.

It tests everything on the first N subjects, as Explore-Then-Commit does, plays the plan of its estimate, and plans
again whenever the number of subjects has grown by a share. The subjects that it handled under a plan are incomplete
*because of what was seen* of them. Counting their complete rows, or all that is available, misleads it; the likelihood
does not (the paper's section on data that are missing at random).
"""

from __future__ import annotations

import math

from proband.agents import FOREVER
from proband.estimators import Estimator
from proband.planners import plan
from proband.policies import test_everything
from proband.problem import Problem
from proband.vocabulary import Policy, Records


class Relearning:
    """Explore, commit, and go on learning.

    Parameters
    ----------
    problem : Problem
    estimator : Estimator
        Learns from the exploration and, unless told otherwise, from everything after it.
    explore : int
        N: how many subjects are tested completely.
    growth : float, default 0.5
        By which share the number of subjects grows between two plans.
    ignore : bool, default False
        Learn nothing after the exploration.

    Examples
    --------
    >>> from proband.estimators import Likelihood
    >>> from proband.instances import easy
    >>> agent = Relearning(easy().problem, Likelihood(easy().problem), explore=10)
    >>> agent.commitment
    10
    >>> agent.learn(Records([[0], [1]], counts=[9, 1]))
    >>> agent.commitment
    5
    """

    def __init__(
        self, problem: Problem, estimator: Estimator, *, explore: int, growth: float = 0.5, ignore: bool = False
    ) -> None:
        self.problem = problem
        self.estimator = estimator
        self.growth = growth
        self.ignore = ignore
        self.t = 0
        self.left = explore
        self._policy: Policy = test_everything(problem)

    @property
    def commitment(self) -> int:
        """The rest of the block."""
        return self.left

    def policy(self) -> Policy:
        """Return the policy of the block."""
        return self._policy

    def learn(self, records: Records) -> None:
        """Count what was seen; at the end of the block plan again."""
        if self.left == FOREVER:
            return
        self.estimator.update(records)
        self.t += records.n
        self.left -= records.n
        if self.left <= 0:
            self.left = FOREVER if self.ignore else max(1, math.floor(self.growth * self.t))
            self._policy = plan(self.problem, self.estimator.distribution())
