"""The arrays behind the reward of a set of tests, and the form that the searches work on.

Reward of a set S of tests whose outcomes are jointly Gaussian with covariance C:

    f(S) = scale · H(S) − cost(S),    H(S) = |S|/2 · log(2πe) + ½ · log det C[S,S],    H(∅) = 0.

Tests of a group share a preparation, and the order within S is free: cost(S) is that of :mod:`proband.prices`.

Write C[i,j] = σ_i σ_j R[i,j] with the correlations R. Then f(S) = scale/2 · F(S) with

    F(S) = log det R[S,S] + Σ_{i∈S} offset_i − Σ_{groups in S} min extra_i,
    offset_i = log σ_i² + log(2πe) − 2·group_cost_i/scale,    extra_i = 2·(cost_i − group_cost_i)/scale ≥ 0,

where a test without a group has its cost for group_cost and no extra. Searches work on F, R and R⁻¹: a cost, or a
price on the number of tests, moves the offsets and no matrix.

*Rounding.* Conditional variances come from Schur complements of R and of R⁻¹, which are Gaussian eliminations of
positive definite matrices: backward stable, so to first order in ε their logarithms are off by a small multiple of
d·ε·κ(R), with the condition number κ(R) ≤ ‖R‖·‖R⁻¹‖ (Frobenius norms). `Objective.margin` is 4·ε·(d·κ(R) + Σ |offset|):
no test is settled, and no bound stated, closer than this. The constant 4 is a choice, not a proved worst case.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proband.errors import DistributionError
from proband.planners.subset.matrix_kernel import factorise, invert
from proband.prices import Flags, Prices
from proband.vocabulary import FloatArray, IntArray

States = NDArray[np.int8]
"""For each test FREE, IN or OUT, shape (d,)."""

FREE, IN, OUT = np.int8(0), np.int8(1), np.int8(2)
"""No Python integers, for which numba would compile every function that takes a state once more."""

LOG_TWO_PI_E = math.log(2 * math.pi * math.e)
EPSILON = float(np.finfo(np.float64).eps)
WORST_CONDITION = 1e11
"""Beyond this bound on the condition number of the correlations, rounding would leave nothing to certify."""


class Objective(NamedTuple):
    """What compiled searches read.

    R, R⁻¹, the offsets, groups (-1 none) with extras; for each test its neighbours, before and after it, in a chain of
    twins, which can be exchanged for each other in every set (-1 none); the size or -1; F of all tests without
    openings; the margin; and, for a size, a price λ with an upper bound on F(S) − λ·(|S| − size) over sets of all sizes
    (inf where none is known).
    """

    correlation: FloatArray
    inverse: FloatArray
    offset: FloatArray
    group: IntArray
    extra: FloatArray
    groups: int
    before: IntArray
    after: IntArray
    size: int
    everything: float
    margin: float
    price: float
    envelope: float


@dataclass(frozen=True, eq=False)
class Candidates:
    """The checked input: a covariance and the prices of d tests, and what is forced."""

    covariance: FloatArray
    correlation: FloatArray
    prices: Prices  # with groups numbered 0 ... groups - 1
    groups: int
    scale: float
    state: States  # FREE, or forced IN or OUT

    @property
    def d(self) -> int:
        """Number of tests."""
        return len(self.state)

    @property
    def offset(self) -> FloatArray:
        """What a test adds to F beside the log-determinant, shape (d,)."""
        return np.asarray(np.log(self.covariance.diagonal()) + LOG_TWO_PI_E - 2 / self.scale * self.prices.group_cost)

    @property
    def extra(self) -> FloatArray:
        """What opening its group by a test takes from F, shape (d,)."""
        return np.asarray(2 / self.scale * self.prices.opening)

    def allow(self, inside: Flags) -> bool:
        """Whether a set, given as flags, keeps to what is forced."""
        return bool(inside[self.state == IN].all() and not inside[self.state == OUT].any())

    def reward_of(self, chosen: Iterable[int]) -> float:
        """Return f of a set of tests, by a Cholesky factorisation; -inf where its covariance has none."""
        members = sorted(chosen)
        try:
            factor = np.linalg.cholesky(self.covariance[np.ix_(members, members)])
        except np.linalg.LinAlgError:
            return -math.inf
        entropy = len(members) / 2 * LOG_TWO_PI_E + float(np.log(factor.diagonal()).sum())
        return self.scale * entropy - self.prices.of(members)


def inverse_of(candidates: Candidates) -> tuple[FloatArray, float, float]:
    """Return R⁻¹, log det R and a bound on the condition number, or raise if R is indefinite or close to singular."""
    inverse, factor = candidates.correlation.copy(), candidates.correlation.copy()
    logarithm = float(factorise(factor, candidates.d))
    condition = math.inf
    if math.isfinite(logarithm):
        invert(inverse, candidates.d)
        condition = float(np.linalg.norm(candidates.correlation) * np.linalg.norm(inverse))
    if condition < WORST_CONDITION:
        return (inverse + inverse.T) / 2, logarithm, condition
    eigenvalues = np.linalg.eigvalsh(candidates.correlation)
    least, most = float(eigenvalues[0]), float(eigenvalues[-1])
    if least < -1e-10 * most:
        raise DistributionError(
            f"the smallest eigenvalue of the correlations is {least:.3g}; a covariance must be positive definite; "
            "estimate it from complete records, not entry by entry"
        )
    raise DistributionError(
        f"the correlations are singular to working precision, with eigenvalues from {least:.3g} to {most:.3g}; no test "
        "may be a combination of others; drop it, or add noise to the diagonal"
    )


def objective_of(candidates: Candidates, *, size: int | None = None) -> Objective:
    """Return the arrays of a search over candidates, after checking that their covariance is positive definite."""
    inverse, logarithm, condition = inverse_of(candidates)
    before = _twins(candidates)
    after = np.full(candidates.d, -1, dtype=np.int64)
    after[before[before >= 0]] = np.flatnonzero(before >= 0)
    return Objective(
        correlation=np.ascontiguousarray(candidates.correlation),
        inverse=np.ascontiguousarray(inverse),
        offset=candidates.offset,
        group=candidates.prices.group,
        extra=candidates.extra,
        groups=candidates.groups,
        before=before,
        after=after,
        size=-1 if size is None else int(size),
        everything=logarithm + float(candidates.offset.sum()),
        margin=4 * EPSILON * (candidates.d * condition + float(np.abs(candidates.offset).sum())),
        price=0.0,
        envelope=math.inf,
    )


def _twins(candidates: Candidates) -> IntArray:
    """Return, for each free test, the last free one before it with which it can be exchanged in every set, or -1."""
    before = np.full(candidates.d, -1, dtype=np.int64)
    # Twins have the same correlations in another order: sorted rows as keys spare comparing all pairs.
    rows = np.sort(candidates.correlation, axis=1).round(10) + 0.0
    offset, extra = candidates.offset, candidates.extra
    alike: dict[bytes, list[int]] = {}
    for i in np.flatnonzero(candidates.state == FREE).tolist():
        figures = np.array([offset[i], extra[i], candidates.prices.group[i]])
        earlier = alike.setdefault(rows[i].tobytes() + figures.tobytes(), [])
        if earlier:
            apart = np.abs(candidates.correlation[earlier] - candidates.correlation[i])
            apart[:, i] = apart[np.arange(len(earlier)), earlier] = 0.0
            twins = np.flatnonzero(apart.max(axis=1) < 1e-14)
            before[i] = earlier[twins[-1]] if len(twins) else -1
        earlier.append(i)
    return before


def with_price(objective: Objective, price: float) -> Objective:
    """Return the objective with a price on each test."""
    d = len(objective.offset)
    return objective._replace(
        offset=objective.offset - price,
        everything=objective.everything - price * d,
        margin=objective.margin + 4 * EPSILON * d * abs(price),
    )


def hadamard(candidates: Candidates, objective: Objective) -> float:
    """Return Hadamard's bound on F before any search: every test brings at most its offset."""
    forced = float(objective.offset[candidates.state == IN].sum())
    free = np.sort(objective.offset[candidates.state == FREE])[::-1]
    if objective.size < 0:
        return forced + float(free[free > 0].sum()) + objective.margin
    return forced + float(free[: objective.size - int((candidates.state == IN).sum())].sum()) + objective.margin
