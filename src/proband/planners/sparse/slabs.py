"""Values of the cells (test i has outcome b, test j has outcome b') of a set of rows, packed or dense."""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.planners.sparse.compiling import kernel, popcount, trailing_zeros
from proband.planners.sparse.instance import Instance
from proband.planners.sparse.margins import stop_loss
from proband.planners.sparse.scratch import Scratch

__all__ = ["compact", "complete_slab", "dense_counts", "dense_slab", "packed_slab"]


@kernel
def compact(instance: Instance, scratch: Scratch, bits: Any, chosen: int) -> Any:
    """Gather the columns of the active tests, and for packed instances their non-zero words."""
    place = 0
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
        scratch.cell_stop[k] = stop_loss(instance, scratch.margin[:, c])
    if instance.packed:
        used = 0
        for t in range(instance.type_start.size - 1):
            scratch.segment[t] = used
            for w in range(instance.type_start[t], instance.type_start[t + 1]):
                word = bits[w]
                if word != np.uint64(0):
                    cells = instance.cells[w]
                    out = scratch.bits[used]
                    for k in range(place):
                        out[k] = word & cells[scratch.column[k]]
                    used += 1
        scratch.segment[instance.type_start.size - 1] = used
    else:
        _gather_rows(instance, scratch, bits, place)
    return place


@kernel
def _gather_rows(instance: Instance, scratch: Scratch, bits: Any, columns: int) -> None:
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


@kernel
def packed_slab(instance: Instance, scratch: Scratch, i: int, b: int) -> None:
    """Values of the cells (i = b, j = b') for active j > i and b' >= 1, by popcounts."""
    width = scratch.total.size
    mine = scratch.level_offset[b] + i
    levels = scratch.level_size.size
    for level in range(1, levels):
        start = scratch.level_offset[level] + i + 1
        end = scratch.level_offset[level] + scratch.level_size[level]
        if end <= start:
            break
        scratch.slab[b, :, start:end] = 0.0
        count = scratch.tally[start:end]
        for t in range(instance.type_start.size - 1):
            first, last = scratch.segment[t], scratch.segment[t + 1]
            if first == last:
                continue
            count[:] = np.uint64(0)
            for w in range(first, last):
                word = scratch.bits[w, mine]
                if word != np.uint64(0):
                    other = scratch.bits[w, start:end]
                    for k in range(count.size):
                        count[k] += popcount(word & other[k])
            for v in range(width):
                value = instance.type_values[t, v]
                if value != 0.0:
                    out = scratch.slab[b, v, start:end]
                    for k in range(out.size):
                        out[k] += value * np.float64(np.int64(count[k]))


@kernel
def dense_slab(instance: Instance, scratch: Scratch, i: int, b: int) -> None:
    """Values of the cells (i = b, j = b') for active j > i, by sums over rows; b' >= 1 unless the reward is match."""
    mine = scratch.level_offset[b] + i
    for level in range(0 if instance.match else 1, scratch.level_size.size):
        start = scratch.level_offset[level] + i + 1
        end = scratch.level_offset[level] + scratch.level_size[level]
        if end <= start:
            break
        for v in range(scratch.total.size):
            scratch.slab[b, v, start:end] = 0.0
        for k in range(scratch.segment[0]):
            if scratch.onehot[k, mine] != 0.0:
                _add_codes(instance.row_values[scratch.rows[k]], scratch.onehot[k], scratch.slab[b], start, end, 0)
        if instance.match:
            out = scratch.slab[b, 2]
            out[start:end] = 0.0
            for k in range(scratch.segment[0]):
                if scratch.onehot[k, mine] != 0.0:
                    value = instance.row_values[scratch.rows[k], 2]
                    for c in range(start, end):
                        out[c] = max(out[c], value * scratch.onehot[k, c])


@kernel
def _add_codes(values: Any, code: Any, target: Any, start: int, end: int, shift: int) -> None:
    """Add `values` to the columns start .. end-1 of target where `code` is 1, `shift` places to the left."""
    first, last, back = np.uint64(start), np.uint64(end), np.uint64(shift)
    for v in range(np.uint64(values.size)):
        value = values[v]
        if value != 0.0:
            for c in range(first, last):
                target[v, c - back] += value * code[c]


@kernel
def dense_counts(instance: Instance, scratch: Scratch, i: int, chosen: int, both: Any) -> None:
    """Values of "i = 1 and j = 1" for active j > i, by sums over rows, into both from place 0."""
    for v in range(scratch.total.size):
        both[v, : chosen - i - 1] = 0.0
    start = chosen + i + 1
    for k in range(scratch.segment[0]):
        if scratch.onehot[k, chosen + i] != 0.0:
            _add_codes(instance.row_values[scratch.rows[k]], scratch.onehot[k], both, start, 2 * chosen, start)


@kernel
def complete_slab(instance: Instance, scratch: Scratch, i: int) -> None:
    """Derive outcome 0 of the other tests and of test i from the margins (sums of stakes)."""
    width = scratch.total.size
    levels = scratch.level_size.size
    outcomes = instance.outcomes[scratch.active[i]]
    first = scratch.level_offset[0] + i + 1
    end = scratch.level_offset[0] + scratch.level_size[0]
    for b in range(1, outcomes):
        mine = scratch.column[scratch.level_offset[b] + i]
        for v in range(width):
            out = scratch.slab[b, v, first:end]
            out[:] = scratch.margin[v, mine]
            for level in range(1, levels):
                start = scratch.level_offset[level] + i + 1
                stop = scratch.level_offset[level] + scratch.level_size[level]
                if stop <= start:
                    break
                part = scratch.slab[b, v, start:stop]
                for k in range(part.size):
                    out[k] -= part[k]
    for level in range(levels):
        start = scratch.level_offset[level] + i + 1
        stop = scratch.level_offset[level] + scratch.level_size[level]
        for v in range(width):
            out = scratch.slab[0, v]
            for k in range(start, stop):
                out[k] = scratch.margin[v, scratch.column[k]]
            out = scratch.slab[0, v, start:stop]
            for b in range(1, outcomes):
                part = scratch.slab[b, v, start:stop]
                for k in range(out.size):
                    out[k] -= part[k]
