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
    kept, ends = found.values, found.high
    low, seam, high = found.low[left], ends[left], ends[right]
    series(kept[left], first)
    series(kept[right], second)
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
    copy_row(values, kept[left])
    ends[left] = high
    return off


@inner
def join_panels(found: Panels, count: int, widest: float, largest: float, room: FloatArray) -> Any:
    """Join neighbours with the same action where one panel resolves both; returns the number and the largest tail."""
    kept, worst = ZERO, 0.0
    lows, highs, actions, values = found.low, found.high, found.actions, found.values
    for p in range(1, count):
        joinable = actions[p] == actions[kept] and lows[p] == highs[kept]
        if joinable and highs[p] - lows[kept] <= widest:
            tail = join_two(found, kept, p, largest, room)
            if tail >= 0:
                worst = max(worst, tail)
                continue
        kept += 1
        if kept != p:
            lows[kept], highs[kept], actions[kept] = lows[p], highs[p], actions[p]
            copy_row(values[p], values[kept])
    return min(kept + 1, count), worst


@inner
def copy_panels(source: Panels, count: int, target: Panels, start: int) -> None:
    """Copy the first panels of one store into another, from a place on."""
    for p in range(count):
        target.low[start + p], target.high[start + p] = source.low[p], source.high[p]
        target.actions[start + p] = source.actions[p]
        copy_row(source.values[p], target.values[start + p])
