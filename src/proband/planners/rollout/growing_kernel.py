"""A tree grown by information and pruned by price.

The sums of the largest child are those of its parent less those of its siblings, so that rows are added up for the
smaller children only. The largest child is grown last and takes over its parent's slab: a slab is kept only while a
child with at most half of the rows is grown.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import ZERO, inner
from proband.planners.rollout.arrays import Grove, Rows, Work
from proband.planners.rollout.margins_kernel import add_up, clear, price_of, subtract, survey

ON, OFF = np.int64(1), np.int64(-1)
"""Marks of tests that were run; plain numbers would have types of their own."""


@inner
def mark(rows: Rows, grove: Grove, work: Work, place: Any, root: Any, by: Any) -> None:
    """Mark the tests between a node and a root as run (ON), or take the marks off (OFF)."""
    while place != root and grove.parent[place] >= 0:
        place = grove.parent[place]
        test = grove.test[place]
        work.used[test] += by
        if rows.group[test] >= 0:
            work.open[rows.group[test]] += by


@inner
def enter(rows: Rows, grove: Grove, place: Any) -> None:
    """Add up what the rows of a new node bring, and let it stop."""
    mass, most, decisions = 0.0, 0.0, rows.stakes.shape[1]
    for q in range(grove.lo[place], grove.hi[place]):
        mass += rows.weight[grove.order[q]]
        most += rows.ceiling[grove.order[q]]
    best, column = -np.inf, np.int64(0)
    for a in range(decisions):
        worth = 0.0
        for q in range(grove.lo[place], grove.hi[place]):
            worth += rows.stakes[grove.order[q], a]
        if worth > best:
            best, column = worth, np.int64(a)
    grove.mass[place], grove.most[place], grove.stop[place], grove.column[place] = mass, most, best, column
    grove.value[place], grove.test[place], grove.telling[place], grove.pieces[place] = best, -1, -1, 0


@inner
def settled(rows: Rows, grove: Grove, place: Any) -> Any:
    """Whether no test can make a node worth more than it is: even if it told all, its price would be too high."""
    if grove.depth[place] >= rows.max_tests or grove.hi[place] - grove.lo[place] < 2:
        return True
    tests_cost = rows.least * grove.mass[place] + rows.penalty
    return grove.most[place] - grove.value[place] <= tests_cost + rows.tolerance


@inner
def next_sibling(grove: Grove, place: Any) -> Any:
    """Place of the child after this one."""
    return place + 2 * (grove.hi[place] - grove.lo[place]) - 1


@inner
def _sort(rows: Rows, grove: Grove, work: Work, place: Any, test: Any) -> Any:
    """Sort the rows of a node by the outcome of a test, if several occur; returns how many do.

    Rows keep their order within an outcome, so that sums are the same every time; `begin` tells where each one ends.
    """
    lo, hi, codes = grove.lo[place], grove.hi[place], rows.codes[test]
    outcomes = rows.offset[test + 1] - rows.offset[test]
    for b in range(outcomes + 1):
        work.begin[b] = 0
    for q in range(lo, hi):
        work.begin[codes[grove.order[q]] + 1] += 1
    pieces = ZERO
    for b in range(1, outcomes + 1):
        pieces += 1 if work.begin[b] > 0 else 0
        work.begin[b] += work.begin[b - 1]
    if pieces > 1:
        for q in range(lo, hi):
            b = codes[grove.order[q]]
            work.row[work.begin[b]] = grove.order[q]
            work.begin[b] += 1
        for q in range(lo, hi):
            grove.order[q] = work.row[q - lo]
    return pieces


@inner
def split(rows: Rows, grove: Grove, work: Work, place: Any, test: Any, price: float) -> Any:
    """Run a test at a node, and enter a child for each outcome that occurs, if several do; returns how many do."""
    pieces = _sort(rows, grove, work, place, test)
    if pieces < 2:
        return pieces
    child, lo = place + 1, grove.lo[place]
    end = lo
    for b in range(rows.offset[test + 1] - rows.offset[test]):
        start, end = end, lo + work.begin[b]
        if end > start:
            grove.lo[child], grove.hi[child], grove.parent[child], grove.outcome[child] = start, end, place, b
            grove.depth[child], grove.spent[child] = grove.depth[place] + 1, grove.spent[place] + price
            enter(rows, grove, child)
            child = next_sibling(grove, child)
    grove.test[place], grove.price[place], grove.pieces[place] = test, price, pieces
    return pieces


@inner
def _push_children(rows: Rows, grove: Grove, work: Work, place: Any, height: Any) -> Any:
    """Let the children that may go on wait, the largest at the bottom; returns the height of the stack."""
    child, largest = place + 1, place + 1
    for _ in range(grove.pieces[place]):
        if grove.hi[child] - grove.lo[child] > grove.hi[largest] - grove.lo[largest]:
            largest = child
        child = next_sibling(grove, child)
    inherits = not settled(rows, grove, largest)
    if inherits:
        work.level[largest], work.feeds[largest] = work.level[place], 0
        work.stack[height] = largest
        height += 1
    child = place + 1
    for _ in range(grove.pieces[place]):
        if child != largest and settled(rows, grove, child):
            if inherits:
                add_up(rows, grove, work, child, -1.0, work.slab[work.level[place]])
        elif child != largest:
            work.level[child], work.feeds[child] = work.level[place] + 1, 1 if inherits else 0
            work.stack[height] = child
            height += 1
        child = next_sibling(grove, child)
    return height


@inner
def _value_of_test(rows: Rows, grove: Grove, place: Any) -> Any:
    value, child = -grove.price[place] * grove.mass[place] - rows.penalty, place + 1
    for _ in range(grove.pieces[place]):
        value += grove.value[child]
        child = next_sibling(grove, child)
    return value


@inner
def prune(rows: Rows, grove: Grove, place: Any) -> None:
    """Give a node the value of its test, if that pays, and let it stop otherwise."""
    grove.value[place] = grove.stop[place]
    if grove.test[place] >= 0:
        value = _value_of_test(rows, grove, place)
        if value > grove.stop[place] + rows.tolerance:
            grove.value[place] = value
        else:
            grove.test[place], grove.pieces[place] = -1, 0


@inner
def _ready(rows: Rows, grove: Grove, work: Work, place: Any, root: Any) -> Any:
    """Return the sums of a node: its own, taken off those of its parent if a sibling inherits them, or inherited."""
    sums = work.slab[work.level[place]]
    if place != root and work.level[place] != work.level[grove.parent[place]]:
        clear(sums)
        add_up(rows, grove, work, place, 1.0, sums)
        if work.feeds[place] == 1:
            subtract(work.slab[work.level[place] - 1], sums)
    return sums


@inner
def _run_one(rows: Rows, grove: Grove, work: Work, place: Any, root: Any) -> None:
    """Run the best single test at a node, and decide."""
    mark(rows, grove, work, place, root, ON)
    price = price_of(rows, work, work.single[place])
    mark(rows, grove, work, place, root, OFF)
    if split(rows, grove, work, place, work.single[place], price) > 1:
        prune(rows, grove, place)


@inner
def grow(rows: Rows, grove: Grove, work: Work, root: Any, first: Any) -> None:
    """Grow the subtree of a node, with a given first test (its sums are in slab 0 then) or with the most telling one.

    The tests that were run before the node are marked by the caller.
    """
    work.stack[0], work.level[root] = root, 0
    height, count = np.int64(1), ZERO
    if first < 0:
        clear(work.slab[0])
        add_up(rows, grove, work, root, 1.0, work.slab[0])
    while height > 0:
        height -= 1
        place = work.stack[height]
        sums = _ready(rows, grove, work, place, root)
        mark(rows, grove, work, place, root, ON)
        test, work.single[place] = first, -1
        if place != root or first < 0:
            test = survey(rows, grove, work, place, sums)
        grove.telling[place] = test
        if test >= 0 and split(rows, grove, work, place, test, price_of(rows, work, test)) > 1:
            height = _push_children(rows, grove, work, place, height)
        work.visited[count] = place
        count += 1
        mark(rows, grove, work, place, root, OFF)
    for k in range(count - 1, -1, -1):
        place = work.visited[k]
        prune(rows, grove, place)
        if work.single[place] >= 0 and work.single_value[place] > grove.value[place] + rows.tolerance:
            _run_one(rows, grove, work, place, root)
