"""Gaussian expectations of piecewise-linear functions of one variable, compiled: sums over their knots.

The formulas are those of :mod:`proband.piecewise.line`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

HALF_ROOT = math.sqrt(0.5)
DENSITY = 1 / math.sqrt(2 * math.pi)


@njit(cache=True, nogil=True, error_model="numpy")
def normal_tail(u):  # type: ignore[no-untyped-def]
    """Return Q(u) = P(ε > u) of a standard normal, accurate relative to its own size for large u."""
    return 0.5 * math.erfc(u * HALF_ROOT)


@njit(cache=True, nogil=True, error_model="numpy")
def normal_density(u):  # type: ignore[no-untyped-def]
    """Return φ(u), the density of a standard normal."""
    return DENSITY * math.exp(-0.5 * u * u)


@njit(cache=True, nogil=True, error_model="numpy")
def piece_of(knots, z):  # type: ignore[no-untyped-def]
    """Return the piece that contains z, a knot belonging to the piece on its right."""
    return np.searchsorted(knots, z, side="right")


@njit(cache=True, nogil=True, error_model="numpy")
def expect(knots, intercepts, slopes, mean, sd, out):  # type: ignore[no-untyped-def]
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


@njit(cache=True, nogil=True, error_model="numpy")
def expect_many(knots, intercepts, slopes, means, sds):  # type: ignore[no-untyped-def]
    """Return E g_y(N(mean, sd²)) for each pair of a mean and an sd, shape (pairs, n)."""
    out = np.empty((len(means), intercepts.shape[0]))
    for r in range(len(means)):
        expect(knots, intercepts, slopes, means[r], sds[r], out[r])
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def pieces_probabilities(knots, means, sds):  # type: ignore[no-untyped-def]
    """Return the probability of each piece for each pair of a mean and an sd, shape (pairs, m + 1)."""
    m = len(knots)
    out = np.zeros((len(means), m + 1))
    for r in range(len(means)):
        here = piece_of(knots, means[r])
        if not sds[r] > 0:
            out[r, here] = 1.0
            continue
        below, above = 0.0, 0.0
        for k in range(here):  # lower tails, growing towards the mean
            tail = normal_tail((means[r] - knots[k]) / sds[r])
            out[r, k] = tail - below
            below = tail
        for k in range(m - 1, here - 1, -1):  # upper tails
            tail = normal_tail((knots[k] - means[r]) / sds[r])
            out[r, k + 1] = tail - above
            above = tail
        out[r, here] = 1.0 - below - above
    return out
