"""Conditioning and EM steps on the statistics of missing patterns, compiled.

A law is one symmetric matrix θ of d + 1 rows: −1 and the mean in row 0, the covariance below. Sweeping θ on the known
tests (Beaton's operator; Little and Rubin, Statistical Analysis with Missing Data, Section 7.4) turns it into the
regression of the others: intercepts in row 0, coefficients in the rows of the known tests, and the residual
covariance. A known test whose variance given those before it is nothing is not swept: it is a linear function of
them.

The rows of a pattern enter as M = Σ (1, x)(1, x)ᵀ with zeros for what is not known, shape (d + 1, d + 1).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proband.compiling import inner, kernel
from proband.distributions.gaussian import SINGULAR
from proband.estimators.gaussian.arrays import Sample
from proband.vocabulary import FloatArray

BoolArray = NDArray[np.bool_]
LOG_CIRCLE = math.log(2 * math.pi)


@inner
def sweep(g: FloatArray, k: int) -> None:
    """Sweep a symmetric matrix on row k, in place."""
    pivot = g[k, k]
    size = g.shape[0]
    for i in range(size):
        if i != k:
            share = g[i, k] / pivot
            for j in range(size):
                if j != k:
                    g[i, j] -= share * g[k, j]
    for i in range(size):
        if i != k:
            g[i, k] /= pivot
            g[k, i] = g[i, k]
    g[k, k] = -1.0 / pivot


@inner
def condition(theta: FloatArray, known: BoolArray, g: FloatArray, swept: BoolArray) -> float:
    """Sweep θ on the known tests into `g`, tell which were swept, and return the log-determinant of these."""
    for i in range(known.size + 1):
        for j in range(known.size + 1):
            g[i, j] = theta[i, j]
    logdet = 0.0
    for j in range(known.size):
        variance = g[j + 1, j + 1]
        swept[j] = known[j] and variance > SINGULAR * theta[j + 1, j + 1]
        if swept[j]:
            logdet += math.log(variance)
            sweep(g, j + 1)
    return logdet


@inner
def misfit(theta: FloatArray, g: FloatArray, swept: BoolArray, moments: FloatArray) -> float:
    """Return Σ over rows of the squared Mahalanobis distance of what was swept."""
    total = 0.0
    for i in range(swept.size):
        if swept[i]:
            for j in range(swept.size):
                if swept[j]:
                    a, b = theta[0, i + 1], theta[0, j + 1]
                    about = (
                        moments[i + 1, j + 1] - a * moments[0, j + 1] - b * moments[0, i + 1] + a * b * moments[0, 0]
                    )
                    total -= g[i + 1, j + 1] * about
    return total


@inner
def lift(g: FloatArray, known: BoolArray, swept: BoolArray, moments: FloatArray, lifted: FloatArray) -> None:
    """Write L M into `lifted`, where L gives (1, x) from what is known."""
    size = g.shape[0]
    for i in range(size):
        for j in range(size):
            if i == 0 or known[i - 1]:
                lifted[i, j] = moments[i, j]
                continue
            lifted[i, j] = g[0, i] * moments[0, j]
            for k in range(1, size):
                if swept[k - 1]:
                    lifted[i, j] += g[k, i] * moments[k, j]


@inner
def fill(
    g: FloatArray, known: BoolArray, swept: BoolArray, moments: FloatArray, lifted: FloatArray, total: FloatArray
) -> None:
    """Add to `total` the moments of a pattern's rows with their missing entries at the regression: L M Lᵀ."""
    lift(g, known, swept, moments, lifted)
    size = g.shape[0]
    for i in range(size):
        for j in range(size):
            if j == 0 or known[j - 1]:
                total[i, j] += lifted[i, j]
                continue
            moment = g[0, j] * lifted[i, 0]
            for k in range(1, size):
                if swept[k - 1]:
                    moment += g[k, j] * lifted[i, k]
            total[i, j] += moment


@inner
def clear(matrix: FloatArray) -> None:
    """Set a matrix to 0."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            matrix[i, j] = 0.0


@kernel
def em_step(sample: Sample) -> float:
    """Return the log-likelihood at `theta`; the θ of one step comes `after`: that of the expected moments."""
    known, counts, moments = sample.known, sample.counts, sample.moments
    theta, g, swept, total = sample.theta, sample.g, sample.swept, sample.total
    size = theta.shape[0]
    clear(total)
    value = 0.0
    for p in range(counts.size):
        logdet = condition(theta, known[p], g, swept)
        terms = 0
        for j in range(size - 1):
            terms += swept[j]
        value -= 0.5 * (counts[p] * (terms * LOG_CIRCLE + logdet) + misfit(theta, g, swept, moments[p]))
        fill(g, known[p], swept, moments[p], sample.lifted, total)
        for i in range(1, size):
            for j in range(1, size):
                if not known[p, i - 1] and not known[p, j - 1]:
                    total[i, j] += counts[p] * g[i, j]
    law_of(total, sample.after)
    return value


@inner
def law_of(total: FloatArray, theta: FloatArray) -> None:
    """Write the θ of complete moments."""
    size = total.shape[0]
    n = total[0, 0]
    theta[0, 0] = -1.0
    for i in range(1, size):
        theta[0, i] = theta[i, 0] = total[0, i] / n
    for i in range(1, size):
        for j in range(1, size):
            theta[i, j] = (total[i, j] + total[j, i]) / (2 * n) - theta[0, i] * theta[0, j]
