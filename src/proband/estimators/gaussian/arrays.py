"""Arrays of the kernels, behind one pointer each: importing this module imports numba."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from proband.bundle import Bundle
from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Sample(Bundle):
    """The statistics of the missing patterns: which of d tests each knows, its rows, and M of these."""

    known: NDArray[np.bool_]  # (patterns, d)
    counts: FloatArray  # (patterns,)
    moments: FloatArray  # (patterns, d + 1, d + 1)


@dataclass(frozen=True, eq=False)
class Augmentation(Bundle):
    """What data augmentation needs beside them: F with F Fᵀ = M, how many of its columns are not 0, and the prior."""

    counts: IntArray  # (patterns,)
    ranks: IntArray  # (patterns,)
    factors: FloatArray  # (patterns, d + 1, d + 1)
    prior: FloatArray  # (d,)


@dataclass(frozen=True, eq=False)
class Work(Bundle):
    """Working arrays for d tests: all but two have d + 1 rows and columns, of which a part may be in use."""

    theta: FloatArray  # the law,
    after: FloatArray  # and the next one
    g: FloatArray  # the law swept on what a pattern knows,
    swept: NDArray[np.bool_]  # that is on these tests, (d,)
    lifted: FloatArray
    total: FloatArray  # moments of all rows
    missing: IntArray  # places of what a pattern does not know, (d,)
    cross: FloatArray  # what the residuals add to its moments
    noise: FloatArray
    rows: FloatArray  # scratch
    residual: FloatArray
    lower: FloatArray
    inside: FloatArray
    outside: FloatArray

    @classmethod
    def room(cls, d: int) -> Self:
        """Return room for d tests."""
        square = (d + 1, d + 1)
        return cls.zeros(
            theta=square, after=square, g=square, swept=d, lifted=square, total=square, missing=d, cross=square,
            noise=square, rows=square, residual=square, lower=square, inside=square, outside=square,
        )  # fmt: skip
