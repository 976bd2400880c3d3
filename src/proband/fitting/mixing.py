"""How much each model of the labels counts: as much as subjects that it has not seen speak for it.

Each model is fitted without each of a few parts of the subjects, and says how probable their labels are. The weights
are those of a mixture of the models under which these labels are likeliest, by EM, with some pseudo-subjects for each
model: on few subjects the weights stay about equal, on many a poor model counts for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from proband.fitting.models import BELIEFS, MODELS, QUICK, Chances, Model, Taught, shares_of
from proband.vocabulary import FloatArray, IntArray

PARTS = 4
PSEUDO = 2.0
"""Pseudo-subjects for each model."""

EM_STEPS = 200
LEAST_CHANCE = 1e-6
FEW, MANY = 40, 2000
"""With fewer subjects all models count the same; with many, one part of them is enough to tell."""


def mixture(taught: Taught, *, floor: float) -> Chances:
    """Return the mixture of the models, mixed in turn with the shares of the labels by `floor`."""
    if not len(taught.k) or taught.n_labels == 1:
        return _mixed(taught, (), (), 1.0)
    return _mixed(taught, weights_of(taught), MODELS, floor)


def average(taught: Taught, *, floor: float) -> Chances:
    """Return the plain average of the models that are fitted in no time."""
    if not len(taught.k) or taught.n_labels == 1:
        return _mixed(taught, (), (), 1.0)
    return _mixed(taught, np.full(len(QUICK), 1 / len(QUICK)), QUICK, floor)


def _mixed(taught: Taught, weights: FloatArray | tuple[()], models: Sequence[Model], floor: float) -> Chances:
    shares, fitted = shares_of(taught), [model(taught) for model in models]

    def chances(rows: IntArray) -> FloatArray:
        mean = np.zeros((len(rows), len(shares)))
        for weight, model in zip(weights, fitted, strict=True):
            mean += weight * model(rows)
        return np.asarray((1 - floor) * mean + floor * shares)

    return chances


def weights_of(taught: Taught, models: Sequence[Model] = BELIEFS) -> FloatArray:
    """Return the weight of each model, shape (models,).

    The parts of a subject whose gaps were filled in several ways stay together.
    """
    n = int(taught.subject.max(initial=-1)) + 1
    if n < FEW:
        return np.full(len(models), 1 / len(models))
    part = np.random.default_rng(n).permutation(np.arange(n) % PARTS)[taught.subject]
    told = np.full((len(models), len(part)), np.nan)
    for p in range(PARTS if n < MANY else 1):
        here, others = np.flatnonzero(part == p), taught.only(np.flatnonzero(part != p))
        for number, model in enumerate(models):
            told[number, here] = model(others)(taught.features[here])[np.arange(len(here)), taught.labels[here]]
    seen = np.flatnonzero(~np.isnan(told[0]))
    return likeliest(np.maximum(told[:, seen], LEAST_CHANCE), taught.weights[seen])


def likeliest(told: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the weights (models,) of a mixture under which what was seen is likeliest.

    Examples
    --------
    >>> likeliest(np.array([[0.9, 0.9, 0.1], [0.5, 0.5, 0.5]]), np.array([400.0, 400.0, 200.0])).round(2)
    array([0.74, 0.26])
    """
    weights = np.full(len(told), 1 / len(told))
    for _ in range(EM_STEPS):
        shares = weights[:, None] * told
        shares *= counts / shares.sum(axis=0)
        weights = shares.sum(axis=1) + PSEUDO
        weights /= weights.sum()
    return weights
