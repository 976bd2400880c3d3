"""Where functions that are affine on rectangles, and their maximum, change height or slope."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from proband.piecewise.line import PiecewiseLinear
from proband.vocabulary import FloatArray, IntArray

TIED = 1e-12
"""Functions closer than this, as a share of their size, are equally large."""


class Surfaces(NamedTuple):
    """The functions g_1, ..., g_n and, as the last one, their maximum, for compiled code.

    Attributes
    ----------
    knots_1, knots_2 : (m_1,), (m_2,)
    heights : (n, m_1 + 1, m_2 + 1, 3)
        a, b_1 and b_2 of each function on each cell.
    normals, offsets : (lines, 2), (lines,)
        The lines ν·z = offset on which creases lie; those along knots come first.
    along : int
        How many lines are along knots: the others concern the maximum only.
    first : (lines + 1,)
        Where the ends of each line begin.
    ends : (ends,)
        Positions −ν_2·z_1 + ν_1·z_2 between which creases reach, increasing on each line: k ends make k + 1 creases.
    jumps : (ends + lines, n + 1, 3)
        Δa and Δb of each function across each crease; line l's begin at first[l] + l.
    """

    knots_1: FloatArray
    knots_2: FloatArray
    heights: FloatArray
    normals: FloatArray
    offsets: FloatArray
    along: int
    first: IntArray
    ends: FloatArray
    jumps: FloatArray


class Line(NamedTuple):
    """A line normal · z = offset with the ends of the creases on it, and what changes across each."""

    normal: tuple[float, float]
    offset: float
    ends: FloatArray
    jumps: FloatArray


def surfaces_of(knots: tuple[FloatArray, FloatArray], heights: FloatArray) -> Surfaces:
    """Return functions (n, m_1 + 1, m_2 + 1, 3), given by a, b_1 and b_2 on each cell, with all creases."""
    lines = [Line((1.0, 0.0), at, *_along_knot(knots[1], heights[:, k : k + 2], at)) for k, at in enumerate(knots[0])]
    turned = heights.transpose(0, 2, 1, 3)[..., [0, 2, 1]]
    for k, at in enumerate(knots[1]):
        ends, jumps = _along_knot(knots[0], turned[:, k : k + 2], at)
        lines.append(Line((0.0, 1.0), at, -ends[::-1], jumps[::-1][..., [0, 2, 1]]))  # positions are −z_1
    along = len(lines)
    lines += [*_inside_cells(knots, heights)]
    return Surfaces(
        *knots, heights, np.array([line.normal for line in lines]).reshape(-1, 2),
        np.array([line.offset for line in lines], dtype=np.float64), along,
        np.cumsum([0, *(len(line.ends) for line in lines)]),
        np.concatenate([np.zeros(0), *(line.ends for line in lines)]),
        np.concatenate([np.zeros((0, len(heights) + 1, 3)), *(line.jumps for line in lines)]),
    )  # fmt: skip


def _along_knot(knots: FloatArray, sides: FloatArray, at: float) -> tuple[FloatArray, FloatArray]:
    """Return ends and jumps of the creases on z_1 = at, between cells (n, 2, m_2 + 1, 3) on its left and right."""
    cut = [
        PiecewiseLinear(knots, side[..., 0] + side[..., 1] * at, side[..., 2]).cut_at_crossings()[0].knots
        for side in (sides[:, 0], sides[:, 1])
    ]
    ends = np.unique(np.concatenate(cut))
    jumps = np.empty((len(ends) + 1, len(sides) + 1, 3))
    for crease, jump in enumerate(jumps):
        middle = _between([-np.inf, *ends][crease], [*ends, np.inf][crease])
        cell = np.searchsorted(knots, middle, side="right")
        left, right = sides[:, 0, cell], sides[:, 1, cell]
        jump[:-1] = right - left
        jump[-1] = right[_largest(right, at, middle, 1.0)] - left[_largest(left, at, middle, -1.0)]
    return ends, jumps


def _between(low: float, high: float) -> float:
    """Return a point between two others, of which one or both may be infinite."""
    if math.isinf(low):
        return 0.0 if math.isinf(high) else high - 1 - abs(high)
    return low + 1 + abs(low) if math.isinf(high) else (low + high) / 2


def _largest(functions: FloatArray, z1: float, z2: float, side: float) -> int:
    """Return which of some functions (n, 3) is the largest beside a point, on the side of larger or smaller z_1."""
    values = functions @ np.array([1.0, z1, z2])
    size = np.abs(functions) @ np.array([1.0, abs(z1), abs(z2)])
    tied = np.flatnonzero(values >= values.max() - TIED * size.max())
    return int(tied[np.argmax(side * functions[tied, 1])])


def _inside_cells(knots: tuple[FloatArray, FloatArray], heights: FloatArray) -> Iterator[Line]:
    """Yield the creases of the maximum inside the cells, each on a line of its own."""
    for i, j in np.ndindex(heights.shape[1:3]):
        box = np.array([[-np.inf, *knots[0], np.inf][i : i + 2], [-np.inf, *knots[1], np.inf][j : j + 2]])
        functions = _different(heights[:, i, j])
        for below, above in combinations(range(len(functions)), 2):
            jump = functions[above] - functions[below]
            steepness = math.hypot(jump[1], jump[2])
            if steepness > 0:
                normal, offset = jump[1:] / steepness, -jump[0] / steepness
                low, high = _where_largest(functions, below, above, normal, offset, box)
                if low < high:
                    ends = np.array([low, high])
                    jumps = np.zeros((3, len(heights) + 1, 3))
                    jumps[1, -1] = jump
                    kept = np.concatenate([np.isfinite(ends[:1]), [True], np.isfinite(ends[1:])])
                    yield Line((normal[0], normal[1]), offset, ends[np.isfinite(ends)], jumps[kept])


def _different(functions: FloatArray) -> FloatArray:
    """Return functions (n, 3) without those that repeat another one."""
    close = TIED * np.abs(functions).max(axis=0)
    kept: list[FloatArray] = []
    for function in functions:
        if not any((np.abs(function - other) <= close).all() for other in kept):
            kept.append(function)
    return np.array(kept)


def _where_largest(
    functions: FloatArray, below: int, above: int, normal: FloatArray, offset: float, box: FloatArray
) -> tuple[float, float]:
    """Return between which positions on their line two of some functions (n, 3) are the largest ones, inside a box.

    The ends are swapped if they are so nowhere, or if the line is an edge of the box.
    """
    tangent, foot = np.array([-normal[1], normal[0]]), offset * normal
    others = functions - functions[below]
    at_foot, rise, across = others @ np.array([1.0, *foot]), others[:, 1:] @ tangent, others[:, 1:] @ normal
    size = (np.abs(functions) @ np.array([1.0, *np.abs(foot)])).max()
    tied = (np.abs(at_foot) <= TIED * size) & (np.abs(rise) <= TIED * np.abs(functions[:, 1:]).max())
    if (across[tied] < -TIED * across[above]).any() or (across[tied] > (1 + TIED) * across[above]).any():
        return math.inf, -math.inf  # a third function crosses on the same line, and is larger beside it
    low, high = _feasible(
        np.concatenate([at_foot[~tied], box[:, 0] - foot, foot - box[:, 1]]),
        np.concatenate([rise[~tied], -tangent, tangent]),
    )
    if low < high and _on_edge(functions[[below, above]], foot + tangent * _between(low, high), box):
        return math.inf, -math.inf
    return low, high


def _feasible(constants: FloatArray, rises: FloatArray) -> tuple[float, float]:
    """Return the interval of u on which constant + rise · u ≤ 0 for all pairs; the ends are swapped if it is empty."""
    flat = rises == 0
    if (constants[flat] > 0).any():
        return math.inf, -math.inf
    ends = -constants[~flat] / rises[~flat]
    up = rises[~flat] > 0
    return float(ends[~up].max(initial=-np.inf)), float(ends[up].min(initial=np.inf))


def _on_edge(pair: FloatArray, point: FloatArray, box: FloatArray) -> bool:
    """Return whether the line on which two functions are equal, through a point of a box, is one of the box's edges."""
    jump = pair[1] - pair[0]
    for axis, end in np.argwhere(np.isfinite(box)):
        beside = np.array([1.0, *point])
        beside[1 + axis] = box[axis, end]
        parallel = abs(jump[2 - axis]) <= TIED * np.abs(pair[:, 1:]).max()
        if parallel and abs(jump @ beside) <= TIED * (np.abs(pair) @ np.abs(beside)).max():
            return True
    return False
