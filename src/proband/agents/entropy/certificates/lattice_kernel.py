"""All subsets of a few tests at once, compiled: their log-determinants, and which of them rivals have beaten.

A subset is numbered by its bits. Let b be the lowest test of S and P = S − {b}: the scatter of the tests below b given
P stands in the row of the lowest test of P until all sets that continue P by lower tests are done, and one rank-one
step gives that of the tests below b given S. Half of the sets have b = 0, a quarter b = 1, ...: about 3·2^k
multiplications.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proband.compiling import inner, kernel
from proband.planners.subset.enumeration_kernel import lowest_bit
from proband.vocabulary import FloatArray, IntArray


@inner
def bits(number: int) -> int:
    """Return how many bits are set."""
    found = 0
    while number:
        number &= number - 1
        found += 1
    return found


@kernel
def log_determinants(matrix: FloatArray) -> FloatArray:
    """Return the log-determinant of every principal submatrix, shape (2^k,); -inf from the first singular one on."""
    k = len(matrix)
    given = np.empty((k + 1, k, k))
    for i in range(k):  # entry by entry: assigning a slice takes seconds to compile
        for j in range(k):
            given[k, i, j] = matrix[i, j]
    found = np.zeros(1 << k)
    for t in range(1, 1 << k):
        b = lowest_bit(t)
        rest = t & (t - 1)
        source, target = given[k if rest == 0 else lowest_bit(rest)], given[b]
        pivot = source[b, b]
        found[t] = found[rest] + math.log(pivot) if pivot > 0 else -np.inf
        for i in range(b):
            share = source[b, i] / pivot if pivot > 0 else 0.0
            for j in range(b):
                target[i, j] = source[i, j] - share * source[b, j]
    return found


@inner
def beaten_nearby(S: int, k: int, values: FloatArray, widths: FloatArray) -> bool:
    """Return whether adding, dropping or exchanging one test beats S for sure."""
    size = bits(S)
    for i in range(k):
        width = widths[size - 1, 1, 0] if (S >> i) & 1 else widths[size, 0, 1]
        if values[S] + width < values[S ^ (1 << i)]:
            return True
    for i in range(k):
        if (S >> i) & 1:
            for j in range(k):
                if not (S >> j) & 1 and values[S] + widths[size - 1, 1, 1] < values[S ^ (1 << i) ^ (1 << j)]:
                    return True
    return False


@kernel
def eliminate(k: int, values: FloatArray, alive: NDArray[np.bool_], widths: FloatArray, rivals: IntArray) -> None:
    """Drop the sets that a neighbour or a rival beats by more than the width.

    `values` (2^k,) are the estimated rewards, `alive` (2^k,) flags the sets that are left and is changed, `widths`
    (k + 1, k + 1, k + 1) tells by how much the estimated difference of S and S' may be off, by |S ∩ S'|, |S − S'| and
    |S' − S|, and `rivals` are the numbers of sets to compare all others with.
    """
    for S in range(len(values)):
        if not alive[S]:
            continue
        lost = beaten_nearby(S, k, values, widths)
        for rival in rivals:
            if lost:
                break
            if rival != S:
                width = widths[bits(S & rival), bits(S & ~rival), bits(rival & ~S)]
                lost = values[S] + width < values[rival]
        if lost:
            alive[S] = False
