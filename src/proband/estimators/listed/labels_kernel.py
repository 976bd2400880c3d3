"""Sums over the rows of a regression. They are narrow: a library would wake all cores for each, which then wait."""

from __future__ import annotations

from typing import Any

from proband.compiling import SUMMING, kernel

Array = Any


@kernel(fastmath=SUMMING)
def score(features: Array, coefficients: Array, scores: Array) -> None:
    """Write the scores (n, labels) of rows (n, features), from coefficients (labels, features)."""
    for r in range(scores.shape[0]):
        row = features[r]
        for label in range(scores.shape[1]):
            total, slope = 0.0, coefficients[label]
            for i in range(row.size):
                total += row[i] * slope[i]
            scores[r, label] = total


@kernel(fastmath=SUMMING)
def slope_of(features: Array, surplus: Array, gradient: Array) -> None:
    """Add to the gradient (labels, features) what rows have too much of each label, `surplus` (n, labels)."""
    for r in range(surplus.shape[0]):
        row = features[r]
        for label in range(surplus.shape[1]):
            into, x = gradient[label], surplus[r, label]
            for i in range(row.size):
                into[i] += x * row[i]


@kernel(fastmath=SUMMING)
def curve_of(features: Array, weight: Array, hessian: Array) -> None:
    """Add products of the features of rows, times their weights (n,), to the upper half of a hessian.

    Four rows at a time, so that a sum is read and written once for four.
    """
    n, whole = weight.size, weight.size & ~3
    for r in range(0, whole, 4):
        one, two, three, four = features[r], features[r + 1], features[r + 2], features[r + 3]
        for i in range(one.size):
            x, y, z, t = weight[r] * one[i], weight[r + 1] * two[i], weight[r + 2] * three[i], weight[r + 3] * four[i]
            into = hessian[i]
            for j in range(i, one.size):
                into[j] += x * one[j] + y * two[j] + z * three[j] + t * four[j]
    for r in range(whole, n):
        one = features[r]
        for i in range(one.size):
            x = weight[r] * one[i]
            for j in range(i, one.size):
                hessian[i, j] += x * one[j]


@kernel(fastmath=SUMMING)
def solve(upper: Array, right: Array) -> None:
    """Replace right-hand sides (k, features) by solutions; of the positive definite matrix the upper half is used up.

    It is eliminated row by row, without a choice of pivots.
    """
    size = right.shape[1]
    for p in range(size):
        for i in range(p + 1, size):
            share, into, row = upper[p, i] / upper[p, p], upper[i], upper[p]
            for j in range(i, size):
                into[j] -= share * row[j]
            for k in range(right.shape[0]):
                right[k, i] -= share * right[k, p]
    for p in range(size - 1, -1, -1):
        for k in range(right.shape[0]):
            x = right[k, p]
            for j in range(p + 1, size):
                x -= upper[p, j] * right[k, j]
            right[k, p] = x / upper[p, p]
