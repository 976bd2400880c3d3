"""Labels from features: ridge multinomial logistic regression by a few Newton steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proband.vocabulary import FloatArray, IntArray

RIDGE = 8.0
STEPS = 8
INTERCEPT = 1e-3
"""Ridge of the intercept: next to none, and enough that a label that was never seen keeps a finite score."""


def design(onehot: FloatArray, compared: NDArray[np.bool_]) -> FloatArray:
    """Return the features of a regression: centred indicators of outcomes (n, levels), and 1.

    `compared` marks the first outcome of each test, which the others are compared with; two outcomes become ±1.
    """
    return np.column_stack([2.0 * onehot[:, ~compared] - 1.0, np.ones(len(onehot))])


def fit_labels(features: FloatArray, labels: IntArray, counts: FloatArray, n_labels: int) -> FloatArray:
    """Return coefficients (features, labels) from subjects with known labels (n,), seen `counts` (n,) times."""
    ridge = np.full(features.shape[1], RIDGE)
    ridge[-1] = INTERCEPT
    seen = np.eye(n_labels)[labels]
    found = np.zeros((features.shape[1], n_labels))
    damping = 0.5 if n_labels <= 2 else 0.7  # for two labels both columns move, so that a whole step would be two
    for _ in range(STEPS):
        chances = label_chances(features, found)
        gradient = features.T @ ((chances - seen) * counts[:, None]) + ridge[:, None] * found
        for label in range(n_labels):
            weight = counts * (chances[:, label] * (1 - chances[:, label]) + 1e-6)
            hessian = (features * weight[:, None]).T @ features + np.diag(ridge)
            found[:, label] -= damping * np.linalg.solve(hessian, gradient[:, label])
    return found


def label_chances(features: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Return the probability of each label, shape (n, labels)."""
    scores = features @ coefficients
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))
