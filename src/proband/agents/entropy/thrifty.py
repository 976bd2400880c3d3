"""Maximum-entropy sampling at the least regret, without a certificate: nested testing by expected improvement.

The measured set E only shrinks, so every past round holds it and one scatter matrix suffices. After a first look at
max(8, d/4) rounds, at numbers t that grow by 7 %:

* the incumbent S is found by additions, removals and exchanges from the empty set, with at most a third as many tests
  as rounds; once more with its degrees of freedom, from the scatter over t − |S| + 1;
* a test i outside S has the expected improvement EI_i, the larger of adding it and of the most promising exchange
  (:mod:`~proband.agents.entropy.learning.improvement`), and the price p_i = (−gain of adding)⁺; the variances of all
  tests lend each other degrees of freedom, which exchanges are given too: that this pays was observed, on instances of
  several kinds, and not derived;
* i stays in E while h·EI_i·(T − t) > p_i·t: testing it for another t rounds costs p_i·t, committing without it is
  expected to lose EI_i·(T − t).

Tests of a group that S does not open are judged in bundles (:mod:`~proband.agents.entropy.learning.bundles`).

No rate is proved. A useful test can be dropped for good: rarely, and less often with a larger h, at a price.
"""

from __future__ import annotations

import math
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from proband.agents.agent import FOREVER
from proband.agents.entropy.certificates.rivals import Rivals
from proband.agents.entropy.certificates.rules import LOG_TWO_PI_E, solve
from proband.agents.entropy.learning.bundles import Bundle, closed_bundles
from proband.agents.entropy.learning.improvement import borrowed, expected_addition, expected_exchange
from proband.agents.entropy.learning.scatter import Scatter
from proband.agents.entropy.rounds import SetAgent, checked_mean, checked_positive
from proband.agents.setting import Setting
from proband.errors import AgentError
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray

FEWEST = 8
"""Rounds before the first look."""
LEAST_AHEAD = 30_000
"""Without a horizon, so many rounds at least are expected to come."""
NOTHING_CERTIFIED = (
    "This agent certifies nothing: it may have dropped a useful test. Use the certified agent for a statement that "
    "holds with a given probability."
)


class Thrifty(SetAgent):
    """Learn which set is best at the least regret; certifies nothing.

    Parameters
    ----------
    problem : Problem
        With an :class:`~proband.rewards.Entropy` reward.
    horizon : int, optional
        T, the expected number of rounds. If more come, the agent plays on.
    ahead : float, default 4
        Without a horizon, `ahead` times as many rounds as there were are expected to come, and 30,000 at least: what
        is dropped early is dropped for good.
    caution : float, default 2
        h: how much more than its expected improvement a test is thought to be worth.
    mean : array_like of shape (d,), optional
        The mean of the measurements, where it is known; estimated by default, which costs one round.
    growth : float, default 0.07
        By which share the number of rounds grows from look to look.

    Attributes
    ----------
    best : tuple of int
        The incumbent; what is measured beside it is still on trial.

    Examples
    --------
    >>> from proband import Problem, Records, Test
    >>> from proband.rewards import Entropy
    >>> sites = [Test(name, 1.5, outcomes=None) for name in ("harbour", "station", "park")]
    >>> agent = Thrifty(Problem(sites, ["stop"], Entropy()), horizon=1000, mean=0)
    >>> rng = np.random.default_rng(0)
    >>> while agent.t < 1000:
    ...     rows = rng.normal(scale=[3.0, 2.0, 0.5], size=(agent.commitment, 3))
    ...     agent.learn(Records(np.where(agent.flags(agent.tested), rows, np.nan)))
    >>> agent.best
    (0, 1)
    """

    anytime = False

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int | None = None,
        ahead: float = 4.0,
        caution: float = 2.0,
        mean: ArrayLike | None = None,
        growth: float = 0.07,
    ) -> None:
        super().__init__(problem)
        if horizon is not None and (horizon != int(horizon) or horizon < 1):
            raise AgentError(f"horizon is {horizon}; it must be a whole number above 0; correct it, or leave it out")
        self.horizon = None if horizon is None else int(horizon)
        self.ahead = checked_positive("ahead", ahead)
        self.caution = checked_positive("caution", caution)
        self.growth = checked_positive("growth", growth)
        self.scatter = Scatter(range(problem.d), checked_mean(problem, mean))
        self.best: tuple[int, ...] = self.tested
        self.left = max(FEWEST, problem.d // 4)

    @classmethod
    def of(cls, setting: Setting) -> Self:
        """Return the agent for a setting."""
        return cls(setting.problem, horizon=setting.horizon)

    @property
    def notices(self) -> tuple[str, ...]:
        """What a user should know."""
        return (NOTHING_CERTIFIED, *super().notices)

    def next_block(self, rows: FloatArray, counts: IntArray) -> int:
        """Learn from a block, and keep the tests that are still worth measuring."""
        self.scatter.add(rows, counts)
        if self.scatter.degrees >= FEWEST - 1:
            self._look()
        return max(1, math.ceil(self.growth * self.t)) if self.tested else FOREVER

    def _look(self) -> None:
        nobody = np.zeros(self.problem.d, dtype=np.bool_)
        rivals = Rivals(self.scatter, self.costs, self.scale, nobody, self.flags(self.scatter.sites))
        start = rivals.climb(max_size=self._most)
        incumbent, others, worth, price = self._incumbent(rivals, start, 1 + int(self.costs.group.max()))
        stay = self.caution * worth * self._to_come() > price * self.t
        kept = incumbent + [i for i, stays in zip(others, stay, strict=True) if stays]
        self.best, self.tested = tuple(incumbent), tuple(sorted(kept))
        if len(kept) < len(self.scatter.sites):
            self.scatter = self.scatter.restrict(self.tested)

    @property
    def _most(self) -> int:
        """How many tests the incumbent may have."""
        return max(1, self.scatter.degrees // 3)

    def _to_come(self) -> float:
        """Return how many rounds are expected to come."""
        if self.horizon is not None:
            return max(self.horizon - self.t, 0)
        return max(self.ahead * self.t, LEAST_AHEAD)

    def _incumbent(
        self, rivals: Rivals, start: list[int], closed: int
    ) -> tuple[list[int], list[int], FloatArray, FloatArray]:
        """Return the set that seems best, the other tests that vary, their expected improvements and their prices.

        While a bundle of a closed group pays, it is taken in and the search goes on, `closed` times at most.
        """
        incumbent = rivals.climb(start, max_size=self._most, unit=self.scatter.degrees - len(start) + 1)
        others = [int(i) for i in rivals.tests if i not in incumbent]
        worth, price, bundles = self._improvements(incumbent, others)
        paying = [b for b in bundles.values() if b.gain > 0 and len(incumbent) + len(b.tests) <= self._most]
        if paying and closed:
            wider = sorted([*incumbent, *max(paying, key=lambda b: b.gain).tests])
            return self._incumbent(rivals, wider, closed - 1)
        return incumbent, others, worth, price

    def _improvements(self, inside: list[int], others: list[int]) -> tuple[FloatArray, FloatArray, dict[int, Bundle]]:
        """Return the expected improvement by each other test, what measuring it costs a round, and closed bundles."""
        at, out = np.searchsorted(self.scatter.sites, inside), np.searchsorted(self.scatter.sites, others)
        matrix, degrees = self.scatter.matrix, self.scatter.degrees - len(inside)
        precision = solve(matrix[np.ix_(at, at)], np.eye(len(at)))
        across = matrix[np.ix_(at, out)]
        slopes = precision @ across
        given = matrix[np.ix_(out, out)] - across.T @ slopes
        squares = np.maximum(np.diagonal(given), 1e-12 * matrix[out, out])
        kept = 1 / np.diagonal(precision)
        lent, typical = borrowed(np.concatenate([squares / degrees, kept / (degrees + 1)]), degrees)
        known = degrees + lent
        gain = self.scale / 2 * (LOG_TWO_PI_E + np.log((squares + lent * typical) / known))
        gain -= self.costs.rises(self.flags(inside))[others]
        bundles = closed_bundles(self.costs, self.scale, inside, others, given, degrees)
        bundled = np.isin(others, list(bundles))
        size = np.sqrt([len(bundles[i].tests) if i in bundles else 1 for i in others])
        gain = np.array([bundles[i].gain if i in bundles else g for i, g in zip(others, gain, strict=True)])
        worth = size * expected_addition(gain / size, np.where(bundled, degrees, known), self.scale)
        if inside:
            rest = squares + slopes**2 * kept[:, None]
            gains = self.scale / 2 * np.log(rest / kept[:, None]) - self.costs.exchanges(inside, others).T
            spreads = np.sqrt(squares / rest / known)
            likely = np.argmax(gains / spreads, axis=0), np.arange(len(others))
            worth = np.maximum(worth, expected_exchange(gains[likely], spreads[likely], known, self.scale))
        return worth, np.maximum(0.0, -gain), bundles
