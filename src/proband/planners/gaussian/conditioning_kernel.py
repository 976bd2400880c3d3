"""Posterior deviations and steps of a set of tests, by orthogonalisation.

With Σ = F Fᵀ, a Gaussian vector is F times independent standard normals: covariances are inner products of rows of F,
and conditioning on a test is projecting all rows onto the complement of its row. Rows of tests are scaled to length 1.
Given a set O, with rows f as they are left by the projections (the test with the longest row first),

    τ[O] = |f_z|,        step[O, i] = f_z · f_i / |f_i|.

The lengths themselves carry the rounding errors, not their squares as in an elimination: what is left of a z that the
set reveals is about 1e-16 of it and not 1e-8. A test of whose row next to nothing is left is a linear function of the
set: its step is exactly 0, and so is τ once nothing but rounding is left.
"""

from __future__ import annotations

import math

from proband.compiling import ZERO, inner, kernel
from proband.vocabulary import FloatArray

SINGULAR = 1e-10
"""A test whose variance given others is below this share of its own is a linear function of them."""

ROUNDING = 1e-10
"""What rounding can leave of a row that should vanish, as a share of the numbers that entered it: rows that are left
as short as the root of SINGULAR magnify the errors of others by its inverse."""


@inner
def dot(first: FloatArray, second: FloatArray) -> float:
    """Return an inner product."""
    total = 0.0
    for k in range(len(first)):
        total += first[k] * second[k]
    return total


@inner
def project(rows: FloatArray, pivot: int) -> None:
    """Take the direction of one row out of all rows, in place; the row itself becomes 0."""
    length = math.sqrt(dot(rows[pivot], rows[pivot]))
    for k in range(rows.shape[1]):
        rows[pivot, k] /= length
    for i in range(len(rows)):
        if i != pivot:
            share = dot(rows[i], rows[pivot])
            for k in range(rows.shape[1]):
                rows[i, k] -= share * rows[pivot, k]
    for k in range(rows.shape[1]):
        rows[pivot, k] = 0.0


@kernel
def project_all(rows: FloatArray, done: int) -> None:
    """Take the rows of a set out of all rows, in place."""
    left = done
    while left:
        pivot, longest = ZERO - 1, SINGULAR
        for i in range(len(rows) - 1):
            if left >> i & 1:
                length = dot(rows[i], rows[i])
                if length > longest:
                    pivot, longest = i, length
        if pivot < 0:
            break
        project(rows, pivot)
        left &= ~(1 << pivot)
