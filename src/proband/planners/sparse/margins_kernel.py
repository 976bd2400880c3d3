"""First pass of an expansion: the value of every column "test j has outcome b", and the tests worth running."""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import inner, kernel, popcount, trailing_zeros
from proband.planners.sparse.instance import UNLIMITED, Instance, Number
from proband.planners.sparse.memo_kernel import rows_key
from proband.planners.sparse.scratch import Scratch

__all__ = ["margins", "price_of", "select_tests", "stop_loss", "units_of"]


@kernel
def price_of(instance: Instance, test: Number, mask: Any) -> Any:
    """Price of a test when the groups in `mask` are open."""
    group = instance.group[test]
    if group >= 0 and (mask >> np.uint64(group)) & np.uint64(1) != np.uint64(0):
        return instance.group_price[test]
    return instance.price[test]


@inner
def units_of(instance: Instance, test: int, mask: Any) -> Any:
    """Price of a test in budget units when the groups in `mask` are open."""
    group = instance.group[test]
    if group >= 0 and (mask >> np.uint64(group)) & np.uint64(1) != np.uint64(0):
        return instance.group_units[test]
    return instance.price_units[test]


@inner
def _add_row(instance: Instance, target: Any, row: Any) -> None:
    """Add a row's values to target (width, columns) wherever its one-hot code is 1."""
    code = instance.onehot
    for v in range(target.shape[0]):
        value = instance.row_values[row, v]
        if value == 0.0:
            continue
        if instance.match and v == 2:
            for c in range(target.shape[1]):
                x = code[row, c] * value
                target[v, c] = x if x > target[v, c] else target[v, c]
        else:
            for c in range(target.shape[1]):
                target[v, c] += code[row, c] * value


@inner
def margins(instance: Instance, scratch: Scratch, bits: Any) -> None:
    """Values of every column "test j has outcome b" within `bits`, and of `bits` itself."""
    tests = instance.outcomes.size
    width = scratch.total.size
    present, count, margin = scratch.present, scratch.tally, scratch.margin
    for v in range(width):
        for c in range(present.size):
            margin[v, c] = 0.0
    for c in range(present.size):
        present[c] = np.uint64(0)
    for w in range(bits.size):
        word = bits[w]
        if word != np.uint64(0):
            cells = instance.cells[w]
            for c in range(present.size):
                present[c] |= word & cells[c]
    if instance.packed:
        for v in range(width):
            scratch.total[v, 0] = 0.0
        for t in range(instance.type_start.size - 1):
            for c in range(count.size):
                count[c] = np.uint64(0)
            whole = np.uint64(0)
            for w in range(instance.type_start[t], instance.type_start[t + 1]):
                word = bits[w]
                if word != np.uint64(0):
                    whole += popcount(word)
                    cells = instance.cells[w]
                    for c in range(count.size):
                        count[c] += popcount(word & cells[c])
            if whole == np.uint64(0):
                continue
            for v in range(width):
                value = instance.type_values[t, v]
                if value != 0.0:
                    scratch.total[v, 0] += value * np.float64(whole)
                    for c in range(count.size):
                        margin[v, c] += value * np.float64(count[c])
        return
    for w in range(bits.size):
        word = bits[w]
        while word != np.uint64(0):
            row = (np.uint64(w) << np.uint64(6)) + trailing_zeros(word)
            _add_row(instance, scratch.margin, row)
            word &= word - np.uint64(1)
    for v in range(width):
        scratch.total[v, 0] = 0.0
        for b in range(instance.outcomes[0] if tests else 0):
            value = scratch.margin[v, instance.level_offset[b]]
            if instance.match and v == 2:
                scratch.total[v, 0] = max(scratch.total[v, 0], value)
            else:
                scratch.total[v, 0] += value


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
    """Whether tests i and j cut `bits` into the same parts (checked on the rows)."""
    for b in range(instance.outcomes[i]):
        left = instance.cell_rows[instance.level_offset[b] + i]
        partner = -1
        for w in range(bits.size):
            word = bits[w] & left[w]
            if word == np.uint64(0):
                continue
            if partner < 0:
                low = word & (np.uint64(0) - word)
                for k in range(instance.outcomes[j]):
                    if instance.cells[w, instance.level_offset[k] + j] & low != np.uint64(0):
                        partner = k
                        break
            if word != bits[w] & instance.cells[w, instance.level_offset[partner] + j]:
                return False
        if partner >= 0:
            right = instance.cell_rows[instance.level_offset[partner] + j]
            for w in range(bits.size):
                if bits[w] & right[w] != bits[w] & left[w]:
                    return False
    return True


@inner
def _replaces(instance: Instance, kept: int, other: int, mask: Any) -> Any:
    """Whether `kept`, with the same split, is at least as good as `other` in every respect."""
    if price_of(instance, kept, mask) > price_of(instance, other, mask):
        return False
    if instance.group[kept] == instance.group[other]:
        opened = price_of(instance, kept, mask) == instance.group_price[kept]
        return opened or instance.group_price[kept] <= instance.group_price[other]
    for test in (kept, other):
        group = instance.group[test]
        if group >= 0 and (mask >> np.uint64(group)) & np.uint64(1) == np.uint64(0):
            return False
    return True


@inner
def _group_splits(instance: Instance, scratch: Scratch, group: int) -> Any:
    """Whether some test of the group is not constant (needs `margins`)."""
    for j in range(instance.outcomes.size):
        if instance.group[j] == group:
            seen = 0
            for b in range(instance.outcomes[j]):
                if scratch.present[instance.level_offset[b] + j] != np.uint64(0):
                    seen += 1
            if seen > 1:
                return True
    return False


@inner
def select_tests(instance: Instance, scratch: Scratch, bits: Any, mask: Any, budget: int) -> Any:
    """List the tests worth running at `bits` (needs `margins`): affordable, not constant, one per split."""
    chosen = 0
    for j in range(instance.outcomes.size):
        if budget < UNLIMITED and min(units_of(instance, j, mask), instance.group_units[j]) > budget:
            continue
        seen = 0
        signature = np.uint64(0)
        for b in range(instance.outcomes[j]):
            c = instance.level_offset[b] + j
            if scratch.present[c] != np.uint64(0):
                seen += 1
                scratch.key[c] = rows_key(instance, bits, instance.cell_rows[c])
                signature += scratch.key[c]
        if seen < 2:
            group = instance.group[j]
            if not instance.opener[j] or (mask >> np.uint64(group)) & np.uint64(1) != np.uint64(0):
                continue
            if not _group_splits(instance, scratch, group):
                continue
        fate = -1
        for k in range(chosen):
            other = scratch.active[k]
            if scratch.signature[k] == signature and _same_split(instance, bits, other, j):
                if _replaces(instance, other, j, mask):
                    fate = -2
                    break
                if fate == -1 and _replaces(instance, j, other, mask):
                    fate = k
        if fate == -2:
            continue
        if fate >= 0:
            for k in range(fate, chosen - 1):
                scratch.active[k] = scratch.active[k + 1]
                scratch.price[k] = scratch.price[k + 1]
                scratch.signature[k] = scratch.signature[k + 1]
            chosen -= 1
        scratch.active[chosen] = j
        scratch.price[chosen] = price_of(instance, j, mask)
        if budget < UNLIMITED and units_of(instance, j, mask) > budget:
            scratch.price[chosen] = np.inf
        scratch.signature[chosen] = signature
        chosen += 1
    return chosen
