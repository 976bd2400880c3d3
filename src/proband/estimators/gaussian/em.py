"""The Gaussian law that maximises the likelihood of incomplete rows, by EM, accelerated and monotone.

A policy skips tests by what it has seen, so entries are missing at random and the likelihood of the law is the
product of the Gaussian densities of what was seen (``docs/estimators.md``). One step replaces missing entries by
their regression on the known ones, adds the residual covariance where two are missing, and takes mean and covariance:

    T = Σ_patterns L M Lᵀ + n R,        μ ← T_0x / n,        Σ ← T_xx / n − μ μᵀ

with M the moments of the pattern's rows, L their regression and R its residual covariance. Two steps give a direction
and a curvature; the squared extrapolation of Varadhan and Roland (2008) is kept only where it is a covariance and
where the likelihood is no lower than after the plain steps: it never decreases.

What data do not tell:

* a test seen on fewer than two subjects has mean what was seen (0 if never), variance 1 and no correlations: not even
  its scale is known;
* a test that never varied has variance 0;
* two tests never seen together get the covariance that makes them independent given all other tests. It does not
  change the likelihood, and no other choice that fits the data has a larger entropy;
* a singular covariance is no error: linear functions of other tests are left out of the regressions, and the
  likelihood is that of the density on the space that the covariance allows.

EM works in units of each test's available standard deviation, about its available mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proband.distributions import Gaussian
from proband.distributions.gaussian import SINGULAR
from proband.estimators.gaussian.patterns import Pattern, Patterns, known_in
from proband.vocabulary import FloatArray, IntArray

EM_LIMIT = 5_000
"""Most extrapolated steps of one fit."""

EM_TOLERANCE = 1e-10
"""EM stops when a step moves no mean and no covariance by more than this, in standard deviations."""

COMPLETION_LIMIT = 1_000
COMPLETION_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Standardised:
    """The statistics in standard units, of the k tests that vary and were seen on two subjects or more.

    `centre` and `scale` (d,) are of all tests: available mean and standard deviation, 1 where there is none; `variance`
    (d,) is of the tests that are left out, in original units. What is `known` in a pattern (patterns, k) comes with its
    `moments` (patterns, k + 1, k + 1), Σ (1, x)(1, x)ᵀ, zeros for what is not; `together` (k, k) tells on how many
    subjects each pair was seen together.
    """

    tests: IntArray
    centre: FloatArray
    scale: FloatArray
    variance: FloatArray
    known: NDArray[np.bool_]
    counts: FloatArray
    moments: FloatArray
    together: FloatArray

    def law(self, theta: FloatArray) -> Gaussian:
        """Return a law of the tests that vary, θ, as a law of all tests in their own units."""
        mean, covariance = self.centre.copy(), np.diag(self.variance)
        scale = self.scale[self.tests]
        mean[self.tests] += scale * theta[0, 1:]
        covariance[np.ix_(self.tests, self.tests)] = theta[1:, 1:] * np.outer(scale, scale)
        return Gaussian(mean, covariance)


@dataclass(frozen=True)
class GaussianFit:
    """The maximiser, and how it was found.

    θ (k + 1, k + 1) has −1 and the mean in row 0 and the covariance below, in standard units, as is the path: the
    log-likelihood after each accepted step. Iterations are steps of EM.
    """

    theta: FloatArray
    path: FloatArray
    iterations: int


def standardise(patterns: Patterns) -> Standardised:
    """Return the statistics in standard units."""
    seen, mean, variance = patterns.marginals()
    tests = np.flatnonzero((seen >= 2) & (variance > 0))
    scale = np.ones(len(mean))
    scale[tests] = np.sqrt(variance[tests])
    kept = [part for part in (pattern.restricted(tests) for pattern in patterns) if len(part.tests)]
    place = np.full(len(mean), -1)
    place[tests] = np.arange(len(tests))
    parts = [
        Pattern(
            place[part.tests],
            part.n,
            (part.mean - mean[part.tests]) / scale[part.tests],
            part.scatter / np.outer(scale[part.tests], scale[part.tests]),
        )
        for part in kept
    ]
    return Standardised(
        tests=tests,
        centre=mean,
        scale=scale,
        variance=np.where(seen < 2, 1.0, 0.0),
        known=known_in(parts, len(tests)),
        counts=np.array([part.n for part in parts]),
        moments=np.array([_moments(part, len(tests)) for part in parts]).reshape(-1, len(tests) + 1, len(tests) + 1),
        together=patterns.together[np.ix_(tests, tests)],
    )


def _moments(part: Pattern, k: int) -> FloatArray:
    moments = np.zeros((k + 1, k + 1))
    where = np.concatenate([[0], part.tests + 1])
    values = np.concatenate([[1.0], part.mean])
    moments[np.ix_(where, where)] = part.n * np.outer(values, values)
    moments[np.ix_(part.tests + 1, part.tests + 1)] += part.scatter
    return moments


def independent(k: int) -> FloatArray:
    """Return θ of k independent tests of mean 0 and variance 1: where every fit starts."""
    theta = np.eye(k + 1)
    theta[0, 0] = -1.0
    return theta


class Steps:
    """Steps of EM: from θ to the log-likelihood there and the next θ."""

    def __init__(self, data: Standardised) -> None:
        from proband.estimators.gaussian.arrays import Sample
        from proband.estimators.gaussian.kernel import em_step

        self._sample, self._step = Sample.of(data.known, data.counts, data.moments), em_step

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Make a step."""
        self._sample.theta[:] = theta
        value = self._step(self._sample)
        return value, self._sample.after.copy()


def fit_gaussian(data: Standardised, *, tolerance: float = EM_TOLERANCE, limit: int = EM_LIMIT) -> GaussianFit:
    """Maximise the likelihood, from independent tests."""
    theta = independent(len(data.tests))
    if not len(data.tests):
        return GaussianFit(theta, np.zeros(1), 0)
    step = Steps(data)
    value, once = step(theta)
    path, steps = [value], 1
    while steps < limit and np.abs(once - theta).max() > tolerance:
        plain, twice = step(once)
        steps += 1
        leap = _extrapolated(theta, once, twice)
        if leap is not None:
            value, after = step(leap)
            steps += 1
        if leap is not None and value >= plain:
            theta, once = leap, after
        else:
            theta, once, value = once, twice, plain
        path.append(value)
    return GaussianFit(completed(once, data.together), np.array(path), steps)


def _extrapolated(theta: FloatArray, once: FloatArray, twice: FloatArray) -> FloatArray | None:
    """Return the squared extrapolation of two steps, or None where it is no covariance or no step ahead."""
    first, second = once - theta, twice - once
    bend = np.linalg.norm(second - first)
    length = np.linalg.norm(first) / bend if bend > 0 else 0.0
    if length <= 1:
        return None
    leap = theta + 2 * length * first + length**2 * (second - first)
    return leap if np.linalg.eigvalsh(leap[1:, 1:])[0] > 0 else None


def completed(theta: FloatArray, together: FloatArray) -> FloatArray:
    """Return θ with tests never seen together independent given all others.

    Each step gives one pair the covariance of the largest determinant, the others fixed; they converge to the largest
    of all (Dempster 1972).
    """
    pairs = np.argwhere(np.triu(together == 0, 1))
    if not len(pairs):
        return theta
    law = theta.copy()
    covariance = law[1:, 1:]
    for _ in range(COMPLETION_LIMIT):
        moved = 0.0
        for i, j in pairs:
            expected = conditional(covariance, i, j)[0, 1]
            moved = max(moved, abs(expected - covariance[i, j]))
            covariance[i, j] = covariance[j, i] = expected
        if moved < COMPLETION_TOLERANCE:
            break
    return law


def conditional(covariance: FloatArray, i: int, j: int) -> FloatArray:
    """Return for a pair of tests the part of their covariance that all others explain, shape (2, 2)."""
    pair = np.array([i, j])
    rest = np.delete(np.arange(len(covariance)), pair)
    across = covariance[np.ix_(pair, rest)]
    inverse = np.linalg.pinv(covariance[np.ix_(rest, rest)], rcond=SINGULAR, hermitian=True)
    return np.asarray(across @ inverse @ across.T)
