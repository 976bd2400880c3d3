"""Posterior covariances of two scores and steps of sets of tests: the last rows of the factors are the scores'."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from proband.compiling import inner, kernel
from proband.planners.gaussian.conditioning_kernel import ROUNDING, SINGULAR, dot, project_all
from proband.vocabulary import FloatArray, IntArray


@inner
def covariance_of_scores(first: FloatArray, second: FloatArray, noise: FloatArray, out: FloatArray) -> None:
    """Write the covariance of two scores, given their rows, with exact zeros for rounding."""
    v1, v12, v2 = dot(first, first), dot(first, second), dot(second, second)
    v1 = v1 if v1 > (ROUNDING * noise[0]) ** 2 else 0.0
    v2 = v2 if v2 > (ROUNDING * noise[1]) ** 2 else 0.0
    largest = math.sqrt(v1 * v2)
    out[0], out[1], out[2] = v1, min(max(v12, -largest), largest), v2


@kernel
def condition_many(factors: FloatArray, sets: IntArray, noise: FloatArray) -> Any:
    """Return the covariance of z (n, 3) and the steps of all tests (n, m, 2) after each of some sets.

    Steps are 0 for tests of the set and for those that tell nothing.
    """
    m, rows = len(factors) - 2, np.empty(factors.shape)
    scores, steps = np.empty((len(sets), 3)), np.empty((len(sets), m, 2))
    for r in range(len(sets)):
        for i in range(m + 2):
            for k in range(factors.shape[1]):
                rows[i, k] = factors[i, k]
        project_all(rows, sets[r])
        covariance_of_scores(rows[m], rows[m + 1], noise, scores[r])
        for i in range(m):
            own = dot(rows[i], rows[i])
            told = not sets[r] >> i & 1 and own > SINGULAR
            for j in range(2):
                step = dot(rows[i], rows[m + j]) / math.sqrt(own) if told and scores[r, 2 * j] > 0 else 0.0
                steps[r, i, j] = step if abs(step) > ROUNDING * noise[j] else 0.0
    return scores, steps
