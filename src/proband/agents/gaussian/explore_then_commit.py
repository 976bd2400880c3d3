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

import numpy as np

from proband.agents.agent import FOREVER, fully_tested, shows_unavailable
from proband.agents.explore_then_commit import exploration_length
from proband.agents.gaussian.replanning import Collected
from proband.agents.gaussian.tolerance import suited_tolerance
from proband.distributions import Gaussian
from proband.errors import AgentError
from proband.estimators.gaussian.likelihood import GaussianLikelihood, GaussianPlugIn
from proband.planners import plan
from proband.policies import test_everything
from proband.problem import Problem
from proband.vocabulary import Policy, Records

LARGEST_SHARE = 0.5
"""How much of the horizon is explored at most where σ is estimated."""


class GaussianExploreThenCommit:
    """Explore, then commit, for measured outcomes.

    Parameters
    ----------
    problem : Problem
        Its tests are measured.
    horizon : int
        T, the expected number of subjects. If more come, the agent plays on.
    condition_number : float, optional
        σ; by default estimated from the pilot.
    pilot : int, optional
        How many subjects σ is estimated from; by default ⌊T^(2/3)⌋, which are explored in any case.
    explore : int, optional
        N itself.

    Notes
    -----
    Records that come before the first subject count towards N; subjects whose tests were not all run do not. Where a
    test is unavailable, its outcomes come from history alone, and the law is the likelihood's in place of the
    plug-in.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Piece, Projection, Score
    >>> reward = Projection([Score("length", {"length": 1.0})], [Piece("pass", slope={"length": 1.0})])
    >>> problem = Problem([Test("length", 1.0, outcomes=None)], ["pass", "fail"], reward)
    >>> GaussianExploreThenCommit(problem, horizon=8000, condition_number=2).exploration
    1600
    """

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int,
        condition_number: float | None = None,
        pilot: int | None = None,
        explore: int | None = None,
    ) -> None:
        for name, value in (("horizon", horizon), ("pilot", pilot), ("explore", explore)):
            if value is not None and (value != int(value) or value < (0 if name == "explore" else 1)):
                raise AgentError(f"{name} is {value}; it must be a whole number above 0; correct it")
        if condition_number is not None and not condition_number >= 1:
            raise AgentError(f"condition_number is {condition_number}; it is 1 or more; correct it, or leave it out")
        self.problem = problem
        self.horizon = int(horizon)
        self.condition_number = condition_number
        self.pilot = min(exploration_length(1, self.horizon) if pilot is None else int(pilot), self.horizon)
        self.explore = explore
        self.seen = 0
        self._collected = Collected(problem)
        self._exploration = self._first_length()
        self._policy = self._next_policy()

    @property
    def exploration(self) -> int:
        """N: how many subjects are tested completely; as long as σ has to be estimated, the pilot."""
        return self._exploration

    @property
    def commitment(self) -> int:
        """The rest of the pilot, or of the exploration, then for ever."""
        left = self._exploration - self.seen
        return left if left > 0 else FOREVER

    def policy(self) -> Policy:
        """Return the policy that tests everything, or the plan."""
        return self._policy

    def learn(self, records: Records) -> None:
        """Collect subjects while exploring; afterwards learn nothing, as in the paper."""
        if self.seen >= self._exploration:
            return
        self._collected.add(records)
        self.seen += int(records.counts[fully_tested(self.problem, records.outcomes)].sum())
        if self.seen >= self._exploration and self.explore is None and self.condition_number is None:
            enough = self.seen > self.problem.d
            self.condition_number = correlation_condition_number(self.law()) if enough else math.inf
            largest = max(self.pilot, math.floor(LARGEST_SHARE * self.horizon))
            self._exploration = min(gaussian_exploration_length(self.condition_number, self.horizon), largest)
        if self.seen >= self._exploration or shows_unavailable(self.problem, records):
            self._policy = self._next_policy()

    def law(self) -> Gaussian:
        """Return the law estimated from all that was learned."""
        plug_in = GaussianPlugIn(self.problem)
        plug_in.update_counts(self._collected.rows, self._collected.counts)
        if self.problem.all_available and plug_in.n >= 2:
            return plug_in.distribution()
        likelihood = GaussianLikelihood(self.problem)
        likelihood.update_counts(self._collected.rows, self._collected.counts)
        return likelihood.distribution()

    def _first_length(self) -> int:
        if self.explore is not None:
            return min(self.explore, self.horizon)
        if self.condition_number is not None:
            return gaussian_exploration_length(self.condition_number, self.horizon)
        return self.pilot

    def _next_policy(self) -> Policy:
        if self.seen < self._exploration:
            return test_everything(self.problem, None if self.problem.all_available else self.law())
        return plan(self.problem, self.law(), tolerance=suited_tolerance(self.problem, self.seen))


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


def correlation_condition_number(law: Gaussian) -> float:
    """Return the condition number of the correlations of those tests that are not redundant.

    Examples
    --------
    >>> correlation_condition_number(Gaussian([0, 0, 0], [[1, 0, 1], [0, 1e6, 0], [1, 0, 1]]))
    1.0
    """
    kept = law.restricted([i for i in range(law.d) if i not in law.redundant]) if len(law.redundant) < law.d else None
    if kept is None:
        return 1.0
    sd = np.sqrt(np.diagonal(kept.covariance))
    return Gaussian(kept.mean, kept.covariance / np.outer(sd, sd)).condition_number
