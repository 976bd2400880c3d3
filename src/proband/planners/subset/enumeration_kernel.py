"""The rewards of all sets by one Schur recursion, compiled.

Number a set by the bits of t, let b be its lowest test and P = S − {b}. The covariance of the tests below b given P
stands in the row of the lowest test of P, and stays there until all sets that continue P by lower tests are done; so

    log det C[S,S] = log det C[P,P] + log C[b,b | P],

and one rank-one step gives the covariance of the tests below b given S. Half of the sets have b = 0, a quarter b = 1,
...: 2^d sets take about 3·2^d multiplications, and nothing but d small matrices is kept.
"""

from __future__ import annotations

import math

import numpy as np

from proband.compiling import inner, kernel
from proband.vocabulary import FloatArray, IntArray


@inner
def lowest_bit(number: int) -> int:
    """Return the position of the lowest bit set."""
    position = 0
    while not (number >> position) & 1:
        position += 1
    return position


@inner
def opening(extra: float, cheapest: float) -> float:
    """Return what a test adds to what its group pays for opening, given the least extra so far (inf for none)."""
    if cheapest == np.inf:
        return extra
    return min(extra - cheapest, 0.0)


@kernel
def fill_values(
    correlation: FloatArray, offset: FloatArray, group: IntArray, extra: FloatArray,
    given: FloatArray, cheapest: FloatArray, values: FloatArray,
) -> None:  # fmt: skip
    """Fill in F of every set, shape (2^d,), 0 at first; -inf from the first singular subset on.

    `given` (d, d, d) is room for matrices; `cheapest` (d + 1, groups), inf at first, has the least extra by group for
    the set of each matrix and, last, for the empty set.
    """
    d, groups = len(offset), cheapest.shape[1]
    for t in range(1, len(values)):
        b = lowest_bit(t)
        rest = t & (t - 1)
        row = d if rest == 0 else lowest_bit(rest)
        source, target = correlation if rest == 0 else given[row], given[b]
        pivot = source[b, b]
        gain = math.log(pivot) + offset[b] if pivot > 0 else -np.inf
        if group[b] >= 0:
            gain -= opening(extra[b], cheapest[row, group[b]])
        values[t] = values[rest] + gain
        for i in range(b):
            share = source[b, i] / pivot if pivot > 0 else 0.0
            for j in range(b):
                target[i, j] = source[i, j] - share * source[b, j]
        if b > 0 and groups > 0:
            for g in range(groups):
                cheapest[b, g] = cheapest[row, g]
            if group[b] >= 0:
                cheapest[b, group[b]] = min(cheapest[b, group[b]], extra[b])
