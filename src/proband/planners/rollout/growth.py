"""From checked arrays to trees: the kernels called, and what they wrote read off."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from proband.distributions import totals
from proband.planners.rollout.arrays import Rows, new_grove, new_work, numbered
from proband.planners.rollout.improving_kernel import grow_trees
from proband.planners.rollout.running_kernel import run_down
from proband.planners.sparse.arrays import Arrays
from proband.planners.sparse.trees import Trees
from proband.vocabulary import FloatArray, IntArray


class Growth:
    """The trees over the rows of each start set, grown with `width` tests tried at a node.

    Attributes
    ----------
    place : ndarray (nodes,)
        Place of each node in the grove, each before its children.
    """

    def __init__(self, arrays: Arrays, rows: Rows, width: int) -> None:
        if width < 1:
            raise ValueError(f"width is {width}; a tree is grown by 1 test at each node at least; give 1 or more")
        self.arrays, self.rows = arrays, rows
        here = np.flatnonzero(arrays.context >= 0)
        sizes = np.bincount(arrays.context[here], minlength=arrays.starts)
        self.begins = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self.grove, work = new_grove(here.size), new_work(rows, here.size, width)
        other = new_grove(here.size if width > 1 else 1)
        self.grove.order[:] = here[np.argsort(arrays.context[here], kind="stable")]
        count = grow_trees(rows, self.grove, other, work, self.begins)
        self.place = work.visited[:count]

    @cached_property
    def start(self) -> IntArray:
        """Start set of each node."""
        return np.searchsorted(2 * self.begins, self.place, side="right") - 1

    @cached_property
    def test(self) -> IntArray:
        """Test of each node, -1 to stop."""
        return self.grove.test[self.place]

    @property
    def values(self) -> FloatArray:
        """Value of each start set, without the penalty of nodes."""
        grove, place = self.grove, self.place
        earned = np.where(self.test < 0, grove.stop[place], -grove.price[place] * grove.mass[place])
        return totals(self.start, earned, self.arrays.starts)

    @property
    def bounds(self) -> FloatArray:
        """What no policy of a start set exceeds: it stops, or pays for one test at least."""
        grove, root = self.grove, 2 * self.begins[:-1]
        tested = grove.most[root] - self.rows.least * grove.mass[root]
        return np.maximum(grove.stop[root], -np.inf if self.rows.max_tests == 0 else tested)

    @property
    def nodes(self) -> IntArray:
        """Test nodes of each start set."""
        return np.bincount(self.start[self.test >= 0], minlength=self.arrays.starts).astype(np.int64)

    @property
    def usage(self) -> FloatArray:
        """Mass of the rows that run each test, shape (m,)."""
        runs = self.test >= 0
        return totals(self.test[runs], self.grove.mass[self.place[runs]], self.arrays.cost.size)

    def flat(self) -> dict[str, IntArray]:
        """The fields of `Trees`, and the column of each node."""
        grove, place, count = self.grove, self.place, self.place.size
        number = np.empty(grove.test.size, dtype=np.int64)
        number[place] = np.arange(count)
        below = np.flatnonzero(grove.parent[place] >= 0)
        children = np.full((count, int(np.diff(self.rows.offset).max(initial=1))), -1, dtype=np.int64)
        children[number[grove.parent[place[below]]], grove.outcome[place[below]]] = below
        return {
            "roots": number[2 * self.begins[:-1]],
            "node_test": self.test.copy(),
            "children": children,
            "node_column": grove.column[place],
        }


def run(trees: Trees, arrays: Arrays, weight: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Run rows down trees; returns the node where each ends (-1: in no start set), what it paid, and the usage."""
    rows, tests = arrays.codes.shape
    leaf, paid, usage = np.empty(rows, dtype=np.int64), np.empty(rows), np.zeros(tests)
    start = np.append(np.asarray(trees.roots, dtype=np.int64), -1)[arrays.context]
    prices = arrays.cost, arrays.group_cost, numbered(arrays.group)
    run_down(arrays.codes, start, trees.node_test, trees.children, *prices, weight, leaf, paid, usage)
    return leaf, paid, usage
