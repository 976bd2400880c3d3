"""What is kept of measured records: for every set of tests that was seen together, n, the mean and the scatter.

Under a Gaussian law the likelihood of rows that know the same tests O depends on them through

    n,        m = (1/n) Σ x_O,        S = Σ (x_O − m)(x_O − m)ᵀ

alone, so a million subjects are kept as one such triple for each missing pattern. Two groups of rows add up (Chan,
Golub and LeVeque) by S = S_a + S_b + (n_a n_b / n)·(m_a − m_b)(m_a − m_b)ᵀ, without differences of large numbers.

Sums of floating-point numbers depend on their order. The rows of one batch are therefore sorted first, and equal ones
counted together: a batch leads to the same triples, bit for bit, however it was ordered and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.distributions.discrete import row_ids
from proband.errors import TableError
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, as_states

ROUNDING = 1e-13
"""A standard deviation below this share of the mean is rounding: the test never varied."""


@dataclass(frozen=True)
class Pattern:
    """n rows that know the same k tests: their mean (k,), and the sum of squares and products about it (k, k)."""

    tests: IntArray
    n: float
    mean: FloatArray
    scatter: FloatArray

    def merged(self, other: Pattern) -> Pattern:
        """Return the statistics of both groups of rows."""
        n = self.n + other.n
        apart = other.mean - self.mean
        scatter = self.scatter + other.scatter + np.outer(apart, apart) * (self.n * other.n / n)
        return Pattern(self.tests, n, self.mean + apart * (other.n / n), scatter)

    def restricted(self, tests: Sequence[int] | IntArray) -> Pattern:
        """Return the statistics of those of some tests that the rows know."""
        kept = np.flatnonzero(np.isin(self.tests, np.asarray(tests, dtype=np.int64)))
        return Pattern(self.tests[kept], self.n, self.mean[kept], self.scatter[np.ix_(kept, kept)])


class Patterns:
    """The statistics of all n records, those without an entry included: a :class:`Pattern` for each set of tests.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Entropy
    >>> tests = [Test("length", 1.0, outcomes=None), Test("strength", 1.0, outcomes=None)]
    >>> seen = Patterns(Problem(tests, ["stop"], Entropy()))
    >>> seen.add([[1.0, 5.0], [3.0, float("nan")], [2.0, 7.0]])
    >>> [(pattern.tests.tolist(), pattern.n) for pattern in seen]
    [([0], 1.0), ([0, 1], 2.0)]
    >>> seen.together
    array([[3., 2.],
           [2., 2.]])
    """

    def __init__(self, problem: Problem) -> None:
        if not problem.measured:
            raise TableError(
                "the problem's tests list outcomes; means and covariances are of measured ones; use Likelihood, or "
                "say that the tests are measured (outcomes=None)"
            )
        self.problem = problem
        self.n = 0
        self._patterns: dict[int, Pattern] = {}

    def __iter__(self) -> Iterator[Pattern]:
        return iter([self._patterns[mask] for mask in sorted(self._patterns)])

    def __len__(self) -> int:
        return len(self._patterns)

    @property
    def complete(self) -> Pattern | None:
        """The rows in which every test is known."""
        return self._patterns.get((1 << self.problem.d) - 1)

    @property
    def together(self) -> FloatArray:
        """On how many subjects each pair of tests was seen together (on the diagonal: each test), shape (d, d)."""
        counts = np.zeros((self.problem.d, self.problem.d))
        for pattern in self:
            counts[np.ix_(pattern.tests, pattern.tests)] += pattern.n
        return counts

    def add(self, rows: ArrayLike, counts: ArrayLike | None = None) -> None:
        """Add rows (n, d), NaN where a test was not run, each once or `counts` (n,) times."""
        states = as_states(np.reshape(rows, (-1, self.problem.d)) if not np.size(rows) else rows, self.problem.tests)
        weights = np.ones(len(states)) if counts is None else np.asarray(counts, dtype=np.float64)
        if weights.shape != (len(states),) or not (np.isfinite(weights) & (weights >= 0)).all():
            raise TableError(
                f"counts have shape {weights.shape}; there must be one for each of the {len(states)} rows, finite and "
                "0 or more; correct them"
            )
        states, weights = states[weights > 0], weights[weights > 0]
        self.n += int(weights.sum())
        known = ~np.isnan(states)
        which = row_ids(known.astype(np.float64))
        for pattern, first in zip(*np.unique(which, return_index=True), strict=True):
            tests = np.flatnonzero(known[first])
            if len(tests):
                here = which == pattern
                self._merge(tests, *_distinct(states[np.ix_(here, tests)], weights[here]))

    def marginals(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return, for each test over the subjects on whom it was run: their number, mean and variance, each (d,).

        Under a policy these *available cases* are biased: they serve as units and to start from.
        """
        n, mean, scatter = np.zeros(self.problem.d), np.zeros(self.problem.d), np.zeros(self.problem.d)
        for pattern in self:
            i, more = pattern.tests, n[pattern.tests] + pattern.n
            apart = pattern.mean - mean[i]
            scatter[i] += np.diagonal(pattern.scatter) + apart**2 * (n[i] * pattern.n / more)
            mean[i] += apart * (pattern.n / more)
            n[i] = more
        variance = scatter / np.maximum(n, 1.0)
        variance[variance <= (ROUNDING * mean) ** 2] = 0.0
        return n, mean, variance

    def _merge(self, tests: IntArray, values: FloatArray, weights: FloatArray) -> None:
        n = float(weights.sum())
        mean = weights @ values / n
        centred = (values - mean) * np.sqrt(weights)[:, None]
        new = Pattern(tests, n, mean, centred.T @ centred)
        mask = sum(1 << int(i) for i in tests)
        self._patterns[mask] = self._patterns[mask].merged(new) if mask in self._patterns else new


def _distinct(values: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return distinct rows in lexicographic order, and how often each was seen."""
    order = np.lexsort(values.T[::-1])
    rows = values[order] + 0.0  # no negative zeros: they equal positive ones and are other bits
    first = np.flatnonzero(np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)]))
    return rows[first], np.add.reduceat(weights[order], first)


def known_in(patterns: Sequence[Pattern], d: int) -> NDArray[np.bool_]:
    """Return which tests each pattern knows, shape (patterns, d)."""
    known = np.zeros((len(patterns), d), dtype=np.bool_)
    for row, pattern in zip(known, patterns, strict=True):
        row[pattern.tests] = True
    return known
