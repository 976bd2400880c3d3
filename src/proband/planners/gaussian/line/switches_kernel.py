"""Which action is best where on a panel: the lower envelope of polynomials, split at its switches.

Functions are numbered in the order of preference (decisions, then tests), and ties within a small amount go to the
first: exact ties would otherwise split panels for ever. Winners are found on a grid. A cell between two grid points is
done when no other function can win inside it, by the bound on curvatures of
:mod:`~proband.planners.gaussian.line.basis_kernel`; it is halved otherwise, so that a function which wins only
*between* samples is found.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from proband.compiling import ZERO, inner
from proband.planners.gaussian.line.basis_kernel import ANGLE, CELLS, SAG, at, curvature_between
from proband.planners.gaussian.line.tables import Functions, Pieces
from proband.vocabulary import FloatArray, IntArray

NARROW = 1e-9
"""A switch this close to the end of a panel (of width 2) is moved to the end."""

FINEST = ANGLE / 2**20
"""Cells of angles are not halved below this width."""


@inner
def winner_on_grid(grid: FloatArray, n: int, g: int, tie: float) -> Any:
    """Return the first of n functions within a tie of the smallest at a grid point."""
    smallest = grid[0, g]
    for f in range(1, n):
        smallest = min(smallest, grid[f, g])
    for f in range(n):
        if grid[f, g] <= smallest + tie:
            return f
    return 0


@inner
def winner_at(series: FloatArray, scores: FloatArray, n: int, x: float, tie: float) -> Any:
    """Return the first of n functions within a tie of the smallest at x."""
    smallest = np.inf
    for f in range(n):
        scores[f] = at(series[f], x)
        smallest = min(smallest, scores[f])
    for f in range(n):
        if scores[f] <= smallest + tie:
            return f
    return 0


@inner
def is_settled(series: FloatArray, n: int, w: int, partner: int, left: float, right: float, tie: float) -> bool:
    """Whether w wins over all but its partner, up to a tie, in a whole cell of angles at whose ends it wins."""
    sag = (right - left) ** 2 / 8
    own = series[w]
    x0, x1 = -math.cos(left), -math.cos(right)
    w0, w1 = at(own, x0), at(own, x1)
    for f in range(n):
        if f in (w, partner):
            continue
        least = min(at(series[f], x0) - w0, at(series[f], x1) - w1)
        if least < -tie or least - sag * curvature_between(own, series[f]) < -tie:
            return False
    return True


@inner
def is_settled_cell(functions: Functions, n: int, w: int, g: int, tie: float) -> bool:
    """Whether w wins, up to a tie, in a whole cell of the grid at whose ends it wins."""
    grid, bends = functions.grid, functions.curvatures
    for f in range(n):
        if f == w:
            continue
        least = min(grid[f, g] - grid[w, g], grid[f, g + 1] - grid[w, g + 1]) + tie
        if least >= SAG * (bends[f] + bends[w]):
            continue
        if least < SAG * curvature_between(functions.series[w], functions.series[f]):
            return False
    return True


@inner
def crossing(first: FloatArray, second: FloatArray, left: float, right: float, tie: float) -> float:
    """Return where first − second = tie between two points, by the Illinois variant of false position."""
    f0, f1 = at(first, left) - at(second, left) - tie, at(first, right) - at(second, right) - tie
    if f0 * f1 >= 0:
        return left if abs(f0) < abs(f1) else right
    x = left
    for _ in range(60):  # false position keeps one end for long where a function bends: its value is halved then
        x = (left * f1 - right * f0) / (f1 - f0)
        fx = at(first, x) - at(second, x) - tie
        if abs(fx) < 1e-15 or abs(right - left) < 1e-14:
            break
        if fx * f1 < 0:
            left, f0 = right, f1
        else:
            f0 *= 0.5
        right, f1 = x, fx
    return x


@inner
def cross_once(first: FloatArray, second: FloatArray, left: float, right: float) -> Any:
    """Whether a difference is surely monotone in a cell of angles: its mean slope exceeds what curvature can undo."""
    x0, x1 = -math.cos(left), -math.cos(right)
    change = at(first, x1) - at(second, x1) - at(first, x0) + at(second, x0)
    return abs(change) > curvature_between(first, second) * (right - left) ** 2


@inner(inline=True)
def switch_in(
    series: FloatArray, scores: FloatArray, n: int, now: int, after: int, left: float, right: float, tie: float
) -> float:
    """Return where `now` gives way to `after` in a cell of angles, or NaN if that is not all that happens there."""
    first, second = series[min(now, after)], series[max(now, after)]
    x = crossing(first, second, -math.cos(left), -math.cos(right), tie)
    if right - left < FINEST:
        return x
    turn = math.acos(-min(max(x, -1.0), 1.0))
    third = winner_at(series, scores, n, x, tie)
    if (
        third in (now, after)
        and cross_once(first, second, left, right)
        and is_settled(series, n, now, after, left, turn, tie)
        and is_settled(series, n, after, now, turn, right, tie)
    ):
        return x
    return np.nan


@inner
def add_end(ends: FloatArray, winners: IntArray, count: int, x: float, w: int) -> Any:
    """Let the piece of function w, after those found before, end at x; returns the new number of pieces."""
    begin = ends[count - 1] if count else -1.0
    if x - begin <= NARROW:
        return count
    if count and (winners[count - 1] == w or count == ends.size):
        count -= 1
    ends[count], winners[count] = x, w
    return count + 1


@inner
def split_cell(series: FloatArray, pieces: Pieces, n: int, cell: int, w0: int, w1: int, tie: float, count: int) -> Any:
    """Find the pieces in a cell of the grid between winners w0 and w1; returns the new number of pieces.

    The piece that reaches the right end of the cell is left open.
    """
    cells, height = pieces.cells, 1
    cells[0, 0], cells[0, 1] = cell * ANGLE, (cell + 1) * ANGLE
    now = w0
    while height:
        height -= 1
        left, right = cells[height, 0], cells[height, 1]
        after = w1 if height == 0 else winner_at(series, pieces.scores, n, -math.cos(right), tie)
        if now == after:
            if right - left < FINEST or is_settled(series, n, now, now, left, right, tie):
                continue
        else:
            x = switch_in(series, pieces.scores, n, now, after, left, right, tie)
            if not math.isnan(x):
                count = add_end(pieces.ends, pieces.winners, count, x, now)
                now = after
                continue
        middle = 0.5 * (left + right)
        cells[height, 0], cells[height, 1] = middle, right
        cells[height + 1, 0], cells[height + 1, 1] = left, middle
        height += 2
    return count


@inner
def split_panel(functions: Functions, pieces: Pieces, n: int, tie: float) -> Any:
    """Find the pieces of a panel on which n functions compete, and return their number."""
    count = ZERO
    now = winner_on_grid(functions.grid, n, ZERO, tie)
    for g in range(CELLS):
        after = winner_on_grid(functions.grid, n, g + 1, tie)
        if now != after or not is_settled_cell(functions, n, now, g, tie):
            count = split_cell(functions.series, pieces, n, g, now, after, tie, count)
        now = after
    if count and 1.0 - pieces.ends[count - 1] <= NARROW:
        pieces.ends[count - 1] = 1.0
        return count
    return add_end(pieces.ends, pieces.winners, count, 1.0, now)
