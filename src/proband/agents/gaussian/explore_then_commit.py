"""Algorithm 3 of the paper: test everything on the first N subjects, then play the plan of their mean and covariance.

N = ⌊σ² T^(2/3)⌋ with σ the condition number of the covariance; the regret is Õ(d σ² T^(2/3)) (Theorem 4), where σ is
given. The paper's covariance is not centred beside an estimated mean; here it is.

σ is rarely known. By default it is estimated, and then no rate is proved (with 1 given there is one, whatever σ:
``docs/paper.md``). As σ ≥ 1, the first ⌊T^(2/3)⌋ subjects are explored in any case: they are the *pilot*. From them σ
is estimated once, as the condition number of the *correlations*: measuring a test in other units changes the
covariance's condition number and nothing else, so the theorem holds with the smallest of them, and correlations are a
choice that no unit spoils. Redundant tests are left out, as in the paper. The estimate tends to be too large, and it
counts as infinite where the pilot has no more rows than there are tests: an estimated N is capped at half of the
horizon, or at the pilot if that is longer; a given σ at the whole of it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Self

import numpy as np

from proband.agents.blockwise import in_order
from proband.agents.explore_then_commit import Exploring, exploration_length, needed_horizon
from proband.agents.setting import Setting
from proband.distributions import Gaussian
from proband.errors import AgentError
from proband.estimators import GaussianLikelihood, GaussianPlugIn
from proband.problem import Problem
from proband.vocabulary import Kind, Records

LARGEST_SHARE = 0.5
"""How much of the horizon is explored at most where σ is estimated."""


class GaussianExploreThenCommit(Exploring):
    """Explore, then commit, for measured outcomes.

    Parameters
    ----------
    problem, horizon, explore
        As for :class:`~proband.agents.explore_then_commit.Exploring`.
    condition_number : float, optional
        σ; by default estimated from the pilot.
    pilot : int, optional
        How many subjects σ is estimated from; by default ⌊T^(2/3)⌋, which are explored in any case.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Piece, Projection, Score
    >>> reward = Projection([Score("length", {"length": 1.0})], [Piece("pass", slope={"length": 1.0})])
    >>> problem = Problem([Test("length", 1.0, outcomes=None)], ["pass", "fail"], reward)
    >>> GaussianExploreThenCommit(problem, horizon=8000, condition_number=2).exploration
    1600
    """

    kinds = frozenset({Kind.SCORES})

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int,
        condition_number: float | None = None,
        pilot: int | None = None,
        explore: int | None = None,
    ) -> None:
        super().__init__(problem, horizon=horizon, explore=explore, pilot=pilot)
        if condition_number is not None and not condition_number >= 1:
            raise AgentError(f"condition_number is {condition_number}; it is 1 or more; correct it, or leave it out")
        self.condition_number = condition_number
        self.pilot = min(exploration_length(1, self.horizon) if pilot is None else int(pilot), self.horizon)
        self._told: list[Records] = [Records(np.empty((0, problem.d)))]
        self._exploration = self.pilot
        if explore is not None:
            self._exploration = min(explore, self.horizon)
        elif condition_number is not None:
            self._exploration = gaussian_exploration_length(condition_number, self.horizon)
        self.choose()

    @classmethod
    def of(cls, setting: Setting) -> Self:
        """Return the agent for a setting that tells the horizon."""
        return cls(setting.problem, horizon=needed_horizon(setting), condition_number=setting.condition_number)

    @property
    def exploration(self) -> int:
        """N: how many subjects are tested completely; as long as σ has to be estimated, the pilot."""
        return self._exploration

    def collect(self, records: Records) -> None:
        """Collect subjects; at the end of the pilot estimate σ, and how long to go on."""
        self._told.append(records)
        if self.seen >= self._exploration and self.explore is None and self.condition_number is None:
            enough = self.seen > self.problem.d
            self.condition_number = correlation_condition_number(self.distribution()) if enough else math.inf
            largest = max(self.pilot, math.floor(LARGEST_SHARE * self.horizon))
            self._exploration = min(gaussian_exploration_length(self.condition_number, self.horizon), largest)

    def distribution(self) -> Gaussian:
        """Return the law estimated from all that was learned."""
        rows, counts = in_order(self._told)
        plug_in = GaussianPlugIn(self.problem)
        plug_in.update_counts(rows, counts)
        if self.problem.all_available and plug_in.n >= 2:
            return plug_in.distribution()
        likelihood = GaussianLikelihood(self.problem)
        likelihood.update_counts(rows, counts)
        return likelihood.distribution()


def gaussian_exploration_length(condition_number: float, horizon: int) -> int:
    """Return ⌊σ² T^(2/3)⌋, at most T, exactly: the integer cube root of σ⁶·T².

    Examples
    --------
    >>> gaussian_exploration_length(2, 8000), gaussian_exploration_length(3.5, 8000), gaussian_exploration_length(9, 50)
    (1600, 4900, 50)
    """
    if condition_number >= horizon:
        return horizon
    return min(horizon, exploration_length(math.floor(Fraction(condition_number) ** 6 * horizon**2), 1))


def correlation_condition_number(distribution: Gaussian) -> float:
    """Return the condition number of the correlations of those tests that are not redundant.

    Examples
    --------
    >>> correlation_condition_number(Gaussian([0, 0, 0], [[1, 0, 1], [0, 1e6, 0], [1, 0, 1]]))
    1.0
    """
    useful = [i for i in range(distribution.d) if i not in distribution.redundant]
    if not useful:
        return 1.0
    kept = distribution.restricted(useful)
    sd = np.sqrt(np.diagonal(kept.covariance))
    return Gaussian(kept.mean, kept.covariance / np.outer(sd, sd)).condition_number
