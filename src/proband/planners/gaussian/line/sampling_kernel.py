"""The losses of all actions on one panel: sampled, described, and checked for resolution.

A test is *not* worth a thought on a panel where its price is at least the largest loss of stopping, since what follows
it loses something too; that is checked on the whole panel, cusps included. What was sampled is dropped if it is nowhere
the smallest. A panel resolves what is left if the tails of all series are small; where a step is much smaller than the
panel, the switches of the child could hide between the nodes, and the polynomial is compared at them too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.piecewise.line_kernel import expect
from proband.planners.gaussian.compiling import kernel
from proband.planners.gaussian.line.basis_kernel import (
    CELLS,
    NODES,
    SAG,
    N,
    at,
    copy_row,
    curvature_of,
    on_grid,
    series,
    tail_of,
)
from proband.planners.gaussian.line.expectation_kernel import LOCALLY, NOT_YET, from_clusters, locally, make_clusters
from proband.planners.gaussian.line.instance import Instance
from proband.planners.gaussian.line.tables import Edges, Functions, Level, Panels, Settings, child_panels
from proband.vocabulary import FloatArray

ULP = 5e-16
"""Relative rounding error of a mean, with some reserve."""

SMALL_STEP = 0.2
"""With a step below this share of a panel, the child's switches may hide between the nodes."""


@kernel
def describe(functions: Functions, f: int, code: int) -> None:
    """Find series, tail, curvature and grid values of a function from its values at the nodes."""
    series(functions.values[f], functions.series[f])
    on_grid(functions.values[f], functions.grid[f])
    functions.tails[f] = tail_of(functions.series[f])
    functions.curvatures[f] = curvature_of(functions.series[f])
    functions.codes[f] = code


@kernel
def ceiling(functions: Functions, n: int, g: int) -> float:
    """Return a bound on the smallest of n functions over a cell of the grid."""
    smallest = np.inf
    for f in range(n):
        ends = max(functions.grid[f, g], functions.grid[f, g + 1])
        smallest = min(smallest, ends + SAG * functions.curvatures[f] + functions.tails[f])
    return smallest


@kernel
def sample_stopping(
    knots: FloatArray, intercepts: FloatArray, slopes: FloatArray, deviation: float, means: FloatArray,
    functions: Functions, m: int,
) -> Any:  # fmt: skip
    """Sample ρ_y on a panel, and return a bound on the smallest of them over the panel."""
    n = len(intercepts)
    for j in range(N):
        expect(knots, intercepts, slopes, means[j], deviation, functions.values[:n, j])
    for y in range(n):
        describe(functions, y, m + y)
    largest = 0.0
    for g in range(CELLS):
        largest = max(largest, ceiling(functions, n, g))
    return largest


@kernel
def expected_losses(
    panels: Panels, settings: Settings, edges: Edges, test: int, means: FloatArray, room: FloatArray, out: FloatArray
) -> None:
    """Write price + E r_C(m + step·ε) of a test for increasing means m, given the panels of the child."""
    step = edges.steps[test]
    if edges.made[test] == NOT_YET:
        edges.made[test] = make_clusters(panels, step, settings.reach, edges, test, room)
    if edges.made[test] == LOCALLY:
        for j in range(len(means)):
            out[j] = locally(panels, step, settings.window, settings.reach, means[j], room)
    else:
        from_clusters(
            edges.points[test], edges.weights[test], edges.low[test], edges.high[test], edges.made[test],
            step, settings.window, means, out,
        )  # fmt: skip
    for j in range(len(means)):
        out[j] += edges.prices[test]


@kernel
def keep(functions: Functions, f: int, to: int) -> None:
    """Move the description of a function to an earlier place."""
    if f != to:
        copy_row(functions.values[f], functions.values[to])
        copy_row(functions.series[f], functions.series[to])
        copy_row(functions.grid[f], functions.grid[to])
        functions.tails[to], functions.curvatures[to] = functions.tails[f], functions.curvatures[f]
        functions.codes[to] = functions.codes[f]


@kernel
def keep_relevant(functions: Functions, n: int, room: FloatArray) -> Any:
    """Drop the functions that are nowhere the smallest on a panel; returns how many are left.

    A function is dropped if in every cell it stays above the upper bound of another one.
    """
    for g in range(CELLS):
        room[g // N, g % N] = ceiling(functions, n, g)
    kept = 0
    for f in range(n):
        slack = SAG * functions.curvatures[f] + 2 * functions.tails[f]
        for g in range(CELLS):
            if min(functions.grid[f, g], functions.grid[f, g + 1]) - slack <= room[g // N, g % N]:
                keep(functions, f, kept)
                kept += 1
                break
    return kept


@kernel
def off_at_switches(
    panels: Panels, settings: Settings, edges: Edges, test: int, coefficients: FloatArray,
    low: float, high: float, room: FloatArray,
) -> float:  # fmt: skip
    """Return how far the polynomial of a test with a small step is from its loss at the switches of its child."""
    if edges.steps[test] >= SMALL_STEP * (high - low):
        return 0.0
    largest = 0.0
    for p in range(1, len(panels.low)):
        mean = panels.low[p]
        if low < mean < high and panels.actions[p] != panels.actions[p - 1]:
            room[7, 0] = mean
            expected_losses(panels, settings, edges, test, room[7, :1], room, room[7, 1:2])
            largest = max(largest, abs(room[7, 1] - at(coefficients, (2 * mean - low - high) / (high - low))))
    return largest


@kernel
def noise(values: FloatArray, mean: float, scale: float) -> float:
    """Return how far rounding of means can move a loss that changes over some scale of means."""
    if scale == 0.0:
        return 0.0
    highest = 0.0
    for j in range(N):
        highest = max(highest, abs(values[j]))
    return ULP * abs(mean) / scale * highest


@kernel
def is_resolved(
    level: Level, settings: Settings, edges: Edges, functions: Functions, n: int, done: int, deviation: float,
    low: float, high: float, room: FloatArray,
) -> bool:  # fmt: skip
    """Whether the polynomials of n functions on a panel are accurate, as far as rounding permits."""
    m, farthest = len(edges.prices), max(abs(low), abs(high))
    for f in range(n):
        scale = edges.steps[functions.codes[f]] if functions.codes[f] < m else deviation
        if functions.tails[f] > settings.tail + noise(functions.values[f], farthest, scale):
            return False
    resolved = True
    for f in range(n):
        test = functions.codes[f]
        if test < m:
            panels = child_panels(level, done | (1 << test))
            off = off_at_switches(panels, settings, edges, test, functions.series[f], low, high, room)
            functions.tails[f] = max(functions.tails[f], off)
            resolved &= off <= settings.tail + noise(functions.values[f], farthest, edges.steps[test])
    return resolved


@kernel
def sample_panel(
    instance: Instance, level: Level, settings: Settings, edges: Edges, functions: Functions, done: int,
    deviation: float, low: float, high: float, room: FloatArray,
) -> Any:  # fmt: skip
    """Sample the losses of all actions that may be best on a panel; returns their number."""
    means = room[8]
    for j in range(N):
        means[j] = 0.5 * (low + high + (high - low) * NODES[j])
    m, n = len(edges.prices), len(instance.intercepts)
    bound = sample_stopping(instance.knots, instance.intercepts, instance.slopes, deviation, means, functions, m)
    for i in range(m):
        if edges.prices[i] < bound:
            panels = child_panels(level, done | (1 << i))
            expected_losses(panels, settings, edges, i, means, room, functions.values[n])
            describe(functions, n, i)
            n += 1
    return keep_relevant(functions, n, room)
