r"""The pair pass of `expand` for packed instances whose tests have two outcomes: the loops that decide the speed.

With the value vectors of "i = 1", "j = 1" and "i = j = 1" the other three cells follow by subtraction, so one
popcount per word and pair is enough; all inner loops run over contiguous columns j > i.
"""

from __future__ import annotations

import numpy as np

from proband.compiling import FINITE, inner, popcount
from proband.planners.sparse.instance import Instance
from proband.planners.sparse.scratch import Scratch

HUGE = 1e200

__all__ = ["binary_counts", "binary_row"]


@inner
def binary_counts(instance: Instance, scratch: Scratch, i: int, chosen: int) -> None:
    """Values of "i = 1 and j = 1" for active j > i, by popcounts, into slab 0 from place 0."""
    bits, count, both, values = scratch.bits, scratch.tally, scratch.slab, instance.type_values
    start, end = chosen + i + 1, 2 * chosen
    for v in range(values.shape[1]):
        for k in range(end - start):
            both[0, v, k] = 0.0
    for t in range(instance.type_start.size - 1):
        if scratch.segment[t] == scratch.segment[t + 1]:
            continue
        for k in range(start, end):
            count[k] = np.uint64(0)
        for w in range(scratch.segment[t], scratch.segment[t + 1]):
            word = bits[w, start - 1]
            if word != np.uint64(0):
                for k in range(start, end):
                    count[k] += popcount(word & bits[w, k])
        for v in range(values.shape[1]):
            value = values[t, v]
            if value != 0.0:
                for k in range(start, end):
                    both[0, v, k - start] += value * np.float64(np.int64(count[k]))


@inner(fastmath=FINITE)
def _stops(scratch: Scratch, i: int, chosen: int) -> None:
    """Loss of stopping in the four cells: rows 0 .. 3 of `quads` for (i, j) = 00, 01, 10, 11."""
    both, column, stop = scratch.slab, scratch.ones, scratch.quads
    size, shift = chosen - i - 1, i + 1
    for v in range(1, column.shape[0]):
        a = column[v, i]
        rest = scratch.total[v, 0] - a
        if v == 1:
            for k in range(size):
                x, y = both[0, v, k], column[v, k + shift]
                stop[3, k] = x
                stop[2, k] = a - x
                stop[1, k] = y - x
                stop[0, k] = rest - y + x
        else:
            for k in range(size):
                x, y = both[0, v, k], column[v, k + shift]
                stop[3, k] = min(stop[3, k], x)
                stop[2, k] = min(stop[2, k], a - x)
                stop[1, k] = min(stop[1, k], y - x)
                stop[0, k] = min(stop[0, k], rest - y + x)


@inner(fastmath=FINITE)
def binary_row(scratch: Scratch, i: int, chosen: int, spare: float) -> None:
    """Update the bounds of the cells of test i and of the tests j > i (upper, lower: outcome 0, then outcome 1).

    `slab[0]`, `ones` (width, tests) hold the values of "i = j = 1" and "j = 1". A pair is left out of the lower
    bound of a cell that it does not split (a mass below `spare`).
    """
    _stops(scratch, i, chosen)
    both, column, stop, upper, lower = scratch.slab, scratch.ones, scratch.quads, scratch.upper, scratch.lower
    one = column[0, i]
    zero = scratch.total[0, 0] - one
    u0, u1, l0, l1 = upper[i], upper[chosen + i], lower[i], lower[chosen + i]
    after, before, third = scratch.after, scratch.before, scratch.third
    shift = i + 1
    across = chosen
    for k in range(chosen - i - 1):
        j = k + shift
        x, y, price = both[0, 0, k], column[0, j], third[j]
        m11, m10, m01 = x, one - x, y - x
        m00 = zero - m01
        a11, a10 = max(stop[3, k], 0.0), max(stop[2, k], 0.0)
        a01, a00 = max(stop[1, k], 0.0), max(stop[0, k], 0.0)
        f11 = min(a11, max(price * m11, 0.0)) if m11 >= spare else HUGE
        f10 = min(a10, max(price * m10, 0.0)) if m10 >= spare else HUGE
        f01 = min(a01, max(price * m01, 0.0)) if m01 >= spare else HUGE
        f00 = min(a00, max(price * m00, 0.0)) if m00 >= spare else HUGE
        pay1, pay0 = after[j] * one, after[j] * zero
        u1 = min(u1, pay1 + a11 + a10)
        u0 = min(u0, pay0 + a01 + a00)
        l1 = min(l1, pay1 + f11 + f10)
        l0 = min(l0, pay0 + f01 + f00)
        pay1, pay0 = before[j] * y, before[j] * (m10 + m00)
        upper[j + across] = min(upper[j + across], pay1 + a11 + a01)
        upper[j] = min(upper[j], pay0 + a10 + a00)
        lower[j + across] = min(lower[j + across], pay1 + f11 + f01)
        lower[j] = min(lower[j], pay0 + f10 + f00)
    upper[i], upper[chosen + i], lower[i], lower[chosen + i] = u0, u1, l0, l1
