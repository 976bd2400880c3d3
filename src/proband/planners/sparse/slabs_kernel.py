"""Values of the cells (test i has outcome b, test j has outcome b') of a set of rows, packed or dense.

From here on the columns are *compact*: those of the active tests alone, level by level, so that "active test k has
outcome b" is column ``level_offset[b] + k``. Tests are sorted by their number of outcomes, largest first, hence a level
holds the first ``level_size[b]`` active tests, and loops over j > i are contiguous. ``slab[b, v, column]`` is the v-th
value of the cell of (i = b) and the column, for one i at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import inner, popcount, trailing_zeros
from proband.planners.sparse.instance import Instance, Number
from proband.planners.sparse.margins_kernel import add_codes, most_codes, stop_loss
from proband.planners.sparse.scratch import Scratch


@inner
def compact(instance: Instance, scratch: Scratch, chosen: int) -> None:
    """Gather the columns of the active tests, and of their cells the non-zero words (packed) or the rows (dense)."""
    place = np.int64(0)
    for b in range(instance.level_size.size):
        scratch.level_offset[b] = place
        for a in range(chosen):
            j = scratch.active[a]
            if instance.outcomes[j] > b:
                scratch.column[place] = instance.level_offset[b] + j
                place += 1
        scratch.level_size[b] = place - scratch.level_offset[b]
    scratch.level_offset[instance.level_size.size] = place
    for k in range(place):
        c = scratch.column[k]
        scratch.mass[k] = scratch.margin[0, c]
        scratch.cell_stop[k] = stop_loss(instance, scratch.margin, c)
    if instance.packed:
        _gather_words(instance, scratch, place)
    else:
        _gather_rows(instance, scratch, place)


@inner
def _gather_words(instance: Instance, scratch: Scratch, columns: Number) -> None:
    """List the non-zero words of the rows, cut to each compact column; those of type t from segment[t] on."""
    used = 0
    for t in range(instance.type_start.size - 1):
        scratch.segment[t] = used
        for w in range(instance.type_start[t], instance.type_start[t + 1]):
            word = scratch.here[w]
            if word != np.uint64(0):
                for k in range(columns):
                    scratch.bits[used, k] = word & instance.cells[w, scratch.column[k]]
                used += 1
    scratch.segment[instance.type_start.size - 1] = used


@inner
def _gather_rows(instance: Instance, scratch: Scratch, columns: Number) -> None:
    """List the rows with their codes on the compact columns that are summed over; segment[0] is their number."""
    first = np.int64(0) if instance.match else scratch.level_offset[1]  # outcomes 0 follow by subtraction
    count = np.int64(0)
    for w in range(scratch.here.size):
        word = scratch.here[w]
        while word != np.uint64(0):
            row = (w << 6) + np.int64(trailing_zeros(word))
            word &= word - np.uint64(1)
            scratch.rank[row] = count
            for k in range(first, columns):
                scratch.onehot[count, k] = instance.onehot[row, scratch.column[k]]
            count += 1
    scratch.segment[0] = count


@inner
def packed_slab(instance: Instance, scratch: Scratch, i: int, b: Number) -> None:
    """Values of the cells (i = b, j = b') for active j > i and b' >= 1, by popcounts."""
    for level in range(1, scratch.level_size.size):
        start = scratch.level_offset[level] + i + 1
        end = scratch.level_offset[level] + scratch.level_size[level]
        if end <= start:
            break
        for v in range(scratch.total.size):
            for k in range(start, end):
                scratch.slab[b, v, k] = 0.0
        for t in range(instance.type_start.size - 1):
            if scratch.segment[t] < scratch.segment[t + 1]:
                _count(instance, scratch, scratch.level_offset[b] + i, b, t, start, end)


@inner
def _count(instance: Instance, scratch: Scratch, mine: int, b: Number, t: int, start: int, end: int) -> None:
    """Add the atoms of type t that column `mine` shares with each of the columns start .. end-1: the hottest loop."""
    slab, count, bits = scratch.slab, scratch.tally, scratch.bits
    for k in range(start, end):
        count[k] = np.uint64(0)
    for w in range(scratch.segment[t], scratch.segment[t + 1]):
        word = bits[w, mine]
        if word != np.uint64(0):
            for k in range(start, end):
                count[k] += popcount(word & bits[w, k])
    for v in range(scratch.total.size):
        value = instance.type_values[t, v]
        if value != 0.0:
            for k in range(start, end):
                slab[b, v, k] += value * np.float64(np.int64(count[k]))


@inner
def dense_slab(instance: Instance, scratch: Scratch, i: int, b: Number) -> None:
    """Values of the cells (i = b, j = b') for active j > i, by sums over rows; b' >= 1 unless the reward is match.

    Maxima cannot be had by subtraction, so for match `complete_slab` has nothing to do.
    """
    for v in range(scratch.total.size):
        picked = _pick(instance, scratch, scratch.column[scratch.level_offset[b] + i], v)
        for level in range(0 if instance.match else 1, scratch.level_size.size):
            start = scratch.level_offset[level] + i + 1
            end = scratch.level_offset[level] + scratch.level_size[level]
            if end <= start:
                break
            for c in range(start, end):
                scratch.slab[b, v, c] = 0.0
            if instance.match and v == 2:
                most_codes(scratch.slab[b, v], scratch.onehot, scratch, picked, start, end)
            else:
                add_codes(scratch.slab[b, v], scratch.onehot, scratch, picked, start, end)


@inner
def _pick(instance: Instance, scratch: Scratch, column: Number, v: int) -> Any:
    """List the rows here that are in a column and whose v-th value is not 0, with this value; returns their number."""
    cell, count = instance.cell_rows[column], np.int64(0)
    for w in range(cell.size):
        word = scratch.here[w] & cell[w]
        while word != np.uint64(0):
            row = (w << 6) + np.int64(trailing_zeros(word))
            word &= word - np.uint64(1)
            value = instance.row_values[row, v]
            scratch.pick[count] = scratch.rank[row]
            scratch.worth[count] = value
            count += np.int64(value != 0.0)
    return count


@inner
def complete_slab(instance: Instance, scratch: Scratch, i: int) -> None:
    """Derive outcome 0 of the other tests and of test i from the margins (sums of stakes)."""
    outcomes = instance.outcomes[scratch.active[i]]
    for v in range(scratch.total.size):
        for b in range(1, outcomes):
            _other_zero(scratch, i, b, v)
        for level in range(scratch.level_size.size):
            start = scratch.level_offset[level] + i + 1
            end = scratch.level_offset[level] + scratch.level_size[level]
            for k in range(start, end):
                scratch.slab[0, v, k] = scratch.margin[v, scratch.column[k]]
            for b in range(1, outcomes):
                for k in range(start, end):
                    scratch.slab[0, v, k] -= scratch.slab[b, v, k]


@inner
def _other_zero(scratch: Scratch, i: int, b: int, v: int) -> None:
    """The cells (i = b, j = 0) hold what the other outcomes of j leave of (i = b)."""
    slab = scratch.slab
    rest = scratch.margin[v, scratch.column[scratch.level_offset[b] + i]]
    for k in range(i + 1, scratch.level_size[0]):
        slab[b, v, k] = rest
    for level in range(1, scratch.level_size.size):
        shift = scratch.level_offset[level]
        for k in range(i + 1, scratch.level_size[level]):
            slab[b, v, k] -= slab[b, v, k + shift]
