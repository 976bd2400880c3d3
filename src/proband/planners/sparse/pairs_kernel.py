r"""Two-level bounds of every test at a set of rows, from one pass over the pairs of tests.

For a state S and a test i with outcome b

.. math:: U_{ib} = \min\bigl(stop(S_{ib}),\, \min_j c_j w(S_{ib}) + \sum_{b'} stop(S_{ib,jb'})\bigr), \qquad
          L_{ib} = \min\bigl(stop(S_{ib}),\, \min_j c_j w(S_{ib}) + \sum_{b'} \min(stop, c_{ij} w)(S_{ib,jb'})\bigr)

where :math:`c_{ij}` is the least price of a test other than i and j: after j a cell either stops or pays for at
least one more test. Both the first and the second test are common to all rows. Then
:math:`L_i = c_i w(S) + \sum_b L_{ib}` bounds every plan that starts with i and
:math:`U_i = c_i w(S) + \sum_b U_{ib}` is the value of one.

A penalty of nodes is added to every price times a mass.

A pair (i, j) is counted once, for i < j: its four or more cells serve as i first, j second (*forward*) and as j first,
i second (*backward*).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import FINITE, inner
from proband.planners.sparse.instance import UNLIMITED, Instance
from proband.planners.sparse.margins_kernel import price_of, units_of
from proband.planners.sparse.memo_kernel import with_group
from proband.planners.sparse.scratch import Scratch
from proband.planners.sparse.slabs_kernel import complete_slab, dense_slab, packed_slab

HUGE = 1e200
"""A price beyond all others that may still be multiplied by a mass of zero."""


@inner(inline=True)
def pair_bounds(instance: Instance, scratch: Scratch, chosen: int, mask: Any, depth: int, budget: int) -> None:
    """Fill lower and upper bounds of every cell (i = b) of the active tests; needs `compact`.

    `depth` is the number of tests that may still be run: with one left, a cell is where the plan stops.
    """
    columns = scratch.level_offset[scratch.level_size.size]
    for k in range(columns):
        scratch.upper[k] = scratch.cell_stop[k] if depth < 2 else HUGE
        scratch.lower[k] = scratch.cell_stop[k] if depth < 2 else HUGE
    if depth >= 2:
        if not instance.match and instance.level_size.size == 2 and scratch.level_size[1] == chosen:
            _binary_pairs(instance, scratch, chosen, mask, depth, budget)
        else:
            for i in range(chosen - 1):
                _prices(instance, scratch, i, chosen, mask, depth, budget)
                _pairs(instance, scratch, i, chosen)
        # Whatever the second test is, its node is paid for once: added here, and not for every pair.
        for k in range(columns):
            scratch.upper[k] = min(scratch.upper[k] + instance.penalty, scratch.cell_stop[k])
            scratch.lower[k] = min(scratch.lower[k] + instance.penalty, scratch.cell_stop[k])


@inner(inline=True)
def _binary_pairs(instance: Instance, scratch: Scratch, chosen: int, mask: Any, depth: int, budget: int) -> None:
    """The pairs for sums of stakes and two outcomes a test."""
    # A test that may open its group is worth considering even where it splits nothing.
    spare = -1.0 if instance.opening else instance.constant_below
    for v in range(scratch.ones.shape[0]):
        for k in range(chosen):
            scratch.ones[v, k] = scratch.margin[v, scratch.column[chosen + k]]
    for i in range(chosen - 1):
        if i == 0 or not instance.uniform or budget < UNLIMITED:
            _prices(instance, scratch, i, chosen, mask, depth, budget)
        if instance.packed:
            packed_slab(instance, scratch, i, np.int64(1))
        else:
            dense_slab(instance, scratch, i, np.int64(1))
        _binary_row(scratch, i, chosen, spare, instance.penalty)


# The loop that decides the speed, where every test has two outcomes. With the value vectors of "i = 1", "j = 1" and
# "i = j = 1" the other three cells follow by subtraction, so one slab is enough; all inner loops run over contiguous
# columns j > i. Their numbers are never NaN (prices that nobody can pay are `HUGE`), so minima may be vectorised.


@inner(fastmath=FINITE)
def _binary_stops(scratch: Scratch, i: int, chosen: int) -> None:
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
def _binary_row(scratch: Scratch, i: int, chosen: int, spare: float, penalty: float) -> None:
    """Update the bounds of the cells of test i and of the tests j > i (upper, lower: outcome 0, then outcome 1).

    `slab[1]` and `ones` hold the values of "i = j = 1" and "j = 1". A pair is left out of the lower bound of a cell
    that it does not split (a mass below `spare`).
    """
    _binary_stops(scratch, i, chosen)
    both, column, stop, upper, lower = scratch.slab, scratch.ones, scratch.quads, scratch.upper, scratch.lower
    one = column[0, i]
    zero = scratch.total[0, 0] - one
    u0, u1, l0, l1 = upper[i], upper[chosen + i], lower[i], lower[chosen + i]
    for j in range(i + 1, chosen):
        m11, y, third = both[1, 0, chosen + j], column[0, j], scratch.third[j]
        m10, m01 = one - m11, y - m11
        m00 = zero - m01
        # Per cell: stop there, or pay for a third test at least.
        p11, p10 = max(third * m11, 0.0), max(third * m10, 0.0)
        p01, p00 = max(third * m01, 0.0), max(third * m00, 0.0)
        if penalty != 0.0:  # the same for all j, so the compiler makes two loops, and the common one does not add
            p11, p10, p01, p00 = p11 + penalty, p10 + penalty, p01 + penalty, p00 + penalty
        a11, a10 = max(stop[3, j], 0.0), max(stop[2, j], 0.0)
        a01, a00 = max(stop[1, j], 0.0), max(stop[0, j], 0.0)
        f11 = min(a11, p11) if m11 >= spare else HUGE
        f10 = min(a10, p10) if m10 >= spare else HUGE
        f01 = min(a01, p01) if m01 >= spare else HUGE
        f00 = min(a00, p00) if m00 >= spare else HUGE
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


@inner(inline=True)
def _pairs(instance: Instance, scratch: Scratch, i: int, chosen: int) -> None:
    """The pairs of test i with all j > i, whatever the reward and the outcomes."""
    outcomes = instance.outcomes[scratch.active[i]]
    for b in range(0 if instance.match else 1, outcomes):
        if instance.packed:
            packed_slab(instance, scratch, i, b)
        else:
            dense_slab(instance, scratch, i, b)
    if not instance.match:
        complete_slab(instance, scratch, i)
    for b in range(outcomes):
        _stops(instance, scratch, i, b)
        _forward(instance, scratch, i, b, chosen)
    _backward(scratch, i, outcomes)


@inner
def _prices(instance: Instance, scratch: Scratch, i: int, chosen: int, mask: Any, depth: int, budget: int) -> None:
    """Prices around test i: of j after i, of i after j, and the least price of a third test."""
    test = scratch.active[i]
    if instance.uniform and budget >= UNLIMITED:
        third = instance.price[test] if depth > 2 and chosen > 2 else HUGE
        for j in range(i + 1, chosen):
            scratch.after[j] = instance.price[test]
            scratch.before[j] = instance.price[test]
            scratch.third[j] = third
        return
    opened = with_group(mask, instance.group[test])
    for j in range(i + 1, chosen):
        other = scratch.active[j]
        also = with_group(mask, instance.group[other])
        scratch.after[j] = price_of(instance, other, opened)
        scratch.before[j] = price_of(instance, test, also)
        scratch.third[j] = HUGE
        if budget < UNLIMITED:
            if units_of(instance, test, mask) + units_of(instance, other, opened) > budget:
                scratch.after[j] = HUGE
            if units_of(instance, other, mask) + units_of(instance, test, also) > budget:
                scratch.before[j] = HUGE
    if depth > 2:
        _third_prices(instance, scratch, i, chosen)


@inner
def _third_prices(instance: Instance, scratch: Scratch, i: int, chosen: int) -> None:
    """Least price, over the tests other than i and j, at which one may come third: its group taken to be open."""
    first, second, cheapest = HUGE, HUGE, -1
    for k in range(chosen):
        test = scratch.active[k]
        least = min(instance.price[test], instance.group_price[test])
        if k == i:
            continue
        if least < first:
            first, second, cheapest = least, first, k
        elif least < second:
            second = least
    for j in range(i + 1, chosen):
        scratch.third[j] = second if j == cheapest else first


@inner
def _stops(instance: Instance, scratch: Scratch, i: int, b: int) -> None:
    """Loss of stopping, and floor min(stop, price of one more test), of the cells (i = b, j = b')."""
    slab, stop = scratch.slab, scratch.stop
    for level in range(scratch.level_size.size):
        shift = scratch.level_offset[level]
        start, end = shift + i + 1, shift + scratch.level_size[level]
        for k in range(start, end):
            stop[b, k] = slab[b, 1, k] - slab[b, 2, k] if instance.match else slab[b, 1, k]
        for v in range(2, 0 if instance.match else scratch.total.size):
            for k in range(start, end):
                stop[b, k] = min(stop[b, k], slab[b, v, k])
        for k in range(start, end):
            stop[b, k] = max(stop[b, k], 0.0)
            scratch.floor[b, k] = min(stop[b, k], max(scratch.third[k - shift] * slab[b, 0, k], 0.0) + instance.penalty)


@inner
def _forward(instance: Instance, scratch: Scratch, i: int, b: int, chosen: int) -> None:
    """Bounds of the cell (i = b) over second tests j > i."""
    sum_stop, sum_floor = scratch.sum_stop, scratch.sum_floor
    for j in range(i + 1, chosen):
        sum_stop[j] = 0.0
        sum_floor[j] = 0.0
    for level in range(scratch.level_size.size):
        shift = scratch.level_offset[level]
        for j in range(i + 1, scratch.level_size[level]):
            sum_stop[j] += scratch.stop[b, shift + j]
            sum_floor[j] += scratch.floor[b, shift + j]
    cell = scratch.level_offset[b] + i
    mass, upper, lower = scratch.mass[cell], scratch.upper[cell], scratch.lower[cell]
    for j in range(i + 1, chosen):
        pay = scratch.after[j] * mass
        upper = min(upper, pay + sum_stop[j])
        if pay + sum_floor[j] < lower and (instance.uniform or not _constant(instance, scratch, b, j, mass)):
            lower = pay + sum_floor[j]
    scratch.upper[cell], scratch.lower[cell] = upper, lower


@inner
def _constant(instance: Instance, scratch: Scratch, b: int, j: int, mass: float) -> Any:
    """Whether active test j does not split the cell (i = b), so that it need not be considered there."""
    if instance.opener[scratch.active[j]]:
        return False
    biggest = 0.0
    for level in range(scratch.level_size.size):
        if j < scratch.level_size[level]:
            biggest = max(biggest, scratch.slab[b, 0, scratch.level_offset[level] + j])
    return mass - biggest < instance.constant_below


@inner
def _backward(scratch: Scratch, i: int, outcomes: int) -> None:
    """Bounds of the cells (j = b') for j > i when i is the second test."""
    sum_stop, sum_floor, upper, lower = scratch.sum_stop, scratch.sum_floor, scratch.upper, scratch.lower
    for level in range(scratch.level_size.size):
        last, shift = scratch.level_size[level], scratch.level_offset[level]
        for j in range(i + 1, last):
            sum_stop[j] = 0.0
            sum_floor[j] = 0.0
        for b in range(outcomes):
            for j in range(i + 1, last):
                sum_stop[j] += scratch.stop[b, shift + j]
                sum_floor[j] += scratch.floor[b, shift + j]
        for j in range(i + 1, last):
            pay = scratch.before[j] * scratch.mass[shift + j]
            upper[shift + j] = min(upper[shift + j], pay + sum_stop[j])
            lower[shift + j] = min(lower[shift + j], pay + sum_floor[j])
