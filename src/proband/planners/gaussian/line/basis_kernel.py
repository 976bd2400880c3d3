"""Polynomials on a panel: values at 16 Gauss-Legendre nodes, and the Chebyshev series through them.

On a panel [low, high] a function is known at the 16 Gauss-Legendre nodes, mapped from [−1, 1]. The polynomial through
them is written p(x) = Σ_k c_k T_k(x), k < 16, x in [−1, 1]. Because |T_k| ≤ 1, the last coefficients tell how well the
panel resolves a smooth function (the *tail*, an estimate of the error and no bound), and with x = −cos θ

    |d²p/dθ²| ≤ Σ k² |c_k|    (the *curvature*),

so between two neighbours of a grid that is uniform in θ, p stays above the smaller of its two values minus
(spacing²/8) · curvature. That is how statements about whole panels, and not only their nodes, are proved for p.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, legendre

from proband.compiling import SUMMING, inner
from proband.vocabulary import FloatArray

N = 16
CELLS = 32

NODES, WEIGHTS = legendre.leggauss(N)
TO_SERIES = np.ascontiguousarray(np.linalg.inv(chebyshev.chebvander(NODES, N - 1)).T)
ANGLE = math.pi / CELLS
GRID = -np.cos(ANGLE * np.arange(CELLS + 1))
TO_GRID = np.ascontiguousarray((chebyshev.chebvander(GRID, N - 1) @ TO_SERIES.T).T)
SAG = ANGLE**2 / 8
"""A polynomial of curvature 1 leaves the interval of its values at the ends of a cell by at most this."""

CARDINAL = np.ascontiguousarray((WEIGHTS[:, None] * (np.arange(N) + 0.5) * legendre.legvander(NODES, N - 1)).T)
"""CARDINAL[n, j]: from Legendre moments to weights at the nodes."""


@inner
def copy_row(source: FloatArray, target: FloatArray) -> None:
    """Copy one vector into another (slices compile slowly)."""
    for j in range(source.size):
        target[j] = source[j]


@inner(fastmath=SUMMING)
def series(values: FloatArray, out: FloatArray) -> None:
    """Write the Chebyshev coefficients of the polynomial through the values at the nodes."""
    for k in range(N):
        out[k] = 0.0
    for j in range(N):
        for k in range(N):
            out[k] += TO_SERIES[j, k] * values[j]


@inner(fastmath=SUMMING)
def on_grid(values: FloatArray, out: FloatArray) -> None:
    """Write the values of the polynomial on the grid of 33 points, both ends among them."""
    for g in range(CELLS + 1):
        out[g] = 0.0
    for j in range(N):
        for g in range(CELLS + 1):
            out[g] += TO_GRID[j, g] * values[j]


@inner
def at(coefficients: FloatArray, x: float) -> Any:
    """Return the series at x (Clenshaw)."""
    b, b1 = 0.0, 0.0
    for k in range(N - 1, 0, -1):
        b, b1 = coefficients[k] + 2 * x * b - b1, b
    return coefficients[0] + x * b - b1


@inner(fastmath=SUMMING)
def at_places(coefficients: FloatArray, places: FloatArray, start: float, scale: float, room: FloatArray,
              out: FloatArray) -> None:  # fmt: skip
    """Write the series at start + scale · places, 16 at a time; `room` is scratch, shape (3, 16) or more."""
    x, b1, b2 = room[0], room[1], room[2]
    for j in range(N):
        x[j] = 2 * (start + scale * places[j])
        b1[j] = 0.0
        b2[j] = 0.0
    for k in range(N - 1, 0, -1):
        for j in range(N):
            new = coefficients[k] + x[j] * b1[j] - b2[j]
            b2[j] = b1[j]
            b1[j] = new
    for j in range(N):
        out[j] = coefficients[0] + 0.5 * x[j] * b1[j] - b2[j]


@inner
def resample(coefficients: FloatArray, left: float, right: float, room: FloatArray, out: FloatArray) -> None:
    """Write the values at the nodes of a part [left, right] of [−1, 1]."""
    at_places(coefficients, NODES, 0.5 * (left + right), 0.5 * (right - left), room, out)


@inner
def tail_of(coefficients: FloatArray) -> Any:
    """Return an estimate of how far the polynomial is from the function that it samples."""
    return abs(coefficients[N - 3]) + abs(coefficients[N - 2]) + abs(coefficients[N - 1])


@inner
def curvature_of(coefficients: FloatArray) -> float:
    """Return a bound on the second derivative with respect to θ."""
    total = 0.0
    for k in range(1, N):
        total += k * k * abs(coefficients[k])
    return total


@inner
def curvature_between(first: FloatArray, second: FloatArray) -> float:
    """Return a bound on the second derivative of a difference with respect to θ."""
    total = 0.0
    for k in range(1, N):
        total += k * k * abs(first[k] - second[k])
    return total
