r"""The bounds of all pairs with one test i, where every test has two outcomes: a loop that decides the speed.

With the value vectors of "i = 1", "j = 1" and "i = j = 1" the other three cells follow by subtraction, so one slab is
enough; all inner loops run over contiguous columns j > i. Their numbers are never NaN (prices that nobody can pay are
`HUGE`, not infinite), so minima may be vectorised.
"""

from __future__ import annotations

from proband.compiling import FINITE, inner
from proband.planners.sparse.scratch import Scratch

HUGE = 1e200
"""A price beyond all others that may still be multiplied by a mass of zero."""


@inner(fastmath=FINITE)
def _stops(scratch: Scratch, i: int, chosen: int) -> None:
    """Loss of stopping in the four cells: rows 0 .. 3 of `quads` for (i, j) = 00, 01, 10, 11."""
    both, column, stop = scratch.slab, scratch.ones, scratch.quads
    for v in range(1, column.shape[0]):
        a = column[v, i]
        rest = scratch.total[v, 0] - a
        if v == 1:
            for j in range(i + 1, chosen):
                x, y = both[1, v, chosen + j], column[v, j]
                stop[3, j] = x
                stop[2, j] = a - x
                stop[1, j] = y - x
                stop[0, j] = rest - y + x
        else:
            for j in range(i + 1, chosen):
                x, y = both[1, v, chosen + j], column[v, j]
                stop[3, j] = min(stop[3, j], x)
                stop[2, j] = min(stop[2, j], a - x)
                stop[1, j] = min(stop[1, j], y - x)
                stop[0, j] = min(stop[0, j], rest - y + x)


@inner(fastmath=FINITE)
def binary_row(scratch: Scratch, i: int, chosen: int, spare: float) -> None:
    """Update the bounds of the cells of test i and of the tests j > i (upper, lower: outcome 0, then outcome 1).

    `slab[1]` and `ones` hold the values of "i = j = 1" and "j = 1". A pair is left out of the lower bound of a cell
    that it does not split (a mass below `spare`).
    """
    _stops(scratch, i, chosen)
    both, column, stop, upper, lower = scratch.slab, scratch.ones, scratch.quads, scratch.upper, scratch.lower
    one = column[0, i]
    zero = scratch.total[0, 0] - one
    u0, u1, l0, l1 = upper[i], upper[chosen + i], lower[i], lower[chosen + i]
    for j in range(i + 1, chosen):
        m11, y, third = both[1, 0, chosen + j], column[0, j], scratch.third[j]
        m10, m01 = one - m11, y - m11
        m00 = zero - m01
        # Per cell: stop there, or pay for a third test at least.
        a11, a10 = max(stop[3, j], 0.0), max(stop[2, j], 0.0)
        a01, a00 = max(stop[1, j], 0.0), max(stop[0, j], 0.0)
        f11 = min(a11, max(third * m11, 0.0)) if m11 >= spare else HUGE
        f10 = min(a10, max(third * m10, 0.0)) if m10 >= spare else HUGE
        f01 = min(a01, max(third * m01, 0.0)) if m01 >= spare else HUGE
        f00 = min(a00, max(third * m00, 0.0)) if m00 >= spare else HUGE
        # First i, then j.
        pay1, pay0 = scratch.after[j] * one, scratch.after[j] * zero
        u1 = min(u1, pay1 + a11 + a10)
        u0 = min(u0, pay0 + a01 + a00)
        l1 = min(l1, pay1 + f11 + f10)
        l0 = min(l0, pay0 + f01 + f00)
        # First j, then i.
        pay1, pay0 = scratch.before[j] * y, scratch.before[j] * (m10 + m00)
        upper[chosen + j] = min(upper[chosen + j], pay1 + a11 + a01)
        upper[j] = min(upper[j], pay0 + a10 + a00)
        lower[chosen + j] = min(lower[chosen + j], pay1 + f11 + f01)
        lower[j] = min(lower[j], pay0 + f10 + f00)
    upper[i], upper[chosen + i], lower[i], lower[chosen + i] = u0, u1, l0, l1
