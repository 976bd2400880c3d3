"""What is learned from rows, complete or not: who they may have been, and a model of everybody.

Missing entries are filled in as latent classes think likely given what is known (the ignorable likelihood): a row with
a gap becomes several rows with a share each, so that none is left out and none counts twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from proband.estimators.listed.latent import LatentClasses, Levels, fit_classes
from proband.fitting.grid import Grid
from proband.fitting.mixing import average, mixture
from proband.fitting.models import Chances, Taught
from proband.vocabulary import FloatArray, IntArray

DRAWS = 8
"""Ways in which an incomplete row is completed."""

CLASSES, STEPS, STARTS = 16, 30, 2
"""Latent classes, steps of EM, and fits from different starts, which are averaged."""

MANY = 2000
"""Subjects from which one fit is enough."""

FLOOR = 0.02
"""Share of the plain shares of labels in what is believed of each: no label is ever ruled out by a model alone."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Complete rows (n, d), their weights (n,), and of which subject each is a part (n,)."""

    rows: FloatArray
    weights: FloatArray
    subject: IntArray


class Learned:
    """A model of the subjects that left some rows.

    Parameters
    ----------
    grid : Grid
    rows : FloatArray of shape (n, d)
        Outcomes; NaN where a test was not run.
    rng : numpy.random.Generator
    quick : bool, default False
        Use the models that are fitted in no time, each counting the same: where ways to plan are compared, and not
        what they bring.
    """

    def __init__(self, grid: Grid, rows: FloatArray, rng: np.random.Generator, *, quick: bool = False) -> None:
        self.grid, self._rng, self._quick = grid, rng, quick
        self.needed = np.union1d(grid.visible, grid.targets)
        levels = Levels.of(grid.problem.k[self.needed])
        shown = levels.shown(rows[:, self.needed])
        classes = int(np.clip(len(rows) // 15, 2, CLASSES))
        counts = np.ones(len(rows))
        starts = STARTS if len(rows) < MANY and not quick else 1
        self.classes = [fit_classes(levels, shown, counts, rng, classes=classes, steps=STEPS) for _ in range(starts)]
        self.sample = self.completed(rows)

    def completed(self, rows: FloatArray, rng: np.random.Generator | None = None) -> Sample:
        """Return rows in which nothing that matters is missing: an incomplete one becomes several, each a share."""
        rng = self._rng if rng is None else rng
        gaps = np.asarray(np.isnan(rows[:, self.needed]).any(axis=1))
        whole, open_ = np.flatnonzero(~gaps), np.flatnonzero(gaps)
        subject = np.concatenate([whole, np.repeat(open_, DRAWS)])
        made, weights = rows[subject].copy(), np.where(gaps[subject], 1.0 / DRAWS, 1.0)
        if len(open_):
            part = made[len(whole) :][:, self.needed]
            which = rng.integers(len(self.classes), size=len(part))
            for number, model in enumerate(self.classes):
                part[which == number] = model.completed(rng, part[which == number])
            made[len(whole) :, self.needed] = part
        return Sample(made, weights, subject)

    def drawn(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw subjects from the latent classes, shape (n, d); NaN where nobody needs to know."""
        made = np.full((n, self.grid.problem.d), np.nan)
        which = rng.integers(len(self.classes), size=n)
        for number, model in enumerate(self.classes):
            here = np.flatnonzero(which == number)
            kinds = rng.choice(len(model.shares), p=model.shares, size=len(here))
            made[np.ix_(here, self.needed)] = model.draw(rng, kinds)
        return made

    @cached_property
    def chances(self) -> Chances:
        """The probability of each label given the features."""
        grid, sample = self.grid, self.sample
        features = sample.rows[:, grid.features].astype(np.int64)
        k = grid.problem.k[grid.features]
        taught = Taught(features, grid.labels(sample.rows), sample.weights, k, grid.n_labels, sample.subject)
        return average(taught, floor=FLOOR) if self._quick else mixture(taught, floor=FLOOR)

    def masses(self) -> FloatArray:
        """Return subjects, model, and what decisions bring to both, in each cell: shape (2 + 2 decisions, cells)."""
        grid, sample = self.grid, self.sample
        payoff, n_cells = grid.label_payoff, len(grid.cells)
        columns = payoff.shape[1]
        made = np.zeros((2 + 2 * columns, n_cells))
        cell, worth = grid.cell_of(sample.rows), payoff[grid.labels(sample.rows)]
        made[0] = np.bincount(cell, weights=sample.weights, minlength=n_cells)
        for y in range(columns):
            made[2 + y] = np.bincount(cell, weights=sample.weights * worth[:, y], minlength=n_cells)
        joint = self.of_features(grid.cells)[:, None] * self._labels(grid.cells) * grid.agreeing
        made[1] = joint.sum(axis=1)
        made[2 + columns :] = (joint @ payoff).T
        return made

    def of_features(self, rows: FloatArray) -> FloatArray:
        """Return the law of the features at rows (n, d): half that of the sample, half latent classes, shape (n,)."""
        features, sample = self.grid.features, self.sample
        k = self.grid.problem.k[features]
        both = np.vstack([sample.rows[:, features], rows[:, features]]).astype(np.int64)
        code = np.ravel_multi_index(tuple(both.T), tuple(k)) if len(features) else np.zeros(len(both), dtype=np.int64)
        _, place = np.unique(code, return_inverse=True)
        seen = np.bincount(place[: len(sample.rows)], weights=sample.weights, minlength=int(place.max()) + 1)
        empirical = seen[place[len(sample.rows) :]] / sample.weights.sum()
        return np.asarray(0.5 * empirical + 0.5 * np.mean([self._by_classes(m, rows) for m in self.classes], axis=0))

    def _by_classes(self, model: LatentClasses, rows: FloatArray) -> FloatArray:
        scores = np.tile(np.log(model.shares), (len(rows), 1))
        table = np.log(model.outcomes)
        for place in np.flatnonzero(np.isin(self.needed, self.grid.features)):
            scores += table[:, model.levels.first[place] + rows[:, self.needed[place]].astype(np.int64)].T
        return np.asarray(np.exp(scores).sum(axis=1))

    def _labels(self, rows: FloatArray) -> FloatArray:
        return self.chances(rows[:, self.grid.features].astype(np.int64))
