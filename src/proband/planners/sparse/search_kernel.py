r"""Best-first search over states, run depth first with limits and an explicit stack.

A visit to state S with a limit raises the lower bound of J(S) until it reaches the limit or meets the upper
bound. It always works on the test with the least lower bound :math:`L_i`, and hands its child a limit at which
:math:`L_i` overtakes the second best test (plus a little slack, so that the search does not jump back and forth),
but never more than half the child's gap: its sibling may be easier to raise.
Every state keeps its surviving tests, so a later visit goes on where the last one stopped, and every bound in the
memo is valid at any time. Where nothing limits the number of tests, *superadditivity*
:math:`J(S) \ge \sum_b J(S_{ib})` (being told the outcome of i for free can only help) adds to the bounds; with a
penalty of nodes it is :math:`J(S) \ge \max_b J(S_{ib})`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import inner, kernel
from proband.planners.sparse.expand_kernel import expand, free_bound, told_for_free
from proband.planners.sparse.instance import UNLIMITED, Instance, Number
from proband.planners.sparse.memo import CHILDREN, MOVES, NODES, UNKNOWN, WORK, Memo
from proband.planners.sparse.memo_kernel import find, key_of, make_child
from proband.planners.sparse.scratch import DONE, FULL, PAUSED, Scratch, Stack
from proband.planners.sparse.work_kernel import MOVE, STEP, charge


@inner
def _move_bounds(instance: Instance, memo: Memo, move: int) -> Any:
    """Sums of the children's bounds (of their states, or else as the expansion left them), and their `free_bound`."""
    low, high, told = 0.0, 0.0, 0.0
    for child in range(memo.move_child[move], memo.move_child[move] + memo.move_children[move]):
        target = memo.child_node[child]
        least = memo.lower[target] if target >= 0 else memo.child_lower[child]
        low += least
        told = free_bound(instance, told, least)
        high += memo.upper[target] if target >= 0 else memo.child_upper[child]
    return low, high, told


@inner
def _swap_moves(memo: Memo, one: int, two: int) -> None:
    memo.move_test[one], memo.move_test[two] = memo.move_test[two], memo.move_test[one]
    memo.move_price[one], memo.move_price[two] = memo.move_price[two], memo.move_price[one]
    memo.move_child[one], memo.move_child[two] = memo.move_child[two], memo.move_child[one]
    memo.move_children[one], memo.move_children[two] = memo.move_children[two], memo.move_children[one]


@inner
def _refresh(instance: Instance, memo: Memo, node: int) -> Any:
    """Recompute a node's bounds from its moves, dropping moves that cannot improve.

    Returns the most promising move, its lower bound and the lower bound of the next one.
    """
    start, count, k = memo.move_start[node], memo.move_count[node], 0
    best, first, second, first_upper, told = -1, np.inf, np.inf, np.inf, 0.0
    while k < count:
        move = start + k
        low, high, known = _move_bounds(instance, memo, move)
        told = max(told, known)
        low += memo.move_price[move]
        high += memo.move_price[move]
        if high < memo.upper[node]:
            memo.upper[node] = high
            memo.best[node] = memo.move_test[move]
        if low >= memo.upper[node] - instance.tolerance:  # never again: lower bounds rise, the upper bound falls
            count -= 1
            _swap_moves(memo, move, start + count)
            continue
        if low < first or (low == first and high < first_upper):
            best, second, first, first_upper = move, first, low, high
        elif low < second:
            second = low
        k += 1
    memo.move_count[node] = count
    if not told_for_free(instance, memo, node):
        told = 0.0
    memo.lower[node] = min(memo.upper[node], max(memo.lower[node], told, first))
    return best, first, second


@inner
def _settled(instance: Instance, memo: Memo, node: Number, limit: float) -> Any:
    """Whether the node's lower bound reaches the limit or its upper bound (then both are made equal)."""
    if memo.lower[node] >= memo.upper[node] - instance.tolerance:
        memo.lower[node] = memo.upper[node]
        return True
    return memo.lower[node] >= limit - instance.tolerance


@inner
def _borrow_bounds(instance: Instance, memo: Memo, node: int) -> None:
    """A bound proved with one more test left is a bound with fewer left."""
    bits, mask, depth, budget = memo.bits[node], memo.mask[node], memo.depth[node] + 1, memo.budget[node]
    richer = find(memo, key_of(instance, bits, bits, mask, depth, budget), bits, bits, mask, depth, budget)
    if richer >= 0:
        memo.lower[node] = max(memo.lower[node], memo.lower[richer])


@inner
def _link(instance: Instance, memo: Memo, node: int, move: int, child: int) -> None:
    """Link the child of a move to a state of the memo, adding the state when it is new."""
    known = memo.size[NODES]
    target = make_child(instance, memo, node, np.int64(memo.move_test[move]), np.int64(memo.child_outcome[child]))
    if target == known and memo.depth[target] < UNLIMITED:
        _borrow_bounds(instance, memo, target)
    memo.child_node[child] = target
    memo.lower[target] = max(memo.lower[target], memo.child_lower[child])
    # A far smaller tolerance than that of bounds: rounding must not make a plan that is known unknown.
    if memo.child_upper[child] < memo.upper[target] - 1e-3 * instance.tolerance:
        memo.upper[target] = memo.child_upper[child]
        memo.best[target] = UNKNOWN
    memo.lower[target] = min(memo.lower[target], memo.upper[target])


@inner
def _choose_child(instance: Instance, memo: Memo, move: int) -> Any:
    """The open child with the widest gap, those never expanded first, or -1; and the move's lower bound."""
    best, score, low = np.int64(-1), -1.0, memo.move_price[move]
    for child in range(memo.move_child[move], memo.move_child[move] + memo.move_children[move]):
        target = np.int64(memo.child_node[child])
        gap = memo.upper[target] - memo.lower[target]
        if not _settled(instance, memo, target, np.inf):
            merit = gap if memo.expanded[target] else 1e3 * gap
            if merit > score:
                best, score = target, merit
        low += memo.lower[target]
    return best, low


@inner(inline=True)
def _descend(instance: Instance, memo: Memo, stack: Stack, slack: float) -> Any:
    """Work on the expanded state on top of the stack: pop it, or put a child on it.

    Returns a child that is to be expanded instead, or -1, and the limit of its lower bound.
    """
    top = stack.height[0] - 1
    node, limit = stack.node[top], stack.limit[top]
    move, first, second = _refresh(instance, memo, node)
    if _settled(instance, memo, node, limit):
        stack.height[0] -= 1
        return np.int64(-1), 0.0
    # At a root a visit overshoots the second best test by less.
    share = slack if top > 0 else 0.25 * slack
    step = share * (memo.upper[node] - first) + 2.0 * instance.tolerance
    until = min(limit, max(second, first + step))
    for child in range(memo.move_child[move], memo.move_child[move] + memo.move_children[move]):
        if memo.child_node[child] < 0:
            _link(instance, memo, node, move, child)
    target, low = _choose_child(instance, memo, move)
    if target < 0 or low >= until - instance.tolerance:
        return np.int64(-1), 0.0
    if not memo.expanded[target]:
        return target, memo.lower[target] + (until - low)
    # Half the gap at most: a sibling may be easier to raise. A little at least: rounding must not stop the search.
    rise = min(until - low, 0.5 * (memo.upper[target] - memo.lower[target]))
    stack.node[top + 1] = target
    stack.limit[top + 1] = memo.lower[target] + max(rise, 2.0 * instance.tolerance)
    stack.height[0] += 1
    return np.int64(-1), 0.0


@inner
def _is_full(instance: Instance, memo: Memo) -> Any:
    """Whether a pool may be too short for one more expansion or the children of one more move."""
    columns = instance.cells.shape[1]
    short = memo.key.size - memo.size[NODES] < columns or memo.child_node.size - memo.size[CHILDREN] < columns
    return short or memo.move_test.size - memo.size[MOVES] < instance.outcomes.size


@kernel
def search_slice(
    instance: Instance, memo: Memo, scratch: Scratch, stack: Stack, until: int, states: int, slack: float
) -> Any:
    """Run until the stack is empty (DONE), room is short (FULL), or so much work is done or so many states are held.

    Where a slice ends (PAUSED) is of no consequence: the next one goes on as if there had been none.
    """
    while stack.height[0] > 0:
        node, limit = stack.node[stack.height[0] - 1], stack.limit[stack.height[0] - 1]
        if memo.size[WORK] >= until or memo.size[NODES] > states:
            return PAUSED
        if _is_full(instance, memo):
            return FULL
        if _settled(instance, memo, node, limit):
            stack.height[0] -= 1
            continue
        if memo.expanded[node]:
            charge(memo, STEP + MOVE * memo.move_count[node])
            node, limit = _descend(instance, memo, stack, slack)
            if node < 0:
                continue
        expand(instance, memo, scratch, node, limit)
    return DONE


@kernel
def refresh_stack(instance: Instance, memo: Memo, stack: Stack) -> None:
    """Carry what is known of open states down to the bottom of the stack."""
    for k in range(stack.height[0] - 1, -1, -1):
        if memo.expanded[stack.node[k]]:
            _refresh(instance, memo, stack.node[k])
