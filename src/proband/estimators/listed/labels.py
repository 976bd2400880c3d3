"""Labels from features: ridge multinomial logistic regression by a few Newton steps."""

from __future__ import annotations

import numpy as np

from proband.vocabulary import FloatArray, IntArray

RIDGE = 8.0
STEPS, FURTHER_STEPS = 8, 4
INTERCEPT = 1e-3
"""Ridge of the intercept: next to none, and enough that a label that was never seen keeps a finite score."""


def design(rows: FloatArray | IntArray, k: IntArray) -> FloatArray:
    """Return the features of a regression on tests with k outcomes each: centred indicators of outcomes, and 1.

    The first outcome of a test is the one that others are compared with; two outcomes become ±1.
    """
    outcomes = np.array([outcome for each in k.tolist() for outcome in range(1, each)])
    shown = np.repeat(rows, k - 1, axis=1) == outcomes
    return np.column_stack([2.0 * shown - 1.0, np.ones(len(rows))])


def fit_labels(features: FloatArray, taught: FloatArray, found: FloatArray | None = None) -> FloatArray:
    """Return coefficients (features, labels) from rows (n, features) and the subjects seen with each label there.

    `taught` has shape (n, labels). A row may be shared by subjects with different labels, and numbers need not be
    whole. A fit begins where another one ended, if that is `found`.
    """
    from proband.estimators.listed.labels_kernel import curve_of, slope_of, solve  # compiled

    ridge = np.full(features.shape[1], RIDGE)
    ridge[-1] = INTERCEPT
    counts, n_labels = taught.sum(axis=1), taught.shape[1]
    steps, found = (STEPS, np.zeros((features.shape[1], n_labels))) if found is None else (FURTHER_STEPS, found.copy())
    damping = 0.5 if n_labels <= 2 else 0.7  # for two labels both columns move, so that a whole step would be two
    for _ in range(steps):
        chances = label_chances(features, found)
        ahead = np.zeros((n_labels, features.shape[1]))
        slope_of(features, chances * counts[:, None] - taught, ahead)
        ahead += ridge * found.T
        for labels in [slice(0, 2)] if n_labels == 2 else [slice(y, y + 1) for y in range(n_labels)]:
            p = chances[:, labels.start]  # of two labels both have the same curvature
            curvature = np.diag(ridge)
            curve_of(features, counts * (p * (1 - p) + 1e-6), curvature)
            solve(curvature, ahead[labels])
        found -= damping * ahead.T
    return found


def label_chances(features: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Return the probability of each label, shape (n, labels)."""
    from proband.estimators.listed.labels_kernel import score  # compiled

    scores = np.empty((len(features), coefficients.shape[1]))
    score(features, np.ascontiguousarray(coefficients.T), scores)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))
