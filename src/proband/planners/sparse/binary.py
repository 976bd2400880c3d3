r"""The pair pass of `expand` for packed instances whose tests have two outcomes: the loops that decide the speed.

With the value vectors of "i = 1", "j = 1" and "i = j = 1" the other three cells follow by subtraction, so one
popcount per word and pair is enough; all inner loops run over contiguous columns j > i.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.planners.sparse.compiling import finite_kernel, kernel, popcount

HUGE = 1e200

__all__ = ["binary_counts", "binary_row"]


@kernel
def binary_counts(
    words: Any, segment: Any, types: int, type_values: Any, mine: int, start: int, end: int, count: Any, both: Any
) -> None:
    """Values of "column `mine` and column j" for columns start .. end-1, into both (width, ...) from place 0.

    Indices are unsigned so that no loop checks for negative ones.
    """
    first_column, last_column, shift = np.uint64(start), np.uint64(end), np.uint64(start)
    width = np.uint64(type_values.shape[1])
    for v in range(width):
        for k in range(first_column, last_column):
            both[v, k - shift] = 0.0
    for t in range(types):
        first, last = np.uint64(segment[t]), np.uint64(segment[t + 1])
        if first == last:
            continue
        for k in range(first_column, last_column):
            count[k] = np.uint64(0)
        for w in range(first, last):
            word = words[w, np.uint64(mine)]
            if word != np.uint64(0):
                for k in range(first_column, last_column):
                    count[k] += popcount(word & words[w, k])
        for v in range(width):
            value = type_values[t, v]
            if value != 0.0:
                for k in range(first_column, last_column):
                    both[v, k - shift] += value * np.float64(np.int64(count[k]))


@finite_kernel
def _stops(both: Any, column: Any, i: int, chosen: int, total: Any, stop: Any) -> None:
    """Loss of stopping in the four cells: rows 0 .. 3 of `stop` for (i, j) = 00, 01, 10, 11."""
    size = chosen - i - 1
    s00, s01, s10, s11 = stop[0, :size], stop[1, :size], stop[2, :size], stop[3, :size]
    for v in range(1, both.shape[0]):
        x, y = both[v, :size], column[v, i + 1 : chosen]
        a = column[v, i]
        rest = total[v] - a
        if v == 1:
            for k in range(size):
                s11[k] = x[k]
                s10[k] = a - x[k]
                s01[k] = y[k] - x[k]
                s00[k] = rest - y[k] + x[k]
        else:
            for k in range(size):
                s11[k] = min(s11[k], x[k])
                s10[k] = min(s10[k], a - x[k])
                s01[k] = min(s01[k], y[k] - x[k])
                s00[k] = min(s00[k], rest - y[k] + x[k])


@finite_kernel
def binary_row(
    both: Any,
    column: Any,
    i: int,
    chosen: int,
    total: Any,
    stop: Any,
    after: Any,
    before: Any,
    third: Any,
    upper: Any,
    lower: Any,
    spare: float,
) -> None:
    """Update the bounds of the cells of test i and of the tests j > i (upper, lower: outcome 0, then outcome 1).

    `both`, `column` (width, tests) hold the values of "i = j = 1" and "j = 1". A pair is left out of the lower
    bound of a cell that it does not split (a mass below `spare`).
    """
    _stops(both, column, i, chosen, total, stop)
    size = chosen - i - 1
    s00, s01, s10, s11 = stop[0, :size], stop[1, :size], stop[2, :size], stop[3, :size]
    x, y = both[0, :size], column[0, i + 1 : chosen]
    one = column[0, i]
    zero = total[0] - one
    upper0, upper1 = upper[i + 1 : chosen], upper[chosen + i + 1 : 2 * chosen]
    lower0, lower1 = lower[i + 1 : chosen], lower[chosen + i + 1 : 2 * chosen]
    u0, u1, l0, l1 = upper[i], upper[chosen + i], lower[i], lower[chosen + i]
    after, before, third = after[i + 1 : chosen], before[i + 1 : chosen], third[i + 1 : chosen]
    for k in range(size):
        m11, m10, m01 = x[k], one - x[k], y[k] - x[k]
        m00 = zero - m01
        a11, a10 = max(s11[k], 0.0), max(s10[k], 0.0)
        a01, a00 = max(s01[k], 0.0), max(s00[k], 0.0)
        f11 = min(a11, max(third[k] * m11, 0.0)) if m11 >= spare else HUGE
        f10 = min(a10, max(third[k] * m10, 0.0)) if m10 >= spare else HUGE
        f01 = min(a01, max(third[k] * m01, 0.0)) if m01 >= spare else HUGE
        f00 = min(a00, max(third[k] * m00, 0.0)) if m00 >= spare else HUGE
        pay1, pay0 = after[k] * one, after[k] * zero
        u1 = min(u1, pay1 + a11 + a10)
        u0 = min(u0, pay0 + a01 + a00)
        l1 = min(l1, pay1 + f11 + f10)
        l0 = min(l0, pay0 + f01 + f00)
        pay1, pay0 = before[k] * y[k], before[k] * (m10 + m00)
        upper1[k] = min(upper1[k], pay1 + a11 + a01)
        upper0[k] = min(upper0[k], pay0 + a10 + a00)
        lower1[k] = min(lower1[k], pay1 + f11 + f01)
        lower0[k] = min(lower0[k], pay0 + f10 + f00)
    upper[i], upper[chosen + i], lower[i], lower[chosen + i] = u0, u1, l0, l1
