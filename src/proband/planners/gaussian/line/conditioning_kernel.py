"""Posterior deviations of one score and steps of sets of tests: the row of the score is the last of the factors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from proband.compiling import inner, kernel
from proband.planners.gaussian.conditioning_kernel import ROUNDING, SINGULAR, dot, project_all
from proband.vocabulary import FloatArray, IntArray


@inner
def condition(factors: FloatArray, done: int, noise: float, work: FloatArray, steps: FloatArray) -> Any:
    """Write the steps of all tests given a set, and return the posterior standard deviation of z.

    Parameters
    ----------
    factors : FloatArray of shape (m + 1, k)
        Rows of the tests, scaled to length 1 at the most, and of z.
    done : int
        Bits of the set.
    noise : float
        Scale of the numbers that enter z: what is below ``ROUNDING * noise`` is 0.
    work : FloatArray of shape (m + 1, k)
        Scratch.
    steps : FloatArray of shape (m,)
        Filled in; 0 for tests of the set and for those that tell nothing.
    """
    m = len(factors) - 1
    for i in range(m + 1):
        for k in range(factors.shape[1]):
            work[i, k] = factors[i, k]
    project_all(work, done)
    deviation = math.sqrt(dot(work[m], work[m]))
    if deviation <= ROUNDING * noise:
        deviation = 0.0
    for i in range(m):
        steps[i] = 0.0
        own = dot(work[i], work[i])
        if not done >> i & 1 and own > SINGULAR:
            step = abs(dot(work[i], work[m])) / math.sqrt(own)
            if step > ROUNDING * noise:
                steps[i] = min(step, deviation)
    return deviation


@kernel
def condition_many(factors: FloatArray, sets: IntArray, noise: float) -> Any:
    """Return the posterior standard deviations of z and the steps of some sets, shapes (n,) and (n, m)."""
    work = np.empty(factors.shape)
    deviations, steps = np.empty(len(sets)), np.empty((len(sets), len(factors) - 1))
    for r in range(len(sets)):
        deviations[r] = condition(factors, sets[r], noise, work, steps[r])
    return deviations, steps
