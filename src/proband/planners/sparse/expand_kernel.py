"""The expansion of a state: two-level bounds of all its tests, and the moves that may still be best."""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import inner
from proband.planners.sparse.instance import UNLIMITED, Instance
from proband.planners.sparse.margins_kernel import survey
from proband.planners.sparse.memo import CHILDREN, EXPANSIONS, MOVES, Memo
from proband.planners.sparse.memo_kernel import child_state, find, limits_key, stand_at
from proband.planners.sparse.pairs_kernel import pair_bounds
from proband.planners.sparse.scratch import Scratch
from proband.planners.sparse.slabs_kernel import compact
from proband.planners.sparse.work_kernel import charge, pairs_work, survey_work


@inner
def told_for_free(instance: Instance, memo: Memo, node: int) -> Any:
    """Whether J(S) >= sum of J(S_ib, as the memo knows it) holds for every test at this state.

    Not under limits, which the children's states have already paid from, nor where opening a group raises a price. With
    a penalty of nodes the sum is the largest of them (`free_bound`).
    """
    return memo.depth[node] >= UNLIMITED and memo.budget[node] >= UNLIMITED and not instance.dearer


@inner
def free_bound(instance: Instance, total: float, low: float) -> Any:
    """A lower bound of J(S), from those of the cells of one test: `total` so far, and the next one, `low`.

    The rows of a cell need no more than those of S, so J(S) is at least that of every cell. Their sum counts a node
    that serves several cells several times, so it is a bound only where nodes cost nothing.
    """
    return total + low if instance.penalty == 0.0 else max(total, low)


@inner
def _look_up_children(instance: Instance, memo: Memo, scratch: Scratch, node: int, chosen: int) -> Any:
    """Find the states of all cells in the memo; returns the superadditive lower bound they give."""
    bits = memo.bits[node]
    mask, depth, budget = memo.mask[node], memo.depth[node], memo.budget[node]
    # Without groups and limits children have their parent's, and the keys of their rows are there since the survey.
    plain = not instance.grouped and depth >= UNLIMITED and budget >= UNLIMITED
    limits = limits_key(mask, depth, budget)
    last, best = np.uint64(memo.table.size - 1), 0.0
    for a in range(chosen):
        test, total = scratch.active[a], 0.0
        for b in range(instance.outcomes[test]):
            k = scratch.level_offset[b] + a
            c = scratch.column[k]
            scratch.node[k] = -1
            if scratch.present[c] == np.uint64(0):
                continue
            cell = instance.cell_rows[c]
            if not plain:
                mask, depth, budget = child_state(
                    instance, bits, cell, test, memo.mask[node], memo.depth[node], memo.budget[node]
                )
                limits = limits_key(mask, depth, budget)
            key = scratch.key[c] ^ limits
            if memo.table[key & last] >= 0:
                child = find(memo, key, bits, cell, mask, depth, budget)
                scratch.node[k] = child
                total = free_bound(instance, total, memo.lower[child] if child >= 0 else 0.0)
        best = max(best, total)
    return best if told_for_free(instance, memo, node) else 0.0


@inner
def _merge_children(memo: Memo, scratch: Scratch) -> None:
    """Sharpen the two-level bounds of the cells by what the memo knows of them."""
    for k in range(scratch.level_offset[scratch.level_size.size]):
        child = scratch.node[k]
        if child >= 0:
            scratch.lower[k] = max(scratch.lower[k], memo.lower[child])
            scratch.upper[k] = min(scratch.upper[k], memo.upper[child])


@inner
def _price_moves(instance: Instance, memo: Memo, scratch: Scratch, node: int, chosen: int) -> Any:
    """Bounds of all moves: updates the node's upper bound, returns (superadditive bound, a free test or -1).

    A free test can only help where nothing limits the number of tests, so it is run at once.
    """
    free, told = -1, 0.0
    mass, upper, best = memo.mass[node], memo.upper[node], memo.best[node]
    for a in range(chosen):
        low, high, known = 0.0, 0.0, 0.0
        for b in range(instance.outcomes[scratch.active[a]]):
            k = scratch.level_offset[b] + a
            if scratch.present[scratch.column[k]] != np.uint64(0):
                low += scratch.lower[k]
                high += scratch.upper[k]
                known = free_bound(instance, known, scratch.lower[k])
        pay = scratch.price[a] * mass + instance.penalty
        if pay == 0.0 and free < 0:
            free = a
        told = max(told, known)
        scratch.sum_floor[a] = pay + low
        if pay + high < upper:
            upper = pay + high
            best = scratch.active[a]
    memo.upper[node], memo.best[node] = upper, best
    if not instance.dearer and memo.depth[node] >= UNLIMITED:
        return (told if memo.budget[node] >= UNLIMITED else 0.0), free
    return 0.0, -1


@inner
def _store_moves(instance: Instance, memo: Memo, scratch: Scratch, node: int, chosen: int, free: int) -> Any:
    """Keep the moves that may still improve on the node's upper bound; returns their least lower bound."""
    memo.move_start[node] = memo.size[MOVES]
    least = memo.upper[node]
    for a in range(chosen):
        if scratch.sum_floor[a] >= memo.upper[node] - instance.tolerance or (free >= 0 and a != free):
            continue
        least = min(least, scratch.sum_floor[a])
        test = scratch.active[a]
        move = memo.size[MOVES]
        memo.size[MOVES] += 1
        memo.move_test[move] = test
        memo.move_price[move] = scratch.price[a] * memo.mass[node] + instance.penalty
        memo.move_child[move] = memo.size[CHILDREN]
        for b in range(instance.outcomes[test]):
            k = scratch.level_offset[b] + a
            if scratch.present[scratch.column[k]] != np.uint64(0):
                child = memo.size[CHILDREN]
                memo.size[CHILDREN] += 1
                memo.child_node[child] = scratch.node[k]
                memo.child_outcome[child] = b
                memo.child_lower[child] = scratch.lower[k]
                memo.child_upper[child] = scratch.upper[k]
        memo.move_children[move] = memo.size[CHILDREN] - memo.move_child[move]
    memo.move_count[node] = memo.size[MOVES] - memo.move_start[node]
    return least


@inner(inline=True)
def expand(instance: Instance, memo: Memo, scratch: Scratch, node: int, limit: float) -> None:
    """Compute and store the moves of a node, unless what the memo knows already reaches the limit."""
    depth = memo.depth[node]
    stand_at(memo, scratch, node)
    chosen = survey(instance, scratch, memo.mask[node], memo.budget[node]) if depth > 0 else 0
    charge(memo, survey_work(instance, scratch))
    if chosen == 0:
        memo.expanded[node] = True
        memo.lower[node] = memo.upper[node]
        return
    compact(instance, scratch, chosen)
    known = 0.0
    if depth > 2:
        known = _look_up_children(instance, memo, scratch, node, chosen)
    else:  # with two tests left or fewer the pass over pairs is exact, whatever the memo knows
        for k in range(scratch.node.size):
            scratch.node[k] = -1
    if known > memo.lower[node]:
        memo.lower[node] = min(known, memo.upper[node])
        if known >= min(limit, memo.upper[node]) - instance.tolerance:
            return
    memo.size[EXPANSIONS] += 1
    charge(memo, pairs_work(instance, scratch, chosen))
    pair_bounds(instance, scratch, chosen, memo.mask[node], depth, memo.budget[node])
    _merge_children(memo, scratch)
    told, free = _price_moves(instance, memo, scratch, node, chosen)
    least = _store_moves(instance, memo, scratch, node, chosen, free)
    memo.lower[node] = min(memo.upper[node], max(memo.lower[node], least, told))
    memo.expanded[node] = True
