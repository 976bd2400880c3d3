"""Latent classes: each subject is of one of a few kinds, and within a kind the tests are independent.

The model is too simple to be true and learns the dependence of a hundred tests from a hundred subjects, complete or
not: EM on the ignorable likelihood, with half a pseudo-subject on each outcome in each class. Several fits from random
starts are kept and averaged, since none of them is best everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proband.vocabulary import FloatArray, IntArray

PSEUDO = 0.5
"""Pseudo-subjects on each outcome of each test, in each class."""


@dataclass(frozen=True)
class Shown:
    """What observations show: of o the levels ``levels[first[o]:first[o + 1]]``, and no more of a hundred tests."""

    first: IntArray
    levels: IntArray


@dataclass(frozen=True)
class Levels:
    """The outcomes of all tests side by side: those of test i stand in the columns `first[i]` to `first[i + 1]`."""

    first: IntArray

    @classmethod
    def of(cls, k: IntArray) -> Levels:
        """Return the levels of tests with k outcomes each."""
        return cls(np.concatenate([[0], np.cumsum(k)]).astype(np.int64))

    def shown(self, rows: FloatArray) -> Shown:
        """Return the outcomes that are known of rows (n, d)."""
        known = ~np.isnan(rows)
        first = np.concatenate([[0], np.cumsum(known.sum(axis=1))]).astype(np.int64)
        test = np.nonzero(known)[1]
        return Shown(first, self.first[test] + rows[known].astype(np.int64))

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

    def posterior(self, shown: Shown) -> FloatArray:
        """Return the probability of each class given known outcomes, shape (n, classes)."""
        from proband.estimators.listed.latent_kernel import believe  # compiled

        chances = np.empty((len(shown.first) - 1, len(self.shares)))
        believe(shown.first, shown.levels, *self._logarithms(), chances)
        return chances

    def counted(self, shown: Shown, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the subjects of each class (classes,), and of these with each outcome (classes, levels)."""
        from proband.estimators.listed.latent_kernel import count_classes  # compiled

        of_class, seen = np.zeros(len(self.shares)), np.zeros(self.outcomes.T.shape)
        count_classes(shown.first, shown.levels, counts, *self._logarithms(), np.empty_like(of_class), of_class, seen)
        return of_class, seen.T

    def _logarithms(self) -> tuple[FloatArray, FloatArray]:
        return np.log(self.shares), np.ascontiguousarray(np.log(self.outcomes).T)

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
        classes = draw_classes(rng, self.posterior(self.levels.shown(rows)))
        return np.where(np.isnan(rows), self.draw(rng, classes), rows)


def draw_classes(rng: np.random.Generator, chances: FloatArray) -> IntArray:
    """Draw a class for each row of probabilities (n, classes)."""
    below = np.cumsum(chances, axis=1)[:, :-1]
    return np.asarray((rng.random((len(chances), 1)) >= below).sum(axis=1), dtype=np.int64)


def fit_classes(
    levels: Levels, shown: Shown, counts: FloatArray, rng: np.random.Generator, *, classes: int, steps: int
) -> LatentClasses:
    """Fit a model from a random start to observations, each seen `counts` (n,) times."""
    outcomes = rng.uniform(0.5, 1.5, size=(classes, int(levels.first[-1])))
    model = LatentClasses(levels, np.full(classes, 1 / classes), outcomes / levels.totals(outcomes))
    for _ in range(steps):
        of_class, seen = model.counted(shown, counts)
        shares, outcomes = of_class + 1.0, seen + PSEUDO
        model = LatentClasses(levels, shares / shares.sum(), outcomes / levels.totals(outcomes))
    return model
