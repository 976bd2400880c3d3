"""How the dense planners number states: one contiguous block for every set of tests done.

With m tests that can be run, a state is (set M of tests done) × (outcomes of M) × (context known on arrival). The
outcomes of one set M form a full array with one axis for each context test and each test of M, in the order of
the tests; its blocks are stored one after another, sets with more tests first. So

* costs are constant over a block, whatever the groups are (they depend on M only);
* running test i in M inserts one axis: the block of M ∪ {i}, seen as (outer, k_i, inner), summed over its middle
  axis, has the shape of the block of M, seen as (outer, inner);
* the blocks of one size (a *level*) depend on the level before them only.

Π(k_i + 1) states in all, times Π k_i over the context tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from proband.prices import as_bits
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, outcome_codes

MOST_TESTS = 30
"""With more tests that can be run even the table of sets would not fit."""


@lru_cache(maxsize=8)
def layout_of(problem: Problem) -> Layout:
    """Return the layout of a problem; its tables are built when first used."""
    k = problem.k[problem.operable]
    n_context = math.prod(problem.k[problem.context].tolist())
    n_states = n_context * math.prod((k + 1).tolist())
    return Layout(problem, problem.operable, problem.context, k, n_context, n_states)


@dataclass(frozen=True, eq=False)
class Layout:
    """Numbers of states and of their blocks, for one problem.

    Attributes
    ----------
    tests, context : IntArray
        Indices, in the problem, of the tests that can be run (m of them) and of those known on arrival.
    k : IntArray of shape (m,)
        Numbers of outcomes of the tests that can be run.
    n_context : int
        Number of contexts.
    n_states : int
        Number of states, counted before anything is built.
    """

    problem: Problem
    tests: IntArray
    context: IntArray
    k: IntArray
    n_context: int
    n_states: int

    @property
    def m(self) -> int:
        """Number of tests that can be run."""
        return len(self.tests)

    @cached_property
    def level_sizes(self) -> list[int]:
        """Number of states with 0, 1, ... m tests done."""
        sizes = [self.n_context]
        for k in self.k.tolist():
            sizes = [a + k * b for a, b in zip([*sizes, 0], [0, *sizes], strict=True)]
        return sizes

    @cached_property
    def size(self) -> IntArray:
        """Number of states of each set, shape (2^m,)."""
        size = np.full(1, self.n_context, dtype=np.int64)
        for k in self.k:
            size = np.concatenate([size, size * k])
        return size

    @cached_property
    def order(self) -> IntArray:
        """The sets in storage order: larger ones first, shape (2^m,)."""
        counts = np.zeros(1, dtype=np.int8)
        for _ in range(self.m):
            counts = np.concatenate([counts, counts + 1])
        return np.argsort(-counts.astype(np.int8), kind="stable")

    @cached_property
    def level_bounds(self) -> IntArray:
        """Where in `order` the level of m, m - 1, ... 0 tests done begins, and the end: shape (m + 2,)."""
        return np.cumsum([0, *(math.comb(self.m, level) for level in range(self.m + 1))])

    @cached_property
    def offset(self) -> IntArray:
        """Where the block of each set begins, shape (2^m,)."""
        sizes = self.size[self.order]
        offset = np.empty_like(sizes)
        offset[self.order] = np.cumsum(sizes) - sizes
        return offset

    @cached_property
    def peers(self) -> IntArray:
        """For each test the set of tests whose being done lowers its price, as bits, shape (m,)."""
        return as_bits(self.problem.prices.only(self.tests).peers)

    @cached_property
    def prices(self) -> FloatArray:
        """Full and reduced price of each test, shape (2, m)."""
        return self.problem.prices.only(self.tests).both

    @contextmanager
    def scratch(self, size: int) -> Iterator[FloatArray]:
        """Lend an array of at least `size` numbers; kept for the next caller, since fresh memory is slow at first."""
        spare: list[FloatArray] = self._spare
        try:
            buffer = spare.pop()
        except IndexError:
            buffer = np.empty(size)
        if len(buffer) < size:
            buffer = np.empty(size)
        yield buffer
        spare.append(buffer)

    @cached_property
    def _spare(self) -> list[FloatArray]:
        return []

    def context_number(self, states: FloatArray) -> IntArray:
        """Return the numbers of what is known on arrival, shape (n,)."""
        return outcome_codes(states[:, self.context], [self.problem.tests[i] for i in self.context])

    def done(self, sets: IntArray) -> NDArray[np.bool_]:
        """Return which tests of the problem are known in states with the given sets of tests done, shape (n, d)."""
        known = np.zeros((len(sets), self.problem.d), dtype=np.bool_)
        known[:, self.context] = True
        for bit, i in enumerate(self.tests):
            known[:, i] = sets >> bit & 1
        return known

    def number(self, states: FloatArray) -> IntArray:
        """Return the numbers of states whose context is known, shape (n,)."""
        done = np.zeros(len(states), dtype=np.int64)
        code = self.context_number(states)
        for bit, i in enumerate(self.tests):
            known: NDArray[np.bool_] = ~np.isnan(states[:, i])
            done |= known.astype(np.int64) << bit
            outcome = np.where(known, states[:, i], 0).astype(np.int64)
            code = np.where(known, code * self.k[bit] + outcome, code)
        return self.offset[done] + code
