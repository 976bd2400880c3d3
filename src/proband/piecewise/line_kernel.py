"""Gaussian expectations of piecewise-linear functions of one variable, compiled: sums over their knots.

The formulas are those of :mod:`proband.piecewise.line`.
"""

from __future__ import annotations

import math

import numpy as np

from proband.compiling import inner, kernel
from proband.vocabulary import FloatArray

HALF_ROOT = math.sqrt(0.5)
DENSITY = 1 / math.sqrt(2 * math.pi)


@inner
def normal_tail(u: float) -> float:
    """Return Q(u) = P(ε > u) of a standard normal, accurate relative to its own size for large u."""
    return 0.5 * math.erfc(u * HALF_ROOT)


@inner
def normal_density(u: float) -> float:
    """Return φ(u), the density of a standard normal."""
    return DENSITY * math.exp(-0.5 * u * u)


@inner
def piece_of(knots: FloatArray, z: float) -> int:
    """Return the piece that contains z, a knot belonging to the piece on its right."""
    piece = 0
    while piece < len(knots) and knots[piece] <= z:
        piece += 1
    return piece


@kernel
def expect(
    knots: FloatArray, intercepts: FloatArray, slopes: FloatArray, mean: float, sd: float, out: FloatArray
) -> None:
    """Write E g_y(N(mean, sd²)) of every function into `out`, shape (n,)."""
    n = intercepts.shape[0]
    here = piece_of(knots, mean)
    if not sd > 0:
        for y in range(n):
            out[y] = intercepts[y, here] + slopes[y, here] * mean
        return
    anchor = knots[max(here - 1, 0)] if len(knots) else 0.0
    for y in range(n):
        out[y] = intercepts[y, here] + slopes[y, here] * anchor + slopes[y, here] * (mean - anchor)
    for k in range(len(knots)):
        u = (knots[k] - mean) / sd
        tail, density = normal_tail(abs(u)), sd * normal_density(u)
        if tail == 0.0:
            continue
        sign = 1.0 if k >= here else -1.0
        for y in range(n):
            bend = slopes[y, k + 1] - slopes[y, k]
            jump = intercepts[y, k + 1] + slopes[y, k + 1] * knots[k] - (intercepts[y, k] + slopes[y, k] * knots[k])
            out[y] += sign * tail * (jump + bend * (mean - knots[k])) + bend * density


@kernel
def expect_many(
    knots: FloatArray, intercepts: FloatArray, slopes: FloatArray, means: FloatArray, sds: FloatArray
) -> FloatArray:
    """Return E g_y(N(mean, sd²)) for each pair of a mean and an sd, shape (pairs, n)."""
    out = np.empty((len(means), intercepts.shape[0]))
    for r in range(len(means)):
        expect(knots, intercepts, slopes, means[r], sds[r], out[r])
    return out
