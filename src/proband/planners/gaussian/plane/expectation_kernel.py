"""Expected losses after a test, compiled: integrals of a table along a line.

A test moves the posterior mean along a line, so E r(m + step·ε) is an integral over ε. Where the table has no cuts, it
is a sum over equally spaced ε: for functions as smooth as a Gaussian mixture such sums converge faster than any power,
and a kink costs a share of its square of the spacing. Where the line meets cuts, it is split there, and the stretches
between are summed by Gauss-Legendre rules.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proband.compiling import ZERO, inner, kernel
from proband.planners.gaussian.plane.tables import Table
from proband.vocabulary import FloatArray

LEGENDRE_NODES, LEGENDRE_WEIGHTS = (np.ascontiguousarray(part) for part in np.polynomial.legendre.leggauss(5))


@inner
def _panel(breaks: FloatArray, x: float, start: int) -> int:
    """Return the panel that contains x, looking from another one on; the outermost ones reach to infinity."""
    k = start
    while k < len(breaks) - 2 and x >= breaks[k + 1]:
        k += 1
    while k > 0 and x < breaks[k]:
        k -= 1
    return k


@inner
def _read(table: Table, k1: int, k2: int, x1: float, x2: float) -> float:
    """Return the loss at a point of a cell; points outside the box count as on its boundary."""
    low, high = table.breaks_1[k1], table.breaks_1[k1 + 1]
    x = min(max((2 * x1 - low - high) / (high - low), -1.0), 1.0)
    low, high = table.breaks_2[k2], table.breaks_2[k2 + 1]
    y = min(max((2 * x2 - low - high) / (high - low), -1.0), 1.0)
    cell = k1 * (len(table.breaks_2) - 1) + k2
    best = np.inf
    for block in range(table.first[cell], table.first[cell + 1]):
        c = table.blocks[block]
        r0 = ((c[3] * y + c[2]) * y + c[1]) * y + c[0]
        r1 = ((c[7] * y + c[6]) * y + c[5]) * y + c[4]
        r2 = ((c[11] * y + c[10]) * y + c[9]) * y + c[8]
        r3 = ((c[15] * y + c[14]) * y + c[13]) * y + c[12]
        best = min(best, ((r3 * x + r2) * x + r1) * x + r0)
    return best


@inner
def _sum_evenly(table: Table, x1: float, x2: float, step: FloatArray, points: FloatArray, weights: FloatArray) -> float:
    k1, k2, total = ZERO, ZERO, 0.0
    for q in range(len(points)):
        y1, y2 = x1 + step[0] * points[q], x2 + step[1] * points[q]
        k1, k2 = _panel(table.breaks_1, y1, k1), _panel(table.breaks_2, y2, k2)
        total += weights[q] * _read(table, k1, k2, y1, y2)
    return total


@inner
def _meet(cuts: FloatArray, x: float, step: float, reach: float, room: FloatArray, count: int) -> int:
    """Insert the ε between −reach and reach at which x + step·ε meets cuts into `room`; return the new number."""
    if step != 0.0:
        for k in range(len(cuts)):
            at = (cuts[k] - x) / step
            if abs(at) < reach:
                place = count  # `room` stays sorted: a line meets few cuts
                while place > 0 and room[place - 1] > at:
                    room[place] = room[place - 1]
                    place -= 1
                room[place] = at
                count += 1
    return count


@inner
def _sum_between_cuts(
    table: Table, x1: float, x2: float, step: FloatArray, reach: float, spacing: float, room: FloatArray
) -> float:
    room[0] = -reach
    stretches = _meet(table.cuts_1, x1, step[0], reach, room, ZERO + 1)
    stretches = _meet(table.cuts_2, x2, step[1], reach, room, stretches)
    room[stretches] = reach
    k1, k2, total, mass = ZERO, ZERO, 0.0, 0.0
    for stretch in range(stretches):
        low, high = room[stretch], room[stretch + 1]
        pieces = max(1, math.ceil((high - low) / (5 * spacing)))
        half = 0.5 * (high - low) / pieces
        for piece in range(pieces):
            for q in range(len(LEGENDRE_NODES)):
                at = low + half * (2 * piece + 1 + LEGENDRE_NODES[q])
                weight = half * LEGENDRE_WEIGHTS[q] * math.exp(-0.5 * at * at)
                y1, y2 = x1 + step[0] * at, x2 + step[1] * at
                k1, k2 = _panel(table.breaks_1, y1, k1), _panel(table.breaks_2, y2, k2)
                total += weight * _read(table, k1, k2, y1, y2)
                mass += weight
    return total / mass  # what lies beyond the reach is left out of both


@kernel
def expect_losses(
    table: Table, points: FloatArray, wanted: NDArray[np.bool_], step: FloatArray, reach: float, spacing: float,
    price: float, out: FloatArray,
) -> Any:  # fmt: skip
    """Write price + E r(point + step·ε) into `out` for the wanted points (n, 2), with ε from −reach to reach."""
    still = step[0] == 0.0 and step[1] == 0.0
    split = (len(table.cuts_1) > 0 and step[0] != 0.0) or (len(table.cuts_2) > 0 and step[1] != 0.0)
    half = 0 if still else math.ceil(reach / spacing)
    epsilon, weights, mass = np.empty(2 * half + 1), np.empty(2 * half + 1), 0.0
    for q in range(2 * half + 1):
        epsilon[q] = spacing * (q - half)
        weights[q] = math.exp(-0.5 * (epsilon[q] * epsilon[q]))
        mass += weights[q]
    for q in range(2 * half + 1):
        weights[q] /= mass
    room = np.empty(len(table.cuts_1) + len(table.cuts_2) + 2)
    for r in range(len(points)):
        if wanted[r]:
            x1, x2 = points[r, 0], points[r, 1]
            if split:
                loss = _sum_between_cuts(table, x1, x2, step, reach, spacing, room)
            else:
                loss = _sum_evenly(table, x1, x2, step, epsilon, weights)
            out[r] = price + max(loss, 0.0)


def nodes_along(
    table: Table, start: FloatArray, step: FloatArray, *, reach: float, spacing: float
) -> tuple[FloatArray, FloatArray]:
    """Return nodes ε and weights for E f(start + step·ε), for a function f that may jump at the cuts of a table."""
    if not step.any():
        return np.zeros(1), np.ones(1)
    cuts = [(c - x) / s for c, x, s in zip((table.cuts_1, table.cuts_2), start, step, strict=True) if s != 0]
    ends = np.concatenate([[-reach, reach], *cuts])
    ends = np.unique(ends[np.abs(ends) <= reach])
    pieces = [np.linspace(a, b, 2 + int((b - a) / (5 * spacing))) for a, b in pairwise(ends)]
    ends = np.unique(np.concatenate(pieces))
    half = np.diff(ends)[:, None] / 2
    epsilon = (ends[:-1, None] + half * (1 + LEGENDRE_NODES)).ravel()
    weights = (half * LEGENDRE_WEIGHTS).ravel() * np.exp(-(epsilon**2) / 2)
    return epsilon, weights / weights.sum()
