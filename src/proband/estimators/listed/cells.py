"""What a solver is given (counts over the cells of a support) and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from proband.vocabulary import FloatArray, IntArray

NEGLIGIBLE = 1e-13
"""Without a prior, a cell that was never seen complete and has this many times less than 1/K has probability zero."""


@dataclass(frozen=True)
class Cells:
    """Counts over a support of K rows, as a solver wants them.

    Attributes
    ----------
    own : FloatArray of shape (K,)
        Counts of the observations that agree with one row alone (the complete ones).
    counts : FloatArray of shape (m,)
        Counts of the other, partial observations.
    base, start, size : IntArray of shape (m,)
    offsets : IntArray
        Their cells, as the module says.
    """

    own: FloatArray
    counts: FloatArray
    base: IntArray
    start: IntArray
    size: IntArray
    offsets: IntArray

    @property
    def total(self) -> float:
        """Number of subjects counted."""
        return float(self.own.sum() + self.counts.sum())

    def members(self, o: int) -> IntArray:
        """Return the rows that agree with one partial observation."""
        return np.asarray(self.base[o] + self.offsets[self.start[o] : self.start[o] + self.size[o]])


@dataclass(frozen=True)
class Fit:
    """The maximiser of F, and how it was found.

    Attributes
    ----------
    probabilities : FloatArray of shape (K,)
    multipliers : FloatArray of shape (m,)
        n_o / p(o) for each partial observation: the dual variables.
    iterations : int
    residual : float
        EM: the largest movement of a probability in the last step. Dual: the largest error of n_o = λ_o p(o), over n_o.
    path : FloatArray
        F after each accepted step (EM alone).
    """

    probabilities: FloatArray
    multipliers: FloatArray
    iterations: int
    residual: float
    path: FloatArray


class Solver(Protocol):
    """Maximise F (:mod:`proband.estimators.listed.em`); from the last fit over the same observations, if any."""

    def __call__(
        self, cells: Cells, mass: FloatArray, rate: FloatArray, *, start: Fit | None = None, tolerance: float = 1e-10
    ) -> Fit:
        """Return the maximiser."""
        ...


def observed_mass(cells: Cells, p: FloatArray) -> FloatArray:
    """Return p(o) for each partial observation, shape (m,)."""
    from proband.estimators.listed import cells_kernel

    if not len(cells.counts):
        return np.empty(0)
    return np.asarray(cells_kernel.sums(cells.base, cells.start, cells.size, cells.offsets, p))


def multiplier_sums(cells: Cells, multipliers: FloatArray) -> FloatArray:
    """Return Σ_{o ∋ x} λ_o for each cell, shape (K,)."""
    from proband.estimators.listed import cells_kernel

    sums = np.zeros(len(cells.own))
    cells_kernel.spread(cells.base, cells.start, cells.size, cells.offsets, multipliers, sums)
    return sums
