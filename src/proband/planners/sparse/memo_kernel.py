"""States in the memo: their keys, finding and storing them, and the state that follows an outcome.

A state is found by a 64-bit key and confirmed by its whole bitset and its limits, so a proof never rests on a hash. The
key is the XOR of a scrambled number for each non-zero word of the rows and one for each limit: that of a cell
"bits & cell" needs no copy of its rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import inner, kernel, popcount, trailing_zeros
from proband.planners.sparse.instance import UNLIMITED, Instance, Number
from proband.planners.sparse.memo import NODES, STOP, Memo
from proband.planners.sparse.scratch import Scratch
from proband.planners.sparse.work_kernel import charge


@inner
def _mix(word: Any) -> Any:
    """Scramble a word (the finaliser of splitmix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@inner
def rows_key(instance: Instance, bits: Any, cell: Any) -> Any:
    """Key of the row set bits & cell."""
    key = np.uint64(0)
    for w in range(bits.size):
        word = bits[w] & cell[w]
        if word != np.uint64(0):
            key ^= _mix(word + instance.salt[w])
    return key


@inner
def listed_key(instance: Instance, bits: Any, cell: Any, live: Any, count: Number) -> Any:
    """The same, where the non-zero words of `bits` are listed: small sets have few."""
    key = np.uint64(0)
    for k in range(count):
        w = live[k]
        word = bits[w] & cell[w]
        if word != np.uint64(0):
            key ^= _mix(word + instance.salt[w])
    return key


@inner
def limits_key(mask: Any, depth: int, budget: int) -> Any:
    """Key of the open groups, the tests left and the budget left."""
    key = _mix(mask + np.uint64(0x9E3779B97F4A7C15)) ^ _mix(np.uint64(depth) * np.uint64(0xD1342543DE82EF95))
    return key ^ _mix(np.uint64(budget) + np.uint64(0x2545F4914F6CDD1D))


@inner
def key_of(instance: Instance, bits: Any, cell: Any, mask: Any, depth: int, budget: int) -> Any:
    """Key of the state with rows bits & cell."""
    return rows_key(instance, bits, cell) ^ limits_key(mask, depth, budget)


@inner
def stand_at(memo: Memo, scratch: Scratch, node: int) -> None:
    """Make the rows of a node those of `scratch.here`."""
    for w in range(scratch.here.size):
        scratch.here[w] = memo.bits[node, w]


@inner
def is_open(group: int, mask: Any) -> Any:
    """Whether a group is among the open ones; -1, no group, never is."""
    return group >= 0 and (mask >> np.uint64(group)) & np.uint64(1) != np.uint64(0)


@inner
def with_group(mask: Any, group: int) -> Any:
    """The open groups once a test of `group` was run."""
    return mask | (np.uint64(1) << np.uint64(group)) if group >= 0 else mask


@inner(inline=True)
def _holds(memo: Memo, node: Number, bits: Any, cell: Any) -> Any:
    """Whether the rows of a node are bits & cell."""
    apart = np.uint64(0)
    for w in range(bits.size):
        apart |= memo.bits[node, w] ^ (bits[w] & cell[w])
    return apart == np.uint64(0)


@inner
def find(memo: Memo, key: Any, bits: Any, cell: Any, mask: Any, depth: int, budget: int) -> Any:
    """Node of the state with rows bits & cell, or -1."""
    last = np.uint64(memo.table.size - 1)  # a power of two less one: slots are the lowest bits of keys
    slot = key & last
    while memo.table[slot] >= 0:
        node = np.int64(memo.table[slot])
        same = memo.key[node] == key and memo.mask[node] == mask
        same = same and memo.depth[node] == depth and memo.budget[node] == budget
        if same and _holds(memo, node, bits, cell):
            return node
        slot = (slot + np.uint64(1)) & last
    return np.int64(-1)


@inner
def child_state(instance: Instance, bits: Any, cell: Any, test: Number, mask: Any, depth: int, budget: int) -> Any:
    """Open groups, tests left and budget left once `test` was run and bits & cell remain.

    A group none of whose tests splits the remaining rows is forgotten, and no path needs more tests than rows
    less one (unless a test may pay as a mere opener), so that equal problems share a state.
    """
    group = instance.group[test]
    if budget < UNLIMITED:
        budget -= instance.group_units[test] if is_open(group, mask) else instance.price_units[test]
    mask = with_group(mask, group)
    if mask != np.uint64(0):
        mask &= _open_groups(instance, bits, cell)
    if depth < UNLIMITED:
        depth -= 1
        if not instance.opening:
            splits: Any = -1
            for w in range(bits.size):
                splits += np.int64(popcount(bits[w] & cell[w]))
            depth = max(min(splits, depth), 0)
    return mask, depth, budget


@inner
def nothing_left(bits: Any, cell: Any) -> Any:
    """Whether bits & cell is empty."""
    seen = np.uint64(0)
    for w in range(bits.size):
        seen |= bits[w] & cell[w]
    return seen == np.uint64(0)


@inner
def _open_groups(instance: Instance, bits: Any, cell: Any) -> Any:
    """Groups with a test that splits bits & cell."""
    mask = np.uint64(0)
    for j in range(instance.outcomes.size):
        group = instance.group[j]
        if group < 0 or is_open(group, mask):
            continue
        seen = 0
        for b in range(instance.outcomes[j]):
            column = instance.cell_rows[instance.level_offset[b] + j]
            for w in range(bits.size):
                if bits[w] & cell[w] & column[w] != np.uint64(0):
                    seen += 1
                    break
        if seen > 1:
            mask = with_group(mask, group)
    return mask


@inner(inline=True)
def _sum_atoms(instance: Instance, total: Any, bits: Any, cell: Any) -> None:
    for t in range(instance.type_start.size - 1):
        count = np.uint64(0)
        for w in range(instance.type_start[t], instance.type_start[t + 1]):
            count += popcount(bits[w] & cell[w])
        for v in range(total.size):
            total[v] += np.float64(count) * instance.type_values[t, v]


@inner(inline=True)
def _sum_rows(instance: Instance, total: Any, bits: Any, cell: Any) -> None:
    for w in range(bits.size):
        word = bits[w] & cell[w]
        while word != np.uint64(0):
            row = (w << 6) + np.int64(trailing_zeros(word))
            word &= word - np.uint64(1)
            for v in range(total.size):
                value = instance.row_values[row, v]
                total[v] = max(total[v], value) if instance.match and v == 2 else total[v] + value


@inner(inline=True)
def _rows_value(instance: Instance, total: Any, bits: Any, cell: Any) -> Any:
    """Mass of bits & cell and the loss of stopping there; `total` is working room."""
    for v in range(total.size):
        total[v] = 0.0
    if instance.packed:
        _sum_atoms(instance, total, bits, cell)
    else:
        _sum_rows(instance, total, bits, cell)
    if instance.match:
        return total[0], total[1] - total[2]
    least = total[1]
    for v in range(2, total.size):
        least = min(least, total[v])
    return total[0], least


@inner
def _enter(memo: Memo, node: int) -> None:
    """Put a node into the first free slot from its key's on."""
    last = np.uint64(memo.table.size - 1)
    slot = memo.key[node] & last
    while memo.table[slot] >= 0:
        slot = (slot + np.uint64(1)) & last
    memo.table[slot] = node


@kernel
def rehash(memo: Memo) -> None:
    """Fill an empty table with the nodes in use."""
    for node in range(memo.size[NODES]):
        _enter(memo, node)


@inner
def _add_node(
    instance: Instance, memo: Memo, bits: Any, cell: Any, key: Any, mask: Any, depth: int, budget: int
) -> Any:
    """Store the state with rows bits & cell (room is the caller's business); returns its node."""
    node = memo.size[NODES]
    memo.size[NODES] += 1
    charge(memo, 100 + 10 * bits.size + (0 if instance.packed else instance.bits))
    for w in range(bits.size):
        memo.bits[node, w] = bits[w] & cell[w]
    memo.key[node] = key
    memo.mask[node] = mask
    memo.depth[node] = depth
    memo.budget[node] = budget
    memo.mass[node], memo.stop[node] = _rows_value(instance, memo.sums, bits, cell)
    memo.lower[node] = 0.0
    memo.upper[node] = memo.stop[node]  # the plan that stops at once
    memo.best[node] = STOP
    memo.expanded[node] = False
    memo.beam[node] = 0
    memo.move_count[node] = 0
    _enter(memo, node)
    return node


@kernel
def add_root(instance: Instance, memo: Memo, depth: int, budget: int) -> Any:
    """Store the state whose rows Python wrote to the first free place of `bits`; returns its node."""
    bits, nothing = memo.bits[memo.size[NODES]], np.uint64(0)
    key = key_of(instance, bits, bits, nothing, depth, budget)
    return _add_node(instance, memo, bits, bits, key, nothing, depth, budget)


@inner
def find_child(instance: Instance, memo: Memo, node: int, test: Number, b: Number) -> Any:
    """Node of the state after `test` had outcome b at `node`, or -1."""
    bits, cell = memo.bits[node], instance.cell_rows[instance.level_offset[b] + test]
    mask, depth, budget = child_state(instance, bits, cell, test, memo.mask[node], memo.depth[node], memo.budget[node])
    key = key_of(instance, bits, cell, mask, depth, budget)
    return find(memo, key, bits, cell, mask, depth, budget)


@inner
def make_child(instance: Instance, memo: Memo, node: int, test: Number, b: Number) -> Any:
    """Like `find_child`, and a state that is new is stored."""
    bits, cell = memo.bits[node], instance.cell_rows[instance.level_offset[b] + test]
    mask, depth, budget = child_state(instance, bits, cell, test, memo.mask[node], memo.depth[node], memo.budget[node])
    key = key_of(instance, bits, cell, mask, depth, budget)
    child = find(memo, key, bits, cell, mask, depth, budget)
    return child if child >= 0 else _add_node(instance, memo, bits, cell, key, mask, depth, budget)
