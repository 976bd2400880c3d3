"""Depth-first search below one node, compiled.

A node is settled as far as possible before it is split:

1. *Twins*: of tests that can be exchanged for each other in every set, the first ones are chosen.
2. *Persistency* (any size): a test that costs more than it brings given what is in, is in no best set of the node; one
   that brings more than it costs given everything else in or free, is in every one. The log-determinant is submodular,
   so no set between changes that. With groups the price of a test depends on the set, and its range decides.
3. *Bound*: the node is closed if its mixed bound (:mod:`proband.planners.subset.bound_kernel`) does not exceed the best
   value known.
4. *Probing*: a test is settled if the bound of one of its two sides does not exceed the best value known.
5. *Relaxation*: bound and probing once more with linx (:mod:`proband.planners.subset.relaxation_kernel`), at the first
   node always, below where it has helped often enough in nodes with about the same gap.

These are repeated until nothing changes. The test to split on is the one for which the smaller of the two drops is
largest. Every rule keeps each best set that beats the best value known, but for those that differ by twins. The search
ends when everything below the node is settled, when it has spent its nodes, or when its stack is full; what is left of
the stack are the open nodes, each with a valid bound.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from proband.compiling import inner, kernel
from proband.planners.subset.bound_kernel import (
    LEAST,
    POSSIBLE,
    NodeScratch,
    measure,
    measure_drops,
    opening_range,
    tighten,
)
from proband.planners.subset.node_kernel import (
    BOUND,
    INSIDE,
    LEFT,
    TAKEN,
    WHOLE,
    Levels,
    copy_up,
    leave_out,
    restore,
    settle,
    take_in,
)
from proband.planners.subset.objective import FREE, IN, OUT, Objective, States
from proband.planners.subset.relaxation_kernel import Relaxation, relax
from proband.vocabulary import FloatArray, IntArray

CLOSED, AGAIN = -1, -2
VALUE, CEILING, TOLERANCE = 0, 1, 2
"""Entries of `Best.figures`."""
NODES, RELAXED = 0, 1
"""Entries of `Best.counts`."""
CLASSES = 64
WORTH, TRIALS, FEWEST = 480, 16, 12
"""A relaxation must help in k of so many nodes with k free tests, after so many trials, and is not tried with fewer.

It takes in the order of k times as long as the mixed bound.
"""


class Best(NamedTuple):
    """The best set known: its states; value F, largest bound of a closed node, tolerance; nodes and relaxed nodes.

    And the habits of the search: how often a relaxation was tried, and has helped, by the size of the gap.
    """

    state: States
    figures: FloatArray
    counts: IntArray
    tried: IntArray
    helped: IntArray


def new_best(d: int, tolerance: float) -> Best:
    """Return a record that knows no set yet."""
    return Best(
        np.full(d, OUT, dtype=np.int8),
        np.array([-np.inf, -np.inf, tolerance]),
        np.zeros(2, dtype=np.int64),
        np.zeros(CLASSES, dtype=np.int64),
        np.zeros(CLASSES, dtype=np.int64),
    )


@inner
def offer(best: Best, value: float, state: States, free: np.int8) -> None:
    """Keep a set if it is the best so far: the tests in, and those free if `free` is IN."""
    if value > best.figures[VALUE]:
        best.figures[VALUE] = value
        for i in range(len(state)):
            best.state[i] = free if state[i] == FREE else state[i]


@inner
def offer_ends(objective: Objective, levels: Levels, top: int, scratch: NodeScratch, paid: float, best: Best) -> bool:
    """Offer the smallest and the largest set of a node where they have the right size; returns whether no other has."""
    left: int = levels.counts[top, LEFT]
    needed: int = objective.size - levels.counts[top, TAKEN]
    if objective.size < 0 or needed == 0:
        offer(best, levels.figures[top, INSIDE] - paid, levels.state[top], OUT)
    if objective.size < 0 or needed == left:
        openings = 0.0
        for g in range(objective.groups):
            if scratch.openings[POSSIBLE, g] > 0:
                openings += scratch.openings[LEAST, g]
        offer(best, levels.figures[top, WHOLE] - openings, levels.state[top], IN)
    if objective.size < 0:
        return left == 0
    return needed <= 0 or needed >= left


@inner
def mark_twins(objective: Objective, levels: Levels, top: int, mark: States) -> bool:
    """Mark tests after one that is out, and before one that is in, among their twins; returns whether there is one."""
    found = False
    state = levels.state[top]
    for i in range(levels.counts[top, LEFT]):
        before, after = objective.before[levels.tests[top, i]], objective.after[levels.tests[top, i]]
        mark[i] = FREE
        if before >= 0 and state[before] == OUT:
            mark[i] = OUT
        elif after >= 0 and state[after] == IN:
            mark[i] = IN
        found |= mark[i] != FREE
    return found


@inner
def mark_persistent(objective: Objective, levels: Levels, top: int, scratch: NodeScratch) -> bool:
    """Mark every test whose gain has one sign in all sets of the node; returns whether there is one."""
    found = False
    for i in range(levels.counts[top, LEFT]):
        least, most = opening_range(objective, scratch.openings, levels.tests[top, i])
        scratch.mark[i] = FREE
        if scratch.gain[i] - least < -objective.margin:
            scratch.mark[i] = OUT
        elif scratch.loss[i] + most < -objective.margin:
            scratch.mark[i] = IN
        found |= scratch.mark[i] != FREE
    return found


@inner
def probe(scratch: NodeScratch, k: int, gap: float) -> int:
    """Mark every test with a side whose bound drops by the gap; returns the position to split at, AGAIN or CLOSED."""
    score, split = -1.0, CLOSED
    for i in range(k):
        drop_in, drop_out = scratch.drop_in[i], scratch.drop_out[i]
        scratch.mark[i] = FREE
        if drop_in >= gap and drop_out >= gap:
            return CLOSED
        if drop_in >= gap or drop_out >= gap:
            scratch.mark[i] = OUT if drop_in >= gap else IN
            split = AGAIN
        elif split != AGAIN:
            merit = min(drop_in, drop_out) + 0.1 * max(drop_in, drop_out)  # the worse side decides
            if merit > score:
                score, split = merit, i
    return split


@inner
def close(levels: Levels, top: int, best: Best, bound: float) -> bool:
    """Lower the bound of a node; returns whether it is now as good as the best value."""
    levels.figures[top, BOUND] = min(bound, levels.figures[top, BOUND])
    if levels.figures[top, BOUND] > best.figures[VALUE] + best.figures[TOLERANCE]:
        return False
    best.figures[CEILING] = max(best.figures[CEILING], levels.figures[top, BOUND])
    return True


@inner(inline=True)
def probe_relaxed(
    objective: Objective, levels: Levels, top: int, scratch: NodeScratch, relaxation: Relaxation, best: Best,
    price: float, extra: float, gap: float, eager: bool,
) -> int:  # fmt: skip
    """Bound a node with the given gap by its relaxation where that promises to help; returns as `probe` does."""
    k = levels.counts[top, LEFT]
    # Gaps from 2^-12 to 16 fall into classes, four to a factor of 2: how often a relaxation helps depends on the gap.
    place = int(min(max(4.0 * math.log2(gap) + 48.0, 0.0), CLASSES - 1.0))
    if k < FEWEST or not (eager or best.tried[place] < TRIALS or best.helped[place] * WORTH > best.tried[place] * k):
        return 0
    enough = best.figures[VALUE] + best.figures[TOLERANCE] - extra
    bound = relax(objective, levels, top, scratch.openings, price, enough, eager, relaxation) + extra
    best.counts[RELAXED] += 1
    best.tried[place] += 1
    if not bound < np.inf:
        return 0
    if close(levels, top, best, bound):
        best.helped[place] += 1
        return CLOSED
    for i in range(k):
        scratch.drop_in[i] = max(-relaxation.gradient[i], 0.0)
        scratch.drop_out[i] = max(relaxation.gradient[i], 0.0)
    verdict = probe(scratch, k, bound - best.figures[VALUE])
    if verdict < 0:
        best.helped[place] += 1
    return verdict


@inner(inline=True)
def examine(
    objective: Objective, levels: Levels, top: int, scratch: NodeScratch, relaxation: Relaxation, best: Best,
    eager: bool,
) -> int:  # fmt: skip
    """Apply the rules until one closes the node (CLOSED) or marks tests (AGAIN); otherwise returns where to split."""
    if mark_twins(objective, levels, top, scratch.mark):
        return AGAIN
    at_least, paid = measure(objective, levels, top, scratch)
    if offer_ends(objective, levels, top, scratch, paid, best):
        return CLOSED
    if objective.size < 0 and mark_persistent(objective, levels, top, scratch):
        return AGAIN
    extra = objective.margin - at_least
    bound, price = tighten(objective, levels, top, scratch, best.figures[VALUE] + best.figures[TOLERANCE] - extra)
    bound += extra
    if close(levels, top, best, bound):
        return CLOSED
    gap = bound - best.figures[VALUE]
    measure_drops(objective, levels, top, scratch, bound, price)
    split = probe(scratch, levels.counts[top, LEFT], gap)
    if split < 0:
        return split
    verdict = probe_relaxed(objective, levels, top, scratch, relaxation, best, price, extra, gap, eager)
    return verdict if verdict < 0 else split


@kernel
def search(
    objective: Objective, levels: Levels, scratch: NodeScratch, relaxation: Relaxation, best: Best,
    state: States, bound: float, nodes: int,
) -> int:  # fmt: skip
    """Search below the node of these states for a number of nodes; returns how many open nodes are left on the stack.

    Everything a node needs is compiled into this one function: each level of calls would compile it once more.
    """
    restore(objective, levels, state, bound)
    height, eager = 1, True
    while height > 0 and nodes > 0 and height < len(levels.counts):
        top = height - 1
        nodes -= 1
        best.counts[NODES] += 1
        i = AGAIN
        while i == AGAIN:
            i = examine(objective, levels, top, scratch, relaxation, best, eager)
            if i == AGAIN:
                settle(objective, levels, top, scratch.mark)
        eager = False
        if i == CLOSED:
            height -= 1
            continue
        copy_up(levels, top)  # the side with the test in is searched first, that without it waits below
        take_in(objective, levels, top + 1, i)
        leave_out(objective, levels, top, i)
        height += 1
    return height
