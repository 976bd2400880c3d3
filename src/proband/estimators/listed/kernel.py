"""Sums over listed cells, and EM, compiled; the formulas are in :mod:`proband.estimators.listed.solvers`.

Arrays are copied entry by entry: a slice is assigned with a check of its length, whose message takes longer to compile
than the whole of EM.
"""

from __future__ import annotations

import numpy as np

from proband.compiling import inner, kernel
from proband.estimators.listed.cells import Cells
from proband.vocabulary import FloatArray


@inner(inline=True)
def add_up(cells: Cells, o: int, values: FloatArray, total: float) -> float:
    """Return `total` with the values of the cells of an observation added, one after the other."""
    home, offsets = cells.base[o], cells.offsets
    for j in range(cells.start[o], cells.start[o] + cells.size[o]):
        total += values[home + offsets[j]]
    return total


@inner(inline=True)
def add_to(cells: Cells, o: int, value: float, out: FloatArray) -> None:
    """Add a value to all cells of an observation in `out`."""
    home, offsets = cells.base[o], cells.offsets
    for j in range(cells.start[o], cells.start[o] + cells.size[o]):
        out[home + offsets[j]] += value


@kernel
def sums(cells: Cells, p: FloatArray) -> FloatArray:
    """Return the sum of p over the cells of each observation."""
    totals = np.empty(len(cells.base))
    for o in range(len(cells.base)):
        totals[o] = add_up(cells, o, p, 0.0)
    return totals


@kernel
def spread(cells: Cells, values: FloatArray, out: FloatArray) -> None:
    """Add the value of each observation to all its cells in `out`."""
    for o in range(len(cells.base)):
        add_to(cells, o, values[o], out)


@inner
def copy(values: FloatArray, out: FloatArray) -> None:
    """Write values into `out`."""
    for x in range(len(out)):
        out[x] = values[x]


@kernel
def em_step(cells: Cells, mass: FloatArray, rate: FloatArray, p: FloatArray, out: FloatArray) -> float:
    """Write the next law into `out` and return the objective at `p`."""
    value = 0.0
    out[:] = 0.0
    for o in range(len(cells.counts)):
        total = add_up(cells, o, p, 0.0)
        value += cells.counts[o] * np.log(total)
        add_to(cells, o, cells.counts[o] / total, out)
    for x in range(len(p)):
        if mass[x] > 0:
            value += mass[x] * np.log(p[x])
        value -= rate[x] * p[x]
        out[x] = (mass[x] + p[x] * out[x]) / rate[x]
    return value


@inner
def extrapolate(first: FloatArray, second: FloatArray, third: FloatArray, out: FloatArray) -> bool:
    """Write the squared extrapolation of three iterates (in their logarithms) into `out`; False if it is no step."""
    along, bend = 0.0, 0.0
    for x in range(len(first)):
        if first[x] > 0 and second[x] > 0 and third[x] > 0:
            r = np.log(second[x] / first[x])
            v = np.log(third[x] / second[x]) - r
            along += second[x] * r * r
            bend += second[x] * v * v
    if not bend > 0:
        return False
    step = np.sqrt(along / bend)
    if not step > 1:
        return False
    for x in range(len(first)):
        out[x] = third[x]
        if first[x] > 0 and second[x] > 0 and third[x] > 0:
            r = np.log(second[x] / first[x])
            v = np.log(third[x] / second[x]) - r
            exponent = 2 * step * r + step * step * v
            out[x] = first[x] * np.exp(min(max(exponent, -700.0), 700.0))
            if not np.isfinite(out[x]):
                return False
    return True


@kernel
def em_solve(
    cells: Cells, mass: FloatArray, rate: FloatArray, p: FloatArray, tolerance: float, path: FloatArray
) -> tuple[int, float]:
    """Iterate from `p`, in place, until a step moves no entry by more than `tolerance`.

    Writes the objective at each accepted law into `path`; returns how many there were and the last movement.
    """
    one, two, far, next_far = np.empty_like(p), np.empty_like(p), np.empty_like(p), np.empty_like(p)
    moved = np.inf
    for iteration in range(len(path)):
        path[iteration] = em_step(cells, mass, rate, p, one)
        moved = 0.0
        for x in range(len(p)):
            moved = max(moved, abs(one[x] - p[x]))
        if moved <= tolerance:
            copy(one, p)
            return iteration + 1, moved
        value = em_step(cells, mass, rate, one, two)
        accepted = False
        if extrapolate(p, one, two, far):
            accepted = em_step(cells, mass, rate, far, next_far) >= value
        copy(next_far if accepted else two, p)
    return len(path), moved
