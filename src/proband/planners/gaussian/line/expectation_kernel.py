"""E r_C(m + s·ε) from the panels of a child C.

With panels no wider than a few steps s, Gauss-Legendre quadrature of r_C times the Gaussian kernel is accurate, so wide
panels are cut. Panels much narrower than s (they lie around switches of the action) need not be resolved by the kernel:
the kernel is smooth on a *cluster* of neighbouring panels, and is replaced there by the polynomial through 16 points
t_j. With ℓ_j the polynomial that is 1 at t_j and 0 at the others,

    ∫ r_C(t) κ(t − m) dt ≈ Σ_j κ(t_j − m) ω_j,        ω_j = ∫ r_C(t) ℓ_j(t) dt,

and ω is found once for all m. For a cluster of one panel this is the quadrature itself. Where s is so small that
cutting would make too many clusters, the panels within reach of m are integrated on the spot.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from proband.compiling import SUMMING, ZERO, inner
from proband.elementary_kernel import exponential
from proband.planners.gaussian.line.basis_kernel import CARDINAL, NODES, WEIGHTS, N, at, at_places, resample, series
from proband.planners.gaussian.line.tables import MOST_CLUSTERS, Edges, Level
from proband.vocabulary import FloatArray

NORMALISATION = 1 / math.sqrt(2 * math.pi)
HERMITE_NODES, HERMITE_WEIGHTS = np.polynomial.hermite_e.hermegauss(N)
HERMITE_WEIGHTS = HERMITE_WEIGHTS * NORMALISATION

LOCALLY, NOT_YET = -2, -1

SINGLE = 1.5
"""A part of one panel may be this much wider than a cluster: quadrature is exact to twice the degree."""


@inner
def panel_at(level: Level, first: int, end: int, m: float) -> Any:
    """Return the panel from first to end (left out) that contains m, or −1."""
    lows, highs, low, high = level.low, level.high, first, end
    while low < high:
        middle = (low + high) // 2
        if highs[middle] < m:
            low = middle + 1
        else:
            high = middle
    return low if low < end and lows[low] <= m else -1


@inner
def value_at(level: Level, panel: int, m: float, room: FloatArray) -> Any:
    """Return r at m inside a panel."""
    series(level.values[panel], room[3])
    low, high = level.low[panel], level.high[panel]
    return at(room[3], (2 * m - low - high) / (high - low))


@inner
def put_single(
    values: FloatArray, low: float, high: float, step: float, points: FloatArray, weights: FloatArray, start: int
) -> None:
    """Make a cluster of one panel, from a place on."""
    centre, half = 0.5 * (low + high) / step, 0.5 * (high - low) / step
    for j in range(N):
        points[start + j] = centre + half * NODES[j]
        weights[start + j] = NORMALISATION * half * WEIGHTS[j] * values[j]


@inner(fastmath=SUMMING)
def add_moments(values: FloatArray, start: float, scale: float, room: FloatArray) -> None:
    """Add ∫ r(t) P_n(t) dt over a panel to the Legendre moments of a cluster (`room[0]`).

    The panel's centre and half width, in those of the cluster, are `start` and `scale`.
    """
    moments, x, amount, p0, p1 = room[0], room[1], room[2], room[3], room[4]
    for j in range(N):
        x[j] = start + scale * NODES[j]
        amount[j] = scale * WEIGHTS[j] * values[j]
        p0[j] = 1.0
        p1[j] = x[j]
    for n in range(N):
        total = 0.0
        for j in range(N):
            total += amount[j] * p0[j]
        moments[n] += total
        share = 1.0 / (n + 2)
        for j in range(N):
            new = ((2 * n + 3) * x[j] * p1[j] - (n + 1) * p0[j]) * share
            p0[j] = p1[j]
            p1[j] = new


@inner(inline=True)
def put_cluster(level: Level, first: int, last: int, step: float, edges: Edges, edge: int, c: int,
                room: FloatArray) -> None:  # fmt: skip
    """Make a cluster of the neighbouring panels from first to last (included)."""
    lows, highs, values = level.low, level.high, level.values
    low, high = lows[first], highs[last]
    edges.low[edge, c], edges.high[edge, c] = low, high
    points, weights, place = edges.points[edge], edges.weights[edge], c * N
    if first == last:
        put_single(values[first], low, high, step, points, weights, place)
        return
    centre, half = 0.5 * (low + high), 0.5 * (high - low)
    for n in range(N):
        room[0, n] = 0.0
    for p in range(first, last + 1):
        start = (0.5 * (lows[p] + highs[p]) - centre) / half
        add_moments(values[p], start, 0.5 * (highs[p] - lows[p]) / half, room)
    for j in range(N):
        weight = 0.0
        for n in range(N):
            weight += CARDINAL[n, j] * room[0, n]
        points[place + j] = (centre + half * NODES[j]) / step
        weights[place + j] = NORMALISATION * half / step * weight


@inner(inline=True)
def put_parts(level: Level, panel: int, parts: int, step: float, edges: Edges, edge: int, c: int,
              room: FloatArray) -> None:  # fmt: skip
    """Cut a wide panel into clusters of its own."""
    series(level.values[panel], room[3])
    low, width = level.low[panel], (level.high[panel] - level.low[panel]) / parts
    for part in range(parts):
        resample(room[3], 2.0 * part / parts - 1, 2.0 * (part + 1) / parts - 1, room, room[4])
        a, b = low + part * width, low + (part + 1) * width
        edges.low[edge, c + part], edges.high[edge, c + part] = a, b
        put_single(room[4], a, b, step, edges.points[edge], edges.weights[edge], (c + part) * N)


@inner
def make_clusters(level: Level, first: int, end: int, reach: float, edges: Edges, edge: int,
                  room: FloatArray) -> Any:  # fmt: skip
    """Turn the panels of a child into points and weights; returns the number of clusters, or LOCALLY."""
    low, high, step = level.low, level.high, edges.steps[edge]
    widest = 2 * reach * step
    if first == end:
        return 0
    # Seldom is a cluster as wide as it may be: panels are not cut to fill it.
    if widest == 0.0 or high[end - 1] - low[first] > 0.7 * widest * MOST_CLUSTERS:
        return LOCALLY
    c, opened = ZERO, end  # no cluster is open: `opened` is the first panel of one that is
    for p in range(first, end + 1):  # one more than there are, to close the last cluster
        width = high[p] - low[p] if p < end else 0.0
        if opened < p and (p == end or high[p] - low[opened] > widest):
            put_cluster(level, opened, p - 1, step, edges, edge, c, room)
            c, opened = c + 1, end
        parts = math.ceil(width / (SINGLE * widest))
        if c + parts >= MOST_CLUSTERS and p < end:
            return LOCALLY
        if width > widest:
            put_parts(level, p, parts, step, edges, edge, c, room)
            c += parts
        elif opened == end:
            opened = p
    return c


@inner(fastmath=SUMMING)
def kernel_sum(points: FloatArray, weights: FloatArray, start: int, end: int, m: float) -> float:
    """Return Σ_j ω_j exp(−(t_j − m)²/2) over the points from start to end (left out)."""
    total = 0.0
    for j in range(start, end):
        u = points[j] - m
        total += weights[j] * exponential(-0.5 * u * u)
    return total


@inner(inline=True)
def from_clusters(edges: Edges, edge: int, window: float, means: FloatArray, count: int, out: FloatArray) -> None:
    """Write E r_C(m + s·ε) for the first means m, which increase, from the clusters of an edge."""
    low, high, clusters, step = edges.low[edge], edges.high[edge], edges.made[edge], edges.steps[edge]
    points, weights = edges.points[edge], edges.weights[edge]
    first, end = 0, 0
    for j in range(count):
        while first < clusters and high[first] < means[j] - window * step:
            first += 1
        end = max(end, first)
        while end < clusters and low[end] <= means[j] + window * step:
            end += 1
        out[j] = kernel_sum(points, weights, first * N, end * N, means[j] / step)


@inner
def locally(
    level: Level, first: int, end: int, step: float, window: float, reach: float, m: float, room: FloatArray
) -> float:
    """Return E r_C(m + s·ε) from the panels within reach of m."""
    panel = panel_at(level, first, end, m)
    if step == 0.0:
        return value_at(level, panel, m, room) if panel >= 0 else 0.0
    far = window * step
    low, high = (level.low[panel], level.high[panel]) if panel >= 0 else (np.inf, np.inf)
    if low > m - far or m + far > high:
        return from_neighbours(level, first, end, step, far, reach, m, room)
    series(level.values[panel], room[3])
    centre, half = 0.5 * (low + high), 0.5 * (high - low)
    at_places(room[3], HERMITE_NODES, (m - centre) / half, step / half, room, room[4])
    total = 0.0
    for k in range(N):
        total += HERMITE_WEIGHTS[k] * room[4, k]
    return total


@inner
def from_neighbours(
    level: Level, first: int, end: int, step: float, far: float, reach: float, m: float, room: FloatArray
) -> float:
    """Return E r_C(m + s·ε) where several panels, or none, are within the distance `far` of m."""
    total, lows, highs, values = 0.0, level.low, level.high, level.values
    for p in range(first, end):
        left, right = max(lows[p], m - far), min(highs[p], m + far)
        if left >= right:
            continue
        series(values[p], room[3])
        parts = math.ceil((right - left) / (2 * SINGLE * reach * step))
        centre, half = 0.5 * (lows[p] + highs[p]), 0.5 * (highs[p] - lows[p])
        for part in range(parts):
            a, b = left + (right - left) * part / parts, left + (right - left) * (part + 1) / parts
            resample(room[3], (a - centre) / half, (b - centre) / half, room, room[4])
            put_single(room[4], a, b, step, room[5], room[6], ZERO)
            total += kernel_sum(room[5], room[6], ZERO, ZERO + N, m / step)
    return total
