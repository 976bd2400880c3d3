"""The memo of the search: states (rows, open groups, tests left, budget left) with bounds and surviving moves.

Three pools grow on their own: nodes (one for each state), moves (the tests that may still be best at an expanded state,
contiguous for each) and children (the outcomes of a move that some row has, contiguous for each).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proband.bundle import Bundle
from proband.vocabulary import FloatArray, IntArray

STOP = -1
UNKNOWN = -2
NODES, MOVES, CHILDREN, EXPANSIONS, WORK = 0, 1, 2, 3, 4


@dataclass(frozen=True, eq=False)
class Memo(Bundle):
    """Growable arrays: of nodes, then of moves (``move_``) and of children (``child_``)."""

    size: IntArray  # nodes, moves and children in use, the expansions made, and the work done (see work_kernel)
    sums: FloatArray  # room for the sums of a value vector
    table: NDArray[np.int32]  # node in each slot of the hash table, -1: free; at least four times as many as nodes
    bits: NDArray[np.uint64]  # the rows of the state
    key: NDArray[np.uint64]
    mask: NDArray[np.uint64]  # its open groups
    depth: IntArray  # tests left
    budget: IntArray  # units left
    mass: FloatArray  # of its rows
    stop: FloatArray  # their loss when stopping
    lower: FloatArray  # bounds on its least loss, lower <= J <= upper at any time
    upper: FloatArray
    best: NDArray[np.int32]  # test of the plan that attains `upper`, or STOP; UNKNOWN if a parent's expansion found it
    expanded: NDArray[np.bool_]  # are its moves stored
    beam: NDArray[np.int32]  # the widest beam that went through it
    move_start: IntArray
    move_count: NDArray[np.int32]
    move_test: NDArray[np.int32]
    move_price: FloatArray  # price times mass, and the penalty of the node
    move_child: IntArray  # the first child
    move_children: NDArray[np.int32]  # how many
    child_node: NDArray[np.int32]  # -1: not linked yet
    child_outcome: NDArray[np.int16]
    child_lower: FloatArray  # bounds from the expansion
    child_upper: FloatArray


_POOLS = {"move_test": 1, "move_price": 1, "move_child": 1, "move_children": 1}
_POOLS |= {"child_node": 2, "child_outcome": 2, "child_lower": 2, "child_upper": 2}
_GROWING = [field.name for field in fields(Memo) if field.name not in ("size", "sums", "table")]


def new_memo(words: int, width: int, rooms: tuple[int, int, int] = (1 << 12, 1 << 15, 1 << 16)) -> Memo:
    """Make an empty memo for sets of rows of `words` words and value vectors of `width` numbers."""
    shapes: dict[str, Any] = {name: rooms[_POOLS.get(name, 0)] for name in _GROWING}
    memo = Memo.zeros(**{**shapes, "bits": (rooms[0], words)}, size=5, sums=width, table=4 * rooms[0])
    memo.table.fill(-1)
    return memo


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
    longer: dict[str, Any] = {}
    for name in _GROWING:
        pool, array = _POOLS.get(name, 0), getattr(memo, name)
        if wanted[pool] > capacity[pool]:
            longer[name] = np.zeros((wanted[pool], *array.shape[1:]), dtype=array.dtype)
            longer[name][: used[pool]] = array[: used[pool]]
    if wanted[0] > capacity[0]:
        longer["table"] = np.full(4 * (1 << (wanted[0] - 1).bit_length()), -1, dtype=np.int32)
    return replace(memo, **longer)
