"""Reading the incumbent policy off the memo, and evaluating it on the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proband.planners.sparse.arrays import Arrays
from proband.planners.sparse.driver import Search
from proband.planners.sparse.instance import Instance
from proband.planners.sparse.margins_kernel import survey
from proband.planners.sparse.memo import STOP, UNKNOWN
from proband.planners.sparse.memo_kernel import find_here, follow
from proband.vocabulary import FloatArray, IntArray


class IncumbentTree:
    """The incumbent policy from each root of a search, as flat lists, and its value on the rows given.

    States and original rows are walked together, depth first.
    """

    def __init__(self, search: Search, arrays: Arrays):
        self.compiled, self.memo, self.scratch, self.arrays = search.compiled, search.memo, search.scratch, arrays
        self.test: list[int] = []
        self.column: list[int] = []
        self.children: list[list[int]] = []
        self.value = 0.0
        self.values = np.zeros(arrays.starts)
        self.nodes = np.zeros(arrays.starts, dtype=np.int64)
        starts = [np.flatnonzero(arrays.context == k) for k in range(arrays.starts)]
        self.roots = [
            self._grow(k, bits, search.depth, search.budget, rows)
            for k, (bits, rows) in enumerate(zip(search.bits, starts, strict=True))
        ]

    def flat(self) -> dict[str, IntArray]:
        """The fields of `Trees`."""
        parts = {"roots": self.roots, "node_test": self.test, "children": self.children}
        return {name: np.array(part, dtype=np.int64) for name, part in parts.items()}

    def _stop_column(self, rows: IntArray) -> tuple[int, float]:
        stakes = self.arrays.stakes[rows]
        if self.compiled.instance.match:
            place = int(np.argmax(stakes[:, 0]))
            return int(rows[place]), float(stakes[place, 0])
        total = stakes.sum(axis=0)
        return int(np.argmax(total)), float(total.max())

    def _best_test(self, mask: np.uint64, depth: int, budget: int) -> int:
        """The incumbent's test at the state with the rows `scratch.here` (internal id), or STOP."""
        memo = self.memo
        node = find_here(self.compiled.instance, memo, self.scratch, mask, depth, budget)
        known = STOP if depth == 0 else UNKNOWN if node < 0 else int(memo.best[node])
        if known != UNKNOWN and (depth == 0 or memo.expanded[node]):
            return known
        test, loss = self._one_level(mask, budget)
        return known if known != UNKNOWN and memo.upper[node] <= loss else test

    def _one_level(self, mask: np.uint64, budget: int) -> tuple[int, float]:
        """The best test if a decision must follow it, or STOP; and its loss."""
        instance, scratch = self.compiled.instance, self.scratch
        active = scratch.active[: survey(instance, scratch, mask, budget)]
        loss = scratch.price[: active.size] * scratch.total[0, 0] + instance.penalty
        for b, offset in enumerate(instance.level_offset[:-1]):
            on = np.flatnonzero(instance.outcomes[active] > b)
            columns = offset + active[on]
            loss[on] += np.where(scratch.present[columns] != 0, _stop_loss(instance, scratch.margin[:, columns]), 0.0)
        stop = float(_stop_loss(instance, scratch.total)[0])
        place = int(np.argmin(loss)) if active.size else -1
        return (int(active[place]), float(loss[place])) if place >= 0 and loss[place] < stop else (STOP, stop)

    def _earn(self, start: int, amount: float) -> None:
        self.value += amount
        self.values[start] += amount

    def _grow(self, start: int, bits: NDArray[np.uint64], depth: int, budget: int, rows: IntArray) -> int:
        instance = self.compiled.instance
        root = len(self.test)
        pending = [(bits, np.uint64(0), depth, budget, rows, -1, 0)]
        while pending:
            bits, mask, depth, budget, rows, parent, outcome = pending.pop()
            place = len(self.test)
            if parent >= 0:
                self.children[parent][outcome] = place
            self.scratch.here[:] = bits
            test = self._best_test(mask, depth, budget)
            column, value = self._stop_column(rows)
            self.column.append(column)
            self.children.append([-1] * instance.level_size.size)
            self.test.append(-1 if test == STOP else int(self.compiled.order[test]))
            if test == STOP:
                self._earn(start, value)
                continue
            self._earn(start, -instance.price_of(test, int(mask)) * float(self.arrays.weight[rows].sum()))
            self.nodes[start] += 1
            codes = self.arrays.codes[rows, self.compiled.order[test]]
            for b in np.unique(codes)[::-1]:
                state = follow(instance, self.scratch, b, test, mask, depth, budget)
                cell = instance.cell_rows[instance.level_offset[b] + test]
                pending.append((bits & cell, np.uint64(state[0]), *state[1:], rows[codes == b], place, int(b)))
        return root


def _stop_loss(instance: Instance, values: FloatArray) -> FloatArray:
    """Loss of stopping, from value vectors (width, columns)."""
    least = values[1] - values[2] if instance.match else values[1:].min(axis=0)
    return np.asarray(np.maximum(least, 0.0))
