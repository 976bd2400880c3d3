"""Values of the cells (test i has outcome b, test j has outcome b') of a set of rows, packed or dense."""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import inner, popcount, trailing_zeros
from proband.planners.sparse.instance import Instance, Number
from proband.planners.sparse.margins_kernel import stop_loss
from proband.planners.sparse.scratch import Scratch

__all__ = ["compact", "complete_slab", "dense_counts", "dense_slab", "packed_slab"]


@inner
def compact(instance: Instance, scratch: Scratch, bits: Any, chosen: int) -> Any:
    """Gather the columns of the active tests, and for packed instances their non-zero words."""
    place = np.int64(0)
    for b in range(instance.level_size.size):
        scratch.level_offset[b] = place
        size = 0
        for a in range(chosen):
            j = scratch.active[a]
            if instance.outcomes[j] > b:
                scratch.column[place] = instance.level_offset[b] + j
                place += 1
                size += 1
        scratch.level_size[b] = size
    scratch.level_offset[instance.level_size.size] = place
    for k in range(place):
        c = scratch.column[k]
        scratch.mass[k] = scratch.margin[0, c]
        scratch.cell_stop[k] = stop_loss(instance, scratch.margin, c)
    if instance.packed:
        used = 0
        for t in range(instance.type_start.size - 1):
            scratch.segment[t] = used
            for w in range(instance.type_start[t], instance.type_start[t + 1]):
                word = bits[w]
                if word != np.uint64(0):
                    for k in range(place):
                        scratch.bits[used, k] = word & instance.cells[w, scratch.column[k]]
                    used += 1
        scratch.segment[instance.type_start.size - 1] = used
    else:
        _gather_rows(instance, scratch, bits, place)
    return place


@inner
def _gather_rows(instance: Instance, scratch: Scratch, bits: Any, columns: Number) -> None:
    """List the rows of `bits` with their codes on the compact columns (dense instances)."""
    count = 0
    for w in range(bits.size):
        word = bits[w]
        while word != np.uint64(0):
            row = (w << 6) + np.int64(trailing_zeros(word))
            word &= word - np.uint64(1)
            scratch.rows[count] = row
            for k in range(columns):
                scratch.onehot[count, k] = instance.onehot[row, scratch.column[k]]
            count += 1
    scratch.segment[0] = count


@inner
def packed_slab(instance: Instance, scratch: Scratch, i: int, b: int) -> None:
    """Values of the cells (i = b, j = b') for active j > i and b' >= 1, by popcounts."""
    width = scratch.total.size
    mine = scratch.level_offset[b] + i
    slab, count, bits = scratch.slab, scratch.tally, scratch.bits
    for level in range(1, scratch.level_size.size):
        start = scratch.level_offset[level] + i + 1
        end = scratch.level_offset[level] + scratch.level_size[level]
        if end <= start:
            break
        for v in range(width):
            for k in range(start, end):
                slab[b, v, k] = 0.0
        for t in range(instance.type_start.size - 1):
            first, last = scratch.segment[t], scratch.segment[t + 1]
            if first == last:
                continue
            for k in range(start, end):
                count[k] = np.uint64(0)
            for w in range(first, last):
                word = bits[w, mine]
                if word != np.uint64(0):
                    for k in range(start, end):
                        count[k] += popcount(word & bits[w, k])
            for v in range(width):
                value = instance.type_values[t, v]
                if value != 0.0:
                    for k in range(start, end):
                        slab[b, v, k] += value * np.float64(np.int64(count[k]))


@inner
def dense_slab(instance: Instance, scratch: Scratch, i: int, b: int) -> None:
    """Values of the cells (i = b, j = b') for active j > i, by sums over rows; b' >= 1 unless the reward is match."""
    mine = scratch.level_offset[b] + i
    for level in range(0 if instance.match else 1, scratch.level_size.size):
        start = scratch.level_offset[level] + i + 1
        end = scratch.level_offset[level] + scratch.level_size[level]
        if end <= start:
            break
        _clear_slab(scratch, b, start, end)
        for k in range(scratch.segment[0]):
            if scratch.onehot[k, mine] != 0.0:
                _add_codes(instance, scratch, k, b, start, end, np.int64(0))
        if instance.match:
            slab, onehot = scratch.slab, scratch.onehot
            for c in range(start, end):
                slab[b, 2, c] = 0.0
            for k in range(scratch.segment[0]):
                if onehot[k, mine] != 0.0:
                    value = instance.row_values[scratch.rows[k], 2]
                    for c in range(start, end):
                        slab[b, 2, c] = max(slab[b, 2, c], value * onehot[k, c])


@inner
def _add_codes(instance: Instance, scratch: Scratch, k: int, b: Number, start: int, end: int, shift: Number) -> None:
    """Add the k-th row's values to columns start .. end-1 of slab b where its code is 1, `shift` places to the left."""
    slab, onehot, row = scratch.slab, scratch.onehot, scratch.rows[k]
    for v in range(scratch.total.size):
        value = instance.row_values[row, v]
        if value != 0.0:
            for c in range(start, end):
                slab[b, v, c - shift] += value * onehot[k, c]


@inner
def _clear_slab(scratch: Scratch, b: Number, start: Number, end: int) -> None:
    for v in range(scratch.total.size):
        for c in range(start, end):
            scratch.slab[b, v, c] = 0.0


@inner
def dense_counts(instance: Instance, scratch: Scratch, i: int, chosen: int) -> None:
    """Values of "i = 1 and j = 1" for active j > i, by sums over rows, into slab 0 from place 0."""
    _clear_slab(scratch, np.int64(0), np.int64(0), chosen - i - 1)
    start = chosen + i + 1
    for k in range(scratch.segment[0]):
        if scratch.onehot[k, chosen + i] != 0.0:
            _add_codes(instance, scratch, k, np.int64(0), start, 2 * chosen, start)


@inner
def complete_slab(instance: Instance, scratch: Scratch, i: int) -> None:
    """Derive outcome 0 of the other tests and of test i from the margins (sums of stakes)."""
    width, levels, slab = scratch.total.size, scratch.level_size.size, scratch.slab
    outcomes = instance.outcomes[scratch.active[i]]
    for b in range(1, outcomes):
        mine = scratch.column[scratch.level_offset[b] + i]
        for v in range(width):
            rest = scratch.margin[v, mine]
            for k in range(i + 1, scratch.level_size[0]):
                slab[b, v, k] = rest
            for level in range(1, levels):
                shift = scratch.level_offset[level]
                for k in range(i + 1, scratch.level_size[level]):
                    slab[b, v, k] -= slab[b, v, k + shift]
    for level in range(levels):
        start = scratch.level_offset[level] + i + 1
        stop = scratch.level_offset[level] + scratch.level_size[level]
        for v in range(width):
            for k in range(start, stop):
                slab[0, v, k] = scratch.margin[v, scratch.column[k]]
            for b in range(1, outcomes):
                for k in range(start, stop):
                    slab[0, v, k] -= slab[b, v, k]
