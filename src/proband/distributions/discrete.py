"""Discrete laws: support rows with probabilities.

The law is a list of the outcome vectors that can occur, so it may be sparse in a huge product space. The mass of
a state s is P(x agrees with s) = Σ p(x) over the rows that agree with its known entries; conditioning keeps these
rows and divides by the mass.

Examples
--------
>>> law = Discrete([[0, 0], [0, 1], [1, 1]], [0.5, 0.2, 0.3])
>>> law.mass([[0, float("nan")], [1, 0]])
array([0.7, 0. ])
>>> law.condition([float("nan"), 1]).probabilities
array([0.4, 0.6])
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband import tables
from proband.errors import DistributionError, StateError, TooLargeError
from proband.problem import Problem
from proband.vocabulary import LARGEST_CODE, FloatArray, IntArray, Records, as_rows

TOLERANCE = 1e-9
"""How far from one given probabilities may sum."""

LARGEST_OUTCOME = 2**53
"""Outcomes are numbered below this, so that floats tell them apart."""

LARGEST_PRODUCT = 2**27
"""Most outcome vectors of a product of marginals."""

LONGEST_PRODUCT = 8192
"""Products of longer vectors are taken in parts."""


class Discrete:
    """A discrete distribution of outcome vectors.

    Parameters
    ----------
    support : array_like of shape (n, d)
        Outcome vectors (outcome numbers). Repeated rows are merged, rows of probability zero dropped.
    probabilities : array_like of shape (n,)
        Their probabilities; they sum to one.
    """

    support: FloatArray
    probabilities: FloatArray

    def __init__(self, support: ArrayLike, probabilities: ArrayLike) -> None:
        rows, weights = _checked_support(support, probabilities)
        total = weights.sum()
        if abs(total - 1) > TOLERANCE * max(1, len(weights)) ** 0.5:
            raise DistributionError(
                f"the probabilities sum to {total:.12g}; they must sum to one; divide them by their sum"
            )
        self._set(rows, weights)

    def _set(self, rows: FloatArray, weights: FloatArray) -> None:
        ids = row_ids(rows)
        _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
        merged = totals(inverse, weights, len(first))
        keep = merged > 0
        self.support = rows[first[keep]]
        self.probabilities = merged[keep] / merged[keep].sum()
        self.support.setflags(write=False)
        self.probabilities.setflags(write=False)

    @classmethod
    def from_records(cls, records: Records) -> Self:
        """Return the empirical law of complete records.

        Examples
        --------
        >>> Discrete.from_records(Records([[0], [1], [1], [1]])).probabilities
        array([0.25, 0.75])
        """
        if not records.n:
            raise DistributionError("there are no records; an empirical law needs one or more; add some")
        incomplete = int(records.counts[~records.is_complete].sum())
        if incomplete:
            raise DistributionError(
                f"{incomplete} of {records.n} records are incomplete; an empirical law counts complete rows only; "
                "use records.complete() if completeness did not depend on what was seen"
            )
        seen = records.counts > 0
        return cls.from_weights(records.outcomes[seen], records.counts[seen])

    @classmethod
    def from_weights(cls, support: ArrayLike, weights: ArrayLike) -> Self:
        """Return the law proportional to non-negative weights, such as counts."""
        law = cls.__new__(cls)
        law._set(*_checked_support(support, weights))
        return law

    @classmethod
    def product(cls, marginals: Sequence[ArrayLike]) -> Self:
        """Return the law of independent tests with the given marginal probabilities.

        Examples
        --------
        >>> Discrete.product([[0.5, 0.5], [0.9, 0.1]]).probabilities
        array([0.45, 0.05, 0.45, 0.05])
        """
        factors = [np.array(marginal, dtype=np.float64) for marginal in marginals]
        if not factors or any(p.ndim != 1 for p in factors):
            raise DistributionError(
                f"the marginals have shapes {[p.shape for p in factors]}; each must be a list of probabilities; "
                "give one for each test"
            )
        size = math.prod(len(p) for p in factors)
        if size > LARGEST_PRODUCT:
            raise TooLargeError(
                f"the product has about 2^{size.bit_length() - 1} outcome vectors; at most 2^27 can be listed; "
                "sample rows and use from_records, or drop tests"
            )
        rows, weights = np.zeros((1, 0)), np.ones(1)
        for p in factors:
            column = np.tile(np.arange(len(p)), len(rows))[:, None]
            rows = np.hstack([np.repeat(rows, len(p), axis=0), column])
            weights = np.multiply.outer(weights, p).reshape(-1)
        return cls(rows, weights)

    @classmethod
    def load(cls, path: str | os.PathLike[str], problem: Problem) -> Self:
        """Read a table with a column for each test of the problem and the column ``probability``."""
        rows, probabilities = tables.read_distribution(path, problem.tests, ignore=problem.ignore)
        try:
            return cls(rows, probabilities)
        except DistributionError as error:
            raise DistributionError(f"{path}: {error}") from error

    def save(self, path: str | os.PathLike[str], problem: Problem) -> None:
        """Write a table (CSV) that loads back to the same law."""
        tables.write_table(path, problem.tests, self.support, self.probabilities)

    def __len__(self) -> int:
        return len(self.support)

    def __repr__(self) -> str:
        return f"Discrete({len(self)} outcome vectors of {self.d} tests)"

    @property
    def d(self) -> int:
        """Number of tests."""
        return int(self.support.shape[1])

    def check(self, problem: Problem) -> None:
        """Raise :class:`DistributionError` if the support holds vectors that the problem does not know."""
        if self.d != problem.d:
            raise DistributionError(
                f"the distribution has {self.d} tests and the problem {problem.d}; they must agree; use the same tests"
            )
        wrong = self._largest >= problem.k
        if wrong.any():
            i = int(np.flatnonzero(wrong)[0])
            raise DistributionError(
                f"the support has outcome {self._largest[i]:g} of test {problem.tests[i].name!r}, which has "
                f"outcomes 0 to {problem.k[i] - 1}; add the outcome to the problem or correct the support"
            )

    @cached_property
    def _largest(self) -> FloatArray:
        """The largest outcome of each test in the support."""
        return np.asarray(self.support.max(axis=0))

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        """Draw n outcome vectors, shape (n, d)."""
        return self.support[self.draw(rng, n)]

    def draw(self, rng: np.random.Generator, n: int) -> IntArray:
        """Draw n rows of the support, by their numbers, shape (n,)."""
        places = np.searchsorted(np.cumsum(self.probabilities), rng.random(n), side="right")
        return np.asarray(np.minimum(places, len(self) - 1), dtype=np.int64)

    def agrees(self, state: ArrayLike) -> NDArray[np.bool_]:
        """Return which support rows agree with the known entries of a state, shape (len(self),)."""
        rows = as_rows(state, self.d)
        if len(rows) != 1:
            raise StateError(f"{len(rows)} states are given; agreement is asked of one state; give one row")
        row = rows[0]
        known = ~np.isnan(row)
        return np.asarray((self.support[:, known] == row[known]).all(axis=1))

    def mass(self, states: ArrayLike) -> FloatArray:
        """Return the probability that x agrees with each state, shape (n,)."""
        rows = as_rows(states, self.d)
        outside = self._largest + 1
        no_outcome = ~np.isnan(rows) & ~((rows >= 0) & (rows < outside) & (rows == np.floor(rows)))
        rows = np.where(no_outcome, outside, rows)
        mass = np.zeros(len(rows))
        for here, cell, row_cell, n_cells in self.cells(rows):
            mass[here] = totals(row_cell, self.probabilities, n_cells)[cell]
        return mass

    def cells(self, states: FloatArray) -> Iterator[tuple[IntArray, IntArray, IntArray, int]]:
        """Group states by which tests they know; in each group match states and support rows.

        Yields
        ------
        here : indices of the states of the group
        cell : for each of these states a number, equal for equal states
        row_cell : for each support row the number of the cell that it falls into
        n_cells : how many numbers there are
        """
        known = ~np.isnan(states)
        pattern = row_ids(known.astype(np.float64))
        for first in np.unique(pattern, return_index=True)[1]:
            here = np.flatnonzero(pattern == pattern[first])
            columns = known[first]
            ids = row_ids(np.vstack([states[np.ix_(here, columns)], self.support[:, columns]]))
            _, inverse = np.unique(ids, return_inverse=True)
            yield here, inverse[: len(here)], inverse[len(here) :], int(inverse.max()) + 1

    def condition(self, state: ArrayLike) -> Self:
        """Return the posterior law given the known entries of a state."""
        keep = self.agrees(state)
        if not keep.any():
            raise DistributionError(
                f"the state {np.asarray(state, dtype=float).tolist()} has probability zero; only a possible state "
                "has a posterior; smooth the distribution or correct the state"
            )
        return type(self).from_weights(self.support[keep], self.probabilities[keep])

    def marginal(self, test: int) -> FloatArray:
        """Return the probabilities of the outcomes 0, 1, ... of one test."""
        outcomes = self.support[:, test].astype(np.int64)
        return totals(outcomes, self.probabilities, int(outcomes.max()) + 1)

    def entropy(self) -> float:
        """Return the entropy in nats."""
        return float((self.probabilities * -np.log(self.probabilities)).sum())

    def solvable(self) -> Self:
        """Return the law that planners take for it: itself."""
        return self


def totals(cells: IntArray, weights: FloatArray, n_cells: int) -> FloatArray:
    """Return the total weight that falls into each cell 0 ... n_cells - 1."""
    return np.asarray(np.bincount(cells, weights=weights, minlength=n_cells), dtype=np.float64)


def weighted_sum(weights: FloatArray, values: FloatArray | IntArray) -> float:
    """Return Σ weights·values, both (n,), a part at a time: for longer products libraries wake all cores.

    On busy cores that takes a hundred times as long as the sum itself.
    """
    parts = range(0, len(weights), LONGEST_PRODUCT)
    return sum(float(weights[a : a + LONGEST_PRODUCT] @ values[a : a + LONGEST_PRODUCT]) for a in parts)


def row_ids(rows: FloatArray) -> IntArray:
    """Number rows of non-negative integers so that equal rows, and only these, have equal numbers.

    The numbers rise in the order of the rows' entries, the first one before all others.
    """
    words = [np.zeros(len(rows), dtype=np.int64)]
    room = np.log2(LARGEST_CODE)
    for column, k in zip(rows.T, (rows.max(axis=0, initial=0) + 1).tolist(), strict=True):
        room -= np.log2(k)
        if room <= 0:  # the next entries need a word of their own
            words.append(np.zeros(len(rows), dtype=np.int64))
            room = np.log2(LARGEST_CODE) - np.log2(k)
        words[-1] *= int(k)
        words[-1] += column.astype(np.int64)
    if len(words) == 1:
        return words[0]
    order = np.lexsort(words[::-1])
    new = np.zeros(len(rows), dtype=np.bool_)
    for word in words:
        new[1:] |= np.diff(word[order]) != 0
    ids = np.empty(len(rows), dtype=np.int64)
    ids[order] = np.cumsum(new)
    return ids


def _checked_support(support: ArrayLike, probabilities: ArrayLike) -> tuple[FloatArray, FloatArray]:
    rows = np.array(support, dtype=np.float64, ndmin=2)
    weights = np.array(probabilities, dtype=np.float64, ndmin=1)
    if rows.ndim != 2 or weights.shape != (len(rows),) or not rows.size:
        raise DistributionError(
            f"support and probabilities have shapes {rows.shape} and {weights.shape}; they must be (n, d) and (n,) "
            "with n and d of one or more; give one probability for each row"
        )
    outcomes = (rows >= 0) & (rows < LARGEST_OUTCOME) & (rows == np.floor(rows))
    if not outcomes.all():
        bad = rows[~outcomes][0]
        raise DistributionError(
            f"the support holds {bad:g}; its entries must be outcome numbers 0, 1, ...; translate the outcomes"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        bad = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise DistributionError(f"a probability is {bad:g}; it must be finite and 0 or more; correct it")
    if not weights.any():
        raise DistributionError("every probability is zero; at least one must be positive; correct them")
    if weights.max() > np.finfo(np.float64).max / len(weights):
        raise DistributionError(f"the weight {weights.max():g} is too large to be summed; divide all by the largest")
    return rows, weights
