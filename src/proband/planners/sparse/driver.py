"""The search as an object: memo, stacks and roots, advanced slice by slice from Python.

Between slices Python handles signals, reports progress and applies the limits. Everything a slice needs is kept in
arrays, so a search can be left and taken up at any time. What it does next depends on the work done, never on the time
that this took: the same search on a slower machine is the same search, if it may do as much work.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Generator, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from proband.planners.sparse.arrays import Arrays
from proband.planners.sparse.incumbent_kernel import beam_slice, list_children
from proband.planners.sparse.instance import UNLIMITED, Compiled, compile_instance, pack
from proband.planners.sparse.limits import Limits
from proband.planners.sparse.memo import EXPANSIONS, NODES, WORK, Memo, lengthened, memo_bytes, new_memo
from proband.planners.sparse.memo_kernel import add_root, rehash
from proband.planners.sparse.reading_kernel import Walk, count_nodes, new_walk, read_tree
from proband.planners.sparse.scratch import DONE, FULL, new_beam, new_scratch, new_stack, start_beam
from proband.planners.sparse.search_kernel import refresh_stack, search_slice
from proband.planners.sparse.trees import Trees, internal_tests, new_seeds
from proband.planners.sparse.warm_kernel import Seeds, plant
from proband.vocabulary import FloatArray

EVERY = 1 << 20
"""More tests than any beam is wide."""

BEAMS: tuple[tuple[int, ...], ...] = ((1,), (3, 3, 2))
POLISHES: tuple[tuple[int, ...], ...] = ((EVERY,), (EVERY, 2), (EVERY, 4, 2), (EVERY, 8, 4, 2), (EVERY, 12, 6, 3, 2))

STRIDE = 2_000_000
"""Units of work between two looks at the clock."""

COPIED_BYTES = 1e9
"""Bytes of memo, at least, that are copied in a second when it grows."""

ROUND = 20_000_000
"""Units of search, at least, between two rounds of improvement."""


class Search:
    """One search over the start sets of checked arrays, within limits; the clock starts now."""

    def __init__(self, arrays: Arrays, limits: Limits, compiled: Compiled | None = None):
        self.limits, self.began = limits, time.perf_counter()
        self.compiled = compile_instance(arrays) if compiled is None else compiled
        self.instance, self.budget = self.compiled.instance, self.compiled.budget
        most, tests = arrays.max_tests, arrays.cost.size
        self.depth = UNLIMITED if most is None or most >= tests else most
        self.ceiling = float(self.compiled.merged.ceiling.sum())
        self.out_of_memory = self.out_of_time = self.cancelled = False
        self.last_work = _whole(limits.work)
        self.most_states = _whole(limits.states)
        columns = self.instance.cells.shape[1]
        self.room = (columns + 1, tests, columns)
        self.scratch = new_scratch(self.instance)
        empty = new_memo(self.instance.words, self.instance.row_values.shape[1])
        self.memo = grown(empty, (columns + 1 + arrays.starts, tests, columns))
        self.beam = new_beam(self.instance)
        self.stack = new_stack(self.instance)
        self.walk = new_walk(self.instance, 1 << 10)
        self.nodes: int | None = None
        self.stages = self._improvements()
        self.midway = False
        self.work_improving = 0
        self.improve_at = 0
        self.bits = [_root_bits(self.compiled, k) for k in range(arrays.starts)]
        self.roots = np.array([self._add_root(bits) for bits in self.bits], dtype=np.int64)

    def _add_root(self, bits: NDArray[np.uint64]) -> int:
        self.memo.bits[self.memo.size[NODES]] = bits
        return int(add_root(self.instance, self.memo, self.depth, self.budget))

    @property
    def bound(self) -> float:
        """Upper bound on the value of any policy, less its penalties, rounding aside."""
        return self.ceiling - float(self.memo.lower[self.roots].sum())

    @property
    def bounds(self) -> FloatArray:
        """The same for each start set."""
        start, merged = self.compiled.merged.codes[:, -1], self.compiled.merged
        return np.bincount(start, weights=merged.ceiling, minlength=self.roots.size) - self.memo.lower[self.roots]

    @property
    def value(self) -> float:
        """Value of the incumbent, less its penalties."""
        return self.ceiling - float(self.memo.upper[self.roots].sum())

    @property
    def expansions(self) -> int:
        """Sets of rows whose pairs of tests were counted."""
        return int(self.memo.size[EXPANSIONS])

    @property
    def states(self) -> int:
        """States in the memo."""
        return int(self.memo.size[NODES])

    @property
    def work(self) -> int:
        """Units of work done."""
        return int(self.memo.size[WORK])

    @property
    def seconds(self) -> float:
        """Since the search began."""
        return time.perf_counter() - self.began

    def plant(self, trees: Trees) -> None:
        """Start from trees (checked): the incumbent of each root is at least as good as its tree."""
        seeds = new_seeds(internal_tests(trees, self.compiled), trees.children, self.instance)
        for root, place in zip(self.roots, trees.roots, strict=True):
            if place >= 0:
                self.plant_seeds(seeds, int(root), int(place))

    def plant_seeds(self, seeds: Seeds, root: int, place: int) -> None:
        """Start from one tree, given as seeds, at one root."""
        self.memo = grown(self.memo, (seeds.state.size + self.room[0], *self.room[1:]))
        plant(self.instance, self.memo, seeds, root, place)

    def read(self, start: int) -> tuple[Walk, int]:
        """The incumbent tree of a start set, over internal numbers of tests, and its number of nodes."""
        while True:
            self.walk.bits[0] = self.bits[start]
            count = int(read_tree(self.instance, self.memo, self.scratch, self.walk, self.depth, self.budget))
            if count >= 0:
                return self.walk, count
            self.walk = new_walk(self.instance, 2 * self.walk.test.size)

    def advance(self, pause: float = float("inf")) -> bool:
        """Run one slice and, when it is due, a round of improvement; False when the search is complete.

        Either is left once so much work is done as to `pause`, and taken up by the next call.
        """
        if self.midway:
            self.improve(pause)
            return True
        end = min(self.work + _whole(self.limits.slice_work), max(self.improve_at, self.work + 1), self.last_work)
        end = min(end, _whole(pause))
        while self.stack.height[0] > 0 or self._open_root():
            if self.work >= end or self.stopped_by() is not None:
                break
            until = min(end, self.work + STRIDE)
            states, slack = self.most_states, self.limits.slack
            if search_slice(self.instance, self.memo, self.scratch, self.stack, until, states, slack) == FULL:
                self._grow()
        else:
            return False
        self.settle()
        if self.work >= self.improve_at:
            self.improve(pause)
        return True

    def improve(self, pause: float = float("inf")) -> None:
        """Look for a better incumbent: one stage of beams, or as much of it as there is work up to `pause`."""
        began = self.work
        # Beams do nothing once a limit is reached, so a stage that ends there is not left, but quickly over.
        self.midway = not next(
            ended for ended in self.stages if ended or (self.work >= pause and self.stopped_by() is None)
        )
        self.work_improving += self.work - began
        if self.midway:
            return
        share = self.limits.improving
        due = _whole(self.work_improving / share if share > 0 else float("inf"))
        self.improve_at = max(due, self.work + ROUND)
        self.nodes = sum(int(count_nodes(self.instance, self.memo, self.walk, int(root))) for root in self.roots)

    def _improvements(self) -> Iterator[bool]:
        """Beams from the roots, later from every state of the incumbent; True after each stage, False within."""
        for stage in itertools.count():
            for root in self.roots:
                if stage < len(BEAMS):
                    yield from self._run_beam(int(root), BEAMS[stage])
                    continue
                widths = POLISHES[min(stage - len(BEAMS), len(POLISHES) - 1)]
                while self.stopped_by() is None and (yield from self._polish(int(root), widths)):
                    pass
            yield True

    def settle(self) -> None:
        """Carry what open states know down to the roots."""
        refresh_stack(self.instance, self.memo, self.stack)

    def stopped_by(self) -> str | None:
        """The limit that was reached, if one was."""
        if self.cancelled:
            return "interrupted"
        if self.out_of_memory:
            return "memory"
        if self.work >= self.last_work:
            return "work"
        if self.states > self.most_states:
            return "nodes"
        return "time" if self.out_of_time or self.seconds > self._last_second else None

    @property
    def _last_second(self) -> float:
        """When to end, so that there is time left to make a plan of the incumbent."""
        # The first beam makes few states that are not of its tree.
        nodes = self.states if self.nodes is None else self.nodes
        return self.limits.seconds - self.limits.node_seconds * nodes

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
        size = memo_bytes(self.memo)
        if 2 * size > self.limits.memory:
            self.out_of_memory = True
        elif self.seconds + size / COPIED_BYTES > self._last_second:
            self.out_of_time = True  # a larger memo would come too late
        else:
            self.memo = grown(self.memo, self.room)

    def _run_beam(self, node: int, widths: Sequence[int]) -> Iterator[bool]:
        start_beam(self.beam, node, widths)
        while self.stopped_by() is None:
            until = min(self.last_work, self.work + STRIDE)
            code = beam_slice(self.instance, self.memo, self.scratch, self.beam, until)
            if code == DONE:
                return
            if code == FULL:
                self._grow()
            yield False

    def _polish(self, root: int, widths: Sequence[int]) -> Generator[bool, None, bool]:
        """Try other tests at every state of the incumbent; whether that improved it."""
        before = float(self.memo.upper[root])
        found = self._incumbent(root)
        for node in reversed(found):
            yield from self._run_beam(node, widths)
            yield False
        self._settle_upper(found)
        return float(self.memo.upper[root]) < before - self.instance.tolerance

    def settle_incumbents(self) -> None:
        """Carry better upper bounds of the incumbents' states up to the roots."""
        for root in self.roots:
            self._settle_upper(self._incumbent(int(root)))

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
                total += instance.penalty
                for child in children:
                    total += float(memo.upper[child]) if child >= 0 else 0.0
                memo.upper[node] = min(float(memo.upper[node]), total)


def _whole(number: float) -> int:
    """A limit as an integer for compiled code."""
    return int(min(number, 2.0**62))


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
