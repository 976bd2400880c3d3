"""Expectation and maximisation over listed cells, compiled; the formulas are in :mod:`proband.estimators.listed.em`.

Arrays are copied entry by entry: a slice is assigned with a check of its length, whose message takes longer to compile
than the whole of EM.
"""

from __future__ import annotations

import numpy as np

from proband.compiling import inner, kernel


@kernel
def em_step(base, start, size, offsets, counts, mass, rate, p, out):  # type: ignore[no-untyped-def]
    """Write the next law into `out` and return the objective at `p`."""
    value = 0.0
    out[:] = 0.0
    for o in range(len(counts)):
        total = 0.0
        for j in range(start[o], start[o] + size[o]):
            total += p[base[o] + offsets[j]]
        value += counts[o] * np.log(total)
        ratio = counts[o] / total
        for j in range(start[o], start[o] + size[o]):
            out[base[o] + offsets[j]] += ratio
    for x in range(len(p)):
        if mass[x] > 0:
            value += mass[x] * np.log(p[x])
        value -= rate[x] * p[x]
        out[x] = (mass[x] + p[x] * out[x]) / rate[x]
    return value


@inner
def extrapolate(first, second, third, out):  # type: ignore[no-untyped-def]
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


@inner
def copy(values, out):  # type: ignore[no-untyped-def]
    """Write values into `out`."""
    for x in range(len(out)):
        out[x] = values[x]


@kernel
def em_solve(base, start, size, offsets, counts, mass, rate, p, tolerance, path):  # type: ignore[no-untyped-def]
    """Iterate from `p`, in place, until a step moves no entry by more than `tolerance`.

    Writes the objective at each accepted law into `path`; returns how many there were and the last movement.
    """
    one, two, far, next_far = np.empty_like(p), np.empty_like(p), np.empty_like(p), np.empty_like(p)
    moved = np.inf
    for iteration in range(len(path)):
        path[iteration] = em_step(base, start, size, offsets, counts, mass, rate, p, one)
        moved = 0.0
        for x in range(len(p)):
            moved = max(moved, abs(one[x] - p[x]))
        if moved <= tolerance:
            copy(one, p)
            return iteration + 1, moved
        value = em_step(base, start, size, offsets, counts, mass, rate, one, two)
        accepted = False
        if extrapolate(p, one, two, far):
            accepted = em_step(base, start, size, offsets, counts, mass, rate, far, next_far) >= value
        copy(next_far if accepted else two, p)
    return len(path), moved
