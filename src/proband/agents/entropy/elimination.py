"""Algorithm 4 of the paper, line by line: iterative elimination of candidate sets.

C is the set of all subsets of [d]. In round t, with Q the pairs (i, j) that some candidate holds (a test is a pair with
itself: its variance is needed too):

* the pair of Q that was observed in the fewest rounds is taken, the first of them by i, then j;
* the largest candidate that holds it is measured;
* Σ̂_ij is the mean of x_i·x_j over the rounds in which both were measured;
* with U(t) = 8σ·max{ d³·√(L/(c·t)), d⁴·L/(c·t) }, L = ln(π²d²t²/δ), once U(t) ≤ 1 every candidate whose estimated
  reward plus λ·U(t) is at most the largest one is eliminated.

In print the covariance is updated before the set of round t is measured and used after it: Σ̂ holds the rounds before t
beside the width U(t). By default round t counts too: the prose tests first and then eliminates, and U(t) counts t
rounds. `as_printed` leaves it out, so that what is known is one round behind.

The text has two rules: λ·U in the algorithm and 2·U in the prose. The last lemma before Theorem 5 bounds the error of
log det by U, that of a reward by λU/2, and that of a difference by λU: the algorithm's rule is the consistent one, and
is used. The text does not say what happens to a candidate whose Σ̂[S,S], estimated entry by entry, is not positive
definite: it stays, and is not the best. With group costs the rule is unchanged, for the cost of a candidate is known.

σ is the condition number of Σ (or a bound) and c the "universal constant" of Bernstein's inequality, which the text
never names. With c = 1 and d = 15 the width is above 1 for some 10^14 rounds, and nothing is ever eliminated.
"""

from __future__ import annotations

import math
import warnings
from typing import Self

import numpy as np

from proband.agents.agent import FOREVER
from proband.agents.entropy.rounds import SetAgent, checked_positive, checked_share
from proband.agents.setting import Setting
from proband.errors import AgentError, TooLargeError
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray

MOST_TESTS = 20
"""All 2^d candidates are listed."""


class AgentWarning(UserWarning):
    """An agent was set up so that it cannot do what it is for."""


class Elimination(SetAgent):
    """Algorithm 4: eliminate candidate sets.

    Parameters
    ----------
    problem : Problem
        With an :class:`~proband.rewards.Entropy` reward and at most 20 tests. The mean is taken to be 0, as in the
        paper.
    sigma : float
        σ, the condition number of the covariance or an upper bound of it.
    delta : float, default 0.05
        δ.
    c : float, default 1
        The universal constant.
    horizon : int, optional
        T. If nothing can be eliminated within it, an :class:`AgentWarning` is issued.
    growth : float, default 0
        Above 0: eliminate only when the number of rounds has grown by this share. The paper eliminates in every round.
    as_printed : bool, default False
        In round t, eliminate with the covariance of the rounds before it.

    Attributes
    ----------
    candidates : IntArray
        Numbers of the sets that are left: test i is in the set if ``number >> i & 1``.
    first_elimination : int
        The first round in which U(t) ≤ 1.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Entropy
    >>> problem = Problem([Test(f"site {i}", 1.5, outcomes=None) for i in range(15)], ["stop"], Entropy())
    >>> agent = Elimination(problem, sigma=100.0)
    >>> f"{agent.first_elimination:.0e}", agent.can_eliminate(2**15)
    ('6e+14', False)
    """

    anytime = False

    def __init__(
        self,
        problem: Problem,
        *,
        sigma: float,
        delta: float = 0.05,
        c: float = 1.0,
        horizon: int | None = None,
        growth: float = 0.0,
        as_printed: bool = False,
    ) -> None:
        super().__init__(problem)
        d = problem.d
        if d > MOST_TESTS:
            raise TooLargeError(
                f"{d} tests have 2^{d} candidate sets; Algorithm 4 lists them all, at most 2^{MOST_TESTS}; use the "
                "certified or the thrifty agent"
            )
        if not sigma >= 1:
            raise AgentError(f"sigma is {sigma}; a condition number is 1 or more; give that of the covariance")
        self.sigma, self.delta = float(sigma), checked_share("delta", delta)
        self.c = checked_positive("c", c)
        self.growth = checked_positive("growth", growth, zero=True)
        self.as_printed = as_printed
        self.first_elimination = self._first_elimination()
        if horizon is not None and not self.can_eliminate(horizon):
            warnings.warn(self._caution, AgentWarning, stacklevel=2)
        self.pairs = np.zeros((d, d), dtype=np.int64)
        self.sums = np.zeros((d, d))
        self._paid = self.costs.of_all([], range(d))
        self._alive = np.ones(1 << d, dtype=np.bool_)
        self._before = np.empty((1 << d) + 1, dtype=np.int64)
        self._largest = np.empty((d, d), dtype=np.int64)
        self._rewards, self._given = np.zeros(1 << d), np.empty((d + 1, d, d))
        self._list_candidates()
        self._next_check = max(1, self.first_elimination)
        self.left = self._choose()

    @classmethod
    def of(cls, setting: Setting) -> Self:
        """Return the agent for a setting that tells the condition number."""
        if setting.condition_number is None:
            raise AgentError(
                "elimination needs the condition number of the covariance and got none; give it (--condition-number on "
                "the command line), or use thrifty"
            )
        return cls(setting.problem, sigma=setting.condition_number, horizon=setting.horizon)

    def width(self, t: int) -> float:
        """Return U(t)."""
        d, log = self.problem.d, math.log(math.pi**2 * self.problem.d**2 * float(t) ** 2 / self.delta)
        return 8 * self.sigma * max(d**3 * math.sqrt(log / (self.c * t)), d**4 * log / (self.c * t))

    def can_eliminate(self, horizon: int) -> bool:
        """Return whether anything can be eliminated within so many rounds."""
        return self.first_elimination <= horizon

    @property
    def notices(self) -> tuple[str, ...]:
        """What a user should know."""
        return (self._caution, *super().notices) if self.t < self.first_elimination else super().notices

    def next_block(self, rows: FloatArray, counts: IntArray) -> int:
        """Update pairs and their covariances, eliminate, and choose the next set."""
        before = self._covariance()
        seen = ~np.isnan(rows)
        known = np.where(seen, rows, 0.0)
        self.pairs += (seen * counts[:, None]).T @ seen
        self.sums += (known * counts[:, None]).T @ known
        if self.t >= self._next_check and len(self.candidates) > 1:
            self._next_check = self.t + max(1, math.floor(self.growth * self.t))
            self._eliminate(before if self.as_printed else self._covariance())
        return self._choose()

    def _covariance(self) -> FloatArray:
        return np.where(self.pairs > 0, self.sums / np.maximum(self.pairs, 1), 0.0)

    def _eliminate(self, covariance: FloatArray) -> None:
        from proband.agents.entropy.elimination_kernel import candidate_rewards, drop_candidates

        candidate_rewards(covariance, self._paid, self.scale, self._before, self._rewards, self._given)
        if drop_candidates(self._rewards, self.candidates, self._alive, self.scale * self.width(self.t)):
            self._list_candidates()

    def _list_candidates(self) -> None:
        from proband.agents.entropy.elimination_kernel import largest_with_pairs

        self.candidates = np.flatnonzero(self._alive)
        largest_with_pairs(self._alive, self.problem.d, self._largest, self._before)

    def _choose(self) -> int:
        """Choose the next set, and return for how many rounds it is chosen again."""
        chosen = self._next_set(self.pairs)
        self.tested = tuple(i for i in range(self.problem.d) if chosen >> i & 1)
        if len(self.candidates) == 1:
            return FOREVER
        until, members = max(1, self._next_check - self.t), np.array(self.tested, dtype=np.int64)
        if self.as_printed and until > 1:  # the round of the elimination is a block of its own, for it does not count
            until -= 1
        if until == 1 or (self._largest[self._largest >= 0] == chosen).all():
            return until
        pairs, rounds = self.pairs.copy(), 1
        pairs[np.ix_(members, members)] += 1
        while rounds < until and self._next_set(pairs) == chosen:
            pairs[np.ix_(members, members)] += 1
            rounds += 1
        return rounds

    def _next_set(self, pairs: IntArray) -> int:
        """Return the largest candidate that holds the least observed pair; the empty set where no pair is left."""
        remaining = np.where(self._largest >= 0, pairs, FOREVER)
        least = int(np.argmin(remaining))
        return max(int(self._largest.flat[least]), 0)

    def _first_elimination(self) -> int:
        """Return the first round t with U(t) ≤ 1; U falls from some small t on, and is above 1 before."""
        high = 4
        while self.width(high) > 1:
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.width(middle) > 1 else (low, middle)
        return high if self.width(1) > 1 else 1

    @property
    def _caution(self) -> str:
        return (
            f"With d = {self.problem.d}, sigma = {self.sigma:g}, delta = {self.delta:g} and c = {self.c:g} the width "
            f"U(t) of Algorithm 4 is above 1 until round {self.first_elimination:.3g}: nothing is eliminated before. "
            "Use a larger c (the paper does not name it), or the certified agent, which needs neither sigma nor c."
        )
