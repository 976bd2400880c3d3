"""The memo of the search: states (rows, open groups, tests left, budget left) with bounds and surviving moves.

A state is found by a 64-bit key and confirmed by its whole bitset, so a proof never rests on a hash.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proband.compiling import inner, kernel, popcount
from proband.planners.sparse.bundle import Bundle
from proband.planners.sparse.instance import UNLIMITED, Instance, Number

__all__ = [
    "CHILDREN",
    "EXPANSIONS",
    "MOVES",
    "NODES",
    "STOP",
    "UNKNOWN",
    "Memo",
    "add_node",
    "add_root",
    "child_state",
    "find",
    "find_child",
    "grow",
    "key_of",
    "limits_key",
    "make_child",
    "memo_bytes",
    "new_memo",
    "nothing_left",
    "rows_key",
]

STOP = -1
UNKNOWN = -2
NODES, MOVES, CHILDREN, EXPANSIONS = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class Memo(Bundle):
    """Growable arrays; `size` holds the numbers of nodes, moves, children in use and the expansions made."""

    size: NDArray[np.int64]
    sums: NDArray[np.float64]
    table: NDArray[np.int32]
    bits: NDArray[np.uint64]
    key: NDArray[np.uint64]
    mask: NDArray[np.uint64]
    depth: NDArray[np.int64]
    budget: NDArray[np.int64]
    mass: NDArray[np.float64]
    stop: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    best: NDArray[np.int32]
    expanded: NDArray[np.bool_]
    beam: NDArray[np.int32]
    move_start: NDArray[np.int64]
    move_count: NDArray[np.int32]
    move_test: NDArray[np.int32]
    move_price: NDArray[np.float64]
    move_child: NDArray[np.int64]
    move_children: NDArray[np.int32]
    child_node: NDArray[np.int32]
    child_outcome: NDArray[np.int16]
    child_lower: NDArray[np.float64]
    child_upper: NDArray[np.float64]


_NAMES = [field.name for field in fields(Memo)]
_POOL = {name: 1 for name in _NAMES if name.startswith("move_")}
_POOL |= {name: 2 for name in _NAMES if name.startswith("child_")}
_POOL |= {"move_start": 0, "move_count": 0}


def new_memo(words: int, width: int, nodes: int = 1 << 12, moves: int = 1 << 15, children: int = 1 << 16) -> Memo:
    """Make an empty memo."""
    integer, small, real = np.int64, np.int32, np.float64
    return Memo(
        size=np.zeros(4, dtype=integer),
        sums=np.zeros(width),
        table=np.full(4 * nodes, -1, dtype=small),
        bits=np.zeros((nodes, words), dtype=np.uint64),
        key=np.zeros(nodes, dtype=np.uint64),
        mask=np.zeros(nodes, dtype=np.uint64),
        depth=np.zeros(nodes, dtype=integer),
        budget=np.zeros(nodes, dtype=integer),
        mass=np.zeros(nodes, dtype=real),
        stop=np.zeros(nodes, dtype=real),
        lower=np.zeros(nodes, dtype=real),
        upper=np.zeros(nodes, dtype=real),
        best=np.zeros(nodes, dtype=small),
        expanded=np.zeros(nodes, dtype=np.bool_),
        beam=np.zeros(nodes, dtype=small),
        move_start=np.zeros(nodes, dtype=integer),
        move_count=np.zeros(nodes, dtype=small),
        move_test=np.zeros(moves, dtype=small),
        move_price=np.zeros(moves, dtype=real),
        move_child=np.zeros(moves, dtype=integer),
        move_children=np.zeros(moves, dtype=small),
        child_node=np.zeros(children, dtype=small),
        child_outcome=np.zeros(children, dtype=np.int16),
        child_lower=np.zeros(children, dtype=real),
        child_upper=np.zeros(children, dtype=real),
    )


def memo_bytes(memo: Memo) -> int:
    """Bytes held by the memo."""
    return sum(getattr(memo, name).nbytes for name in _NAMES)


def grow(memo: Memo, room: tuple[int, int, int]) -> Memo:
    """Return a memo with at least `room` free nodes, moves and children (each pool doubles when short)."""
    used = memo.size
    capacity = (memo.key.size, memo.move_test.size, memo.child_node.size)
    wanted = [
        have if have - int(use) >= need else max(2 * have, int(use) + 2 * need)
        for have, use, need in zip(capacity, used[:3], room, strict=True)
    ]
    arrays: dict[str, Any] = {"size": memo.size, "sums": memo.sums, "table": memo.table}
    for name in _NAMES:
        if name in arrays:
            continue
        array = getattr(memo, name)
        pool = _POOL.get(name, 0)
        if wanted[pool] == capacity[pool]:
            arrays[name] = array
            continue
        arrays[name] = np.zeros((wanted[pool], *array.shape[1:]), dtype=array.dtype)
        arrays[name][: int(used[pool])] = array[: int(used[pool])]
    if wanted[0] != capacity[0]:
        arrays["table"] = np.full(4 * (1 << (wanted[0] - 1).bit_length()), -1, dtype=np.int32)
    longer = Memo(**arrays)
    if wanted[0] != capacity[0]:
        rehash(longer)
    return longer


@kernel
def rehash(memo: Memo) -> None:
    """Fill an empty table with the nodes in use."""
    for node in range(memo.size[NODES]):
        _enter(memo, node)


@inner
def _enter(memo: Memo, node: int) -> None:
    """Put a node into the first free slot from its key's on."""
    last = np.uint64(memo.table.size - 1)
    slot = memo.key[node] & last
    while memo.table[slot] >= 0:
        slot = (slot + np.uint64(1)) & last
    memo.table[slot] = node


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
def limits_key(mask: Any, depth: int, budget: int) -> Any:
    """Key of the open groups, the tests left and the budget left."""
    key = _mix(mask + np.uint64(0x9E3779B97F4A7C15)) ^ _mix(np.uint64(depth) * np.uint64(0xD1342543DE82EF95))
    return key ^ _mix(np.uint64(budget) + np.uint64(0x2545F4914F6CDD1D))


@inner
def key_of(instance: Instance, bits: Any, cell: Any, mask: Any, depth: int, budget: int) -> Any:
    """Key of the state with rows bits & cell."""
    return rows_key(instance, bits, cell) ^ limits_key(mask, depth, budget)


@inner
def find(memo: Memo, key: Any, bits: Any, cell: Any, mask: Any, depth: int, budget: int) -> Any:
    """Node of the state with rows bits & cell, or -1."""
    last = np.uint64(memo.table.size - 1)
    slot = key & last
    while memo.table[slot] >= 0:
        node = memo.table[slot]
        if memo.key[node] == key and memo.mask[node] == mask:
            if memo.depth[node] == depth and memo.budget[node] == budget:
                same = True
                for w in range(bits.size):
                    if memo.bits[node, w] != bits[w] & cell[w]:
                        same = False
                        break
                if same:
                    return node
        slot = (slot + np.uint64(1)) & last
    return -1


@inner
def child_state(instance: Instance, bits: Any, cell: Any, test: Number, mask: Any, depth: int, budget: int) -> Any:
    """Open groups, tests left and budget left once `test` was run and bits & cell remain.

    A group none of whose tests splits the remaining rows is forgotten, and no path needs more tests than rows
    less one, so that equal problems share a state.
    """
    group = instance.group[test]
    if budget < UNLIMITED:
        opened = group >= 0 and (mask >> np.uint64(group)) & np.uint64(1) != np.uint64(0)
        budget -= instance.group_units[test] if opened else instance.price_units[test]
    if group >= 0:
        mask |= np.uint64(1) << np.uint64(group)
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
def _open_groups(instance: Instance, bits: Any, cell: Any) -> Any:
    """Groups with a test that splits bits & cell."""
    mask = np.uint64(0)
    for j in range(instance.outcomes.size):
        if instance.group[j] < 0:
            continue
        bit = np.uint64(1) << np.uint64(instance.group[j])
        if mask & bit != np.uint64(0):
            continue
        seen = 0
        for b in range(instance.outcomes[j]):
            column = instance.cell_rows[instance.level_offset[b] + j]
            for w in range(bits.size):
                if bits[w] & cell[w] & column[w] != np.uint64(0):
                    seen += 1
                    break
        if seen > 1:
            mask |= bit
    return mask


@inner
def rows_value(instance: Instance, total: Any, bits: Any, cell: Any) -> Any:
    """Mass of bits & cell and the loss of stopping there."""
    width = instance.row_values.shape[1]
    for v in range(width):
        total[v] = 0.0
    if instance.packed:
        for t in range(instance.type_start.size - 1):
            count = np.uint64(0)
            for w in range(instance.type_start[t], instance.type_start[t + 1]):
                count += popcount(bits[w] & cell[w])
            for v in range(width):
                total[v] += np.float64(count) * instance.type_values[t, v]
    else:
        for r in range(instance.bits):
            w = r >> 6
            if (bits[w] & cell[w]) >> np.uint64(r & 63) & np.uint64(1) != np.uint64(0):
                for v in range(width):
                    value = instance.row_values[r, v]
                    if instance.match and v == 2:
                        total[v] = max(total[v], value)
                    else:
                        total[v] += value
    if instance.match:
        return total[0], total[1] - total[2]
    least = total[1]
    for v in range(2, width):
        least = min(least, total[v])
    return total[0], least


@inner
def add_node(instance: Instance, memo: Memo, bits: Any, cell: Any, key: Any, mask: Any, depth: int, budget: int) -> Any:
    """Store the state with rows bits & cell (room is the caller's business); returns its node."""
    node = memo.size[NODES]
    memo.size[NODES] += 1
    for w in range(bits.size):
        memo.bits[node, w] = bits[w] & cell[w]
    memo.key[node] = key
    memo.mask[node] = mask
    memo.depth[node] = depth
    memo.budget[node] = budget
    memo.mass[node], memo.stop[node] = rows_value(instance, memo.sums, bits, cell)
    memo.lower[node] = 0.0
    memo.upper[node] = memo.stop[node]
    memo.best[node] = STOP
    memo.expanded[node] = False
    memo.beam[node] = 0
    memo.move_count[node] = 0
    _enter(memo, node)
    return node


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
    return child if child >= 0 else add_node(instance, memo, bits, cell, key, mask, depth, budget)


@inner
def nothing_left(bits: Any, cell: Any) -> Any:
    """Whether bits & cell is empty."""
    seen = np.uint64(0)
    for w in range(bits.size):
        seen |= bits[w] & cell[w]
    return seen == np.uint64(0)


@kernel
def add_root(instance: Instance, memo: Memo, depth: int, budget: int) -> Any:
    """Store the state whose rows Python wrote to the first free place of `bits`; returns its node."""
    bits, nothing = memo.bits[memo.size[NODES]], np.uint64(0)
    key = key_of(instance, bits, bits, nothing, depth, budget)
    return add_node(instance, memo, bits, bits, key, nothing, depth, budget)
