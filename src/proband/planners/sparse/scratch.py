"""Working arrays of an expansion, allocated once per search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proband.planners.sparse.bundle import Bundle
from proband.planners.sparse.instance import Instance
from proband.vocabulary import FloatArray, IntArray

__all__ = ["Scratch", "new_scratch"]


@dataclass(frozen=True, eq=False)
class Scratch(Bundle):
    """Working arrays of an expansion. Columns are those of the instance until `compact`, and compact ones from then on.

    Attributes
    ----------
    here, total : rows under survey, and their value vector (width, 1)
    margin, present, key : of each column: value vector, whether some row is in it (not 0), key of its rows
    active, price, signature : tests worth running, `chosen` of them: number, price, sum of the keys of their cells
    level_size, level_offset, column : compact columns of each level, and the column that each of them is
    bits, segment, tally : packed: non-zero words of each compact column, where each type's begin, counts
    rows, onehot : dense: the rows and their codes on the compact columns, ``segment[0]`` of them
    mass, cell_stop, lower, upper, node : of each compact column: mass, loss of stopping, bounds, node in the memo
    slab, stop, floor : of the cells (i = b, column) for the test i at hand: values, loss of stopping, lower bound
    after, before, third : prices of j after i, of i after j, and of the cheapest other test
    sum_stop, sum_floor : sums over the cells of each test
    ones, quads : two outcomes: values of "j = 1", and losses of stopping in the four cells of (i, j)
    """

    here: NDArray[np.uint64]
    total: FloatArray
    margin: FloatArray
    present: NDArray[np.uint64]
    key: NDArray[np.uint64]
    active: IntArray
    price: FloatArray
    signature: NDArray[np.uint64]
    level_size: IntArray
    level_offset: IntArray
    column: IntArray
    bits: NDArray[np.uint64]
    segment: IntArray
    tally: NDArray[np.uint64]
    rows: IntArray
    onehot: FloatArray
    mass: FloatArray
    cell_stop: FloatArray
    lower: FloatArray
    upper: FloatArray
    node: IntArray
    slab: FloatArray
    stop: FloatArray
    floor: FloatArray
    after: FloatArray
    before: FloatArray
    third: FloatArray
    sum_stop: FloatArray
    sum_floor: FloatArray
    ones: FloatArray
    quads: FloatArray


def new_scratch(instance: Instance) -> Scratch:
    """Allocate the working arrays for an instance."""
    columns, tests = instance.cells.shape[1], instance.outcomes.size
    levels, width = instance.level_size.size, instance.row_values.shape[1]
    dense = 0 if instance.packed else instance.bits
    sizes = {"active": tests, "level_size": levels, "level_offset": levels + 1, "column": columns, "node": columns}
    sizes |= {"segment": max(instance.type_start.size, 1) + 1, "rows": dense}
    words = {"here": instance.words, "present": columns, "key": columns, "tally": columns, "signature": tests}
    arrays: dict[str, Any] = {name: np.zeros(size, dtype=np.int64) for name, size in sizes.items()}
    arrays |= {name: np.zeros(size, dtype=np.uint64) for name, size in words.items()}
    arrays |= {name: np.zeros(columns) for name in ("mass", "cell_stop", "lower", "upper")}
    arrays |= {name: np.zeros(tests) for name in ("price", "after", "before", "third", "sum_stop", "sum_floor")}
    return Scratch(
        total=np.zeros((width, 1)),
        margin=np.zeros((width, columns)),
        bits=np.zeros((instance.words, columns), dtype=np.uint64),
        onehot=np.zeros((dense, columns)),
        slab=np.zeros((levels, width, columns)),
        stop=np.zeros((levels, columns)),
        floor=np.zeros((levels, columns)),
        ones=np.zeros((width, tests)),
        quads=np.zeros((4, tests)),
        **arrays,
    )
