"""Dense steps on the leading (k, k) block of a matrix, compiled and on one core."""

from __future__ import annotations

import math

from numba import njit


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def dot(one, other, k):  # type: ignore[no-untyped-def]
    """Return the scalar product of the first k entries."""
    total = 0.0
    for i in range(k):
        total += one[i] * other[i]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def factorise(matrix, k):  # type: ignore[no-untyped-def]
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


@njit(cache=True, nogil=True, error_model="numpy")
def invert(matrix, k):  # type: ignore[no-untyped-def]
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


@njit(cache=True, nogil=True, error_model="numpy")
def leave_out_row(matrix, k, i):  # type: ignore[no-untyped-def]
    """Remove row and column i: the last one takes its place."""
    last = k - 1
    if i != last:
        for r in range(k):
            matrix[r, i] = matrix[r, last]
        for c in range(k):
            matrix[i, c] = matrix[last, c]


@njit(cache=True, nogil=True, error_model="numpy")
def eliminate(matrix, k, i):  # type: ignore[no-untyped-def]
    """Replace the block by its Schur complement with respect to i; returns the logarithm of the pivot."""
    pivot = matrix[i, i]
    for r in range(k):
        if r != i:
            share = matrix[r, i] / pivot
            for c in range(k):
                matrix[r, c] -= share * matrix[i, c]
    leave_out_row(matrix, k, i)
    return math.log(pivot)
