"""Latent classes: each subject is of one of a few kinds, and within a kind the tests are independent.

The model is too simple to be true and learns the dependence of a hundred tests from a hundred subjects, complete or
not: EM on the ignorable likelihood, with half a pseudo-subject on each outcome in each class. Several fits from random
starts are kept and averaged, since none of them is best everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from proband.vocabulary import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PSEUDO = 0.5
"""Pseudo-subjects on each outcome of each test, in each class."""

FULL = 0.2
"""With a smaller share of ones, as where subjects show a few of a hundred tests, only the ones are multiplied."""


@dataclass(frozen=True)
class Levels:
    """The outcomes of all tests side by side: those of test i stand in the columns `first[i]` to `first[i + 1]`."""

    first: IntArray

    @classmethod
    def of(cls, k: IntArray) -> Levels:
        """Return the levels of tests with k outcomes each."""
        return cls(np.concatenate([[0], np.cumsum(k)]).astype(np.int64))

    def onehot(self, rows: FloatArray) -> FloatArray:
        """Return 1 in the column of each known outcome, for rows (n, d) with NaN where a test was not run."""
        made = np.zeros((len(rows), int(self.first[-1])))
        subject, test = np.nonzero(~np.isnan(rows))
        made[subject, self.first[test] + rows[subject, test].astype(np.int64)] = 1.0
        return made

    def totals(self, values: FloatArray) -> FloatArray:
        """Return the sums over the outcomes of each test, again for each outcome: shape of `values` (..., levels)."""
        sums = np.add.reduceat(values, self.first[:-1], axis=-1)
        return np.repeat(sums, np.diff(self.first), axis=-1)


@dataclass(frozen=True)
class LatentClasses:
    """A fitted model: the share of each class (classes,), and the law of each outcome in it (classes, levels)."""

    levels: Levels
    shares: FloatArray
    outcomes: FloatArray

    def posterior(self, onehot: FloatArray | csr_array) -> FloatArray:
        """Return the probability of each class given known outcomes, shape (n, classes)."""
        scores = onehot @ np.log(self.outcomes).T + np.log(self.shares)
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))

    def draw(self, rng: np.random.Generator, classes: IntArray) -> FloatArray:
        """Draw outcome vectors of subjects of known classes (n,), shape (n, d)."""
        first, made = self.levels.first, np.empty((len(classes), len(self.levels.first) - 1))
        coins = rng.random(made.shape)
        for test in range(made.shape[1]):
            below = np.cumsum(self.outcomes[:, first[test] : first[test + 1]], axis=1)
            made[:, test] = (coins[:, [test]] >= below[classes, :-1]).sum(axis=1)
        return made

    def completed(self, rng: np.random.Generator, rows: FloatArray) -> FloatArray:
        """Return rows (n, d) with missing entries drawn given the known ones."""
        classes = draw_classes(rng, self.posterior(self.levels.onehot(rows)))
        return np.where(np.isnan(rows), self.draw(rng, classes), rows)


def draw_classes(rng: np.random.Generator, chances: FloatArray) -> IntArray:
    """Draw a class for each row of probabilities (n, classes)."""
    below = np.cumsum(chances, axis=1)[:, :-1]
    return np.asarray((rng.random((len(chances), 1)) >= below).sum(axis=1), dtype=np.int64)


def fit_classes(
    levels: Levels, onehot: FloatArray, counts: FloatArray, rng: np.random.Generator, *, classes: int, steps: int
) -> LatentClasses:
    """Fit a model from a random start to observations (n, levels), each seen `counts` (n,) times."""
    from scipy.sparse import csr_array  # slow to load

    outcomes = rng.uniform(0.5, 1.5, size=(classes, onehot.shape[1]))
    model = LatentClasses(levels, np.full(classes, 1 / classes), outcomes / levels.totals(outcomes))
    shown = onehot if np.count_nonzero(onehot) >= FULL * onehot.size else csr_array(onehot)
    for _ in range(steps):
        weights: NDArray[np.float64] = model.posterior(shown) * counts[:, None]
        seen = np.asarray(shown.T @ weights).T + PSEUDO
        shares = weights.sum(axis=0) + 1.0
        model = LatentClasses(levels, shares / shares.sum(), seen / levels.totals(seen))
    return model
