"""How much work the search does, counted as it goes: the only clock that its decisions look at.

A unit is about a nanosecond of one core. The counts are those of the innermost loops, with factors measured once
(``python -m benchmarks.planners.limits``): they need not be right for other machines, only the same on all of them.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from proband.compiling import inner, popcount
from proband.planners.sparse.instance import Instance
from proband.planners.sparse.memo import WORK, Memo
from proband.planners.sparse.scratch import Scratch

STEP: int = cast(int, np.int64(100))
"""Units of a visit to a state that expands nothing; of one type with all that is charged (see `ZERO`)."""

MOVE = 20
"""Units of looking at one of its moves."""


@inner
def charge(memo: Memo, units: Any) -> None:
    """Add units of work."""
    memo.size[WORK] += np.int64(units)


@inner
def survey_work(instance: Instance, scratch: Scratch) -> Any:
    """Units of a survey of the rows `scratch.here`: every word, or every row, meets every column."""
    columns, words = scratch.present.size, scratch.here.size
    if instance.packed:
        return 500 + columns * (20 + 2 * words)
    rows: Any = np.int64(0)
    for w in range(words):
        rows += np.int64(popcount(scratch.here[w]))
    return 500 + columns * (20 + 2 * words + rows * scratch.total.size // 5)


@inner
def pairs_work(instance: Instance, scratch: Scratch, chosen: int) -> Any:
    """Units of a pass over the pairs of `chosen` tests, once they are compact."""
    columns = scratch.level_offset[scratch.level_size.size]
    apart = columns if instance.match else columns - chosen  # outcomes 0 follow by subtraction, but for maxima
    pairs = apart * apart // 2
    if instance.packed:
        return pairs * (18 + scratch.segment[instance.type_start.size - 1] // 2)
    return pairs * (18 + scratch.segment[0] * scratch.total.size // 9)
