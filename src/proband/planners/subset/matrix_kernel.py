"""Dense steps on the leading (k, k) block of a matrix, compiled and on one core."""

from __future__ import annotations

import math

from proband.compiling import SUMMING, inner, kernel
from proband.vocabulary import FloatArray


@inner(fastmath=SUMMING)
def dot(one: FloatArray, other: FloatArray, k: int) -> float:
    """Return the scalar product of the first k entries."""
    total = 0.0
    for i in range(k):
        total += one[i] * other[i]
    return total


@kernel
def factorise(matrix: FloatArray, k: int) -> float:
    """Replace the lower triangle by its Cholesky factor; returns the log-determinant, NaN where there is none."""
    total = 0.0
    for i in range(k):
        for j in range(i):
            matrix[i, j] = (matrix[i, j] - dot(matrix[i], matrix[j], j)) / matrix[j, j]
        pivot = matrix[i, i] - dot(matrix[i], matrix[i], i)
        if not pivot > 0:
            return math.nan
        matrix[i, i] = math.sqrt(pivot)
        total += math.log(pivot)
    return total


@kernel
def invert(matrix: FloatArray, k: int) -> None:
    """Replace a positive definite matrix, given by its lower triangle, by its inverse (Gauss-Jordan, row after row)."""
    for i in range(k):
        for j in range(i):
            matrix[j, i] = matrix[i, j]
    for p in range(k):
        pivot = matrix[p, p]
        matrix[p, p] = 1.0
        for j in range(k):
            matrix[p, j] /= pivot
        for i in range(k):
            if i != p:
                share = matrix[i, p]
                matrix[i, p] = 0.0
                for j in range(k):
                    matrix[i, j] -= share * matrix[p, j]


@inner
def leave_out_row(matrix: FloatArray, k: int, i: int) -> None:
    """Remove row and column i: the last one takes its place."""
    last = k - 1
    if i != last:
        for r in range(k):
            matrix[r, i] = matrix[r, last]
        for c in range(k):
            matrix[i, c] = matrix[last, c]


@inner
def eliminate(matrix: FloatArray, k: int, i: int) -> float:
    """Replace the block by its Schur complement with respect to i; returns the logarithm of the pivot."""
    pivot = matrix[i, i]
    for r in range(k):
        if r != i:
            share = matrix[r, i] / pivot
            for c in range(k):
                matrix[r, c] -= share * matrix[i, c]
    leave_out_row(matrix, k, i)
    return math.log(pivot)
