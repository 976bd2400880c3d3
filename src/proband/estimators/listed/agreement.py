"""Which rows of a support agree with what was seen of subjects, and EM over them.

The same for a few thousand rows and as many records costs most of an estimate if it is asked one by one. Rows are
marked by outcome, 64 of them in a word, and a record's rows are what its marks have in common.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from proband.estimators.listed.latent import Levels
from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True)
class Agreeing:
    """Which rows agree with each incomplete observation, ``members[first[o]:first[o + 1]]``.

    Of each observation how many subjects left it (`counts`), and whether it has a label (`labelled`). Each row of
    features stands `labels` times in a row, once for each label.
    """

    first: IntArray
    members: NDArray[np.uint32]
    counts: FloatArray
    labelled: NDArray[np.bool_]
    labels: int
    rows: NDArray[np.uint32] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", self.members // np.uint32(self.labels))

    def spread(self, base: FloatArray, weights: FloatArray, steps: int) -> None:
        """Take steps of EM from `weights` (K,), in place: `base` and the observations."""
        from proband.estimators.listed.growing_kernel import spread  # compiled

        agree = self.first, self.members, self.rows, self.counts, self.labelled
        spread(base, *agree, self.labels, weights, np.empty_like(weights), np.empty(len(weights) // self.labels), steps)

    def with_counts(self, counts: FloatArray) -> Agreeing:
        """Return the same observations, seen by other numbers of subjects."""
        return replace(self, counts=counts)


def agreeing(observations: FloatArray, rows: FloatArray) -> tuple[IntArray, NDArray[np.uint32]]:
    """Return which rows agree with each observation: its own are ``members[first[o]:first[o + 1]]``."""
    from proband.estimators.listed.growing_kernel import count_agreeing, list_agreeing, mark_outcomes  # compiled

    known = np.where(np.isnan(observations), -1, observations).astype(np.int16)
    codes = rows.astype(np.int16)
    k = np.maximum(known.max(axis=0, initial=0), codes.max(axis=0, initial=0)) + np.int64(1)
    first = Levels.of(k).first
    marks = np.zeros((first[-1] + 1, -(-len(rows) // 64)), dtype=np.uint64)
    mark_outcomes(codes, first, marks)
    marks[-1] = np.bitwise_or.reduce(marks[: first[1]], axis=0)
    shown, sizes = np.zeros(rows.shape[1], dtype=np.int64), np.zeros(len(known), dtype=np.int64)
    count_agreeing(known, first, marks, shown, sizes)
    begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    members = np.empty(int(begin[-1]), dtype=np.uint32)
    list_agreeing(known, first, marks, shown, begin, members)
    return begin, members
