"""Where a set needs panels: around the turns of the best decision, as far as the loss matters."""

from __future__ import annotations

import math
from typing import Any

from proband.compiling import inner
from proband.piecewise.line_kernel import expect, normal_density, normal_tail
from proband.vocabulary import FloatArray

SCAN = 0.5
"""Spacing, in standard deviations, at which the loss of stopping is looked at."""

FARTHEST = 38.0
"""Standard deviations beyond which a normal tail is 0 in floating point."""


@inner
def loss_bound(height: float, slope: float, deviation: float, u: float) -> Any:
    """Return A·Q(u) + B·τ·(φ(u) − u·Q(u)), which falls in u."""
    tail = normal_tail(u)
    return height * tail + slope * deviation * (normal_density(u) - u * tail)


@inner
def distance(height: float, slope: float, deviation: float, cut: float) -> float:
    """Return how many standard deviations from a turn the loss is surely below `cut`."""
    low, high = 0.0, 4.0
    while high < FARTHEST and loss_bound(height, slope, deviation, high) > cut:
        low, high = high, high + 2.0
    for _ in range(6):
        middle = 0.5 * (low + high)
        if loss_bound(height, slope, deviation, middle) > cut:
            low = middle
        else:
            high = middle
    return high


@inner
def active_intervals(turns: FloatArray, majorants: FloatArray, deviation: float, cut: float, out: FloatArray) -> Any:
    """Write the intervals outside which ρ is below twice the cut, shape (turns, 2), and return their number."""
    count = 0
    for t in range(len(turns)):
        a = majorants[t]
        low = turns[t] - deviation * distance(a[2], a[3], deviation, cut)
        high = turns[t] + deviation * distance(a[0], a[1], deviation, cut)
        while count and low <= out[count - 1, 1]:  # they run into each other
            count -= 1
            low, high = min(low, out[count, 0]), max(high, out[count, 1])
        out[count, 0], out[count, 1] = low, high
        count += 1
    return count


@inner
def stopping_loss(
    knots: FloatArray, intercepts: FloatArray, slopes: FloatArray, mean: float, deviation: float, room: FloatArray
) -> Any:
    """Return min_y ρ_y."""
    expect(knots, intercepts, slopes, mean, deviation, room)
    smallest = room[0]
    for y in range(1, len(intercepts)):
        smallest = min(smallest, room[y])
    return smallest


@inner
def cut_interval(
    knots: FloatArray, intercepts: FloatArray, slopes: FloatArray, deviation: float, price: float,
    low: float, high: float, room: FloatArray, cuts: FloatArray,
) -> Any:  # fmt: skip
    """Write where the loss of stopping passes a price inside an interval, about; returns how often it does.

    On one side of such a cut no test can pay, so that panels which end there need no expectations.
    """
    count = 0
    scan = math.ceil((high - low) / (SCAN * deviation))
    before, left = False, low
    for k in range(scan + 1):
        right = low + (high - low) * k / scan
        above = stopping_loss(knots, intercepts, slopes, right, deviation, room) > price
        if k and above != before and count < cuts.size:
            a, b = left, right
            for _ in range(6):
                middle = 0.5 * (a + b)
                if (stopping_loss(knots, intercepts, slopes, middle, deviation, room) > price) == before:
                    a = middle
                else:
                    b = middle
            cuts[count] = a if above else b
            count += 1
        before, left = above, right
    return count
