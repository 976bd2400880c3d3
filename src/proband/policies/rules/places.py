"""The nodes of a tree, each with the outcomes that lead to it and what the tests on the way cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from proband.policies.nodes import Node
from proband.policies.tree import Tree
from proband.vocabulary import Test


@dataclass(frozen=True)
class Place:
    """A node, and how it is reached.

    Attributes
    ----------
    node : Node
    path : tuple of pairs of int
        The tests on the way and the outcomes that they showed, in the order asked.
    cost : float
        What these tests cost, in this order.
    """

    node: Node
    path: tuple[tuple[int, int], ...] = ()
    cost: float = 0.0


def places(tree: Tree) -> Iterator[Place]:
    """Yield every node of a tree, a parent before its children, these in the order of the outcomes."""
    problem, stack = tree.problem, [Place(tree.root)]
    while stack:
        place = stack.pop()
        yield place
        test, done = place.node.action, np.zeros((1, problem.d), dtype=np.bool_)
        done[0, [i for i, _ in place.path]] = True
        cost = place.cost + (float(problem.prices.after(done)[0, test]) if place.node.children else 0.0)
        below = [Place(child, (*place.path, (test, b)), cost) for b, child in enumerate(place.node.children)]
        stack.extend(reversed(below))


def asked(tree: Tree) -> list[int]:
    """Return the tests that a tree asks for: those that it asks earlier first."""
    depth: dict[int, int] = {}
    for place in places(tree):
        if place.node.children:
            test = place.node.action
            depth[test] = min(depth.get(test, len(place.path)), len(place.path))
    return sorted(depth, key=depth.__getitem__)


def between(test: Test, outcome: int) -> tuple[float | None, float | None]:
    """Return the cuts between which an outcome lies, None where there is none; the lower one belongs to it.

    Examples
    --------
    >>> hardness = Test("hardness", 0.1, cuts=[60, 75])
    >>> [between(hardness, b) for b in range(3)]
    [(None, 60.0), (60.0, 75.0), (75.0, None)]
    """
    cuts = test.cuts or ()
    return cuts[outcome - 1] if outcome > 0 else None, cuts[outcome] if outcome < len(cuts) else None
