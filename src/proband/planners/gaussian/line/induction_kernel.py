"""The backward induction over one set of tests, and over many.

For a set O the losses of stopping (closed form) and of every test worth a thought (expectations over the panels of its
child) are sampled on a panel; if one that could be best is not resolved, the panel is halved. Then the panel is split
where the best action switches, and neighbours that belong together are joined again.

A test with step 0 can wait: done later it costs the same and tells the same or more, unless it opens a group for a test
that saves more in it than it does itself.

The error of r_O is at most the local one plus the largest error of a child, because minima and expectations do not
expand the sup norm. This propagation is rigorous; the local part contains tails of series, and is an estimate.

What is small, or at the top, and has one caller is put into it (``inline``): each function is optimised again in all
that call it. Not more than that, because copying the source of large functions takes longer still.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from proband.compiling import ZERO, inner, kernel
from proband.planners.gaussian.line.basis_kernel import N, copy_row, resample
from proband.planners.gaussian.line.expectation_kernel import NOT_YET
from proband.planners.gaussian.line.instance import Instance
from proband.planners.gaussian.line.intervals_kernel import active_intervals, cut_interval
from proband.planners.gaussian.line.joining_kernel import copy_panels, join_panels
from proband.planners.gaussian.line.sampling_kernel import is_resolved, sample_panel
from proband.planners.gaussian.line.switches_kernel import split_panel
from proband.planners.gaussian.line.tables import Edges, Functions, Level, Panels, Pieces, Scratch, Settings, Workspace
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
    for i in range(found.size):
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
    for p in range(min(parts, lows.size - count)):
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
    knots: FloatArray, intercepts: FloatArray, slopes: FloatArray, level: Level, settings: Settings, work: Workspace,
    count: int, done: int, deviation: float, low: float, high: float,
) -> Any:  # fmt: skip
    """Add the panels of one interval; returns their new number and the largest tail."""
    edges, functions, found = work.edges, work.functions, work.found
    room, stack, worst = work.scratch.rows, work.scratch.stack, 0.0
    panels = max(1, math.ceil((high - low) / (settings.width * deviation)))
    for base in range(panels):
        stack[0, 0] = low + (high - low) * base / panels
        stack[0, 1] = low + (high - low) * (base + 1) / panels
        height = 1
        while height:
            height -= 1
            a, b = stack[height, 0], stack[height, 1]
            n = sample_panel(
                knots, intercepts, slopes, level, settings, edges, functions, work.scores, done, deviation, a, b, room,
            )  # fmt: skip
            # At the last height, and where the pieces of one more panel might not fit, what is there must do.
            last = (
                b - a < NARROWEST * max(deviation, abs(a)) or height + 2 > stack.shape[0] or count + 64 > found.low.size
            )
            resolved = is_resolved(level, settings, edges, functions, n, done, deviation, a, b, room)
            if not last and not resolved:
                middle = 0.5 * (a + b)
                stack[height, 0], stack[height, 1] = middle, b
                stack[height + 1, 0], stack[height + 1, 1] = a, middle
                height += 2
                continue
            tail = largest(functions.tails, n)
            worst = max(worst, tail)
            count = put_pieces(functions, work.pieces, n, settings.tie + tail, a, b, found, count, room)
    return count, worst


@inner(inline=True)
def close_tests(prices: FloatArray, error: FloatArray, done: int, closed: bool) -> Any:
    """Return the cheapest price and the largest error among the children; no test is left if they are closed."""
    cheapest, inherited = np.inf, 0.0
    for i in range(prices.size):
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
    instance: Instance, level: Level, settings: Settings, work: Workspace, done: int, deviation: float,
    steps: FloatArray, final: bool, late: bool,
) -> Any:  # fmt: skip
    """Find the panels of one set; returns their number and the estimated error of r_O.

    `final`: no further test may be run. `late`: none is considered, for want of time; as r_O is at least the smaller
    one of ρ and the cheapest price, that loses at most the difference.
    """
    knots, intercepts, slopes = instance.knots, instance.intercepts, instance.slopes
    edges, found, intervals, cuts = work.edges, work.found, work.scratch.intervals, work.scratch.cuts
    if deviation == 0.0:
        return 0, 0.0
    for i in range(len(steps)):
        edges.steps[i] = steps[i]
    list_prices(instance.prices, instance.peers, instance.opens, done, edges)
    cheapest, inherited = close_tests(edges.prices, level.error, done, final or late)
    count, worst = ZERO, 0.0
    for k in range(active_intervals(instance.turns, instance.majorants, deviation, settings.cut, intervals)):
        low, end = intervals[k, 0], intervals[k, 1]
        parts = 1 + cut_interval(
            knots, intercepts, slopes, deviation, ALMOST * cheapest, low, end, work.scores, cuts
        )  # fmt: skip
        for part in range(parts):
            high = cuts[part] if part < parts - 1 else end
            count, tail = solve_interval(
                knots, intercepts, slopes, level, settings, work, count, done, deviation, low, high
            )  # fmt: skip
            worst, low = max(worst, tail), high
    if count >= found.low.size:
        return count, np.inf
    count, tail = join_panels(found, count, settings.width * deviation, settings.tail, work.scratch.rows)
    error = (SAFETY + 1) * worst + SAFETY * tail + settings.allowance + inherited
    if late and not final:
        gap = 0.0
        for p in range(count):
            gap = max(gap, largest(found.values[p], ZERO + N) - cheapest)
        error += gap
    return count, error


@kernel
def solve_sets(
    instance: Instance, level: Level, settings: Settings, edges: Edges, functions: Functions, pieces: Pieces,
    found: Panels, kept: Panels, scratch: Scratch, scores: FloatArray, sets: IntArray, deviations: FloatArray,
    steps: FloatArray, final: bool, late: bool,
) -> Any:  # fmt: skip
    """Solve some sets of one size, given the level of those with one test more, as long as there is room to keep them.

    `deviations` (n,) and `steps` (n, m) are theirs. A workspace comes in parts: to know a tuple of bundles takes Python
    longer than to solve a small set. Their panels are `kept`.

    Writes their numbers of panels and errors into the level's arrays, which are of all sizes; returns how many sets
    were solved, and how many panels they have.
    """
    work, total = Workspace(edges, functions, pieces, found, kept, scratch, scores), ZERO
    for r in range(len(sets)):
        count, error = solve_set(instance, level, settings, work, sets[r], deviations[r], steps[r], final, late)
        if total + count > kept.low.size:
            return r, total
        copy_panels(found, count, kept, total)
        level.length[sets[r]], level.error[sets[r]] = count, error
        total += count
    return len(sets), total
