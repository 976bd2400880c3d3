"""Data augmentation on the statistics of missing patterns, compiled (:mod:`~proband.estimators.gaussian.draws`).

Matrices have room for all tests; where fewer are meant, their number comes beside them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proband.compiling import ZERO, inner, kernel
from proband.distributions.gaussian import SINGULAR
from proband.estimators.gaussian.arrays import Augmentation, Sample
from proband.estimators.gaussian.kernel import clear, condition, fill, law_of
from proband.vocabulary import FloatArray, IntArray

BoolArray = NDArray[np.bool_]


@inner
def root(matrix: FloatArray, size: int, out: FloatArray) -> None:
    """Write a lower triangular factor of a positive semi-definite matrix; columns of no variance are zero."""
    clear(out)
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
def bartlett(rng: np.random.Generator, degrees: float, size: int, lower: FloatArray) -> None:
    """Draw the triangular factor of a Wishart matrix with `degrees` of at least `size`."""
    clear(lower)
    for i in range(size):
        lower[i, i] = math.sqrt(2 * rng.standard_gamma((degrees - i) / 2))
        for j in range(i):
            lower[i, j] = rng.standard_normal()


@inner
def normal_rows(rng: np.random.Generator, n: int, size: int, rows: FloatArray) -> None:
    """Draw n rows of standard normals."""
    for i in range(n):
        for j in range(size):
            rows[i, j] = rng.standard_normal()


@inner
def wishart_factor(rng: np.random.Generator, degrees: int, size: int, lower: FloatArray, rows: FloatArray) -> Any:
    """Draw G such that GᵀG is the scatter of `degrees` standard normal rows; returns how many rows G has."""
    if degrees < size:
        normal_rows(rng, max(degrees, 0), size, rows)
        return max(degrees, 0)
    bartlett(rng, float(degrees), size, lower)
    for i in range(size):
        for j in range(size):
            rows[j, i] = lower[i, j]
    return size


@inner
def times(rows: FloatArray, n: int, lower: FloatArray, size: int, out: FloatArray) -> None:
    """Write rows · lowerᵀ for n rows and a lower triangular matrix."""
    for i in range(n):
        for j in range(size):
            entry = 0.0
            for k in range(j + 1):
                entry += rows[i, k] * lower[j, k]
            out[i, j] = entry


@inner
def add_scatter(rows: FloatArray, n: int, where: IntArray, size: int, out: FloatArray) -> None:
    """Add rowsᵀ · rows of n rows to the entries `where` of a matrix."""
    for a in range(size):
        for b in range(size):
            for i in range(n):
                out[where[a], where[b]] += rows[i, a] * rows[i, b]


@inner
def scatter_missing(
    rng: np.random.Generator, g: FloatArray, known: BoolArray, n: int, rank: int, factor: FloatArray, work: Augmentation
) -> None:
    """Draw what the residuals E of the missing entries add to a pattern's moments.

    With Z = (1, x) of its rows and the residual covariance R = C Cᵀ, ZᵀE = F W Cᵀ for F Fᵀ = ZᵀZ of rank r and W of r
    standard normal rows, and EᵀE = C (WᵀW + Wishart(n − r)) Cᵀ: `cross` and `noise`.
    """
    missing, residual, lower, rows = work.missing, work.residual, work.lower, work.rows
    inside, outside, cross, noise = work.inside, work.outside, work.cross, work.noise
    size = ZERO
    for i in range(known.size):
        if not known[i]:
            missing[size] = i + 1
            size += 1
    for a in range(size):
        for b in range(size):
            residual[a, b] = g[missing[a], missing[b]]
    root(residual, size, lower)
    normal_rows(rng, rank, size, rows)
    times(rows, rank, lower, size, inside)
    more = wishart_factor(rng, n - rank, size, residual, rows)
    times(rows, more, lower, size, outside)
    clear(noise)
    add_scatter(inside, rank, missing, size, noise)
    add_scatter(outside, more, missing, size, noise)
    clear(cross)
    for a in range(size):
        for i in range(cross.shape[0]):
            for k in range(rank):
                cross[i, missing[a]] += factor[i, k] * inside[k, a]


@inner
def fill_errors(
    g: FloatArray, known: BoolArray, swept: BoolArray, cross: FloatArray, noise: FloatArray, total: FloatArray
) -> None:
    """Add L ZᵀE, its transpose and EᵀE to `total`."""
    size = g.shape[0]
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
def divide(lower: FloatArray, by: FloatArray, size: int, out: FloatArray) -> None:
    """Write C A^(−T) of two lower triangular matrices C and A."""
    for i in range(size):
        for j in range(size):
            entry = lower[i, j]
            for k in range(j):
                entry -= out[i, k] * by[j, k]
            out[i, j] = entry / by[j, j]


@inner
def draw_law(
    rng: np.random.Generator, total: FloatArray, theta: FloatArray, degrees: float, work: Augmentation
) -> None:
    """Draw θ given complete moments: Σ ~ inverse Wishart(degrees + n − 1, diag(prior) + S), μ ~ N(x̄, Σ/n)."""
    scatter, lower, inner, factor = work.residual, work.lower, work.inside, work.outside
    size, n, prior, moved = work.prior.size, total[0, 0], work.prior, work.rows[0]
    law_of(total, theta)
    for i in range(size):
        for j in range(size):
            scatter[i, j] = theta[i + 1, j + 1] * n
        scatter[i, i] += prior[i]
    root(scatter, size, lower)
    bartlett(rng, degrees + n - 1, size, inner)
    divide(lower, inner, size, factor)  # so that Σ⁻¹ = C^(−T) A Aᵀ C⁻¹
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


@kernel
def gibbs(rng: np.random.Generator, sample: Sample, work: Augmentation, degrees: float, sweeps: int) -> None:
    """Let `theta` make sweeps: draw the missing entries given the law, and the law given all entries."""
    counts, theta, g, swept, total = work.counts, sample.theta, sample.g, sample.swept, sample.total
    for _ in range(sweeps):
        clear(total)  # becomes the moments of all rows with their missing entries drawn given θ
        for p in range(counts.size):
            known = sample.known[p]
            condition(theta, known, g, swept)
            fill(g, known, swept, sample.moments[p], sample.lifted, total)
            complete = True
            for j in range(known.size):
                complete = complete and known[j]
            if not complete:
                scatter_missing(rng, g, known, counts[p], work.ranks[p], work.factors[p], work)
                fill_errors(g, known, swept, work.cross, work.noise, total)
        draw_law(rng, total, theta, degrees, work)
