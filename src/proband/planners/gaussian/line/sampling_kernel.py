"""The losses of all actions on one panel: sampled, described, and checked for resolution.

A test is *not* worth a thought on a panel where its price is at least the largest loss of stopping, since what follows
it loses something too; that is checked on the whole panel, cusps included. What was sampled is dropped if it is nowhere
the smallest. A panel resolves what is left if the tails of all series are small; where a step is much smaller than the
panel, the switches of the child could hide between the nodes, and the polynomial is compared at them too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import ZERO, inner
from proband.piecewise.line_kernel import expect
from proband.planners.gaussian.line.basis_kernel import (
    CELLS,
    NODES,
    SAG,
    N,
    at,
    curvature_of,
    on_grid,
    series,
    tail_of,
)
from proband.planners.gaussian.line.expectation_kernel import LOCALLY, NOT_YET, from_clusters, locally, make_clusters
from proband.planners.gaussian.line.tables import Edges, Functions, Level, Settings
from proband.vocabulary import FloatArray

ULP = 5e-16
"""Relative rounding error of a mean, with some reserve."""

SMALL_STEP = 0.2
"""With a step below this share of a panel, the child's switches may hide between the nodes."""


@inner
def describe(functions: Functions, f: int, code: int) -> None:
    """Find series, tail, curvature and grid values of a function from its values at the nodes."""
    values, coefficients = functions.values[f], functions.series[f]
    series(values, coefficients)
    on_grid(values, functions.grid[f])
    functions.tails[f] = tail_of(coefficients)
    functions.curvatures[f] = curvature_of(coefficients)
    functions.codes[f] = code


@inner
def ceiling(functions: Functions, n: int, g: int) -> float:
    """Return a bound on the smallest of n functions over a cell of the grid."""
    smallest, grid, curvatures, tails = np.inf, functions.grid, functions.curvatures, functions.tails
    for f in range(n):
        ends = max(grid[f, g], grid[f, g + 1])
        smallest = min(smallest, ends + SAG * curvatures[f] + tails[f])
    return smallest


@inner(inline=True)
def sample_stopping(
    knots: FloatArray, intercepts: FloatArray, slopes: FloatArray, deviation: float, means: FloatArray,
    functions: Functions, scores: FloatArray, m: int,
) -> Any:  # fmt: skip
    """Sample ρ_y on a panel, and return a bound on the smallest of them over the panel."""
    n, values = len(intercepts), functions.values
    for j in range(N):
        expect(knots, intercepts, slopes, means[j], deviation, scores)
        for y in range(n):
            values[y, j] = scores[y]
    for y in range(n):
        describe(functions, y, m + y)
    largest = 0.0
    for g in range(CELLS):
        largest = max(largest, ceiling(functions, n, g))
    return largest


@inner
def expected_losses(
    level: Level, child: int, settings: Settings, edges: Edges, test: int, means: FloatArray, count: int,
    room: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Write price + E r_C(m + step·ε) of a test for some means m, which increase, given the set with it, its child."""
    first, made = level.first[child], edges.made
    end = first + level.length[child]
    if made[test] == NOT_YET:
        made[test] = make_clusters(level, first, end, settings.reach, edges, test, room)
    if made[test] == LOCALLY:
        for j in range(count):
            out[j] = locally(level, first, end, edges.steps[test], settings.window, settings.reach, means[j], room)
    else:
        from_clusters(edges, test, settings.window, means, count, out)
    for j in range(count):
        out[j] += edges.prices[test]


@inner(inline=True)
def keep(functions: Functions, f: int, to: int) -> None:
    """Move the description of a function to an earlier place."""
    values, coefficients, grid = functions.values, functions.series, functions.grid
    tails, curvatures, codes = functions.tails, functions.curvatures, functions.codes
    if f != to:
        for j in range(N):
            values[to, j], coefficients[to, j] = values[f, j], coefficients[f, j]
        for g in range(CELLS + 1):
            grid[to, g] = grid[f, g]
        tails[to], curvatures[to], codes[to] = tails[f], curvatures[f], codes[f]


@inner
def keep_relevant(functions: Functions, n: int, room: FloatArray) -> Any:
    """Drop the functions that are nowhere the smallest on a panel; returns how many are left.

    A function is dropped if in every cell it stays above the upper bound of another one.
    """
    for g in range(CELLS):  # one number for each cell, in rows of 16
        room[g // N, g % N] = ceiling(functions, n, g)
    kept, grid, curvatures, tails = ZERO, functions.grid, functions.curvatures, functions.tails
    for f in range(n):
        slack = SAG * curvatures[f] + 2 * tails[f]
        for g in range(CELLS):
            if min(grid[f, g], grid[f, g + 1]) - slack <= room[g // N, g % N]:
                keep(functions, f, kept)
                kept += 1
                break
    return kept


@inner
def off_at_switches(
    level: Level, child: int, settings: Settings, edges: Edges, test: int, coefficients: FloatArray,
    low: float, high: float, room: FloatArray,
) -> float:  # fmt: skip
    """Return how far the polynomial of a test with a small step is from its loss at the switches of its child."""
    if edges.steps[test] >= SMALL_STEP * (high - low):
        return 0.0
    largest, lows, actions = 0.0, level.low, level.actions
    for p in range(level.first[child] + 1, level.first[child] + level.length[child]):
        mean = lows[p]
        if low < mean < high and actions[p] != actions[p - 1]:
            room[7, 0] = mean
            expected_losses(level, child, settings, edges, test, room[7], ZERO + 1, room, room[8])
            largest = max(largest, abs(room[8, 0] - at(coefficients, (2 * mean - low - high) / (high - low))))
    return largest


@inner
def noise(values: FloatArray, mean: float, scale: float) -> float:
    """Return how far rounding of means can move a loss that changes over some scale of means."""
    if scale == 0.0:
        return 0.0
    highest = 0.0
    for j in range(N):
        highest = max(highest, abs(values[j]))
    return ULP * abs(mean) / scale * highest


@inner
def is_resolved(
    level: Level, settings: Settings, edges: Edges, functions: Functions, n: int, done: int, deviation: float,
    low: float, high: float, room: FloatArray,
) -> bool:  # fmt: skip
    """Whether the polynomials of n functions on a panel are accurate, as far as rounding permits."""
    m, farthest, steps = edges.prices.size, max(abs(low), abs(high)), edges.steps
    tails, codes, values = functions.tails, functions.codes, functions.values
    for f in range(n):
        scale = steps[codes[f]] if codes[f] < m else deviation
        if tails[f] > settings.tail + noise(values[f], farthest, scale):
            return False
    resolved = True
    for f in range(n):
        test = codes[f]
        if test < m:
            child = done | (1 << test)
            off = off_at_switches(level, child, settings, edges, test, functions.series[f], low, high, room)
            tails[f] = max(tails[f], off)
            resolved &= off <= settings.tail + noise(values[f], farthest, steps[test])
    return resolved


@inner
def sample_panel(
    knots: FloatArray, intercepts: FloatArray, slopes: FloatArray, level: Level, settings: Settings, edges: Edges,
    functions: Functions, scores: FloatArray, done: int, deviation: float, low: float, high: float, room: FloatArray,
) -> Any:  # fmt: skip
    """Sample the losses of all actions that may be best on a panel; returns their number."""
    means = room[8]
    for j in range(N):
        means[j] = 0.5 * (low + high + (high - low) * NODES[j])
    prices, n = edges.prices, len(intercepts)
    bound = sample_stopping(knots, intercepts, slopes, deviation, means, functions, scores, prices.size)
    for i in range(prices.size):
        if prices[i] < bound:
            expected_losses(level, done | (1 << i), settings, edges, i, means, ZERO + N, room, functions.values[n])
            describe(functions, n, i)
            n += 1
    return keep_relevant(functions, n, room)
