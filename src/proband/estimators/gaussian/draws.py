"""Posterior draws of a Gaussian law from complete and incomplete rows.

The prior of the covariance is inverse Wishart with d + 1 degrees of freedom and the scale diag(Σ̂), Σ̂ the estimate:
every correlation is uniform on (−1, 1) a priori, and variances have the right order of magnitude (the scale is
fitted, with the weight of one row). The mean has a flat prior. Given complete rows,

    Σ ~ inverse Wishart(d + n, diag(Σ̂) + S),        μ ~ N(x̄, Σ / n)        (normal-inverse-Wishart, exact).

With missing entries *data augmentation* (Tanner and Wong 1987) alternates: draw the missing entries given the law,
then the law given all entries. Only moments are drawn: with Z = (1, x_O) of the n rows of a pattern, B the regression
of its missing tests and R = C Cᵀ the residual covariance, the residuals E of these rows enter through

    ZᵀE = F W Cᵀ         (matrix normal; F Fᵀ = ZᵀZ has rank r, W holds r rows of standard normals),
    EᵀE = C (WᵀW + Wishart(n − r)) Cᵀ,

so a sweep costs the same for a million subjects as for a hundred. Each draw is a chain of its own from the estimate,
so that draws are independent. A chain forgets its start at the rate λ at which EM converges (exactly so for a
Gaussian posterior; Sahu and Roberts 1999), the largest share of information that is missing. Near the estimate λ is
found by power iteration, and by default log(1/10)/log(λ) sweeps are made, between 10 and 1000: a tenth of the start
is left then, and the variance is short of a hundredth.

A pair never seen together tells nothing of its correlation given all other tests: each chain starts from a draw of
the prior, density ∝ (1 − r²)^((d − 2)/2), for it would not forget the estimate's zero. Tests that EM sets aside
(never varied, or seen less than twice) stay what they are there.
"""

from __future__ import annotations

import math

import numpy as np

from proband.distributions import Gaussian
from proband.estimators.gaussian.em import GaussianFit, Standardised, Steps, conditional
from proband.vocabulary import FloatArray, IntArray

FEWEST_SWEEPS = 10
MOST_SWEEPS = 1_000
START_LEFT = 0.1
"""How much of its start a chain may remember."""

POWER_STEPS = 40
POWER_LENGTH = 1e-4


def sweeps_needed(data: Standardised, fit: GaussianFit) -> int:
    """Return how many sweeps forget the start: one where every row is complete."""
    if data.known.all():
        return 1
    rate = min(missing_information(data, fit), 1 - 1e-9)
    needed = math.log(START_LEFT) / math.log(rate) if rate > 0 else 0.0
    return int(min(max(math.ceil(needed), FEWEST_SWEEPS), MOST_SWEEPS))


def missing_information(data: Standardised, fit: GaussianFit) -> float:
    """Return λ, the rate at which EM converges to the estimate, pairs never seen together left aside."""
    step = Steps(data)
    seen = np.ones_like(fit.theta)
    seen[1:, 1:] = data.together > 0
    _, still = step(fit.theta)
    apart = seen * (1.0 + np.arange(len(seen)) + np.arange(len(seen))[:, None])
    apart[0, 0] = 0.0
    rate = 0.0
    for _ in range(POWER_STEPS):
        apart *= POWER_LENGTH / np.linalg.norm(apart)
        _, moved = step(fit.theta + apart)
        apart = (moved - still) * seen
        rate = float(np.linalg.norm(apart)) / POWER_LENGTH
        if not rate:
            break
    return rate


def posterior_laws(
    rng: np.random.Generator, n: int, data: Standardised, fit: GaussianFit, *, sweeps: int | None = None
) -> list[Gaussian]:
    """Draw n laws; `sweeps` of data augmentation each."""
    from proband.estimators.gaussian.arrays import Augmentation, Sample
    from proband.estimators.gaussian.draws_kernel import gibbs

    k = len(data.tests)
    if not k:
        return [data.law(fit.theta) for _ in range(n)]
    each = sweeps_needed(data, fit) if sweeps is None else sweeps
    counts = np.rint(data.counts).astype(np.int64)
    factors, ranks = _factors(data.moments, counts)
    work = Augmentation.of(counts, ranks, factors, np.diagonal(fit.theta)[1:])
    sample, laws = Sample.of(data.known, data.counts, data.moments), []
    for _ in range(n):
        sample.theta[:] = _scattered(rng, fit.theta, data.together)
        gibbs(rng, sample, work, float(k + 1), each)
        laws.append(data.law(sample.theta))
    return laws


def _factors(moments: FloatArray, counts: IntArray) -> tuple[FloatArray, IntArray]:
    """Return F with F Fᵀ = M for each pattern, its columns of nothing last, and how many are not."""
    values, vectors = np.linalg.eigh(moments)
    values, vectors = values[:, ::-1], vectors[:, :, ::-1]
    positive = values > 1e-13 * values[:, :1]
    ranks = np.minimum(positive.sum(axis=1), counts)
    return np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0))[:, None]), ranks.astype(np.int64)


def _scattered(rng: np.random.Generator, theta: FloatArray, together: FloatArray) -> FloatArray:
    """Return the estimate with the prior's partial correlations for pairs never seen together."""
    start = theta.copy()
    covariance = start[1:, 1:]
    for i, j in np.argwhere(np.triu(together == 0, 1)):
        explained = conditional(covariance, i, j)
        room = max(covariance[i, i] - explained[0, 0], 0.0) * max(covariance[j, j] - explained[1, 1], 0.0)
        r = 2 * rng.beta(len(covariance) / 2, len(covariance) / 2) - 1
        covariance[i, j] = covariance[j, i] = explained[0, 1] + r * math.sqrt(room)
    return start
