"""First pass of an expansion: the value of every column "test j has outcome b", and the tests worth running.

A *value vector* is (mass, loss of decision 1, loss of decision 2, ...) of a set of rows, and all of it adds up over
disjoint sets; for the match reward it is (mass, sum of stakes, largest stake), of which the last is a maximum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import CONTRACTING, inner, kernel, popcount, trailing_zeros
from proband.planners.sparse.instance import UNLIMITED, Instance, Number
from proband.planners.sparse.memo_kernel import is_open, listed_key, rows_key
from proband.planners.sparse.scratch import Scratch


@inner
def price_of(instance: Instance, test: Number, mask: Any) -> Any:
    """Price of a test when the groups in `mask` are open."""
    return instance.group_price[test] if is_open(instance.group[test], mask) else instance.price[test]


@inner
def units_of(instance: Instance, test: Number, mask: Any) -> Any:
    """Price of a test in budget units when the groups in `mask` are open."""
    return instance.group_units[test] if is_open(instance.group[test], mask) else instance.price_units[test]


@inner(inline=True)
def _margins(instance: Instance, scratch: Scratch, bits: Any) -> None:
    """Values of every column "test j has outcome b" within `bits`, and of `bits` itself."""
    present, margin = scratch.present, scratch.margin
    for v in range(margin.shape[0]):
        scratch.total[v, 0] = 0.0
        for c in range(present.size):
            margin[v, c] = 0.0
    for c in range(present.size):
        present[c] = np.uint64(0)
    for w in range(bits.size):
        word = bits[w]
        if word != np.uint64(0):
            for c in range(present.size):
                present[c] |= word & instance.cells[w, c]
    if instance.packed:
        for t in range(instance.type_start.size - 1):
            _add_type(instance, scratch, bits, t)
    else:
        _add_rows(instance, scratch, bits)


@inner
def _add_type(instance: Instance, scratch: Scratch, bits: Any, t: int) -> None:
    """Add the atoms of type t, all of which have one value vector: popcounts times this vector."""
    count, whole = scratch.tally, np.uint64(0)
    for c in range(count.size):
        count[c] = np.uint64(0)
    for w in range(instance.type_start[t], instance.type_start[t + 1]):
        word = bits[w]
        if word != np.uint64(0):
            whole += popcount(word)
            for c in range(count.size):
                count[c] += popcount(word & instance.cells[w, c])
    if whole == np.uint64(0):
        return
    for v in range(scratch.total.size):
        value = instance.type_values[t, v]
        if value != 0.0:
            scratch.total[v, 0] += value * np.float64(whole)
            for c in range(count.size):
                scratch.margin[v, c] += value * np.float64(count[c])


@inner
def _add_rows(instance: Instance, scratch: Scratch, bits: Any) -> None:
    """Add up the rows; every row is in one column of test 0, so its columns make up the whole."""
    columns = scratch.margin.shape[1]
    for v in range(scratch.total.size):
        picked = _pick_all(instance, scratch, bits, v)
        if instance.match and v == 2:
            most_codes(scratch.margin[v], instance.onehot, scratch, picked, np.int64(0), columns)
        else:
            add_codes(scratch.margin[v], instance.onehot, scratch, picked, np.int64(0), columns)
    for v in range(scratch.total.size):
        for b in range(instance.outcomes[0] if instance.outcomes.size else 0):
            value = scratch.margin[v, instance.level_offset[b]]
            if instance.match and v == 2:
                scratch.total[v, 0] = max(scratch.total[v, 0], value)
            else:
                scratch.total[v, 0] += value


@inner
def _pick_all(instance: Instance, scratch: Scratch, bits: Any, v: int) -> Any:
    """List the rows whose v-th value is not 0, with this value; returns their number."""
    count = np.int64(0)
    for w in range(bits.size):
        word = bits[w]
        while word != np.uint64(0):
            row = (w << 6) + np.int64(trailing_zeros(word))
            word &= word - np.uint64(1)
            value = instance.row_values[row, v]
            scratch.pick[count] = row
            scratch.worth[count] = value
            count += np.int64(value != 0.0)
    return count


@inner(fastmath=CONTRACTING)
def add_codes(sums: Any, codes: Any, scratch: Scratch, picked: Number, start: Number, end: Number) -> None:
    """Add the values of the picked rows to the sums start .. end-1 of columns where their codes are 1.

    Four rows at a time, so that a sum is read and written once for four; each is added in the order of the rows.
    A code is 0 or 1, hence a product is exact, and one instruction for product and sum rounds as two.
    """
    pick, worth, whole = scratch.pick, scratch.worth, picked & ~3
    for k in range(0, whole, 4):
        one, two, three, four = codes[pick[k]], codes[pick[k + 1]], codes[pick[k + 2]], codes[pick[k + 3]]
        x, y, z, t = worth[k], worth[k + 1], worth[k + 2], worth[k + 3]
        for c in range(start, end):
            sums[c] = (((sums[c] + x * one[c]) + y * two[c]) + z * three[c]) + t * four[c]
    for k in range(whole, picked):
        one, x = codes[pick[k]], worth[k]
        for c in range(start, end):
            sums[c] += x * one[c]


@inner
def most_codes(largest: Any, codes: Any, scratch: Scratch, picked: Number, start: Number, end: Number) -> None:
    """The largest of the values of the picked rows, for the columns start .. end-1 where their codes are 1."""
    for k in range(picked):
        one, x = codes[scratch.pick[k]], scratch.worth[k]
        for c in range(start, end):
            largest[c] = max(largest[c], x * one[c])


@inner
def stop_loss(instance: Instance, values: Any, c: Number) -> Any:
    """Loss of stopping, from the value vector in column c."""
    if instance.match:
        return max(values[1, c] - values[2, c], 0.0)
    least = values[1, c]
    for v in range(2, values.shape[0]):
        least = min(least, values[v, c])
    return max(least, 0.0)


@inner
def _same_split(instance: Instance, bits: Any, i: int, j: int) -> Any:
    """Whether tests i and j cut `bits` into the same parts (checked on the rows).

    The part of a set that i cuts off must be one of j's: the one in which its first row lies.
    """
    for b in range(instance.outcomes[i]):
        left, partner = instance.cell_rows[instance.level_offset[b] + i], -1
        for w in range(bits.size):
            word = bits[w] & left[w]
            if partner < 0 and word != np.uint64(0):
                low = word & (np.uint64(0) - word)
                partner = 0
                while instance.cells[w, instance.level_offset[partner] + j] & low == np.uint64(0):
                    partner += 1
        if partner >= 0:
            right = instance.cell_rows[instance.level_offset[partner] + j]
            for w in range(bits.size):
                if bits[w] & right[w] != bits[w] & left[w]:
                    return False
    return True


@inner
def _replaces(instance: Instance, kept: int, other: int, mask: Any) -> Any:
    """Whether `kept`, with the same split, is at least as good as `other` in every respect.

    A test of a closed group also opens it, which no test of another group can stand in for.
    """
    if price_of(instance, kept, mask) > price_of(instance, other, mask):
        return False
    if instance.group[kept] == instance.group[other]:
        opened = price_of(instance, kept, mask) == instance.group_price[kept]
        return opened or instance.group_price[kept] <= instance.group_price[other]
    one, two = instance.group[kept], instance.group[other]
    return (one < 0 or is_open(one, mask)) and (two < 0 or is_open(two, mask))


@inner
def _opens(instance: Instance, scratch: Scratch, test: int, mask: Any) -> Any:
    """Whether a test that splits nothing may pay by opening its group for one that does (needs the margins)."""
    group = instance.group[test]
    if not instance.opener[test] or is_open(group, mask):
        return False
    for j in range(instance.outcomes.size):
        if instance.group[j] == group:
            seen = 0
            for b in range(instance.outcomes[j]):
                if scratch.present[instance.level_offset[b] + j] != np.uint64(0):
                    seen += 1
            if seen > 1:
                return True
    return False


@inner(inline=True)
def _rival(instance: Instance, scratch: Scratch, bits: Any, j: int, chosen: Number, signature: Any, mask: Any) -> Any:
    """Place of a chosen test with the split of j that j replaces; -1: there is none; -2: one replaces j."""
    fate = -1
    for k in range(chosen):
        other = scratch.active[k]
        if scratch.signature[k] == signature and _same_split(instance, bits, other, j):
            if _replaces(instance, other, j, mask):
                return -2
            if fate == -1 and _replaces(instance, j, other, mask):
                fate = k
    return fate


@inner(inline=True)
def _drop(scratch: Scratch, place: int, chosen: Number) -> None:
    for k in range(place, chosen - 1):
        scratch.active[k] = scratch.active[k + 1]
        scratch.price[k] = scratch.price[k + 1]
        scratch.signature[k] = scratch.signature[k + 1]


@inner
def _list_words(scratch: Scratch, bits: Any) -> Any:
    """List the words of a set that are not 0; returns their number."""
    live = np.int64(0)
    for w in range(bits.size):
        scratch.live[live] = w
        live += np.int64(bits[w] != np.uint64(0))
    return live


@inner
def _cell_key(instance: Instance, scratch: Scratch, bits: Any, c: int, live: Number) -> Any:
    """Key of the rows in a column; where few words are not 0, from these, else by the loop that is vectorised."""
    cell = instance.cell_rows[c]
    if 6 * live < bits.size:
        return listed_key(instance, bits, cell, scratch.live, live)
    return rows_key(instance, bits, cell)


@kernel
def survey(instance: Instance, scratch: Scratch, mask: Any, budget: int) -> Any:
    """Fill the margins of the rows `scratch.here`, and list the tests worth running: returns their number.

    These are affordable, not constant, and one for each split.

    A test that is affordable only once its group is open stays in the list, at an infinite price: it may be second.
    """
    bits = scratch.here
    _margins(instance, scratch, bits)
    live, chosen = _list_words(scratch, bits), np.int64(0)
    for j in range(instance.outcomes.size):
        units = units_of(instance, j, mask)
        if budget < UNLIMITED and min(units, instance.group_units[j]) > budget:
            continue
        seen, signature = 0, np.uint64(0)
        for b in range(instance.outcomes[j]):
            c = instance.level_offset[b] + j
            if scratch.present[c] != np.uint64(0):
                seen += 1
                scratch.key[c] = _cell_key(instance, scratch, bits, c, live)
                signature += scratch.key[c]
        if seen < 2 and not _opens(instance, scratch, j, mask):
            continue
        # Equal splits have equal sums of keys, whatever the order of their outcomes.
        fate = _rival(instance, scratch, bits, j, chosen, signature, mask)
        if fate == -2:
            continue
        if fate >= 0:
            _drop(scratch, fate, chosen)
            chosen -= 1
        scratch.active[chosen] = j
        scratch.price[chosen] = np.inf if budget < UNLIMITED and units > budget else price_of(instance, j, mask)
        scratch.signature[chosen] = signature
        chosen += 1
    return chosen
