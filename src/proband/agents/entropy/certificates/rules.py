"""Which tests belong to the best set for sure, and which do not, without looking at any set twice.

Let S* be the best set, and suppose that I ⊆ S* ⊆ J and that every round measured J. Residual sums of squares fall when
more tests are given, in the sample as in the law. So with r_{i|V} the residual sum of squares of test i given V, and
q(n − k) quantiles of χ² with that many degrees of freedom:

* i ∉ S* means λ/2·log(2πe·σ²_{i|S*}) ≤ rise of its cost, and r_{i|J−i} ≤ r_{i|S*} = σ²_{i|S*}·χ²_{n − |S*|}. If
  λ/2·log(2πe·r_{i|J−i}/q_high(n − |I|)) exceeds the largest rise of the cost, i is IN.
* i ∈ S* means λ/2·log(2πe·σ²_{i|S*−i}) ≥ rise, and r_{i|I} ≥ r_{i|S*−i} = σ²_{i|S*−i}·χ²_{n − |S*| + 1}. If
  λ/2·log(2πe·r_{i|I}/q_low(n − |J| + 1)) is below the smallest rise of the cost, i is OUT.

Each test has one of the two events at each look: the union is over d tests and the looks, never over 2^d sets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proband.agents.entropy.certificates.widths import Looks, log_chi_square_above, log_chi_square_below
from proband.agents.entropy.learning.scatter import Scatter
from proband.prices import Flags, Prices
from proband.vocabulary import FloatArray

LOG_TWO_PI_E = math.log(2 * math.pi * math.e)


@dataclass(frozen=True)
class Rules:
    """The rules, which may fail with probability exp(`log_delta`), for all tests and looks together; `scale` is λ."""

    costs: Prices
    scale: float
    looks: Looks
    log_delta: float

    def settle(self, scatter: Scatter, inside: Flags, possible: Flags) -> tuple[Flags, Flags]:
        """Return which tests are certainly in the best set, and which may be, after a look at the scatter."""
        low = self.looks.floor(scatter.n)
        if low < 0:
            return inside, possible
        inside, possible = inside.copy(), possible.copy()
        high = low + (self.looks.count(low) < scatter.n)
        lost = scatter.n - scatter.degrees
        while (inside != possible).any():
            before = int(inside.sum()), int(possible.sum())
            open_ = possible & ~inside
            above = log_chi_square_above(self.looks.count(high) - lost - before[0], self._log_alpha(high))
            worth = self._worth(residuals(scatter, possible), above)
            inside |= open_ & (worth > self.costs.bounds(inside, possible)[1])
            below = log_chi_square_below(self.looks.count(low) - lost - before[1] + 1, self._log_alpha(low))
            worth = self._worth(residuals_given(scatter, inside), below)
            possible &= ~(open_ & ~inside & (worth < self.costs.bounds(inside, possible)[0]))
            if before == (int(inside.sum()), int(possible.sum())):
                break
        return inside, possible

    def _log_alpha(self, look: int) -> float:
        return self.log_delta + self.looks.log_share(look) - math.log(len(self.costs.cost))

    def _worth(self, squares: FloatArray, log_quantile: float) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.scale / 2 * (LOG_TWO_PI_E + np.log(squares) - log_quantile))


def residuals(scatter: Scatter, possible: Flags) -> FloatArray:
    """Return the residual sum of squares of each test given all others of `possible`, shape (d,); 0 for other tests."""
    found = np.zeros(len(possible))
    members = np.flatnonzero(possible[scatter.sites])
    matrix = scatter.matrix[np.ix_(members, members)]
    sums = matrix.diagonal()
    varying = sums > 0
    scale = np.sqrt(sums[varying])
    correlation = matrix[np.ix_(varying, varying)] / scale[:, None] / scale
    try:
        factor = np.linalg.inv(np.linalg.cholesky(correlation))
        precision = (factor**2).sum(axis=0)
    except np.linalg.LinAlgError:  # singular to working precision
        values, vectors = np.linalg.eigh(correlation)
        precision = (vectors**2 / np.maximum(values, np.finfo(np.float64).eps)).sum(axis=1)
    found[scatter.sites[members[varying]]] = sums[varying] / precision
    return found


def residuals_given(scatter: Scatter, given: Flags) -> FloatArray:
    """Return the residual sum of squares of each test of the scatter given a set, shape (d,); 0 for other tests."""
    found = np.zeros(len(given))
    chosen: NDArray[np.bool_] = given[scatter.sites]
    matrix = scatter.matrix
    rest = matrix.diagonal().copy()
    if chosen.any():
        across = matrix[chosen]
        rest = np.maximum(rest - (across * solve(matrix[np.ix_(chosen, chosen)], across)).sum(axis=0), 0.0)
    found[scatter.sites] = rest
    return found


def solve(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Return matrix⁻¹·right; the shortest solution where the matrix is singular."""
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0])
