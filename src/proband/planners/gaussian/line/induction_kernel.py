"""The backward induction over one set of tests, and over many.

For a set O the losses of stopping (closed form) and of every test worth a thought (expectations over the panels of its
child) are sampled on a panel; if one that could be best is not resolved, the panel is halved. Then the panel is split
where the best action switches, and neighbours that belong together are joined again.

A test with step 0 can wait: done later it costs the same and tells the same or more, unless it opens a group for a test
that saves more in it than it does itself.

The error of r_O is at most the local one plus the largest error of a child, because minima and expectations do not
expand the sup norm. This propagation is rigorous; the local part contains tails of series, and is an estimate.

What is small, or at the top, and has one caller is put into it (``inline``), and attributes of tuples that are used
often are taken out first: each function with many arrays is optimised again in all that call it, and each attribute is
counted as a reference.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from proband.compiling import ZERO, inner, kernel
from proband.planners.gaussian.line.basis_kernel import N, copy_row, resample
from proband.planners.gaussian.line.conditioning_kernel import condition
from proband.planners.gaussian.line.expectation_kernel import NOT_YET
from proband.planners.gaussian.line.instance import Instance
from proband.planners.gaussian.line.intervals_kernel import active_intervals, cut_interval
from proband.planners.gaussian.line.joining_kernel import copy_panels, join_panels
from proband.planners.gaussian.line.sampling_kernel import is_resolved, sample_panel
from proband.planners.gaussian.line.switches_kernel import split_panel
from proband.planners.gaussian.line.tables import (
    Edges,
    Functions,
    Level,
    Panels,
    Pieces,
    Settings,
    new_edges,
    new_functions,
    new_panels,
    new_pieces,
)
from proband.vocabulary import FloatArray, IntArray

NARROWEST = 1e-10
"""A panel narrower than this share of the standard deviation is not halved."""

SAFETY = 3.0
"""Tails of series count this many times in the error."""

ALMOST = 0.98
"""Panels end where the loss of stopping is this share of the cheapest price, so that no test pays on one side."""


@inner(inline=True)
def list_prices(prices: FloatArray, peers: IntArray, opens: IntArray, done: int, edges: Edges) -> None:
    """Write what each test costs after a set; infinity for tests that are done or need not be next."""
    steps, found, made = edges.steps, edges.prices, edges.made
    for i in range(len(found)):
        opened = (done & peers[i]) != 0
        needless = steps[i] == 0.0 and (opened or (opens[i] & ~done) == 0)
        if done >> i & 1 or needless:
            found[i] = np.inf
        else:
            found[i] = prices[1 if opened else 0, i]
        made[i] = NOT_YET


@inner
def put_pieces(
    functions: Functions, pieces: Pieces, n: int, tie: float, low: float, high: float, found: Panels, count: int,
    room: FloatArray,
) -> Any:  # fmt: skip
    """Split a panel at its switches and add the pieces to the set's panels; returns their new number."""
    parts = split_panel(functions, pieces, n, tie)
    lows, highs, values = found.low, found.high, found.values
    left = -1.0
    for p in range(min(parts, len(lows) - count)):
        right, f = pieces.ends[p], pieces.winners[p]
        if parts == 1:
            copy_row(functions.values[f], values[count])
        else:
            resample(functions.series[f], left, right, room, values[count])
        lows[count] = low if p == 0 else 0.5 * (low + high + (high - low) * left)
        highs[count] = high if p == parts - 1 else 0.5 * (low + high + (high - low) * right)
        found.actions[count] = functions.codes[f]
        left = right
        count += 1
    return count


@inner(inline=True)
def solve_interval(
    knots: FloatArray, intercepts: FloatArray, slopes: FloatArray, level: Level, settings: Settings, edges: Edges,
    functions: Functions, pieces: Pieces, found: Panels, count: int, done: int, deviation: float, low: float,
    high: float, room: FloatArray, stack: FloatArray,
) -> Any:  # fmt: skip
    """Add the panels of one interval; returns their new number and the largest tail."""
    worst = 0.0
    panels = max(1, math.ceil((high - low) / (settings.width * deviation)))
    for base in range(panels):
        stack[0, 0] = low + (high - low) * base / panels
        stack[0, 1] = low + (high - low) * (base + 1) / panels
        height = 1
        while height:
            height -= 1
            a, b = stack[height, 0], stack[height, 1]
            n = sample_panel(
                knots, intercepts, slopes, level, settings, edges, functions, pieces.scores, done, deviation, a, b,
                room,
            )  # fmt: skip
            # At the last height, and where the pieces of one more panel might not fit, what is there must do.
            last = b - a < NARROWEST * max(deviation, abs(a)) or height + 2 > len(stack) or count + 64 > len(found.low)
            resolved = is_resolved(level, settings, edges, functions, n, done, deviation, a, b, room)
            if not last and not resolved:
                middle = 0.5 * (a + b)
                stack[height, 0], stack[height, 1] = middle, b
                stack[height + 1, 0], stack[height + 1, 1] = a, middle
                height += 2
                continue
            tail = largest(functions.tails, n)
            worst = max(worst, tail)
            count = put_pieces(functions, pieces, n, settings.tie + tail, a, b, found, count, room)
    return count, worst


@inner(inline=True)
def close_tests(prices: FloatArray, error: FloatArray, done: int, closed: bool) -> Any:
    """Return the cheapest price and the largest error among the children; no test is left if they are closed."""
    cheapest, inherited = np.inf, 0.0
    for i in range(len(prices)):
        if prices[i] < np.inf:
            cheapest = min(cheapest, prices[i])
            if closed:
                prices[i] = np.inf
            else:
                inherited = max(inherited, error[done | (1 << i)])
    return cheapest, inherited


@inner
def largest(numbers: FloatArray, count: int) -> float:
    """Return the largest of the first numbers, or 0."""
    found = 0.0
    for k in range(count):
        found = max(found, numbers[k])
    return found


@inner(inline=True)
def solve_set(
    instance: Instance, level: Level, settings: Settings, edges: Edges, functions: Functions, pieces: Pieces,
    found: Panels, room: FloatArray, stack: FloatArray, work: FloatArray, intervals: FloatArray,
    cuts: FloatArray, done: int, final: bool, late: bool,
) -> Any:  # fmt: skip
    """Find the panels of one set; returns their number and the estimated error of r_O.

    `final`: no further test may be run. `late`: none is considered, for want of time; as r_O is at least the smaller
    one of ρ and the cheapest price, that loses at most the difference.
    """
    knots, intercepts, slopes = instance.knots, instance.intercepts, instance.slopes
    deviation = condition(instance.factors, done, instance.noise, work, edges.steps)
    if deviation == 0.0:
        return 0, 0.0
    list_prices(instance.prices, instance.peers, instance.opens, done, edges)
    cheapest, inherited = close_tests(edges.prices, level.error, done, final or late)
    count, worst = ZERO, 0.0
    for k in range(active_intervals(instance.turns, instance.majorants, deviation, settings.cut, intervals)):
        low, end = intervals[k, 0], intervals[k, 1]
        parts = 1 + cut_interval(
            knots, intercepts, slopes, deviation, ALMOST * cheapest, low, end, pieces.scores, cuts
        )  # fmt: skip
        for part in range(parts):
            high = cuts[part] if part < parts - 1 else end
            count, tail = solve_interval(
                knots, intercepts, slopes, level, settings, edges, functions, pieces, found, count, done, deviation,
                low, high, room, stack,
            )  # fmt: skip
            worst, low = max(worst, tail), high
    if count >= len(found.low):
        return count, np.inf
    count, tail = join_panels(found, count, settings.width * deviation, settings.tail, room)
    error = (SAFETY + 1) * worst + SAFETY * tail + settings.allowance + inherited
    if late and not final:
        gap = 0.0
        for p in range(count):
            gap = max(gap, largest(found.values[p], len(found.values[p])) - cheapest)
        error += gap
    return count, error


@kernel
def solve_sets(instance: Instance, level: Level, settings: Settings, sets: IntArray, final: bool, late: bool) -> Any:
    """Solve some sets of one size, given the level of those with one test more.

    Returns the numbers of panels and the errors of the sets, and all their panels.
    """
    m, n, turns = len(instance.peers), len(instance.intercepts), len(instance.turns)
    most = 512 + 64 * turns
    edges, functions, pieces, found = new_edges(m), new_functions(n + m), new_pieces(n + m, most), new_panels(most)
    room, stack, work, intervals = (
        np.empty((9, N)),
        np.empty((64, 2)),
        np.empty(instance.factors.shape),
        np.empty((turns, 2)),
    )
    cuts = np.empty(most)
    kept = new_panels(16 * len(sets) + most)
    counts, errors = np.empty(len(sets), dtype=np.int32), np.empty(len(sets))
    total = ZERO
    for r in range(len(sets)):
        count, errors[r] = solve_set(
            instance, level, settings, edges, functions, pieces, found, room, stack, work, intervals,
            cuts, sets[r], final, late,
        )  # fmt: skip
        if total + count > len(kept.low):
            kept = copy_panels(kept, total, new_panels(2 * len(kept.low) + count), ZERO)
        kept = copy_panels(found, count, kept, total)
        counts[r] = count
        total += count
    return counts, errors, copy_panels(kept, total, new_panels(total), ZERO)
