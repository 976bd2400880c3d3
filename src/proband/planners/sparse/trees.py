"""Trees over test columns, one for each start set: what a search returns, and what it may start from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proband.planners.sparse.arrays import Arrays
from proband.planners.sparse.instance import Compiled, Instance
from proband.planners.sparse.memo import STOP
from proband.planners.sparse.warm_kernel import Seeds
from proband.vocabulary import IntArray


@dataclass(frozen=True, kw_only=True)
class Trees:
    """A tree for each start set, as flat arrays; what to decide at its leaves follows from the rows.

    Attributes
    ----------
    roots : ndarray (start sets,)
        First node of each start set; -1 where there is no tree.
    node_test : ndarray (nodes,)
        Test run at a node, -1 to stop.
    children : ndarray (nodes, outcomes)
        Node that follows each outcome, -1 where none is known.

    Examples
    --------
    Test 0, and after its outcome 1 test 2:

    >>> import numpy as np
    >>> trees = Trees(roots=np.array([0]), node_test=np.array([0, 2]), children=np.array([[-1, 1], [-1, -1]]))
    """

    roots: IntArray
    node_test: IntArray
    children: IntArray


def check_trees(trees: Trees, arrays: Arrays) -> Trees:
    """Return the trees as contiguous arrays of integers, once they are trees and fit the starts and tests."""
    roots, test, children = (
        np.ascontiguousarray(part, dtype=np.int64) for part in (trees.roots, trees.node_test, trees.children)
    )
    nodes, tests = test.size, arrays.cost.size
    if roots.shape != (arrays.starts,) or (roots >= nodes).any():
        raise ValueError(
            f"warm has roots {roots}; give one of {nodes} nodes, or -1, for each of {arrays.starts} starts"
        )
    if children.ndim != 2 or children.shape[0] != nodes or (test >= tests).any():
        raise ValueError(f"warm has children {children.shape}; its {nodes} nodes must run tests below {tests}")
    targets = np.concatenate((roots[roots >= 0], children[children >= 0]))
    after = (children < 0) | ((children > np.arange(nodes)[:, None]) & (children < nodes))
    if not after.all() or np.unique(targets).size < targets.size:
        raise ValueError("a node of warm comes before its parent, or has two; number parents first, each node once")
    return Trees(roots=roots, node_test=test, children=children)


def new_seeds(test: IntArray, children: IntArray, instance: Instance) -> Seeds:
    """Make trees over internal numbers of tests plantable, with room for the states that they come through."""
    entries = 1 + test.size * instance.level_size.size
    room = {name: np.zeros(entries, dtype=np.int64) for name in ("state", "place", "parent", "chosen")}
    return Seeds(test=test, children=children, **room, total=np.zeros(entries))


def internal_tests(trees: Trees, compiled: Compiled) -> IntArray:
    """Internal numbers of the tests of checked trees."""
    number = np.empty(compiled.order.size + 1, dtype=np.int64)
    number[compiled.order], number[-1] = np.arange(compiled.order.size), STOP
    return number[np.maximum(trees.node_test, -1)]
