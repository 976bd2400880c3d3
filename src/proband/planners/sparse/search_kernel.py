r"""Best-first search over states, run depth first with limits and an explicit stack.

A visit to state S with a limit raises the lower bound of J(S) until it reaches the limit or meets the upper
bound. It always works on the test with the least lower bound :math:`L_i`, and hands its child a limit at which
:math:`L_i` overtakes the second best test (plus a little slack, so that the search does not jump back and forth),
but never more than half the child's gap: its sibling may be easier to raise.
Every state keeps its surviving tests, so a later visit goes on where the last one stopped, and every bound in the
memo is valid at any time. Where nothing limits the number of tests, *superadditivity*
:math:`J(S) \ge \sum_b J(S_{ib})` (being told the outcome of i for free can only help) adds to the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from proband.compiling import inner, kernel
from proband.planners.sparse.bundle import Bundle
from proband.planners.sparse.instance import UNLIMITED, Instance, Number
from proband.planners.sparse.margins_kernel import margins, select_tests
from proband.planners.sparse.memo_kernel import (
    CHILDREN,
    EXPANSIONS,
    MOVES,
    NODES,
    UNKNOWN,
    Memo,
    child_state,
    find,
    key_of,
    limits_key,
    make_child,
)
from proband.planners.sparse.pairs_kernel import pair_bounds
from proband.planners.sparse.scratch import Scratch
from proband.planners.sparse.slabs_kernel import compact
from proband.vocabulary import FloatArray, IntArray

__all__ = ["DONE", "FULL", "PAUSED", "refresh_stack", "search_slice"]

DONE, PAUSED, FULL = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Stack(Bundle):
    """Open states from a root down, and the limit up to which each is to be raised."""

    height: IntArray
    node: IntArray
    limit: FloatArray


def new_stack(tests: int) -> Stack:
    """Allocate a stack; no path is longer than twice the tests."""
    most = 2 * tests + 8
    return Stack(np.zeros(1, dtype=np.int64), np.zeros(most, dtype=np.int64), np.zeros(most))


@inner
def _told_for_free(instance: Instance, memo: Memo, node: int) -> Any:
    """Whether J(S) >= sum of J(S_ib, as the memo knows it) holds for every test at this state."""
    return memo.depth[node] >= UNLIMITED and memo.budget[node] >= UNLIMITED and not instance.penalised


@inner
def _look_up_children(instance: Instance, memo: Memo, scratch: Scratch, node: int, chosen: int) -> Any:
    """Find the states of all cells in the memo; returns the superadditive lower bound they give."""
    bits = memo.bits[node]
    mask, depth, budget = memo.mask[node], memo.depth[node], memo.budget[node]
    plain = not instance.grouped and depth >= UNLIMITED and budget >= UNLIMITED
    limits = limits_key(mask, depth, budget)
    last = np.uint64(memo.table.size - 1)
    table = memo.table
    best = 0.0
    for a in range(chosen):
        test = scratch.active[a]
        total = 0.0
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
            if table[key & last] < 0:
                continue
            child = find(memo, key, bits, cell, mask, depth, budget)
            scratch.node[k] = child
            if child >= 0:
                total += memo.lower[child]
        best = max(best, total)
    return best if _told_for_free(instance, memo, node) else 0.0


@inner
def _merge_children(memo: Memo, scratch: Scratch, columns: int) -> None:
    """Sharpen the two-level bounds of the cells by what the memo knows of them."""
    for k in range(columns):
        child = scratch.node[k]
        if child >= 0:
            scratch.lower[k] = max(scratch.lower[k], memo.lower[child])
            scratch.upper[k] = min(scratch.upper[k], memo.upper[child])


@inner
def _price_moves(instance: Instance, memo: Memo, scratch: Scratch, node: int, chosen: int) -> Any:
    """Bounds of all moves: updates the node's upper bound, returns (superadditive bound, a free test or -1)."""
    free, told = -1, 0.0
    mass, upper, best = memo.mass[node], memo.upper[node], memo.best[node]
    present, column, offset = scratch.present, scratch.column, scratch.level_offset
    lower_of, upper_of = scratch.lower, scratch.upper
    for a in range(chosen):
        low, high = 0.0, 0.0
        for b in range(instance.outcomes[scratch.active[a]]):
            k = offset[b] + a
            if present[column[k]] != np.uint64(0):
                low += lower_of[k]
                high += upper_of[k]
        price = scratch.price[a]
        if price == 0.0 and free < 0:
            free = a
        told = max(told, low)
        scratch.sum_floor[a] = price * mass + low
        if price * mass + high < upper:
            upper = price * mass + high
            best = scratch.active[a]
    memo.upper[node], memo.best[node] = upper, best
    if not instance.penalised and memo.depth[node] >= UNLIMITED:
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
        memo.move_price[move] = scratch.price[a] * memo.mass[node]
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
    bits = memo.bits[node]
    depth = memo.depth[node]
    margins(instance, scratch, bits)
    chosen = select_tests(instance, scratch, bits, memo.mask[node], memo.budget[node]) if depth > 0 else 0
    if chosen == 0:
        memo.expanded[node] = True
        memo.lower[node] = memo.upper[node]
        return
    compact(instance, scratch, bits, chosen)
    known = 0.0
    if depth > 2:
        known = _look_up_children(instance, memo, scratch, node, chosen)
    else:
        for k in range(scratch.node.size):
            scratch.node[k] = -1
    if known > memo.lower[node]:
        memo.lower[node] = min(known, memo.upper[node])
        if known >= min(limit, memo.upper[node]) - instance.tolerance:
            return
    memo.size[EXPANSIONS] += 1
    columns = pair_bounds(instance, scratch, bits, chosen, memo.mask[node], depth, memo.budget[node])
    _merge_children(memo, scratch, columns)
    told, free = _price_moves(instance, memo, scratch, node, chosen)
    least = _store_moves(instance, memo, scratch, node, chosen, free)
    memo.lower[node] = min(memo.upper[node], max(memo.lower[node], max(least, told)))
    memo.expanded[node] = True


@inner
def refresh(instance: Instance, memo: Memo, node: int) -> Any:
    """Recompute a node's bounds from its moves, dropping moves that cannot improve.

    Returns the most promising move, its lower bound and the lower bound of the next one.
    """
    start = memo.move_start[node]
    count = memo.move_count[node]
    best, first, second, first_upper = -1, np.inf, np.inf, np.inf
    told = 0.0
    k = 0
    while k < count:
        move = start + k
        low, high = 0.0, 0.0
        for child in range(memo.move_child[move], memo.move_child[move] + memo.move_children[move]):
            target = memo.child_node[child]
            if target >= 0:
                low += memo.lower[target]
                high += memo.upper[target]
            else:
                low += memo.child_lower[child]
                high += memo.child_upper[child]
        told = max(told, low)
        low += memo.move_price[move]
        high += memo.move_price[move]
        if high < memo.upper[node]:
            memo.upper[node] = high
            memo.best[node] = memo.move_test[move]
        if low >= memo.upper[node] - instance.tolerance:
            count -= 1
            _swap_moves(memo, move, start + count)
            continue
        if low < first or (low == first and high < first_upper):
            best, second, first, first_upper = move, first, low, high
        elif low < second:
            second = low
        k += 1
    memo.move_count[node] = count
    if not _told_for_free(instance, memo, node):
        told = 0.0
    memo.lower[node] = min(memo.upper[node], max(memo.lower[node], max(told, first)))
    return best, first, second


@inner
def _swap_moves(memo: Memo, one: int, two: int) -> None:
    memo.move_test[one], memo.move_test[two] = memo.move_test[two], memo.move_test[one]
    memo.move_price[one], memo.move_price[two] = memo.move_price[two], memo.move_price[one]
    memo.move_child[one], memo.move_child[two] = memo.move_child[two], memo.move_child[one]
    memo.move_children[one], memo.move_children[two] = memo.move_children[two], memo.move_children[one]


@inner
def ensure_child(instance: Instance, memo: Memo, node: int, move: int, child: int) -> None:
    """Link the child of a move to a state of the memo, adding the state when it is new."""
    known = memo.size[NODES]
    target = make_child(instance, memo, node, np.int64(memo.move_test[move]), np.int64(memo.child_outcome[child]))
    if target == known and memo.depth[target] < UNLIMITED:
        _borrow_bounds(instance, memo, target)
    memo.child_node[child] = target
    memo.lower[target] = max(memo.lower[target], memo.child_lower[child])
    if memo.child_upper[child] < memo.upper[target] - 1e-3 * instance.tolerance:
        memo.upper[target] = memo.child_upper[child]
        memo.best[target] = UNKNOWN
    memo.lower[target] = min(memo.lower[target], memo.upper[target])


@inner
def _borrow_bounds(instance: Instance, memo: Memo, node: int) -> None:
    """A bound proved with one more test left is a bound with fewer left."""
    bits = memo.bits[node]
    depth = memo.depth[node] + 1
    key = key_of(instance, bits, bits, memo.mask[node], depth, memo.budget[node])
    richer = find(memo, key, bits, bits, memo.mask[node], depth, memo.budget[node])
    if richer >= 0:
        memo.lower[node] = max(memo.lower[node], memo.lower[richer])


@inner
def _choose_child(instance: Instance, memo: Memo, node: int, move: int) -> Any:
    """The open child to work on next, or -1; links all children of the move first."""
    best, score = np.int64(-1), -1.0
    for child in range(memo.move_child[move], memo.move_child[move] + memo.move_children[move]):
        if memo.child_node[child] < 0:
            ensure_child(instance, memo, node, move, child)
        target = np.int64(memo.child_node[child])
        gap = memo.upper[target] - memo.lower[target]
        if not _settled(instance, memo, target, np.inf):
            merit = gap if memo.expanded[target] else 1e3 * gap
            if merit > score:
                best, score = target, merit
    return best


@inner
def _settled(instance: Instance, memo: Memo, node: Number, limit: float) -> Any:
    """Whether the node's lower bound reaches the limit or its upper bound (then both are made equal)."""
    if memo.lower[node] >= memo.upper[node] - instance.tolerance:
        memo.lower[node] = memo.upper[node]
        return True
    return memo.lower[node] >= limit - instance.tolerance


@kernel
def search_slice(
    instance: Instance,
    memo: Memo,
    scratch: Scratch,
    stack: Stack,
    expansions: int,
    slack: float,
) -> Any:
    """Run until the stack is empty (DONE), `expansions` more nodes were expanded (PAUSED) or room is short (FULL)."""
    tests = instance.outcomes.size
    columns = instance.cells.shape[1]
    last = memo.size[EXPANSIONS] + expansions
    steps = 40 * expansions
    while stack.height[0] > 0:
        node = stack.node[stack.height[0] - 1]
        limit = stack.limit[stack.height[0] - 1]
        steps -= 1
        if memo.size[EXPANSIONS] >= last or steps < 0:
            return PAUSED
        if (
            memo.key.size - memo.size[NODES] < columns
            or memo.move_test.size - memo.size[MOVES] < tests
            or memo.child_node.size - memo.size[CHILDREN] < columns
        ):
            return FULL
        if _settled(instance, memo, node, limit):
            stack.height[0] -= 1
            continue
        work, aim = node, limit
        if memo.expanded[node]:
            move, first, second = refresh(instance, memo, node)
            if _settled(instance, memo, node, limit):
                stack.height[0] -= 1
                continue
            share = slack if stack.height[0] > 1 else 0.25 * slack
            step = share * (memo.upper[node] - first) + 2.0 * instance.tolerance
            until = min(limit, max(second, first + step))
            target = _choose_child(instance, memo, node, move)
            if target < 0:
                continue
            low = memo.move_price[move]
            for child in range(memo.move_child[move], memo.move_child[move] + memo.move_children[move]):
                low += memo.lower[memo.child_node[child]]
            if low >= until - instance.tolerance:
                continue
            if memo.expanded[target]:
                rise = min(until - low, 0.5 * (memo.upper[target] - memo.lower[target]))
                stack.node[stack.height[0]] = target
                stack.limit[stack.height[0]] = memo.lower[target] + max(rise, 2.0 * instance.tolerance)
                stack.height[0] += 1
                continue
            work, aim = target, memo.lower[target] + (until - low)
        expand(instance, memo, scratch, work, aim)
    return DONE


@kernel
def refresh_stack(instance: Instance, memo: Memo, stack: Stack) -> None:
    """Carry what is known of open states down to the bottom of the stack."""
    for k in range(stack.height[0] - 1, -1, -1):
        if memo.expanded[stack.node[k]]:
            refresh(instance, memo, stack.node[k])
