"""Working arrays, allocated once per search: of an expansion, and the stacks of the search and of the beam.

Stacks, because numba caches no recursion, and Python looks in between slices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proband.bundle import Bundle
from proband.planners.sparse.instance import Instance
from proband.vocabulary import FloatArray, IntArray

DONE, PAUSED, FULL = 0, 1, 2
"""How a slice ended: nothing is left to do; its share of work is done; the memo has no room."""


@dataclass(frozen=True, eq=False)
class Scratch(Bundle):
    """Working arrays of an expansion. Columns are those of the instance until `compact`, and compact ones from then on.

    `chosen` tests are worth running; i is the test at hand, in a loop over all of them.
    """

    here: NDArray[np.uint64]  # rows under survey
    live: IntArray  # and their words that are not 0
    total: FloatArray  # their value vector (width, 1)
    margin: FloatArray  # of each column: value vector,
    present: NDArray[np.uint64]  # whether some row is in it (not 0),
    key: NDArray[np.uint64]  # and key of its rows
    active: IntArray  # tests worth running: number,
    price: FloatArray  # price,
    signature: NDArray[np.uint64]  # and sum of the keys of their cells
    level_size: IntArray  # compact columns of each level
    level_offset: IntArray
    column: IntArray  # the column that each of them is
    bits: NDArray[np.uint64]  # packed: non-zero words of each compact column,
    segment: IntArray  # where each type's begin (dense: how many rows, in its first place),
    tally: NDArray[np.uint64]  # and counts
    rank: IntArray  # dense: place of each row here,
    onehot: FloatArray  # and its codes on the compact columns;
    pick: IntArray  # places of the rows of a cell
    worth: FloatArray  # and one of their values
    mass: FloatArray  # of each compact column: mass,
    cell_stop: FloatArray  # loss of stopping,
    lower: FloatArray  # bounds,
    upper: FloatArray
    node: IntArray  # and node in the memo
    slab: FloatArray  # of the cells (i = b, column): values,
    stop: FloatArray  # loss of stopping,
    floor: FloatArray  # and lower bound
    after: FloatArray  # price of j after i
    before: FloatArray  # price of i after j
    third: FloatArray  # price of the cheapest other test
    sum_stop: FloatArray  # sums over the cells of each test
    sum_floor: FloatArray
    ones: FloatArray  # two outcomes: values of "j = 1",
    quads: FloatArray  # and losses of stopping in the four cells of (i, j)


def new_scratch(instance: Instance) -> Scratch:
    """Allocate the working arrays for an instance."""
    columns, tests = int(instance.cells.shape[1]), instance.outcomes.size
    levels, width = instance.level_size.size, instance.row_values.shape[1]
    dense = 0 if instance.packed else instance.bits
    by_column = ("column", "node", "present", "key", "tally", "mass", "cell_stop", "lower", "upper")
    by_test = ("active", "signature", "price", "after", "before", "third", "sum_stop", "sum_floor")
    return Scratch.zeros(
        **dict.fromkeys(by_column, columns),
        **dict.fromkeys(by_test, tests),
        here=instance.words,
        live=instance.words + 1,
        total=(width, 1),
        margin=(width, columns),
        level_size=levels,
        level_offset=levels + 1,
        bits=(instance.words, columns),
        segment=max(instance.type_start.size, 1) + 1,
        **dict.fromkeys(("rank", "pick", "worth"), dense + 1),
        onehot=(dense, columns),
        slab=(levels, width, columns),
        stop=(levels, columns),
        floor=(levels, columns),
        ones=(width, tests),
        quads=(4, tests),
    )


@dataclass(frozen=True, eq=False)
class Stack(Bundle):
    """Open states from a root down, and the limit up to which each is to be raised."""

    height: IntArray
    node: IntArray
    limit: FloatArray


@dataclass(frozen=True, eq=False)
class Beam(Bundle):
    """States from a root down, and what is tried at the one on each level."""

    height: IntArray
    node: IntArray
    tests: IntArray  # to try
    tried: IntArray  # how many of them, -1 before they are listed
    position: IntArray  # of the one under trial
    outcome: IntArray  # at which it is
    total: FloatArray  # loss so far
    score: FloatArray
    width: IntArray
    children: IntArray  # room for those of one state


def new_stack(instance: Instance) -> Stack:
    """Allocate a stack; no path is longer than twice the tests."""
    most = 2 * instance.outcomes.size + 8
    return Stack.zeros(height=1, node=most, limit=most)


def new_beam(instance: Instance, most: int = 128) -> Beam:
    """Allocate a beam of at most `most` tests per state."""
    levels = 2 * instance.outcomes.size + 4
    most = max(1, min(most, instance.outcomes.size))
    by_level = dict.fromkeys(("node", "tried", "position", "outcome", "total", "width"), levels)
    children = instance.level_size.size
    return Beam.zeros(**by_level, height=1, tests=(levels, most), score=most, children=children)


def start_beam(beam: Beam, root: int, widths: Sequence[int]) -> None:
    """Put a root on the stack; level k tries widths[k] tests, the levels below them one."""
    beam.height[0] = 1
    beam.node[0] = root
    beam.tried[0] = -1
    beam.width[:] = 1
    beam.width[: len(widths)] = widths[: beam.width.size]
    np.minimum(beam.width, beam.tests.shape[1], out=beam.width)
