"""Reading the incumbent policy off the memo: one pass of compiled code over the states that it comes through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proband.bundle import Bundle
from proband.compiling import ZERO, inner, kernel
from proband.planners.sparse.instance import Instance, Number
from proband.planners.sparse.margins_kernel import price_of, stop_loss, survey
from proband.planners.sparse.memo import STOP, UNKNOWN, Memo
from proband.planners.sparse.memo_kernel import child_state, find, find_child, key_of, nothing_left
from proband.planners.sparse.scratch import Scratch
from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Walk(Bundle):
    """Nodes of a tree, numbered as they are visited, and the states that wait, each in a slot of its own."""

    test: IntArray  # of each node: test (internal number) or STOP,
    price: FloatArray  # its price there,
    children: IntArray  # and node after each outcome, -1: no row has it
    bits: NDArray[np.uint64]  # of each slot: rows,
    mask: NDArray[np.uint64]  # open groups,
    depth: IntArray  # tests left,
    budget: IntArray  # budget left,
    parent: IntArray  # node before, -1 at the root,
    outcome: IntArray  # and its outcome
    stack: IntArray  # slots that wait


def new_walk(instance: Instance, nodes: int) -> Walk:
    """Allocate room for a tree of so many nodes."""
    by_node = dict.fromkeys(("test", "price", "mask", "depth", "budget", "parent", "outcome", "stack"), nodes)
    return Walk.zeros(**by_node, children=(nodes, instance.level_size.size), bits=(nodes, instance.words))


@inner(inline=True)
def _one_level(instance: Instance, scratch: Scratch, mask: Any, budget: int) -> Any:
    """The best test if a decision must follow it, or STOP; and its loss."""
    chosen = survey(instance, scratch, mask, budget)
    best, least = np.int64(STOP), stop_loss(instance, scratch.total, np.int64(0))
    for a in range(chosen):
        test = scratch.active[a]
        loss = scratch.price[a] * scratch.total[0, 0] + instance.penalty
        for b in range(instance.outcomes[test]):
            c = instance.level_offset[b] + test
            if scratch.present[c] != np.uint64(0):
                loss += stop_loss(instance, scratch.margin, c)
        if loss < least:
            best, least = test, loss
    return best, least


@inner(inline=True)
def _best_test(instance: Instance, memo: Memo, scratch: Scratch, walk: Walk, slot: Number) -> Any:
    """The incumbent's test at the state in a slot, or STOP.

    What is stored may be a plan of a parent's expansion (UNKNOWN), or none: one test ahead is then as good or better.
    """
    bits, mask, depth, budget = walk.bits[slot], walk.mask[slot], walk.depth[slot], walk.budget[slot]
    if depth == 0:
        return np.int64(STOP)
    node = find(memo, key_of(instance, bits, bits, mask, depth, budget), bits, bits, mask, depth, budget)
    known = np.int64(UNKNOWN) if node < 0 else np.int64(memo.best[node])
    if known != UNKNOWN and memo.expanded[node]:
        return known
    for w in range(bits.size):
        scratch.here[w] = bits[w]
    test, loss = _one_level(instance, scratch, mask, budget)
    return known if known != UNKNOWN and memo.upper[node] <= loss else test


@inner(inline=True)
def _push_children(instance: Instance, walk: Walk, slot: Number, place: int, slots: Any, height: Any) -> Any:
    """Let the states after the test of a node wait, the first outcome on top; returns slots and height of the stack."""
    test = walk.test[place]
    for b in range(instance.outcomes[test] - 1, -1, -1):
        cell = instance.cell_rows[instance.level_offset[b] + test]
        if nothing_left(walk.bits[slot], cell):
            continue
        mask, depth, budget = walk.mask[slot], walk.depth[slot], walk.budget[slot]
        mask, depth, budget = child_state(instance, walk.bits[slot], cell, np.int64(test), mask, depth, budget)
        for w in range(cell.size):
            walk.bits[slots, w] = walk.bits[slot, w] & cell[w]
        walk.mask[slots], walk.depth[slots], walk.budget[slots] = mask, depth, budget
        walk.parent[slots], walk.outcome[slots] = place, b
        walk.stack[height] = slots
        slots += 1
        height += 1
    return slots, height


@kernel
def count_nodes(instance: Instance, memo: Memo, walk: Walk, root: int) -> Any:
    """About how many nodes the tree from a root on has: those that are stored, and a test where one is not."""
    walk.stack[0] = root
    count, height = np.int64(0), np.int64(1)
    while height > 0:
        height -= 1
        node = walk.stack[height]
        test = np.int64(memo.best[node])
        count += 3 if test == UNKNOWN else 1
        for b in range(instance.outcomes[test] if test >= 0 else 0):
            if height < walk.stack.size:
                walk.stack[height] = find_child(instance, memo, node, test, np.int64(b))
                height += 1 if walk.stack[height] >= 0 else 0
    return count


@kernel
def read_tree(instance: Instance, memo: Memo, scratch: Scratch, walk: Walk, depth: int, budget: int) -> Any:
    """Fill in the tree from the rows of slot 0 on; returns its nodes, -1 where there is no room for them."""
    walk.mask[0], walk.depth[0], walk.budget[0], walk.parent[0] = np.uint64(0), depth, budget, -1
    walk.stack[0] = 0
    place, slots, height = ZERO, np.int64(1), np.int64(1)
    while height > 0:
        if slots + walk.children.shape[1] > walk.test.size:
            return np.int64(-1)
        height -= 1
        slot = walk.stack[height]
        if walk.parent[slot] >= 0:
            walk.children[walk.parent[slot], walk.outcome[slot]] = place
        for b in range(walk.children.shape[1]):
            walk.children[place, b] = -1
        test = _best_test(instance, memo, scratch, walk, slot)
        walk.test[place] = test
        if test != STOP:
            walk.price[place] = price_of(instance, test, walk.mask[slot])
            slots, height = _push_children(instance, walk, slot, place, slots, height)
        place += 1
    return place
