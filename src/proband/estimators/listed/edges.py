"""Where measurements are cut into outcomes: as many quantiles as subjects that were not seen speak for, then sharper.

Cut at quantiles, an edge misses the place where labels change by chance alone. Given a model of the labels for the
outcomes, every subject in the halves of two bins beside an edge says how likely its label is in either of them; with
the subjects in the order of the measurement, the edge goes where the likelihood of all labels is largest. Each subject
is judged by a model that has not seen it, and an edge moves only for a gain that chance hardly makes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from proband.estimators.listed.boosting import Boosted, Boosting, boost
from proband.vocabulary import FloatArray, IntArray

BINS = (2, 3, 4)
PARTS = 4
GAIN = 8.0
"""Nats of likelihood for which an edge moves."""

JUDGES = Boosting(models=3, leaves=6)
MOST_JUDGED = 20_000
"""So many subjects, at most, choose the number of bins."""


def quantile_edges(features: FloatArray, bins: int) -> list[FloatArray]:
    """Return the edges that part each feature (n, features) into bins with as many subjects each.

    Examples
    --------
    >>> quantile_edges(np.arange(8.0)[:, None], 4)[0].tolist()
    [1.75, 3.5, 5.25]
    """
    shares = np.arange(1, bins) / bins
    return [np.unique(np.quantile(column, shares)) for column in features.T]


def outcomes_of(features: FloatArray, edges: Sequence[FloatArray]) -> IntArray:
    """Return the bins of measurements (n, features); an edge belongs to the bin above it."""
    binned = [np.searchsorted(own, column, side="right") for own, column in zip(edges, features.T, strict=True)]
    return np.column_stack(binned).astype(np.int64)


def chosen_edges(
    features: FloatArray, labels: IntArray, n_labels: int, *, bins: Sequence[int] = BINS, seed: int = 0
) -> list[FloatArray]:
    """Return the edges of each feature: the best number of quantiles by held-out log loss, and these sharpened.

    Parameters
    ----------
    features : array of shape (n, features)
        Measurements.
    labels : array of shape (n,)
        Label numbers.
    n_labels : int
    bins : sequence of int, default (2, 3, 4)
        How many outcomes a feature may have.
    seed : int, default 0
        Of the parts in which subjects are judged.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(4000, 1))
    >>> [edges] = chosen_edges(x, (x[:, 0] > 0.1).astype(int), 2, bins=(2,))
    >>> bool(abs(edges[0] - 0.1) < 0.01)
    True
    """
    rng = np.random.default_rng([seed, 29])
    part, some = rng.integers(PARTS, size=len(labels)), rng.permutation(len(labels))[:MOST_JUDGED]
    tried = {count: quantile_edges(features, count) for count in bins}
    loss = {
        count: -_told(features[some], labels[some], n_labels, edges, part[some], seed).sum()
        for count, edges in tried.items()
    }
    return sharpened(features, labels, n_labels, tried[min(loss, key=lambda count: loss[count])], part, seed)


def sharpened(
    features: FloatArray, labels: IntArray, n_labels: int, edges: Sequence[FloatArray], part: IntArray, seed: int
) -> list[FloatArray]:
    """Return the edges moved to where the labels of subjects that the judge has not seen are likeliest."""
    rows, k = outcomes_of(features, edges), np.array([len(own) + 1 for own in edges])
    judges = _judges(rows, labels, k, n_labels, part, seed)
    moved = [own.copy() for own in edges]
    for i, own in enumerate(edges):
        for e in range(len(own)):
            beside = _beside(features[:, i], rows[:, i], e)
            told = np.empty((2, len(beside)))
            for side in (0, 1):
                as_if = rows[beside].copy()
                as_if[:, i] = e + side
                told[side] = _judged(judges, as_if, labels[beside], part[beside])
            moved[i][e] = _best_edge(features[beside, i], told, float(own[e]))
    return moved


def _beside(values: FloatArray, bins: IntArray, edge: int) -> IntArray:
    """Return the subjects in the upper half of the bin below an edge, and the lower half of that above it."""
    below, above = (values[bins == b] for b in (edge, edge + 1))
    low, high = (np.median(part) if len(part) else np.inf for part in (below, above))
    inside = (bins == edge) & (values >= low) | (bins == edge + 1) & (values <= high)
    return np.flatnonzero(inside)


def _best_edge(values: FloatArray, told: FloatArray, now: float) -> float:
    """Return the edge under which labels are likeliest; told (2, n) is their log likelihood below and above it."""
    order = np.argsort(values, kind="stable")
    values, ahead = values[order], (told[0] - told[1])[order]
    gained = np.concatenate([[0.0], np.cumsum(ahead)])
    place = int(np.argmax(gained))
    if gained[place] - gained[np.searchsorted(values, now, side="left")] < GAIN or not 0 < place < len(values):
        return now
    return float((values[place - 1] + values[place]) / 2)


def _told(
    features: FloatArray, labels: IntArray, n_labels: int, edges: Sequence[FloatArray], part: IntArray, seed: int
) -> FloatArray:
    """Return the log likelihood of each label under a judge that has not seen it, shape (n,)."""
    rows, k = outcomes_of(features, edges), np.array([len(own) + 1 for own in edges])
    return _judged(_judges(rows, labels, k, n_labels, part, seed), rows, labels, part)


def _judges(rows: IntArray, labels: IntArray, k: IntArray, n_labels: int, part: IntArray, seed: int) -> list[Boosted]:
    """Return the judge of each part, made from the others."""
    return [boost(rows[part != p], labels[part != p], k, n_labels, settings=JUDGES, seed=seed) for p in range(PARTS)]


def _judged(judges: Sequence[Boosted], rows: IntArray, labels: IntArray, part: IntArray) -> FloatArray:
    told = np.empty(len(rows))
    for p, judge in enumerate(judges):
        here = np.flatnonzero(part == p)
        told[here] = np.log(np.maximum(judge.chances(rows[here])[np.arange(len(here)), labels[here]], 1e-12))
    return told
