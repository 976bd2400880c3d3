"""Panels that belong together are joined: a panel ends at a switch of the action, or where it must, not elsewhere."""

from __future__ import annotations

from typing import Any

from proband.compiling import ZERO, inner
from proband.planners.gaussian.line.basis_kernel import NODES, N, at, copy_row, series, tail_of
from proband.planners.gaussian.line.tables import Panels
from proband.vocabulary import FloatArray


@inner(inline=True)
def join_two(found: Panels, left: int, right: int, largest: float, room: FloatArray) -> Any:
    """Put two neighbours into one panel if it resolves them; returns the tail, or −1 if it does not."""
    first, second, joined, values = room[3], room[4], room[5], room[6]
    low, seam, high = found.low[left], found.high[left], found.high[right]
    series(found.values[left], first)
    series(found.values[right], second)
    for j in range(N):
        t = 0.5 * (low + high + (high - low) * NODES[j])
        if t < seam:
            values[j] = at(first, (2 * t - low - seam) / (seam - low))
        else:
            values[j] = at(second, (2 * t - seam - high) / (high - seam))
    series(values, joined)
    off = abs(at(joined, (2 * seam - low - high) / (high - low)) - at(first, 1.0))
    off = max(off, abs(at(joined, -1.0) - at(first, -1.0)), abs(at(joined, 1.0) - at(second, 1.0)))
    off = max(off, tail_of(joined))
    if off > largest:
        return -1.0
    copy_row(values, found.values[left])
    found.high[left] = high
    return off


@inner
def join_panels(found: Panels, count: int, widest: float, largest: float, room: FloatArray) -> Any:
    """Join neighbours with the same action where one panel resolves both; returns the number and the largest tail."""
    kept, worst = ZERO, 0.0
    for p in range(1, count):
        joinable = found.actions[p] == found.actions[kept] and found.low[p] == found.high[kept]
        if joinable and found.high[p] - found.low[kept] <= widest:
            tail = join_two(found, kept, p, largest, room)
            if tail >= 0:
                worst = max(worst, tail)
                continue
        kept += 1
        if kept != p:
            found.low[kept], found.high[kept] = found.low[p], found.high[p]
            copy_row(found.values[p], found.values[kept])
            found.actions[kept] = found.actions[p]
    return min(kept + 1, count), worst


@inner
def copy_panels(source: Panels, count: int, target: Panels, start: int) -> Panels:
    """Copy the first panels of one store into another, from a place on; returns the latter."""
    for p in range(count):
        target.low[start + p], target.high[start + p] = source.low[p], source.high[p]
        target.actions[start + p] = source.actions[p]
        copy_row(source.values[p], target.values[start + p])
    return target
