"""Explore-then-commit for maximum-entropy sampling: measure everything for N rounds, then what seems the best set.

N = ⌊T^(2/3)⌋ unless it is given, at least two rounds. The set is the exact optimum for the sample covariance; where
fewer rounds than tests were seen that is singular, and a set of at most N/3 tests is found by additions and exchanges.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from proband.agents.agent import FOREVER
from proband.agents.entropy.certificates.rivals import Rivals
from proband.agents.entropy.learning.scatter import Scatter
from proband.agents.entropy.rounds import SetAgent, checked_mean
from proband.agents.explore_then_commit import exploration_length, needed_horizon
from proband.agents.setting import Setting
from proband.errors import AgentError, DistributionError
from proband.planners.subset import solve_subset
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray


class EntropyExploreThenCommit(SetAgent):
    """Explore, then commit to a set.

    Parameters
    ----------
    problem : Problem
        With an :class:`~proband.rewards.Entropy` reward.
    horizon : int
        T, the expected number of rounds. If more come, the agent plays on.
    explore : int, optional
        N itself; ⌊T^(2/3)⌋ by default.
    mean : array_like of shape (d,), optional
        The mean of the measurements, where it is known.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Entropy
    >>> problem = Problem([Test("harbour", 1.5, outcomes=None)], ["stop"], Entropy())
    >>> EntropyExploreThenCommit(problem, horizon=2**15).exploration
    1024
    """

    def __init__(
        self, problem: Problem, *, horizon: int, explore: int | None = None, mean: ArrayLike | None = None
    ) -> None:
        super().__init__(problem)
        for name, value in (("horizon", horizon), ("explore", explore)):
            if value is not None and (value != int(value) or value < 1):
                raise AgentError(f"{name} is {value}; it must be a whole number above 0; correct it")
        self.horizon = int(horizon)
        wanted = exploration_length(1, self.horizon) if explore is None else int(explore)
        self.exploration = max(2, min(wanted, self.horizon))
        self.scatter = Scatter(range(problem.d), checked_mean(problem, mean))
        self.left = self.exploration

    @classmethod
    def of(cls, setting: Setting) -> Self:
        """Return the agent for a setting that tells the horizon."""
        return cls(setting.problem, horizon=needed_horizon(setting))

    def next_block(self, rows: FloatArray, counts: IntArray) -> int:
        """Learn from rounds that show everything; commit when there are enough."""
        self.scatter.add(rows, counts)
        if self.scatter.n < self.exploration:
            return self.exploration - self.scatter.n
        self.tested = self._best()
        return FOREVER

    def _best(self) -> tuple[int, ...]:
        covariance = self.scatter.matrix / max(self.scatter.degrees, 1)
        try:
            return solve_subset(
                covariance, self.costs.cost, scale=self.scale,
                groups=self.costs.group, group_costs=self.costs.group_cost,
            ).chosen  # fmt: skip
        except DistributionError:  # too few rounds, or a test that follows from others
            nobody = np.zeros(self.problem.d, dtype=np.bool_)
            rivals = Rivals(self.scatter, self.costs, self.scale, nobody, ~nobody)
            return tuple(rivals.climb(max_size=max(1, self.scatter.degrees // 3)))
