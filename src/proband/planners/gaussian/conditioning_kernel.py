"""Posterior deviations and steps of a set of tests, by orthogonalisation.

With Σ = F Fᵀ, a Gaussian vector is F times independent standard normals: covariances are inner products of rows of F,
and conditioning on a test is projecting all rows onto the complement of its row. Rows of tests are scaled to length 1.
Given a set O, with rows f as they are left by the projections (the test with the longest row first),

    τ[O] = |f_z|,        step[O, i] = |f_z · f_i| / |f_i|.

The lengths themselves carry the rounding errors, not their squares as in an elimination: what is left of a z that the
set reveals is about 1e-16 of it and not 1e-8. A test of whose row next to nothing is left is a linear function of the
set: its step is exactly 0, and so is τ once nothing but rounding is left.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from proband.planners.gaussian.compiling import kernel
from proband.vocabulary import FloatArray, IntArray

SINGULAR = 1e-10
"""A test whose variance given others is below this share of its own is a linear function of them."""

ROUNDING = 1e-10
"""What rounding can leave of a row that should vanish, as a share of the numbers that entered it: rows that are left
as short as the root of SINGULAR magnify the errors of others by its inverse."""


@kernel
def inner(first: FloatArray, second: FloatArray) -> float:
    """Return an inner product."""
    total = 0.0
    for k in range(len(first)):
        total += first[k] * second[k]
    return total


@kernel
def project(rows: FloatArray, pivot: int) -> None:
    """Take the direction of one row out of all rows, in place; the row itself becomes 0."""
    length = math.sqrt(inner(rows[pivot], rows[pivot]))
    for k in range(rows.shape[1]):
        rows[pivot, k] /= length
    for i in range(len(rows)):
        if i != pivot:
            share = inner(rows[i], rows[pivot])
            for k in range(rows.shape[1]):
                rows[i, k] -= share * rows[pivot, k]
    for k in range(rows.shape[1]):
        rows[pivot, k] = 0.0


@kernel
def project_all(rows: FloatArray, done: int) -> None:
    """Take the rows of a set out of all rows, in place."""
    left = done
    while left:
        pivot, longest = -1, SINGULAR
        for i in range(len(rows) - 1):
            if left >> i & 1:
                length = inner(rows[i], rows[i])
                if length > longest:
                    pivot, longest = i, length
        if pivot < 0:
            break
        project(rows, pivot)
        left &= ~(1 << pivot)


@kernel
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
    deviation = math.sqrt(inner(work[m], work[m]))
    if deviation <= ROUNDING * noise:
        deviation = 0.0
    for i in range(m):
        steps[i] = 0.0
        own = inner(work[i], work[i])
        if not done >> i & 1 and own > SINGULAR:
            step = abs(inner(work[i], work[m])) / math.sqrt(own)
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
