"""Which outcome vectors of a support agree with which observations, and the counts over them that a solver is given.

The cells of observation o are ``base[o] + offsets[start[o] : start[o] + size[o]]``. In a product space the offsets
depend only on *which* tests are missing, so observations share them; over listed rows each observation has its own.
All this is kept from one fit to the next.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from proband.distributions.discrete import row_ids
from proband.vocabulary import FloatArray, IntArray

NEGLIGIBLE = 1e-13
"""Without a prior, a cell that was never seen complete and has this many times less than 1/K has probability zero."""


class Agreement(ABC):
    """The cells of a growing list of observations."""

    def __init__(self) -> None:
        self.base = np.empty(0, dtype=np.int64)
        self.start = np.empty(0, dtype=np.int64)
        self.size = np.empty(0, dtype=np.int64)
        self.offsets = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.base)

    def extend(self, observations: FloatArray) -> None:
        """Append observations (u, d)."""
        base, start, size = (np.zeros(len(observations), dtype=np.int64) for _ in range(3))
        known = ~np.isnan(observations)
        chunks = [self.offsets]
        end = len(self.offsets)
        patterns = row_ids(known.astype(np.float64))
        for first in np.unique(patterns, return_index=True)[1]:
            here = np.flatnonzero(patterns == patterns[first])
            base[here], start[here], size[here], chunk = self._match(observations[here], known[first], end)
            chunks.append(chunk)
            end += len(chunk)
        self.base = np.concatenate([self.base, base])
        self.start = np.concatenate([self.start, start])
        self.size = np.concatenate([self.size, size])
        self.offsets = np.concatenate(chunks)

    @abstractmethod
    def _match(
        self, rows: FloatArray, known: NDArray[np.bool_], end: int
    ) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return base, start and size for observations that know the same tests, and new offsets to append."""


class ProductAgreement(Agreement):
    """Cells in the product space, numbered with the last test fastest.

    Examples
    --------
    >>> agreement = ProductAgreement(np.array([2, 3]))
    >>> agreement.extend(np.array([[1, np.nan], [np.nan, 2]]))
    >>> agreement.base, agreement.offsets
    (array([3, 2]), array([0, 3, 0, 1, 2]))
    """

    def __init__(self, k: IntArray) -> None:
        super().__init__()
        self.k = k
        self.strides = np.concatenate([np.cumprod(k[:0:-1])[::-1], [1]]).astype(np.int64)
        self._patterns: dict[bytes, tuple[int, int]] = {}

    def _match(
        self, rows: FloatArray, known: NDArray[np.bool_], end: int
    ) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        base = rows[:, known].astype(np.int64) @ self.strides[known]
        key = known.tobytes()
        chunk = np.empty(0, dtype=np.int64)
        if key not in self._patterns:
            chunk = np.zeros(1, dtype=np.int64)
            for i in np.flatnonzero(~known):
                chunk = np.add.outer(chunk, np.arange(self.k[i]) * self.strides[i]).reshape(-1)
            self._patterns[key] = (end, len(chunk))
        start, size = self._patterns[key]
        return base, np.full(len(rows), start), np.full(len(rows), size), chunk


class RowAgreement(Agreement):
    """Cells among listed rows, numbered in their order.

    Examples
    --------
    >>> agreement = RowAgreement(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    >>> agreement.extend(np.array([[np.nan, 1], [1, 0]]))
    >>> agreement.size, agreement.offsets
    (array([2, 0]), array([1, 2]))
    """

    def __init__(self, support: FloatArray) -> None:
        super().__init__()
        self.support = support

    def _match(
        self, rows: FloatArray, known: NDArray[np.bool_], end: int
    ) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        n = len(rows)
        ids = row_ids(np.vstack([rows[:, known], self.support[:, known]]))
        order = np.argsort(ids[n:], kind="stable")
        left = np.searchsorted(ids[n:], ids[:n], side="left", sorter=order)
        size = np.searchsorted(ids[n:], ids[:n], side="right", sorter=order) - left
        pieces = [order[a : a + b] for a, b in zip(left, size, strict=True)]
        start = end + np.cumsum(size) - size
        return np.zeros(n, dtype=np.int64), start, size, np.concatenate([*pieces, np.empty(0, dtype=np.int64)])


class Cells(NamedTuple):
    """Counts over a support of K rows, as a solver and its kernels want them.

    Own counts (K,) are of the observations that agree with one row alone (the complete ones), `counts` (m,) of the
    other, partial ones; base, start, size (m,) and offsets say which cells these have.
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


@dataclass(frozen=True)
class Fit:
    """The maximiser of F, (K,), and how it was found.

    Multipliers (m,) are n_o / p(o) for each partial observation: the dual variables. The residual is for EM the largest
    movement of a probability in the last step, for the dual the largest error of n_o = λ_o p(o), over n_o. The path is
    F after each accepted step (EM alone).
    """

    probabilities: FloatArray
    multipliers: FloatArray
    iterations: int
    residual: float
    path: FloatArray


class Solver(Protocol):
    """Maximise F (:mod:`proband.estimators.listed.solvers`); from the last fit over the same observations, if any."""

    def __call__(
        self, cells: Cells, mass: FloatArray, rate: FloatArray, *, start: Fit | None = None, tolerance: float = 1e-10
    ) -> Fit:
        """Return the maximiser."""
        ...


def observed_mass(cells: Cells, p: FloatArray) -> FloatArray:
    """Return p(o) for each partial observation, shape (m,)."""
    from proband.estimators.listed.kernel import sums

    return sums(cells, p) if len(cells.counts) else np.empty(0)


def multiplier_sums(cells: Cells, multipliers: FloatArray) -> FloatArray:
    """Return Σ_{o ∋ x} λ_o for each cell, shape (K,)."""
    from proband.estimators.listed.kernel import spread

    sums = np.zeros(len(cells.own))
    spread(cells, multipliers, sums)
    return sums
