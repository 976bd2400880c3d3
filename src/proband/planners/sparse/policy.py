"""The incumbent policy of a search as a tree, evaluated on the rows."""

from __future__ import annotations

import numpy as np

from proband.planners.sparse.arrays import Arrays
from proband.planners.sparse.driver import Search
from proband.vocabulary import IntArray


class IncumbentTree:
    """The incumbent policy from each root of a search, as flat lists, and its value on the rows given.

    Children come after their parents, so original rows are handed down in the order of the nodes.
    """

    def __init__(self, search: Search, arrays: Arrays):
        self.search, self.arrays = search, arrays
        self.test: list[int] = []
        self.column: list[int] = []
        self.children: list[IntArray] = []
        self.value = 0.0
        self.values = np.zeros(arrays.starts)
        self.nodes = np.zeros(arrays.starts, dtype=np.int64)
        self.roots = [self._grow(start) for start in range(arrays.starts)]

    def flat(self) -> dict[str, IntArray]:
        """The fields of `Trees`."""
        parts = {"roots": self.roots, "node_test": self.test}
        flat = {name: np.array(part, dtype=np.int64) for name, part in parts.items()}
        return flat | {"children": np.concatenate(self.children)}

    def _stop_column(self, rows: IntArray) -> tuple[int, float]:
        stakes = self.arrays.stakes[rows]
        if self.arrays.match:
            place = int(np.argmax(stakes[:, 0]))
            return int(rows[place]), float(stakes[place, 0])
        total = stakes.sum(axis=0)
        place = int(total.argmax())
        return place, float(total[place])

    def _earn(self, start: int, amount: float) -> None:
        self.value += amount
        self.values[start] += amount

    def _grow(self, start: int) -> int:
        """Append the tree of a start set; returns the place of its root."""
        walk, count = self.search.read(start)
        root, order = len(self.test), self.search.compiled.order
        here: dict[int, IntArray] = {0: np.flatnonzero(self.arrays.context == start)}
        # Arrays and not lists of lists: so many new lists would call the garbage collector, which takes long here.
        below = np.array(walk.children[:count])
        self.children.append(np.where(below >= 0, below + root, -1))
        for place, test in enumerate(walk.test[:count].tolist()):
            rows = here.pop(place)
            column, value = self._stop_column(rows)
            self.column.append(column)
            self.test.append(-1 if test < 0 else int(order[test]))
            if test < 0:
                self._earn(start, value)
                continue
            self._earn(start, -float(walk.price[place]) * float(self.arrays.weight[rows].sum()))
            self.nodes[start] += 1
            codes = self.arrays.codes[rows, order[test]]
            for b, child in enumerate(below[place].tolist()):
                if child >= 0:
                    here[child] = rows[codes == b]
        return root
