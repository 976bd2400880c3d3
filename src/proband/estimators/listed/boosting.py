"""Labels from listed outcomes by gradient boosting: many small trees, each correcting those before it.

Scores F_l(x) of labels give P(l | x) = exp F_l(x) / Σ_k exp F_k(x), for two labels with F_0 = 0. A round adds to each
score a tree that makes the log loss fall fastest (:mod:`proband.estimators.listed.boosting_kernel`); a node parts the
outcomes of a test in any two, so that the order in which outcomes are listed means nothing. Several models are
averaged. Each learns from some of the subjects, drawn by lot, and the others tell when to stop.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from proband.errors import DistributionError
from proband.vocabulary import FloatArray, IntArray

MOST_OUTCOMES = 64
LARGEST_SCORE = 30.0


@dataclass(frozen=True)
class Boosting:
    """How models are made.

    Attributes
    ----------
    models : int
        How many are averaged.
    leaves : int
        Leaves of a tree: with ℓ of them up to ℓ − 1 tests act together.
    rate : float
        What part of a tree counts.
    rounds, patience : int
        Most rounds, and so many without progress on the subjects that were left out end a model.
    least : float
        Subjects in a leaf, at least.
    ridge : float
        Pulls what leaves add towards 0.
    held_out : float
        The part of the subjects that tells when to stop.
    """

    models: int = 3
    leaves: int = 4
    rate: float = 0.1
    rounds: int = 1000
    patience: int = 15
    least: float = 5.0
    ridge: float = 1.0
    held_out: float = 0.2


@dataclass(frozen=True)
class Trees:
    """Trees for one score, as arrays (trees, nodes)."""

    asks: IntArray
    parts: NDArray[np.uint64]
    child: IntArray
    adds: FloatArray


@dataclass(frozen=True)
class Boosted:
    """Models from :func:`boost`: what each starts from (models, scores), and the trees of each score."""

    k: IntArray
    n_labels: int
    starts: FloatArray
    trees: Sequence[Sequence[Trees]]

    def chances(self, rows: IntArray) -> FloatArray:
        """Return the probability of each label for rows of outcomes (n, features), shape (n, labels)."""
        from proband.estimators.listed.boosting_kernel import read

        levels, first = _levels(rows, self.k), _first(self.k)
        total = np.zeros((len(rows), self.n_labels))
        for start, trees in zip(self.starts, self.trees, strict=True):
            scores = np.tile(start[:, None], len(rows))
            for own, tree in zip(scores, trees, strict=True):
                read(levels, first, tree.asks, tree.parts, tree.child, tree.adds, own)
            total += _chances(scores)
        return total / len(self.trees)

    def on_grid(self) -> FloatArray:
        """Return the probability of each label for every outcome vector, in the order of their numbers (Πk, labels).

        Trees that ask the same few tests are added up on these first, which is fast for millions of outcome vectors.
        """
        total = np.zeros((int(np.prod(self.k)), self.n_labels))
        for start, trees in zip(self.starts, self.trees, strict=True):
            scores = np.stack([_spread(tree, self.k) + f for f, tree in zip(start, trees, strict=True)])
            total += _chances(scores)
        return total / len(self.trees)


def boost(
    rows: IntArray, labels: IntArray, k: IntArray, n_labels: int, *, weights: FloatArray | None = None,
    settings: Boosting | None = None, seed: int = 0,
) -> Boosted:  # fmt: skip
    """Return models of a label given listed outcomes.

    Parameters
    ----------
    rows : array of shape (n, features)
        Outcome numbers, complete.
    labels : array of shape (n,)
        Label numbers.
    k : array of shape (features,)
        How many outcomes each test has, at most 64.
    n_labels : int
        How many labels there are.
    weights : array of shape (n,), optional
        Of subjects; 1 by default.
    settings : Boosting, optional
    seed : int, default 0
        Of what is left out of each model.

    Examples
    --------
    >>> rows = np.random.default_rng(0).integers(4, size=(500, 3))
    >>> labels = (rows[:, 0] // 2 == rows[:, 1] // 2).astype(int)
    >>> model = boost(rows, labels, np.array([4, 4, 4]), 2, settings=Boosting(rounds=60))
    >>> (model.chances(np.array([[0, 1, 2], [0, 3, 2]]))[:, 1] > 0.5).tolist()
    [True, False]
    """
    if k.max(initial=0) > MOST_OUTCOMES:
        raise DistributionError(
            f"a test has {k.max()} outcomes; trees part at most {MOST_OUTCOMES}; put outcomes together"
        )
    settings, rng = settings or Boosting(), np.random.default_rng([seed, 23])
    weights = np.ones(len(rows)) if weights is None else weights
    kept = [_one(rows, labels, weights, k, n_labels, settings, rng) for _ in range(settings.models)]
    return Boosted(k, n_labels, np.stack([start for start, _ in kept]), [trees for _, trees in kept])


def _one(
    rows: IntArray, labels: IntArray, weights: FloatArray, k: IntArray, n_labels: int, settings: Boosting,
    rng: np.random.Generator,
) -> tuple[FloatArray, list[Trees]]:  # fmt: skip
    """Make one model: its start (scores,) and the trees of each score."""
    levels, first = _levels(rows, k), _first(k)
    left_out = rng.random(len(rows)) < settings.held_out
    if left_out.all() or not left_out.any() or len(rows) < 10:
        left_out[:] = False
    taught = np.where(left_out, 0.0, weights)
    judged = np.where(left_out, weights, 0.0) if left_out.any() else weights
    shares = np.bincount(labels, weights=taught, minlength=n_labels) + 0.5
    start = np.log(shares / shares.sum())
    start = start[1:] - start[:1] if n_labels == 2 else start
    scores, target = np.tile(start[:, None], len(rows)), _targets(labels, n_labels)
    grown: list[list[Trees]] = []
    chances = _chances(scores)
    best, best_rounds = _loss(chances, labels, judged), 0
    for _ in range(settings.rounds):
        grown.append(_round(levels, first, target, taught, settings, chances, scores))
        chances = _chances(scores)
        loss = _loss(chances, labels, judged)
        if loss < best - 1e-7 * judged.sum():
            best, best_rounds = loss, len(grown)
        elif len(grown) - best_rounds >= settings.patience:
            break
    return start, [_joined(grown[:best_rounds], s, settings.leaves) for s in range(len(start))]


def _round(
    levels: IntArray, first: IntArray, target: FloatArray, taught: FloatArray, settings: Boosting, chances: FloatArray,
    scores: FloatArray,
) -> list[Trees]:  # fmt: skip
    """Grow a tree for each score, of which the chances (n, labels) are, and add it to the scores (scores, n)."""
    from proband.estimators.listed.boosting_kernel import grow

    chances = chances.T[-len(scores) :]
    nodes, n = 2 * settings.leaves - 1, levels.shape[0]
    numbers = np.array([settings.least, settings.ridge, settings.rate])
    made = []
    for s in range(len(scores)):
        g, h = taught * (target[s] - chances[s]), taught * chances[s] * (1 - chances[s])
        asks, child = np.empty(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64)
        parts, adds = np.zeros(nodes, dtype=np.uint64), np.zeros(nodes)
        grow(levels, first, g, h, taught, numbers, asks, parts, child, adds, np.empty(n, dtype=np.int64), scores[s])
        made.append(Trees(asks, parts, child, adds))
    return made


def _joined(grown: Sequence[Sequence[Trees]], score: int, leaves: int) -> Trees:
    """Put the trees of one score into arrays."""
    own = [made[score] for made in grown]
    if not own:
        none = np.zeros((0, 2 * leaves - 1))
        return Trees(none.astype(np.int64), none.astype(np.uint64), none.astype(np.int64), none)
    return Trees(*(np.stack([getattr(tree, name) for tree in own]) for name in ("asks", "parts", "child", "adds")))


def _spread(trees: Trees, k: IntArray) -> FloatArray:
    """Return what trees add to the score of every outcome vector, shape (Πk,)."""
    from proband.estimators.listed.boosting_kernel import read

    tables: dict[tuple[int, ...], list[int]] = {}
    for t, asks in enumerate(trees.asks):
        tables.setdefault(tuple(sorted({int(i) for i in asks[asks >= 0]})), []).append(t)
    total = np.zeros(tuple(int(size) for size in k))
    for features, members in tables.items():
        sizes = [int(k[i]) for i in features]
        rows = np.zeros((int(np.prod(sizes, dtype=np.int64)), len(k)), dtype=np.int64)
        rows[:, list(features)] = np.array(list(itertools.product(*(range(size) for size in sizes))))
        own = np.zeros(len(rows))
        read(
            _levels(rows, k), _first(k), trees.asks[members], trees.parts[members], trees.child[members],
            trees.adds[members], own,
        )  # fmt: skip
        total += own.reshape([int(k[i]) if i in features else 1 for i in range(len(k))])
    return total.reshape(-1)


def _first(k: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(k)]).astype(np.int64)


def _levels(rows: IntArray, k: IntArray) -> IntArray:
    return np.ascontiguousarray(rows + _first(k)[:-1], dtype=np.int64)


def _targets(labels: IntArray, n_labels: int) -> FloatArray:
    """Return 1 where a subject has the label of a score, shape (scores, n)."""
    told = np.arange(n_labels)[:, None] == labels
    return np.asarray(told[1:] if n_labels == 2 else told, dtype=np.float64)


def _chances(scores: FloatArray) -> FloatArray:
    """Return the probabilities (n, labels) of scores: a row for each label, or one for the second of two."""
    if len(scores) == 1:
        chances = np.empty((scores.shape[1], 2))
        chances[:, 1] = 1 / (1 + np.exp(-np.minimum(np.maximum(scores[0], -LARGEST_SCORE), LARGEST_SCORE)))
        chances[:, 0] = 1 - chances[:, 1]
        return chances
    powers = np.exp(scores - reduce(np.maximum, scores))
    return np.asarray((powers / powers.sum(axis=0)).T)


def _loss(chances: FloatArray, labels: IntArray, weights: FloatArray) -> float:
    """Return the weighted log loss of chances (n, labels)."""
    told = chances[np.arange(len(labels)), labels]
    return float(-(weights * np.log(np.maximum(told, 1e-13))).sum())
