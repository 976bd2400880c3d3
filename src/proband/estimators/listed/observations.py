"""Counts of distinct observations: all that an estimator needs to know of its records.

An observation o is a final state: an outcome vector with NaN where a test was not run. When skipping depends only
on what was seen, the counts n_o are sufficient for the law of x (:mod:`proband.estimators.listed.likelihood`), so a
million subjects are kept as the few thousand distinct rows that they left. All estimators of discrete laws share this
counting.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.distributions import Discrete
from proband.errors import TableError
from proband.problem import Problem
from proband.vocabulary import LARGEST_CODE, FloatArray, IntArray, Records, as_states


class Observations:
    """Distinct observations and how often each was seen, in the order of their first appearance.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    rows : FloatArray of shape (u, d)
        The distinct observations, NaN where a test was not run; only ever appended to.
    counts : FloatArray of shape (u,)
        How often each was seen.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Match
    >>> seen = Observations(Problem([Test("length"), Test("weight")], (), Match()))
    >>> seen.add([[0, float("nan")], [1, 1], [0, float("nan")]])
    >>> seen.rows, seen.counts
    (array([[ 0., nan], [ 1., 1.]]), array([2., 1.]))
    """

    rows: FloatArray
    counts: FloatArray

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.rows = np.empty((0, problem.d))
        self.counts = np.empty(0)
        self._words = _words(problem)
        self._place: dict[object, int] = {}

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def total(self) -> float:
        """Number of subjects."""
        return float(self.counts.sum())

    @property
    def is_complete(self) -> NDArray[np.bool_]:
        """Whether an observation has no missing entry, shape (u,)."""
        return np.asarray(~np.isnan(self.rows).any(axis=1))

    @property
    def is_blank(self) -> NDArray[np.bool_]:
        """Whether an observation has no known entry, shape (u,)."""
        return np.asarray(np.isnan(self.rows).all(axis=1))

    def add(self, rows: ArrayLike, counts: ArrayLike | None = None) -> None:
        """Count rows (n, d), each once or `counts` (n,) times."""
        states = as_states(np.reshape(rows, (-1, self.problem.d)) if not np.size(rows) else rows, self.problem.tests)
        weights = None if counts is None else _checked_counts(counts, len(states))
        if weights is not None:
            states, weights = states[weights > 0], weights[weights > 0]
        if not len(states):
            return
        codes = self._codes(states)
        axis = None if codes.ndim == 1 else 0
        distinct, first, inverse = np.unique(codes, axis=axis, return_index=True, return_inverse=True)
        sums = np.bincount(inverse.reshape(-1), weights=weights, minlength=len(distinct)).astype(np.float64)
        keys = distinct.tolist() if codes.ndim == 1 else list(map(tuple, distinct.tolist()))
        self._merge(keys, states[first], sums)

    def _merge(self, keys: list[object], rows: FloatArray, sums: FloatArray) -> None:
        known = len(self._place)
        places = np.array([self._place.setdefault(key, len(self._place)) for key in keys], dtype=np.int64)
        new = places >= known
        if new.any():
            self.rows = np.vstack([self.rows, rows[new]])
            self.counts = np.concatenate([self.counts, np.zeros(int(new.sum()))])
        self.counts[places] += sums

    def _codes(self, states: FloatArray) -> IntArray:
        """Number observations: one number each, or several where the space of states exceeds 64 bits."""
        codes = np.zeros((len(self._words), len(states)), dtype=np.int64)
        for word, tests in enumerate(self._words):
            for i in tests:
                k = int(self.problem.k[i])
                codes[word] = codes[word] * (k + 1) + np.where(np.isnan(states[:, i]), k, states[:, i]).astype(np.int64)
        return codes[0] if len(codes) == 1 else codes.T


class CountingEstimator(ABC):
    """An estimator whose sufficient statistics are the counts of distinct observations."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.observations = Observations(problem)
        self._law: Discrete | None = None

    def update(self, records: Records) -> None:
        """Learn from more subjects."""
        self.update_counts(records.outcomes, records.counts)

    def update_counts(self, observations: ArrayLike, counts: ArrayLike | None) -> None:
        """Learn from observations (u, d) that were seen `counts` (u,) times; None for once each."""
        self.observations.add(observations, counts)
        self._law = None

    def distribution(self) -> Discrete:
        """Return the estimate from all subjects so far (kept until the next update)."""
        if self._law is None:
            self._law = Discrete.from_weights(*self._estimate())
        return self._law

    @abstractmethod
    def _estimate(self) -> tuple[FloatArray, FloatArray]:
        """Return outcome vectors (K, d) and their weights (K,)."""


def _words(problem: Problem) -> list[list[int]]:
    """Split the tests into runs whose states fit one 64-bit number."""
    words: list[list[int]] = [[]]
    for i in range(problem.d):
        if math.prod(int(problem.k[j]) + 1 for j in [*words[-1], i]) > LARGEST_CODE:
            words.append([])
        words[-1].append(i)
    return words


def _checked_counts(counts: ArrayLike, n: int) -> FloatArray:
    weights = np.asarray(counts, dtype=np.float64).reshape(-1)
    if weights.shape != (n,):
        raise TableError(f"there are {n} observations and {len(weights)} counts; give one count for each observation")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        bad = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise TableError(f"a count is {bad:g}; it must be finite and 0 or more; correct it")
    return weights
