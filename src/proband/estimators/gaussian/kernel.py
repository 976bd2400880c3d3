"""Conditioning, EM steps and data augmentation on the statistics of missing patterns, compiled.

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
from proband.vocabulary import FloatArray, IntArray

BoolArray = NDArray[np.bool_]
LOG_CIRCLE = math.log(2 * math.pi)


@inner
def sweep(g: FloatArray, k: int) -> None:
    """Sweep a symmetric matrix on row k, in place."""
    pivot = g[k, k]
    size = len(g)
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
    for i in range(len(theta)):  # entry by entry: assigning slices takes seconds to compile
        for j in range(len(theta)):
            g[i, j] = theta[i, j]
    logdet = 0.0
    for j in range(len(known)):
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
    for i in range(len(swept)):
        if swept[i]:
            for j in range(len(swept)):
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
    size = len(g)
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
    size = len(g)
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


@kernel
def em_step(known: BoolArray, counts: FloatArray, moments: FloatArray, theta: FloatArray) -> tuple[float, FloatArray]:
    """Return the log-likelihood at θ and the θ of one step: expected moments, then their mean and covariance."""
    size = len(theta)
    total = np.zeros((size, size))
    g, lifted = np.empty((size, size)), np.empty((size, size))
    swept = np.empty(size - 1, dtype=np.bool_)
    value = 0.0
    for p in range(len(counts)):
        logdet = condition(theta, known[p], g, swept)
        terms = 0
        for j in range(size - 1):
            terms += swept[j]
        value -= 0.5 * (counts[p] * (terms * LOG_CIRCLE + logdet) + misfit(theta, g, swept, moments[p]))
        fill(g, known[p], swept, moments[p], lifted, total)
        for i in range(1, size):
            for j in range(1, size):
                if not known[p, i - 1] and not known[p, j - 1]:
                    total[i, j] += counts[p] * g[i, j]
    return value, law_of(total)


@inner
def law_of(total: FloatArray) -> FloatArray:
    """Return the θ of complete moments."""
    size = len(total)
    n = total[0, 0]
    theta = np.empty((size, size))
    theta[0, 0] = -1.0
    for i in range(1, size):
        theta[0, i] = theta[i, 0] = total[0, i] / n
    for i in range(1, size):
        for j in range(1, size):
            theta[i, j] = (total[i, j] + total[j, i]) / (2 * n) - theta[0, i] * theta[0, j]
    return theta


@inner
def root(matrix: FloatArray, out: FloatArray) -> None:
    """Write a lower triangular factor of a positive semi-definite matrix; columns of no variance are zero."""
    size = len(matrix)
    out[:] = 0.0
    for j in range(size):
        rest = matrix[j, j]
        for k in range(j):
            rest -= out[j, k] * out[j, k]
        if rest <= SINGULAR * matrix[j, j] * 1e-2:
            continue
        out[j, j] = math.sqrt(rest)
        for i in range(j + 1, size):
            entry = matrix[i, j]
            for k in range(j):
                entry -= out[i, k] * out[j, k]
            out[i, j] = entry / out[j, j]


@inner
def bartlett(rng: np.random.Generator, degrees: float, size: int) -> FloatArray:
    """Draw the triangular factor of a Wishart matrix with `degrees` of at least `size`."""
    lower = np.zeros((size, size))
    for i in range(size):
        lower[i, i] = math.sqrt(2 * rng.standard_gamma((degrees - i) / 2))
        for j in range(i):
            lower[i, j] = rng.standard_normal()
    return lower


@inner
def normal_rows(rng: np.random.Generator, n: int, size: int) -> FloatArray:
    """Draw n rows of standard normals."""
    rows = np.empty((n, size))
    for i in range(n):
        for j in range(size):
            rows[i, j] = rng.standard_normal()
    return rows


@inner
def wishart_factor(rng: np.random.Generator, degrees: int, size: int) -> FloatArray:
    """Draw G such that GᵀG is the scatter of `degrees` standard normal rows of `size` entries."""
    if degrees < size:
        return normal_rows(rng, max(degrees, 0), size)
    lower = bartlett(rng, float(degrees), size)
    upper = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            upper[j, i] = lower[i, j]
    return upper


@inner
def times(rows: FloatArray, lower: FloatArray) -> FloatArray:
    """Return rows · lowerᵀ for a lower triangular matrix."""
    out = np.zeros((len(rows), len(lower)))
    for i in range(len(rows)):
        for j in range(len(lower)):
            for k in range(j + 1):
                out[i, j] += rows[i, k] * lower[j, k]
    return out


@inner
def add_scatter(rows: FloatArray, where: IntArray, out: FloatArray) -> None:
    """Add rowsᵀ · rows to the entries `where` of a matrix."""
    for a in range(len(where)):
        for b in range(len(where)):
            for i in range(len(rows)):
                out[where[a], where[b]] += rows[i, a] * rows[i, b]


@inner
def scatter_missing(
    rng: np.random.Generator,
    g: FloatArray,
    known: BoolArray,
    n: int,
    rank: int,
    factor: FloatArray,
    cross: FloatArray,
    noise: FloatArray,
) -> None:
    """Draw what the residuals E of the missing entries add to a pattern's moments.

    With Z = (1, x) of its rows and the residual covariance R = C Cᵀ, ZᵀE = F W Cᵀ for F Fᵀ = ZᵀZ of rank r and W of r
    standard normal rows, and EᵀE = C (WᵀW + Wishart(n − r)) Cᵀ: `cross` and `noise`.
    """
    missing = np.empty(len(known), dtype=np.int64)
    found = 0
    for i in range(len(known)):
        if not known[i]:
            missing[found] = i + 1
            found += 1
    missing = missing[:found]
    residual = np.empty((len(missing), len(missing)))
    for a in range(len(missing)):
        for b in range(len(missing)):
            residual[a, b] = g[missing[a], missing[b]]
    lower = np.empty_like(residual)
    root(residual, lower)
    inside = times(normal_rows(rng, rank, len(missing)), lower)
    outside = times(wishart_factor(rng, n - rank, len(missing)), lower)
    noise[:] = 0.0
    add_scatter(inside, missing, noise)
    add_scatter(outside, missing, noise)
    cross[:] = 0.0
    for a in range(len(missing)):
        for i in range(len(cross)):
            for k in range(rank):
                cross[i, missing[a]] += factor[i, k] * inside[k, a]


@inner
def fill_errors(
    g: FloatArray, known: BoolArray, swept: BoolArray, cross: FloatArray, noise: FloatArray, total: FloatArray
) -> None:
    """Add L ZᵀE, its transpose and EᵀE to `total`."""
    size = len(g)
    for i in range(size):
        for j in range(1, size):
            if known[j - 1]:
                continue
            if i == 0 or known[i - 1]:
                moment = cross[i, j]
            else:
                moment = g[0, i] * cross[0, j]
                for k in range(1, size):
                    if swept[k - 1]:
                        moment += g[k, i] * cross[k, j]
                total[i, j] += noise[i, j]
            total[i, j] += moment
            total[j, i] += moment


@inner
def draw_law(rng: np.random.Generator, total: FloatArray, prior: FloatArray, degrees: float) -> FloatArray:
    """Draw θ given complete moments: Σ ~ inverse Wishart(degrees + n − 1, diag(prior) + S), μ ~ N(x̄, Σ/n)."""
    size = len(total) - 1
    n = total[0, 0]
    theta = law_of(total)
    scatter = theta[1:, 1:] * n
    for i in range(size):
        scatter[i, i] += prior[i]
    lower = np.empty((size, size))
    root(scatter, lower)
    inner = bartlett(rng, degrees + n - 1, size)
    factor = np.empty((size, size))  # C A^(−T), so that Σ⁻¹ = C^(−T) A Aᵀ C⁻¹
    for i in range(size):
        for j in range(size):
            entry = lower[i, j]
            for k in range(j):
                entry -= factor[i, k] * inner[j, k]
            factor[i, j] = entry / inner[j, j]
    moved = np.empty(size)
    for i in range(size):
        moved[i] = rng.standard_normal()
    for i in range(size):
        for k in range(size):
            theta[0, i + 1] += factor[i, k] * moved[k] / math.sqrt(n)
        theta[i + 1, 0] = theta[0, i + 1]
        for j in range(size):
            theta[i + 1, j + 1] = 0.0
            for k in range(size):
                theta[i + 1, j + 1] += factor[i, k] * factor[j, k]
    return theta


@kernel
def gibbs(
    rng: np.random.Generator,
    known: BoolArray,
    counts: IntArray,
    moments: FloatArray,
    ranks: IntArray,
    factors: FloatArray,
    theta: FloatArray,
    prior: FloatArray,
    degrees: float,
    sweeps: int,
) -> FloatArray:
    """Return θ after sweeps of drawing the missing entries given the law and the law given all entries."""
    size = len(theta)
    total, g, lifted = np.empty((size, size)), np.empty((size, size)), np.empty((size, size))
    cross, noise = np.empty((size, size)), np.empty((size, size))
    swept = np.empty(size - 1, dtype=np.bool_)
    for _ in range(sweeps):
        total[:] = 0.0  # becomes the moments of all rows with their missing entries drawn given θ
        for p in range(len(counts)):
            condition(theta, known[p], g, swept)
            fill(g, known[p], swept, moments[p], lifted, total)
            complete = True
            for j in range(size - 1):
                complete = complete and known[p, j]
            if not complete:
                scatter_missing(rng, g, known[p], counts[p], ranks[p], factors[p], cross, noise)
                fill_errors(g, known[p], swept, cross, noise, total)
        theta = draw_law(rng, total, prior, degrees)
    return theta
