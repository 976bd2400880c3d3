"""Better first tests: at each node, from the root down, some are tried by growing all that follows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import ZERO, inner, kernel
from proband.planners.rollout.arrays import Grove, Rows, Work
from proband.planners.rollout.growing_kernel import OFF, ON, enter, grow, mark, next_sibling, prune, settled
from proband.planners.rollout.margins_kernel import add_up, clear, survey


@inner
def _copy(target: Grove, source: Grove, root: Any) -> None:
    """Copy the subtree of a node with its rows; the node's parent stays."""
    for q in range(source.lo[root], source.hi[root]):
        target.order[q] = source.order[q]
    for p in range(root, next_sibling(source, root)):
        target.lo[p], target.hi[p], target.parent[p], target.outcome[p] = (
            source.lo[p], source.hi[p], source.parent[p], source.outcome[p],
        )  # fmt: skip
        target.pieces[p], target.test[p], target.telling[p], target.depth[p] = (
            source.pieces[p], source.test[p], source.telling[p], source.depth[p],
        )  # fmt: skip
        target.spent[p], target.price[p], target.mass[p], target.stop[p] = (
            source.spent[p], source.price[p], source.mass[p], source.stop[p],
        )  # fmt: skip
        target.column[p], target.most[p], target.value[p] = source.column[p], source.most[p], source.value[p]


@inner
def _copy_root(target: Grove, source: Grove, root: Any) -> None:
    """Copy a node with its rows, to grow another subtree there."""
    for q in range(source.lo[root], source.hi[root]):
        target.order[q] = source.order[q]
    target.lo[root], target.hi[root], target.parent[root] = source.lo[root], source.hi[root], source.parent[root]
    target.outcome[root], target.depth[root], target.spent[root] = (
        source.outcome[root], source.depth[root], source.spent[root],
    )  # fmt: skip
    target.mass[root], target.most[root] = source.mass[root], source.most[root]
    target.stop[root], target.column[root] = source.stop[root], source.column[root]
    target.value[root], target.test[root], target.pieces[root] = source.stop[root], -1, 0


@inner
def _candidates(rows: Rows, work: Work) -> Any:
    """List the most telling tests of the last survey, best first; returns how many there are."""
    for k in range(work.candidate.size):
        best = np.int64(-1)
        for j in range(rows.price.size):
            if work.score[j] > 0.0 and (best < 0 or work.score[j] > work.score[best]):
                best = np.int64(j)
        if best < 0:
            return np.int64(k)
        work.candidate[k], work.score[best] = best, -1.0
    return np.int64(work.candidate.size)


@inner
def _try_tests(rows: Rows, grove: Grove, other: Grove, work: Work, place: Any) -> None:
    """Try the most telling tests of a node as its first one, and keep the best of the trees."""
    mark(rows, grove, work, place, np.int64(-1), ON)
    base, known = work.base[0], grove.telling[place]
    clear(base)
    add_up(rows, grove, work, place, 1.0, base)
    survey(rows, grove, work, place, base)
    for k in range(_candidates(rows, work)):
        test = work.candidate[k]
        if test == known:  # the tree was grown by it
            continue
        for column in range(base.shape[0]):
            for cell in range(base.shape[1]):
                work.slab[0, column, cell] = base[column, cell]
        _copy_root(other, grove, place)
        grow(rows, other, work, place, test)
        if other.value[place] > grove.value[place] + rows.tolerance:
            _copy(grove, other, place)
    mark(rows, grove, work, place, np.int64(-1), OFF)


@inner
def _push(grove: Grove, work: Work, place: Any, height: Any) -> Any:
    """Let the children of a node wait, the first one on top; returns how many nodes wait."""
    child, top = place + 1, height + grove.pieces[place]
    for k in range(grove.pieces[place]):
        work.waiting[top - 1 - k] = child
        child = next_sibling(grove, child)
    return top


@inner
def _listed(grove: Grove, work: Work, begins: Any) -> Any:
    """List the nodes of all trees in `work.visited`, each before its children; returns their number."""
    count = ZERO
    for k in range(begins.size - 1):
        work.waiting[0] = 2 * begins[k]
        height = np.int64(1)
        while height > 0:
            place = work.waiting[height - 1]
            work.visited[count] = place
            count += 1
            height = _push(grove, work, place, height - 1)
    return count


@inner
def _improve(rows: Rows, grove: Grove, other: Grove, work: Work, root: Any) -> None:
    """Try other tests at every node of a tree, from its root down."""
    work.waiting[0] = root
    height = np.int64(1)
    while height > 0:
        place = work.waiting[height - 1]
        if not settled(rows, grove, place):
            _try_tests(rows, grove, other, work, place)
        height = _push(grove, work, place, height - 1)


@kernel
def grow_trees(rows: Rows, grove: Grove, other: Grove, work: Work, begins: Any) -> Any:
    """Grow a tree over the rows of each start (from one of `begins` to the next); returns the number of nodes.

    They are listed in `work.visited`, each before its children.
    """
    for j in range(rows.price.size):
        work.used[j] = 0 if rows.allowed[j] else 1
    for k in range(begins.size - 1):
        root = 2 * begins[k]
        grove.lo[root], grove.hi[root], grove.parent[root], grove.outcome[root] = begins[k], begins[k + 1], -1, 0
        grove.depth[root], grove.spent[root] = 0, 0.0
        enter(rows, grove, root)
        if not settled(rows, grove, root):
            grow(rows, grove, work, root, np.int64(-1))
            if work.candidate.size > 1:
                _improve(rows, grove, other, work, root)
    # What was improved below changes the values above.
    for k in range(_listed(grove, work, begins) - 1, -1, -1):
        prune(rows, grove, work.visited[k])
    return _listed(grove, work, begins)
