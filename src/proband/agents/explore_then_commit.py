"""Algorithm 2 of the paper: test everything on the first N subjects, then play the plan of their empirical law.

N = ⌊|P|^(1/3) T^(2/3)⌋ balances the cost of exploring against the loss of a wrong plan; the regret is
Õ(d |P|^(1/3) T^(2/3)) (Theorem 3). The size of the support |P| is rarely known: it may be given, bounded by Π k_i,
or estimated by the number of distinct outcome vectors seen so far.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

from proband.agents.agent import FOREVER, fully_tested, shows_unavailable
from proband.agents.estimates import plan_estimate
from proband.agents.setting import Setting
from proband.distributions import Discrete, Distribution
from proband.errors import AgentError
from proband.estimators import CompleteCases, Likelihood, Observations
from proband.estimators.listed.observations import CountingEstimator
from proband.policies import test_everything
from proband.problem import Problem
from proband.vocabulary import Kind, Policy, Records


class Exploring(ABC):
    """Explore, then commit, whatever the law is like.

    Parameters
    ----------
    problem : Problem
    horizon : int
        T, the expected number of subjects. If more come, the agent plays on.
    explore : int, optional
        N itself.

    Notes
    -----
    Records that come before the first subject (history, or the data that :class:`~proband.agents.doubling.Doubling`
    keeps) count towards N; subjects whose tests were not all run do not. Where a test is unavailable, its outcomes
    come from history alone, and the law is the likelihood's in place of the empirical one.
    """

    def __init__(self, problem: Problem, *, horizon: int, explore: int | None, **whole: int | None) -> None:
        for name, value in {"horizon": horizon, "explore": explore, **whole}.items():
            if value is not None and (value != int(value) or value < (0 if name == "explore" else 1)):
                raise AgentError(f"{name} is {value}; it must be a whole number above 0; correct it")
        self.problem = problem
        self.horizon = int(horizon)
        self.explore = explore
        self.seen = 0

    @property
    @abstractmethod
    def exploration(self) -> int:
        """N: how many subjects are tested completely."""

    @abstractmethod
    def distribution(self) -> Distribution:
        """Return the law estimated from all that was learned, in an order that does not depend on calls."""

    @abstractmethod
    def collect(self, records: Records) -> None:
        """Learn from records of the exploration; :attr:`seen` counts them already."""

    @property
    def commitment(self) -> int:
        """The rest of the exploration, then for ever."""
        left = self.exploration - self.seen
        return left if left > 0 else FOREVER

    def policy(self) -> Policy:
        """Return the policy that tests everything, or the plan."""
        return self._policy

    def learn(self, records: Records) -> None:
        """Collect subjects while exploring; afterwards learn nothing, as in the paper."""
        if self.seen >= self.exploration:
            return
        self.seen += int(records.counts[fully_tested(self.problem, records.outcomes)].sum())
        self.collect(records)
        if self.seen >= self.exploration or shows_unavailable(self.problem, records):
            self.choose()

    def choose(self) -> None:
        """Choose the policy: to test everything, or the plan."""
        if self.seen < self.exploration:
            known = None if self.problem.all_available else self.distribution()
            self._policy: Policy = test_everything(self.problem, known)
        else:
            self._policy = plan_estimate(self.problem, self.distribution(), self.seen)


class ExploreThenCommit(Exploring):
    """Explore, then commit, for listed outcomes.

    Parameters
    ----------
    problem, horizon, explore
        As for :class:`Exploring`.
    support_size : int, optional
        |P|; by default its bound Π k_i.
    estimate_support : bool, default False
        Use the number of distinct outcome vectors seen so far in place of `support_size`.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Match
    >>> problem = Problem([Test("crack", 0.75)], (), Match())
    >>> ExploreThenCommit(problem, horizon=2**20).exploration
    13003
    """

    kinds = frozenset({Kind.LISTED})

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int,
        support_size: int | None = None,
        estimate_support: bool = False,
        explore: int | None = None,
    ) -> None:
        super().__init__(problem, horizon=horizon, explore=explore, support_size=support_size)
        self.support_size = problem.size if support_size is None else int(support_size)
        self.estimate_support = estimate_support
        self.observations = Observations(problem)
        self.choose()

    @classmethod
    def of(cls, setting: Setting) -> Self:
        """Return the agent for a setting that tells the horizon."""
        return cls(setting.problem, horizon=needed_horizon(setting), support_size=setting.support_size)

    @property
    def exploration(self) -> int:
        """N: how many subjects are tested completely."""
        if self.explore is not None:
            return min(self.explore, self.horizon)
        size = max(1, int(self.observations.is_complete.sum())) if self.estimate_support else self.support_size
        return min(exploration_length(size, self.horizon), self.horizon)

    @property
    def commitment(self) -> int:
        """The rest of the exploration (a quarter of it at a time where its length is estimated), then for ever."""
        left = super().commitment
        estimated = self.estimate_support and self.explore is None and left < FOREVER
        return max(1, left // 4) if estimated else left

    def collect(self, records: Records) -> None:
        """Count what was seen."""
        self.observations.add(records.outcomes, records.counts)

    def estimator(self) -> CountingEstimator:
        """Return the estimator of the law from all that was learned."""
        kind = CompleteCases if self.problem.all_available and self.explore != 0 else Likelihood
        estimator: CountingEstimator = kind(self.problem)
        estimator.update_counts(self.observations.rows, self.observations.counts)
        return estimator

    def distribution(self) -> Discrete:
        """Return the law estimated from all that was learned."""
        return self.estimator().distribution()


def needed_horizon(setting: Setting) -> int:
    """Return the horizon of a setting, or raise."""
    if setting.horizon is None:
        raise AgentError("explore-then-commit needs a horizon and got none; give one, or use doubling")
    return setting.horizon


def exploration_length(support_size: int, horizon: int) -> int:
    """Return ⌊|P|^(1/3) T^(2/3)⌋, exactly: the integer cube root of |P|·T².

    Examples
    --------
    >>> exploration_length(1024, 2**20)
    104031
    >>> exploration_length(8, 8)
    8
    """
    product = int(support_size) * int(horizon) ** 2
    root = 1 << -(-product.bit_length() // 3)
    while (better := (2 * root + product // root**2) // 3) < root:  # Newton's method from above, in whole numbers
        root = better
    return root
