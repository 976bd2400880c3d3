"""Scatter matrices of measured rows: all that the agents keep of the rounds.

Rounds in which a set V of sites was measured give W_V = Σ (x − m)(x − m)ᵀ over these rounds, restricted to V, with m
the known mean, or the average of the rounds where it is not known. For Gaussian rows W_V is Wishart with n degrees of
freedom (known mean) or n − 1. Entry by entry over different rounds it would be no scatter matrix at all, and could be
indefinite: a :class:`Scatter` is always that of whole rows.

Two scatters of different rounds add up; with an unknown mean (Chan, Golub and LeVeque)

    W = W_a + W_b + (n_a n_b / (n_a + n_b)) · (m_a − m_b)(m_a − m_b)ᵀ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.vocabulary import FloatArray


class Scatter:
    """The scatter matrix of some sites (columns of the rows to come) over the rounds in which all were measured.

    The mean of all d sites is given where it is known.

    Examples
    --------
    >>> scatter = Scatter([0, 2])
    >>> scatter.add(np.array([[1.0, np.nan, 2.0], [3.0, 0.0, 2.0]]))
    >>> scatter.n, scatter.degrees
    (2, 1)
    >>> scatter.matrix
    array([[2., 0.],
           [0., 0.]])
    """

    def __init__(self, sites: Sequence[int], mean: ArrayLike | None = None) -> None:
        self.sites = np.array(sites, dtype=np.int64)
        self.known = None if mean is None else np.asarray(mean, dtype=np.float64)[self.sites]
        self.n = 0
        self.mean = np.zeros(len(self.sites)) if self.known is None else self.known
        self.matrix = np.zeros((len(self.sites), len(self.sites)))

    @property
    def degrees(self) -> int:
        """Degrees of freedom: the number of rounds, less one where the mean is estimated."""
        return self.n if self.known is not None else max(self.n - 1, 0)

    def add(self, rows: FloatArray, counts: NDArray[np.int64] | None = None) -> None:
        """Add the rows (n, d) in which every site was measured; the others are no rounds of this set."""
        values = rows[:, self.sites]
        whole = ~np.isnan(values).any(axis=1)
        weights = np.ones(len(rows)) if counts is None else counts.astype(np.float64)
        values, weights = values[whole], weights[whole]
        n = int(weights.sum())
        if not n:
            return
        mean = weights @ values / n if self.known is None else self.known
        centred = (values - mean) * np.sqrt(weights)[:, None]
        self._merge(n, mean, centred.T @ centred)

    def merge(self, other: Scatter) -> None:
        """Add the rounds of another scatter, whose sites hold these."""
        where = np.searchsorted(other.sites, self.sites)
        self._merge(other.n, other.mean[where], other.matrix[np.ix_(where, where)])

    def restrict(self, sites: Sequence[int]) -> Scatter:
        """Return the scatter of some of the sites, over the same rounds."""
        part = Scatter(sites)
        where = np.searchsorted(self.sites, part.sites)
        part.known = None if self.known is None else self.known[where]
        part.n, part.mean, part.matrix = self.n, self.mean[where], self.matrix[np.ix_(where, where)]
        return part

    def _merge(self, n: int, mean: FloatArray, matrix: FloatArray) -> None:
        apart = mean - self.mean
        total = self.n + n
        if not total:
            return
        self.matrix = self.matrix + matrix + np.outer(apart, apart) * (self.n * n / total)
        self.mean = self.mean + apart * (n / total)
        self.n = total
