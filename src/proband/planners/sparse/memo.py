"""The memo of the search: states (rows, open groups, tests left, budget left) with bounds and surviving moves.

Three pools grow on their own: nodes (one for each state), moves (the tests that may still be best at an expanded state,
contiguous for each) and children (the outcomes of a move that some row has, contiguous for each).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proband.planners.sparse.bundle import Bundle
from proband.vocabulary import FloatArray, IntArray

__all__ = [
    "CHILDREN",
    "EXPANSIONS",
    "MOVES",
    "NODES",
    "STOP",
    "UNKNOWN",
    "Memo",
    "lengthened",
    "memo_bytes",
    "new_memo",
]

STOP = -1
UNKNOWN = -2
NODES, MOVES, CHILDREN, EXPANSIONS = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class Memo(Bundle):
    """Growable arrays.

    Attributes
    ----------
    size : nodes, moves and children in use, and the expansions made
    sums : room for the sums of a value vector
    table : the node in each slot of the hash table, -1 where it is free; at least four times as many as nodes
    bits, key, mask, depth, budget : the state: rows, key, open groups, tests and budget left
    mass, stop : of its rows, and their loss when stopping
    lower, upper : bounds on its least loss, lower <= J <= upper at any time
    best : the test of the plan that attains `upper`, or `STOP`; `UNKNOWN` if a parent's expansion found it
    expanded, beam : are its moves stored; the widest beam that went through it
    move_start, move_count : its moves
    move_test, move_price, move_child, move_children : test, price times mass, first child and number of children
    child_node, child_outcome, child_lower, child_upper : node (-1: not linked yet), outcome, bounds from the expansion
    """

    size: IntArray
    sums: FloatArray
    table: NDArray[np.int32]
    bits: NDArray[np.uint64]
    key: NDArray[np.uint64]
    mask: NDArray[np.uint64]
    depth: IntArray
    budget: IntArray
    mass: FloatArray
    stop: FloatArray
    lower: FloatArray
    upper: FloatArray
    best: NDArray[np.int32]
    expanded: NDArray[np.bool_]
    beam: NDArray[np.int32]
    move_start: IntArray
    move_count: NDArray[np.int32]
    move_test: NDArray[np.int32]
    move_price: FloatArray
    move_child: IntArray
    move_children: NDArray[np.int32]
    child_node: NDArray[np.int32]
    child_outcome: NDArray[np.int16]
    child_lower: FloatArray
    child_upper: FloatArray


_FIXED = ("size", "sums", "table")
_SHORT = dict.fromkeys(("best", "beam", "move_count", "move_test", "move_children", "child_node"), np.int32)
_LONG = dict.fromkeys(("depth", "budget", "move_start", "move_child"), np.int64)
_OTHER = {"bits": np.uint64, "key": np.uint64, "mask": np.uint64, "expanded": np.bool_, "child_outcome": np.int16}
_TYPES: dict[str, Any] = {**_SHORT, **_LONG, **_OTHER}
_POOLS = {"move_test": 1, "move_price": 1, "move_child": 1, "move_children": 1}
_POOLS |= {"child_node": 2, "child_outcome": 2, "child_lower": 2, "child_upper": 2}
_GROWING = [field.name for field in fields(Memo) if field.name not in _FIXED]


def new_memo(words: int, width: int, rooms: tuple[int, int, int] = (1 << 12, 1 << 15, 1 << 16)) -> Memo:
    """Make an empty memo for sets of rows of `words` words and value vectors of `width` numbers."""
    arrays = {
        name: np.zeros(
            (rooms[0], words) if name == "bits" else rooms[_POOLS.get(name, 0)], _TYPES.get(name, np.float64)
        )
        for name in _GROWING
    }
    table = np.full(4 * rooms[0], -1, dtype=np.int32)
    return Memo(size=np.zeros(4, dtype=np.int64), sums=np.zeros(width), table=table, **arrays)


def memo_bytes(memo: Memo) -> int:
    """Bytes held by the memo."""
    return sum(getattr(memo, name).nbytes for name in ("size", "table", *_GROWING))


def lengthened(memo: Memo, room: tuple[int, int, int]) -> Memo:
    """Return a memo with at least `room` free nodes, moves and children (each pool doubles when short).

    More nodes come with a larger table, which is empty: fill it with `rehash`.
    """
    used = [int(number) for number in memo.size[:3]]
    capacity = (memo.key.size, memo.move_test.size, memo.child_node.size)
    wanted = [
        have if have - use >= need else max(2 * have, use + 2 * need)
        for have, use, need in zip(capacity, used, room, strict=True)
    ]
    arrays: dict[str, Any] = {name: getattr(memo, name) for name in (*_FIXED, *_GROWING)}
    for name in _GROWING:
        pool, array = _POOLS.get(name, 0), arrays[name]
        if wanted[pool] > capacity[pool]:
            arrays[name] = np.zeros((wanted[pool], *array.shape[1:]), dtype=array.dtype)
            arrays[name][: used[pool]] = array[: used[pool]]
    if wanted[0] > capacity[0]:
        arrays["table"] = np.full(4 * (1 << (wanted[0] - 1).bit_length()), -1, dtype=np.int32)
    return Memo(**arrays)
