"""How strong the penalty is: a default, left only where subjects that were not seen speak for it.

The value of a policy on a few hundred subjects is mostly noise, so candidates are compared on the same subjects, at
half, single and double prices, over two deals of four folds, and another strength than the default has to be ahead by
two standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from proband.planners.rivals import PENALTY
from proband.vocabulary import FloatArray, IntArray

DEFAULT = PENALTY
"""The penalty of a leaf with one subject, in units of what a mistake costs."""

STRENGTHS = (0.0, 0.1, DEFAULT, 1.0, 3.0, 10.0, math.inf)
"""Candidates; with the last one no test is ever run."""

SCALES = ((0.5, 1.0, 2.0), (0.5, 1.0, 2.0))
"""What prices are multiplied with, in each deal of the folds."""

SPARSE_SCALES = ((0.5,), (2.0,))
"""The same where every plan takes its time."""

FOLDS = 4

MARGIN = 2.0
"""By how many standard errors another strength than the default has to be ahead."""


@dataclass(frozen=True)
class Score:
    """What a strength brought to subjects that were not seen: the mean over prices, and how far it is ahead."""

    strength: float
    value: float
    ahead: float
    standard_error: float


@dataclass(frozen=True)
class Strength:
    """The strength of the penalty that was used, and what others would have brought; no scores where it was given."""

    chosen: float
    scores: tuple[Score, ...] = ()


@dataclass(frozen=True)
class Candidates:
    """Multipliers of prices and strengths, both (candidates,)."""

    scale: FloatArray
    strength: FloatArray

    @classmethod
    def of(cls, *pairs: tuple[float, float]) -> Candidates:
        """Return candidates from pairs of a multiplier and a strength."""
        both = np.array(pairs, dtype=np.float64)
        return cls(both[:, 0], both[:, 1])


def candidates_at(scales: Sequence[float]) -> Candidates:
    """Return every strength at some multipliers of prices."""
    return Candidates.of(*((scale, strength) for strength in STRENGTHS for scale in scales))


MOST_COMPARED = 2000
"""Subjects on which strengths are compared, at most; some by lot, where there are more."""


def choose(
    n: int,
    brought: Callable[[IntArray, IntArray, Candidates, int], FloatArray],
    scales: Sequence[Sequence[float]],
    *,
    rng: np.random.Generator,
) -> Strength:
    """Choose a strength by cross-validation, in as many deals of the folds as there are `scales`.

    Parameters
    ----------
    n : int
        Number of subjects.
    brought : callable
        From the subjects to learn from, those to be treated (indices), candidates, and a seed, to what each candidate
        brings to the latter at its prices: shape (treated, candidates).
    scales : sequence of sequence of float
        Multipliers of prices that are compared in each deal.
    """
    if n < 2 * FOLDS:
        return Strength(DEFAULT)
    among = np.sort(rng.permutation(n)[:MOST_COMPARED])
    n = len(among)
    values = np.zeros((n, len(STRENGTHS)))
    for own in scales:
        fold, every = rng.permutation(np.arange(n) % FOLDS), candidates_at(own)
        for k in range(FOLDS):
            here = np.flatnonzero(fold == k)
            found = brought(among[fold != k], among[here], every, int(rng.integers(2**31)))
            values[here] += found.reshape(len(here), len(STRENGTHS), -1).mean(axis=2) / len(scales)
    ahead = values - values[:, [STRENGTHS.index(DEFAULT)]]
    errors = ahead.std(axis=0, ddof=1) / math.sqrt(n)
    means = ahead.mean(axis=0)
    scores = tuple(map(Score, STRENGTHS, values.mean(axis=0).tolist(), means.tolist(), errors.tolist()))
    clear = np.where(means > MARGIN * errors, means, -math.inf)
    best = int(np.argmax(clear))
    return Strength(STRENGTHS[best] if clear[best] > 0 else DEFAULT, scores)
