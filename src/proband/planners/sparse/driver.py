"""The search as an object: memo, stacks and roots, advanced slice by slice from Python.

Between slices Python handles signals, reports progress and applies the limits. Everything a slice needs is kept in
arrays, so a search can be left and taken up at any time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proband.planners.sparse.arrays import Arrays
from proband.planners.sparse.incumbent_kernel import beam_slice, list_children
from proband.planners.sparse.instance import UNLIMITED, Compiled, compile_instance, pack
from proband.planners.sparse.memo import EXPANSIONS, NODES, Memo, lengthened, memo_bytes, new_memo
from proband.planners.sparse.memo_kernel import add_root, rehash
from proband.planners.sparse.scratch import DONE, FULL, new_beam, new_scratch, new_stack, start_beam
from proband.planners.sparse.search_kernel import refresh_stack, search_slice

EVERY = 1 << 20
"""More tests than any beam is wide."""

BEAMS: tuple[tuple[int, ...], ...] = ((1,), (3, 3, 2))
POLISHES: tuple[tuple[int, ...], ...] = ((EVERY,), (EVERY, 2), (EVERY, 4, 2), (EVERY, 8, 4, 2), (EVERY, 12, 6, 3, 2))


class Search:
    """One search over the start sets of checked arrays, with a memo of so many bytes at most."""

    def __init__(self, arrays: Arrays, memory_limit: float):
        self.compiled = compile_instance(arrays)
        self.instance, self.budget = self.compiled.instance, self.compiled.budget
        most, tests = arrays.max_tests, arrays.cost.size
        self.depth = UNLIMITED if most is None or most >= tests else most
        self.memory_limit = memory_limit
        self.out_of_memory = False
        self.deadline = float("inf")
        columns = self.instance.cells.shape[1]
        self.room = (columns + 1, tests, columns)
        self.scratch = new_scratch(self.instance)
        empty = new_memo(self.instance.words, self.instance.row_values.shape[1])
        self.memo = grown(empty, (columns + 1 + arrays.starts, tests, columns))
        self.beam = new_beam(self.instance)
        self.stack = new_stack(self.instance)
        self.burst = 64
        self.stage = 0
        self.seconds_improving = 0.0
        self.bits = [_root_bits(self.compiled, k) for k in range(arrays.starts)]
        self.roots = np.array([self._add_root(bits) for bits in self.bits], dtype=np.int64)

    def _add_root(self, bits: NDArray[np.uint64]) -> int:
        self.memo.bits[self.memo.size[NODES]] = bits
        return int(add_root(self.instance, self.memo, self.depth, self.budget))

    @property
    def bound(self) -> float:
        """Upper bound on the value of any policy, rounding aside."""
        return float(self.compiled.merged.ceiling.sum()) - float(self.memo.lower[self.roots].sum())

    @property
    def value(self) -> float:
        """Value of the incumbent."""
        return float(self.compiled.merged.ceiling.sum()) - float(self.memo.upper[self.roots].sum())

    @property
    def expansions(self) -> int:
        """Sets of rows whose pairs of tests were counted."""
        return int(self.memo.size[EXPANSIONS])

    @property
    def states(self) -> int:
        """States in the memo."""
        return int(self.memo.size[NODES])

    def advance(self, slack: float, seconds: float) -> bool:
        """Run one slice of about `seconds`; False when the search is complete."""
        if self.stack.height[0] == 0 and not self._open_root():
            return False
        began = time.perf_counter()
        code = search_slice(self.instance, self.memo, self.scratch, self.stack, self.burst, slack)
        if code == FULL:
            self._grow()
        elif code != DONE:
            factor = seconds / max(time.perf_counter() - began, 1e-6)
            self.burst = max(16, int(self.burst * min(2.0, max(0.5, factor))))
        return True

    def improve(self) -> None:
        """Look for a better incumbent: a beam from the roots, later from every state of the incumbent."""
        began = time.perf_counter()
        stage, self.stage = self.stage, self.stage + 1
        for root in self.roots:
            if stage < len(BEAMS):
                self._run_beam(int(root), BEAMS[stage])
            else:
                widths = POLISHES[min(stage - len(BEAMS), len(POLISHES) - 1)]
                while not self.late() and self._polish(int(root), widths):
                    pass
        self.seconds_improving += time.perf_counter() - began

    def settle(self) -> None:
        """Carry what open states know down to the roots."""
        refresh_stack(self.instance, self.memo, self.stack)

    def late(self) -> bool:
        """Whether the deadline passed or memory ran out."""
        return self.out_of_memory or time.perf_counter() > self.deadline

    def _open_root(self) -> bool:
        """Put the root with the widest gap on the stack; False when all are solved."""
        gaps = self.memo.upper[self.roots] - self.memo.lower[self.roots]
        k = int(np.argmax(gaps))
        if gaps[k] <= self.instance.tolerance:
            return False
        share = 1.0 if self.roots.size == 1 else 0.5
        self.stack.node[0] = self.roots[k]
        self.stack.limit[0] = self.memo.lower[self.roots[k]] + share * gaps[k] + 4 * self.instance.tolerance
        self.stack.height[0] = 1
        return True

    def _grow(self) -> None:
        if 2 * memo_bytes(self.memo) > self.memory_limit:
            self.out_of_memory = True
        else:
            self.memo = grown(self.memo, self.room)

    def _run_beam(self, node: int, widths: Sequence[int]) -> None:
        start_beam(self.beam, node, widths)
        while not self.late():
            code = beam_slice(self.instance, self.memo, self.scratch, self.beam, 1 << 12)
            if code == DONE:
                return
            if code == FULL:
                self._grow()

    def _polish(self, root: int, widths: Sequence[int]) -> bool:
        """Try other tests at every state of the incumbent; whether that improved it."""
        before = float(self.memo.upper[root])
        found = self._incumbent(root)
        for node in reversed(found):
            self._run_beam(node, widths)
        self._settle_upper(found)
        return float(self.memo.upper[root]) < before - self.instance.tolerance

    def _incumbent(self, root: int) -> list[int]:
        """States of the incumbent policy from a root on, parents first."""
        found = [root]
        for node in found:
            children = self._children(node)
            found += [child for child in children if child >= 0][: 2 * self.instance.bits + 64 - len(found)]
        return found

    def _children(self, node: int) -> list[int]:
        """Nodes after the incumbent's test: -1 if not known, -2 if no row has the outcome; none if it stops."""
        test = int(self.memo.best[node])
        if test < 0:
            return []
        list_children(self.instance, self.memo, self.beam, node, test)
        children: list[int] = self.beam.children[: self.instance.outcomes[test]].tolist()
        return children

    def _settle_upper(self, found: list[int]) -> None:
        """Carry better upper bounds of the incumbent's states up to the root."""
        memo, instance = self.memo, self.instance
        for node in reversed(found):
            children = self._children(node)
            if children and -1 not in children:
                total = instance.price_of(int(memo.best[node]), int(memo.mask[node])) * float(memo.mass[node])
                for child in children:
                    total += float(memo.upper[child]) if child >= 0 else 0.0
                memo.upper[node] = min(float(memo.upper[node]), total)


def grown(memo: Memo, room: tuple[int, int, int]) -> Memo:
    """Return a memo with at least `room` free nodes, moves and children."""
    longer = lengthened(memo, room)
    if longer.table is not memo.table:
        rehash(longer)
    return longer


def _root_bits(compiled: Compiled, context: int) -> NDArray[np.uint64]:
    used = compiled.atom_row >= 0
    flags = np.zeros(compiled.atom_row.size, dtype=bool)
    flags[used] = compiled.merged.codes[compiled.atom_row[used], -1] == context
    return pack(flags)
