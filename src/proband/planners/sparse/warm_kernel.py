"""A tree that somebody already has, written into the memo: the search starts from its value and not from nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from proband.bundle import Bundle
from proband.compiling import ZERO, inner, kernel
from proband.planners.sparse.instance import UNLIMITED, Instance, Number
from proband.planners.sparse.margins_kernel import price_of, units_of
from proband.planners.sparse.memo import STOP, Memo
from proband.planners.sparse.memo_kernel import is_open, make_child, nothing_left
from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Seeds(Bundle):
    """Trees, children after their parents, and a list of the states that one of them comes through, parents first."""

    test: IntArray  # of each node of the trees (internal number), or STOP
    children: IntArray  # node after each outcome, -1: none
    state: IntArray  # of each entry of the list: node in the memo,
    place: IntArray  # node of the trees, -1: none
    parent: IntArray  # entry before, -1 at the root
    chosen: IntArray  # test that is run there, or STOP
    total: FloatArray  # its loss


@inner
def _next_place(seeds: Seeds, place: Number, b: Number) -> Any:
    return seeds.children[place, b] if b < seeds.children.shape[1] else np.int64(-1)


@inner(inline=True)
def _useful(instance: Instance, memo: Memo, seeds: Seeds, node: Number, place: Any) -> Any:
    """The first node of the tree from `place` on whose test does something for the rows of a state, or -1.

    A test that splits nothing is passed over: it costs and tells nothing, unless it may pay by opening its group.
    """
    while place >= 0 and seeds.test[place] != STOP:
        test, seen, only = seeds.test[place], 0, np.int64(0)
        for b in range(instance.outcomes[test]):
            if not nothing_left(memo.bits[node], instance.cell_rows[instance.level_offset[b] + test]):
                seen += 1
                only = np.int64(b)
        if seen > 1 or (instance.opener[test] and not is_open(instance.group[test], memo.mask[node])):
            return place
        place = _next_place(seeds, place, only)
    return np.int64(-1)


@inner(inline=True)
def _affordable(instance: Instance, memo: Memo, node: Number, test: Number) -> Any:
    """Whether the limits of a state allow a test."""
    left = memo.budget[node]
    return memo.depth[node] > 0 and (left >= UNLIMITED or units_of(instance, test, memo.mask[node]) <= left)


@inner(inline=True)
def _enter_children(instance: Instance, memo: Memo, seeds: Seeds, k: int, place: Number, count: Any) -> Any:
    """Append the states after the test of entry k; returns the length of the list."""
    node, test = seeds.state[k], seeds.test[place]
    for b in range(instance.outcomes[test]):
        if not nothing_left(memo.bits[node], instance.cell_rows[instance.level_offset[b] + test]):
            seeds.state[count] = make_child(instance, memo, node, test, np.int64(b))
            seeds.place[count] = _next_place(seeds, place, np.int64(b))
            seeds.parent[count] = k
            count += 1
    return count


@kernel
def plant(instance: Instance, memo: Memo, seeds: Seeds, root: int, place: int) -> None:
    """Make the value of a tree the upper bound of a root, and those of its parts the bounds of their states.

    It stops where a limit forbids its test, where an outcome was not known to it, and where stopping is better. Room
    in the memo and in the list is the caller's business.
    """
    seeds.state[0], seeds.place[0], seeds.parent[0] = root, place, -1
    count, k = np.int64(1), ZERO
    while k < count:
        node, here = seeds.state[k], _useful(instance, memo, seeds, seeds.state[k], seeds.place[k])
        seeds.chosen[k] = STOP
        if here >= 0 and _affordable(instance, memo, node, seeds.test[here]):
            test = seeds.test[here]
            seeds.chosen[k] = test
            seeds.total[k] = price_of(instance, test, memo.mask[node]) * memo.mass[node] + instance.penalty
            count = _enter_children(instance, memo, seeds, k, here, count)
        k += 1
    for k in range(count - 1, -1, -1):
        node = seeds.state[k]
        if seeds.chosen[k] != STOP and seeds.total[k] < memo.upper[node] - 1e-3 * instance.tolerance:
            memo.upper[node] = seeds.total[k]
            memo.best[node] = seeds.chosen[k]
        if seeds.parent[k] >= 0:
            seeds.total[seeds.parent[k]] += memo.upper[node]
