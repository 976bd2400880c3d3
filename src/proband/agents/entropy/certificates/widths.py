"""Confidence widths of conditional variances and of differences of log-determinants, free of unknown constants.

Let W be the scatter matrix of N degrees of freedom of Gaussian rows (:mod:`~proband.agents.entropy.learning.scatter`).
For disjoint sets I and A of tests, with W_{A|I} = W_AA − W_AI W_II⁻¹ W_IA and Σ_{A|I} likewise,

    P_A = log det W_{A|I} − log det Σ_{A|I}  has the law of  Σ_{j < |A|} log χ²_{N − |I| − j}:

it depends on nothing unknown. For S = I ∪ A and S' = I ∪ B the difference of log-determinants is off by P_A − P_B, and

    E exp(s(P_B − P_A)) ≤ E exp(s·P_B) · E exp(−s·P_A)       for s = ½, 1, 3/2, ...,

also when B's scatter has more rounds than A's, of which A's are the first. ``docs/entropy-sampling.md`` has the proofs.
So P_B − P_A stays below

* log χ² quantiles where one of the sets is empty and the other has one test: exact;
* a log F quantile where both have one test and the rounds are the same: exact when the tests are uncorrelated given I,
  and conservative otherwise;
* min over s of (log(1/α) + log E exp(s·P_B) + log E exp(−s·P_A)) / s otherwise (Chernoff), in closed form with Γ.

*Looks.* A width holds at one number of rounds. Looks are at growing numbers g_0 < g_1 < ...; look j gets the share
m/((j + m)(j + m + 1)) of δ, which sum to 1, so there is no last look. Between looks scatters only grow: with
g_j ≤ n ≤ g_{j+1}, P_A(n) ≥ P_A(g_j) and P_B(n) ≤ P_B(g_{j+1}) hold for sure.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtri, gammainccinv, gammaincinv, gammaln

from proband.vocabulary import FloatArray

ORDERS = 60
"""How many s are tried: they are spread evenly in the logarithm, and the minimum is flat."""


class Looks:
    """The numbers of rounds at which widths hold, and the share of δ that each of them gets.

    From the `first` on, each is larger than the one before by `growth`; `flat` is m: for about so many looks the shares
    are nearly equal.

    Examples
    --------
    >>> looks = Looks(20, 0.1)
    >>> looks.count(1), looks.floor(23), looks.after(23)
    (22, 1, 25)
    >>> round(sum(math.exp(looks.log_share(j)) for j in range(100_000)), 3)
    1.0
    """

    def __init__(self, first: int, growth: float, flat: int = 40) -> None:
        self.growth, self.flat = growth, flat
        self._counts = [first]

    def count(self, j: int) -> int:
        """Return g_j."""
        while len(self._counts) <= j:
            self._extend()
        return self._counts[j]

    def floor(self, n: int) -> int:
        """Return the last look at n rounds or fewer; -1 if there is none."""
        while self._counts[-1] <= n:
            self._extend()
        return bisect.bisect_right(self._counts, n) - 1

    def after(self, n: int) -> int:
        """Return the first of the numbers above n."""
        return self.count(self.floor(n) + 1)

    def log_share(self, j: int) -> float:
        """Return the logarithm of the share of look j."""
        return math.log(self.flat) - math.log(j + self.flat) - math.log(j + self.flat + 1)

    def _extend(self) -> None:
        last = self._counts[-1]
        self._counts.append(max(last + 1, math.ceil(last * (1 + self.growth))))


@dataclass(frozen=True)
class Event:
    """What holds for the best of all sets of d tests against its rivals at once, but with probability exp(`log_alpha`).

    `low`, `high` and `unit` are the degrees of freedom of the scatter at the looks before and after, and its own:
    log-determinants are of W/unit.
    """

    d: int
    low: int
    high: int
    unit: int
    log_alpha: float

    def pairs(self, common: int, most_a: int, most_b: int) -> FloatArray:
        """Return the widths of pairs with so many tests in common, by a and b, shape (most_a + 1, most_b + 1)."""
        apart = np.arange(most_a + 1.0)[:, None] + np.arange(most_b + 1.0)
        return pair_widths(self.low, self.high, common, self._log_inverse(apart), unit=self.unit)

    def around(self, size: int, apart: FloatArray) -> FloatArray:
        """Return the widths of sets against one of `size` tests, by the a + b that are given."""
        return widths_around(self.low, self.high, size, self._log_inverse(apart), unit=self.unit)

    def _log_inverse(self, apart: FloatArray) -> FloatArray:
        return log_rivals(self.d, apart) - self.log_alpha


def log_rivals(d: int, apart: FloatArray) -> FloatArray:
    """Return log(1/share) of a rival that differs in k tests: the shares 1/(k(k+1)·C(d, k)) sum to less than 1.

    Examples
    --------
    >>> k = np.arange(1.0, 6)
    >>> float(np.exp(log_rivals(5, k))[0].round(6))
    10.0
    """
    k = np.clip(apart, 1.0, d)
    shares = np.log(k * (k + 1)) + gammaln(d + 1) - gammaln(k + 1) - gammaln(d - k + 1)
    return np.where(apart > d, np.inf, shares)


def log_chi_square_above(degrees: float, log_alpha: float) -> float:
    """Return the logarithm of what χ² exceeds with probability α.

    Examples
    --------
    >>> round(math.exp(log_chi_square_above(3, math.log(0.05))), 3)
    7.815
    """
    return math.log(2 * gammainccinv(degrees / 2, math.exp(log_alpha))) if degrees > 0 else math.inf


def log_chi_square_below(degrees: float, log_alpha: float) -> float:
    """Return the logarithm of what χ² stays below with probability α."""
    least = 2 * gammaincinv(degrees / 2, math.exp(log_alpha)) if degrees > 0 else 0.0
    return math.log(least) if least > 0 else -math.inf


def pair_widths(
    low: int, high: int, common: int, log_inverse: FloatArray, *, unit: float, start: int = 0
) -> FloatArray:
    """Return what P_B − P_A stays below, for A of a tests and B of b tests beside |I| = `common` tests in both.

    `low` and `high` are the degrees of freedom of the scatters of A and of B, `log_inverse` (m, n) is log(1/α) for
    a = 0 ... m − 1 and b = start ... start + n − 1. The log-determinants are those of W/unit: (a − b)·log(unit) is
    added. The result (m, n) is 0 for two empty sets, and inf where there are too few rounds.

    Examples
    --------
    >>> widths = pair_widths(100, 100, 3, np.full((3, 3), math.log(20)), unit=100)
    >>> widths.round(3).tolist()
    [[0.0, 0.191, 0.389], [0.284, 0.336, 0.557], [0.615, 0.673, 0.71]]
    """
    log_unit, a, b = math.log(unit), np.arange(log_inverse.shape[0]), start + np.arange(log_inverse.shape[1])
    s = _orders(low)
    below = _cumulants(low, common, a[-1], -s) + np.outer(s, a) * log_unit
    above = _cumulants(high, common, b[-1], s)[:, start:] - np.outer(s, b) * log_unit
    widths = ((log_inverse + below[:, :, None] + above[:, None, :]) / s[:, None, None]).min(axis=0)
    for pair, exact in _exact(low - common, high - common).items():
        row, column = pair[0], pair[1] - start
        if row < len(a) and 0 <= column < len(b):
            widths[row, column] = exact(-log_inverse[row, column]) + (pair[0] - pair[1]) * log_unit
    return np.asarray(widths)


def widths_around(low: int, high: int, size: int, log_inverse: FloatArray, *, unit: float) -> FloatArray:
    """Return the widths of sets against one set of `size` tests: a of theirs are new, b of its tests are missing.

    As :func:`pair_widths`, with size − b tests in common, shape (m, n).
    """
    columns = [
        pair_widths(low, high, size - b, log_inverse[:, b : b + 1], unit=unit, start=b)[:, 0]
        for b in range(log_inverse.shape[1])
    ]
    return np.stack(columns, axis=1)


def _exact(low: int, high: int) -> dict[tuple[int, int], Callable[[float], float]]:
    """Return the pairs of sizes (a, b) whose widths need no Chernoff bound, as functions of log α."""
    known: dict[tuple[int, int], Callable[[float], float]] = {
        (0, 0): lambda log_alpha: 0.0,
        (1, 0): lambda log_alpha: -log_chi_square_below(low, log_alpha),
        (0, 1): lambda log_alpha: log_chi_square_above(high, log_alpha),
    }
    if low == high > 0:
        known[1, 1] = lambda log_alpha: -math.log(fdtri(low, low, math.exp(log_alpha)))
    return known


def _orders(degrees: int) -> FloatArray:
    """Return the s that are tried: multiples of one half, as the proof needs."""
    doubled = np.exp(np.linspace(0.0, math.log(max(2.0, degrees)), ORDERS))
    return np.unique(np.round(doubled)) / 2


def _cumulants(degrees: int, common: int, most: int, s: FloatArray) -> FloatArray:
    """Return log E exp(s·P) for sets of 0 ... most tests, shape (orders, most + 1); inf where it does not exist."""
    half = (degrees - common - np.arange(most)) / 2
    exists = (half > 0) & (half + s[:, None] > 0)
    safe = np.where(half > 0, half, 1.0)
    each = s[:, None] * math.log(2) + gammaln(np.where(exists, safe + s[:, None], 1.0)) - gammaln(safe)
    return np.concatenate([np.zeros((len(s), 1)), np.cumsum(np.where(exists, each, np.inf), axis=1)], axis=1)
