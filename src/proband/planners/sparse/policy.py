"""Reading the incumbent policy off the memo, and evaluating it on the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proband.compiling import inner, kernel
from proband.planners.sparse.instance import UNLIMITED, Compiled, Instance
from proband.planners.sparse.margins_kernel import margins, price_of, select_tests, stop_loss, units_of
from proband.planners.sparse.memo_kernel import STOP, UNKNOWN, Memo, child_state, find, key_of
from proband.planners.sparse.scratch import Scratch

__all__ = ["Tree", "extract_tree"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Tree:
    """A policy as flat arrays, and its value on the rows it was read from."""

    roots: Integers
    test: Integers
    column: Integers
    children: Integers
    value: float


@kernel
def best_test(instance: Instance, memo: Memo, scratch: Scratch, mask: Any, depth: int, budget: int) -> Any:
    """The incumbent's test at the state with the rows `scratch.here` (internal id), or STOP."""
    bits = scratch.here
    key = key_of(instance, bits, bits, mask, depth, budget)
    node = find(memo, key, bits, bits, mask, depth, budget)
    if node >= 0 and memo.expanded[node] and memo.best[node] != UNKNOWN:
        return np.int64(memo.best[node])
    test, loss = one_level(instance, scratch, bits, mask, depth, budget)
    if node >= 0 and memo.best[node] != UNKNOWN and memo.upper[node] <= loss:
        return np.int64(memo.best[node])
    return test


@kernel
def follow(instance: Instance, scratch: Scratch, b: int, test: int, mask: Any, depth: int, budget: int) -> Any:
    """Open groups, tests left and budget left once `test` had outcome b at the rows `scratch.here`."""
    cell = instance.cell_rows[instance.level_offset[b] + test]
    return child_state(instance, scratch.here, cell, test, mask, depth, budget)


@inner(inline=True)
def one_level(instance: Instance, scratch: Scratch, bits: Any, mask: Any, depth: int, budget: int) -> Any:
    """The best test if a decision must follow it, or STOP; and its loss."""
    margins(instance, scratch, bits)
    best = np.int64(STOP)
    least = stop_loss(instance, scratch.total, np.int64(0))
    chosen = select_tests(instance, scratch, bits, mask, budget) if depth > 0 else 0
    for a in range(chosen):
        test = scratch.active[a]
        if budget < UNLIMITED and units_of(instance, test, mask) > budget:
            continue
        loss = price_of(instance, test, mask) * scratch.total[0, 0]
        for b in range(instance.outcomes[test]):
            c = instance.level_offset[b] + test
            if scratch.present[c] != np.uint64(0):
                loss += stop_loss(instance, scratch.margin, c)
        if loss < least:
            best, least = test, loss
    return best, least


class _Builder:
    """Walks states and original rows together, depth first."""

    def __init__(
        self, compiled: Compiled, memo: Memo, scratch: Scratch, codes: Integers, stakes: Floats, weight: Floats
    ):
        self.compiled, self.memo, self.scratch = compiled, memo, scratch
        self.codes, self.stakes, self.weight = codes, stakes, weight
        self.test: list[int] = []
        self.column: list[int] = []
        self.children: list[list[int]] = []
        self.value = 0.0

    def stop_column(self, rows: Integers) -> tuple[int, float]:
        if self.compiled.instance.match:
            place = int(np.argmax(self.stakes[rows, 0]))
            return int(rows[place]), float(self.stakes[rows[place], 0])
        total = self.stakes[rows].sum(axis=0)
        return int(np.argmax(total)), float(total.max())

    def grow(self, bits: NDArray[np.uint64], depth: int, budget: int, rows: Integers) -> int:
        instance = self.compiled.instance
        root = len(self.test)
        pending = [(bits, np.uint64(0), depth, budget, rows, -1, 0)]
        while pending:
            bits, mask, depth, budget, rows, parent, outcome = pending.pop()
            place = len(self.test)
            if parent >= 0:
                self.children[parent][outcome] = place
            self.scratch.here[:] = bits
            test = int(best_test(instance, self.memo, self.scratch, mask, depth, budget))
            column, value = self.stop_column(rows)
            self.column.append(column)
            self.children.append([-1] * instance.level_size.size)
            self.test.append(-1 if test == STOP else int(self.compiled.order[test]))
            if test == STOP:
                self.value += value
                continue
            self.value -= float(price_of(instance, test, mask)) * float(self.weight[rows].sum())
            codes = self.codes[rows, self.compiled.order[test]]
            for b in np.unique(codes)[::-1]:
                state = follow(instance, self.scratch, b, test, mask, depth, budget)
                cell = instance.cell_rows[instance.level_offset[b] + test]
                pending.append((bits & cell, np.uint64(state[0]), *state[1:], rows[codes == b], place, int(b)))
        return root


def extract_tree(
    compiled: Compiled,
    memo: Memo,
    scratch: Scratch,
    roots: list[tuple[NDArray[np.uint64], int, int, Integers]],
    codes: Integers,
    stakes: Floats,
    weight: Floats,
) -> Tree:
    """Build the incumbent policy from each root (bits, depth, budget, original rows)."""
    builder = _Builder(compiled, memo, scratch, codes, stakes, weight)
    places = [builder.grow(*root) for root in roots]
    return Tree(
        np.array(places, dtype=np.int64),
        np.array(builder.test, dtype=np.int64),
        np.array(builder.column, dtype=np.int64),
        np.array(builder.children, dtype=np.int64),
        builder.value,
    )
