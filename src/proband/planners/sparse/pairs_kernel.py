r"""Two-level bounds of every test at a set of rows, from one pass over the pairs of tests.

For a state S and a test i with outcome b

.. math:: U_{ib} = \min\bigl(stop(S_{ib}),\, \min_j c_j w(S_{ib}) + \sum_{b'} stop(S_{ib,jb'})\bigr), \qquad
          L_{ib} = \min\bigl(stop(S_{ib}),\, \min_j c_j w(S_{ib}) + \sum_{b'} \min(stop, c_{ij} w)(S_{ib,jb'})\bigr)

where :math:`c_{ij}` is the least price of a test other than i and j: after j a cell either stops or pays for at
least one more test. Both the first and the second test are common to all rows. Then
:math:`L_i = c_i w(S) + \sum_b L_{ib}` bounds every plan that starts with i and
:math:`U_i = c_i w(S) + \sum_b U_{ib}` is the value of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import inner
from proband.planners.sparse.binary_kernel import binary_counts, binary_row
from proband.planners.sparse.instance import UNLIMITED, Instance
from proband.planners.sparse.margins_kernel import price_of, units_of
from proband.planners.sparse.scratch import Scratch
from proband.planners.sparse.slabs_kernel import complete_slab, dense_counts, dense_slab, packed_slab

__all__ = ["pair_bounds"]

HUGE = 1e200


@inner(inline=True)
def pair_bounds(
    instance: Instance, scratch: Scratch, bits: Any, chosen: int, mask: Any, depth: int, budget: int
) -> Any:
    """Fill lower and upper bounds of every cell (i = b) of the active tests; needs `compact`.

    `depth` is the number of tests that may still be run at `bits`. Returns the number of compact columns.
    """
    columns = scratch.level_offset[scratch.level_size.size]
    for k in range(columns):
        scratch.upper[k] = scratch.cell_stop[k]
        scratch.lower[k] = scratch.cell_stop[k] if depth < 2 else HUGE
    if depth < 2:
        return columns
    if not instance.match and instance.level_size.size == 2 and scratch.level_size[1] == chosen:
        _binary_pairs(instance, scratch, chosen, mask, depth, budget)
        return columns
    for i in range(chosen - 1):
        outcomes = instance.outcomes[scratch.active[i]]
        _prices(instance, scratch, i, chosen, mask, depth, budget)
        if instance.packed:
            for b in range(1, outcomes):
                packed_slab(instance, scratch, i, b)
            complete_slab(instance, scratch, i)
        elif instance.match:
            for b in range(outcomes):
                dense_slab(instance, scratch, i, b)
        else:
            for b in range(1, outcomes):
                dense_slab(instance, scratch, i, b)
            complete_slab(instance, scratch, i)
        for b in range(outcomes):
            _stops(instance, scratch, i, b)
            _forward(instance, scratch, i, b, chosen)
        _backward(instance, scratch, i, outcomes)
    for k in range(columns):
        scratch.lower[k] = min(scratch.lower[k], scratch.cell_stop[k])
    return columns


@inner(inline=True)
def _binary_pairs(instance: Instance, scratch: Scratch, chosen: int, mask: Any, depth: int, budget: int) -> None:
    """`pair_bounds` for sums of stakes and two outcomes a test."""
    spare = -1.0 if instance.opening else instance.constant_below
    column = scratch.ones
    for v in range(column.shape[0]):
        for k in range(chosen):
            column[v, k] = scratch.margin[v, scratch.column[chosen + k]]
    for i in range(chosen - 1):
        if i == 0 or not instance.uniform or budget < UNLIMITED:
            _prices(instance, scratch, i, chosen, mask, depth, budget)
        if instance.packed:
            binary_counts(instance, scratch, i, chosen)
        else:
            dense_counts(instance, scratch, i, chosen)
        binary_row(scratch, i, chosen, spare)
    for k in range(2 * chosen):
        scratch.lower[k] = min(scratch.lower[k], scratch.cell_stop[k])


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
    opened = mask
    if instance.group[test] >= 0:
        opened |= np.uint64(1) << np.uint64(instance.group[test])
    paid = units_of(instance, test, mask)
    for j in range(i + 1, chosen):
        other = scratch.active[j]
        also = mask
        if instance.group[other] >= 0:
            also |= np.uint64(1) << np.uint64(instance.group[other])
        scratch.after[j] = price_of(instance, other, opened)
        scratch.before[j] = price_of(instance, test, also)
        scratch.third[j] = HUGE
        if budget < UNLIMITED:
            if paid + units_of(instance, other, opened) > budget:
                scratch.after[j] = HUGE
            if units_of(instance, other, mask) + units_of(instance, test, also) > budget:
                scratch.before[j] = HUGE
    if depth <= 2:
        return
    first, second, argument = HUGE, HUGE, -1
    for k in range(chosen):
        other = scratch.active[k]
        least = min(instance.price[other], instance.group_price[other])
        if k == i:
            continue
        if least < first:
            first, second, argument = least, first, k
        elif least < second:
            second = least
    for j in range(i + 1, chosen):
        scratch.third[j] = second if j == argument else first


@inner
def _stops(instance: Instance, scratch: Scratch, i: int, b: int) -> None:
    """Loss of stopping, and floor min(stop, price of one more test), of the cells (i = b, j = b')."""
    width, slab, stop, floor, third = scratch.total.size, scratch.slab, scratch.stop, scratch.floor, scratch.third
    for level in range(scratch.level_size.size):
        start = scratch.level_offset[level] + i + 1
        end = scratch.level_offset[level] + scratch.level_size[level]
        if end <= start:
            break
        shift = scratch.level_offset[level]
        if instance.match:
            for k in range(start, end):
                stop[b, k] = slab[b, 1, k] - slab[b, 2, k]
        else:
            for k in range(start, end):
                stop[b, k] = slab[b, 1, k]
            for v in range(2, width):
                for k in range(start, end):
                    loss = slab[b, v, k]
                    stop[b, k] = loss if loss < stop[b, k] else stop[b, k]
        for k in range(start, end):
            now = stop[b, k] if stop[b, k] > 0.0 else 0.0
            more = third[k - shift] * slab[b, 0, k]
            more = more if more > 0.0 else 0.0
            stop[b, k] = now
            floor[b, k] = now if now < more else more


@inner
def _forward(instance: Instance, scratch: Scratch, i: int, b: int, chosen: int) -> None:
    """Bounds of the cell (i = b) over second tests j > i."""
    sum_stop, sum_floor = scratch.sum_stop, scratch.sum_floor
    first = i + 1
    for k in range(first, chosen):
        sum_stop[k] = 0.0
        sum_floor[k] = 0.0
    for level in range(scratch.level_size.size):
        if scratch.level_size[level] <= i + 1:
            break
        shift = scratch.level_offset[level]
        for k in range(first, scratch.level_size[level]):
            sum_stop[k] += scratch.stop[b, k + shift]
            sum_floor[k] += scratch.floor[b, k + shift]
    cell = scratch.level_offset[b] + i
    mass = scratch.mass[cell]
    upper, lower = scratch.upper[cell], scratch.lower[cell]
    for k in range(i + 1, chosen):
        pay = scratch.after[k] * mass
        if pay + sum_stop[k] < upper:
            upper = pay + sum_stop[k]
        if pay + sum_floor[k] < lower and (instance.uniform or not _constant(instance, scratch, b, k, mass)):
            lower = pay + sum_floor[k]
    scratch.upper[cell], scratch.lower[cell] = upper, lower


@inner
def _constant(instance: Instance, scratch: Scratch, b: int, k: int, mass: float) -> Any:
    """Whether active test k does not split the cell (i = b), so that it need not be considered there."""
    if instance.opener[scratch.active[k]]:
        return False
    biggest = 0.0
    for level in range(scratch.level_size.size):
        if k < scratch.level_size[level]:
            biggest = max(biggest, scratch.slab[b, 0, scratch.level_offset[level] + k])
    return mass - biggest < instance.constant_below


@inner
def _backward(instance: Instance, scratch: Scratch, i: int, outcomes: int) -> None:
    """Bounds of the cells (j = b') for j > i when i is the second test."""
    sum_stop, sum_floor, upper, lower = scratch.sum_stop, scratch.sum_floor, scratch.upper, scratch.lower
    first = i + 1
    for level in range(scratch.level_size.size):
        if scratch.level_size[level] <= i + 1:
            break
        last, shift = scratch.level_size[level], scratch.level_offset[level]
        for k in range(first, last):
            sum_stop[k] = 0.0
            sum_floor[k] = 0.0
        for b in range(outcomes):
            for k in range(first, last):
                sum_stop[k] += scratch.stop[b, k + shift]
                sum_floor[k] += scratch.floor[b, k + shift]
        for k in range(first, last):
            pay = scratch.before[k] * scratch.mass[k + shift]
            high, low = pay + sum_stop[k], pay + sum_floor[k]
            upper[k + shift] = high if high < upper[k + shift] else upper[k + shift]
            lower[k + shift] = low if low < lower[k + shift] else lower[k + shift]
