"""Working arrays of an expansion, allocated once per search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proband.planners.sparse.bundle import Bundle
from proband.planners.sparse.instance import Instance
from proband.vocabulary import FloatArray, IntArray

__all__ = ["Scratch", "new_scratch"]


@dataclass(frozen=True, eq=False)
class Scratch(Bundle):
    """Working arrays of an expansion; columns of *active* tests are compacted level by level."""

    total: FloatArray
    margin: FloatArray
    present: NDArray[np.uint64]
    active: IntArray
    level_size: IntArray
    level_offset: IntArray
    column: IntArray
    bits: NDArray[np.uint64]
    segment: IntArray
    tally: NDArray[np.uint64]
    slab: FloatArray
    stop: FloatArray
    floor: FloatArray
    mass: FloatArray
    cell_stop: FloatArray
    lower: FloatArray
    upper: FloatArray
    price: FloatArray
    after: FloatArray
    before: FloatArray
    third: FloatArray
    sum_stop: FloatArray
    sum_floor: FloatArray
    ones: FloatArray
    quads: FloatArray
    node: IntArray
    signature: NDArray[np.uint64]
    key: NDArray[np.uint64]
    rows: IntArray
    onehot: FloatArray
    here: NDArray[np.uint64]


def new_scratch(instance: Instance) -> Scratch:
    """Allocate the working arrays for an instance."""
    columns, tests = instance.cells.shape[1], instance.outcomes.size
    levels, width = instance.level_size.size, instance.row_values.shape[1]
    types = max(instance.type_start.size, 1)
    dense = 0 if instance.packed else instance.bits
    return Scratch(
        total=np.zeros((width, 1)),
        margin=np.zeros((width, columns)),
        present=np.zeros(columns, dtype=np.uint64),
        active=np.zeros(tests, dtype=np.int64),
        level_size=np.zeros(levels, dtype=np.int64),
        level_offset=np.zeros(levels + 1, dtype=np.int64),
        column=np.zeros(columns, dtype=np.int64),
        bits=np.zeros((instance.words, columns), dtype=np.uint64),
        segment=np.zeros(types + 1, dtype=np.int64),
        tally=np.zeros(columns, dtype=np.uint64),
        slab=np.zeros((levels, width, columns)),
        stop=np.zeros((levels, columns)),
        floor=np.zeros((levels, columns)),
        mass=np.zeros(columns),
        cell_stop=np.zeros(columns),
        lower=np.zeros(columns),
        upper=np.zeros(columns),
        price=np.zeros(tests),
        after=np.zeros(tests),
        before=np.zeros(tests),
        third=np.zeros(tests),
        sum_stop=np.zeros(tests),
        sum_floor=np.zeros(tests),
        ones=np.zeros((width, tests)),
        quads=np.zeros((4, tests)),
        node=np.zeros(columns, dtype=np.int64),
        signature=np.zeros(tests, dtype=np.uint64),
        key=np.zeros(columns, dtype=np.uint64),
        rows=np.zeros(dense, dtype=np.int64),
        onehot=np.zeros((dense, columns)),
        here=np.zeros(instance.words, dtype=np.uint64),
    )
