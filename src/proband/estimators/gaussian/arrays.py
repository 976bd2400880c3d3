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
    """The statistics of the missing patterns of d tests, a law, and working arrays for steps of EM.

    One bundle and not three, because a small step takes no longer than to tell the compiler's code what it is given.
    """

    known: NDArray[np.bool_]  # which tests each pattern knows, (patterns, d),
    counts: FloatArray  # how many rows it has, (patterns,),
    moments: FloatArray  # and M of these, (patterns, d + 1, d + 1)
    theta: FloatArray  # the law, (d + 1, d + 1),
    after: FloatArray  # and the next one
    g: FloatArray  # the law swept on what a pattern knows,
    swept: NDArray[np.bool_]  # that is on these tests, (d,)
    lifted: FloatArray
    total: FloatArray  # moments of all rows

    @classmethod
    def of(cls, known: NDArray[np.bool_], counts: FloatArray, moments: FloatArray) -> Self:
        """Return the statistics with room to work."""
        d = known.shape[1]
        square = (d + 1, d + 1)
        made = cls.zeros(
            known=known.shape, counts=len(counts), moments=moments.shape, theta=square, after=square, g=square,
            swept=d, lifted=square, total=square,
        )  # fmt: skip
        made.known[:], made.counts[:], made.moments[:] = known, counts, moments
        return made


@dataclass(frozen=True, eq=False)
class Augmentation(Bundle):
    """What data augmentation needs beside them; all matrices but F have room for d + 1 rows and columns."""

    counts: IntArray  # (patterns,)
    ranks: IntArray  # how many columns of F are not 0, (patterns,)
    factors: FloatArray  # F with F Fᵀ = M, (patterns, d + 1, d + 1)
    prior: FloatArray  # (d,)
    missing: IntArray  # places of what a pattern does not know, (d,)
    cross: FloatArray  # what the residuals add to its moments
    noise: FloatArray
    rows: FloatArray  # scratch
    residual: FloatArray
    lower: FloatArray
    inside: FloatArray
    outside: FloatArray

    @classmethod
    def of(cls, counts: IntArray, ranks: IntArray, factors: FloatArray, prior: FloatArray) -> Self:
        """Return these with room to work."""
        square = (len(prior) + 1, len(prior) + 1)
        made = cls.zeros(
            counts=len(counts), ranks=len(ranks), factors=factors.shape, prior=len(prior), missing=len(prior),
            cross=square, noise=square, rows=square, residual=square, lower=square, inside=square, outside=square,
        )  # fmt: skip
        made.counts[:], made.ranks[:], made.factors[:], made.prior[:] = counts, ranks, factors, prior
        return made
