"""Algorithm 4's work on all candidate sets, compiled. A set is numbered by its bits.

Estimated rewards come from one Schur recursion over the sets
(:mod:`proband.agents.entropy.certificates.lattice_kernel`), which skips every branch without a candidate: the sets that
begin with the same high bits stand side by side, and `before` counts the candidates that come before each number.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proband.agents.entropy.certificates.lattice_kernel import bits
from proband.compiling import kernel
from proband.planners.subset.enumeration_kernel import lowest_bit
from proband.vocabulary import FloatArray, IntArray

LOG_TWO_PI_E = math.log(2 * math.pi * math.e)


@kernel
def candidate_rewards(
    covariance: FloatArray, paid: FloatArray, scale: float, before: IntArray, rewards: FloatArray, given: FloatArray
) -> None:
    """Fill in the estimated rewards of all candidates; NaN where the estimated covariance is not positive definite.

    The covariance (d, d) comes entry by entry from different rounds: it may be indefinite. `paid` (2^d,) are the costs
    of the sets, `scale` is λ, `before` (2^d + 1,) tells how many candidates have a smaller number, `rewards` (2^d,) is
    filled in, and `given` (d + 1, d, d) is there to work in.
    """
    d = len(covariance)
    for i in range(d):  # entry by entry: assigning a slice takes seconds to compile
        for j in range(d):
            given[d, i, j] = covariance[i, j]
    rewards[0] = 0.0
    t = 1
    while t < 1 << d:
        b = lowest_bit(t)
        beyond = t + (1 << b)
        rest = t & (t - 1)
        source, target = given[d if rest == 0 else lowest_bit(rest)], given[b]
        pivot = source[b, b]
        if before[beyond] == before[t]:
            t = beyond
        elif not pivot > 0 or math.isnan(rewards[rest]):
            rewards[t:beyond] = np.nan
            t = beyond
        else:
            rewards[t] = rewards[rest] + paid[rest] + scale / 2 * (LOG_TWO_PI_E + math.log(pivot)) - paid[t]
            for i in range(b):
                share = source[b, i] / pivot
                for j in range(b):
                    target[i, j] = source[i, j] - share * source[b, j]
            t += 1


@kernel
def drop_candidates(rewards: FloatArray, numbers: IntArray, alive: NDArray[np.bool_], width: float) -> int:
    """Drop every candidate that is at least `width` below the best one; returns how many were dropped.

    A candidate without an estimate is neither dropped nor the best. `numbers` lists the candidates, `alive` flags them.
    """
    best = -np.inf
    for S in numbers:
        if not math.isnan(rewards[S]):
            best = max(best, rewards[S])
    dropped = 0
    for S in numbers:
        if rewards[S] + width <= best:
            alive[S] = False
            dropped += 1
    return dropped


@kernel
def largest_with_pairs(alive: NDArray[np.bool_], d: int, largest: IntArray, before: IntArray) -> None:
    """Fill in the largest candidate that holds each pair (the smallest number among equals), -1 where there is none.

    `largest` has shape (d, d), a test is a pair with itself; `before` as in :func:`candidate_rewards`.
    """
    largest[:] = -1
    sizes = np.full((d, d), -1)
    found = 0
    for S in range(1 << d):
        before[S] = found
        if not alive[S]:
            continue
        found += 1
        size = bits(S)
        for i in range(d):
            if (S >> i) & 1:
                for j in range(d):
                    if (S >> j) & 1 and size > sizes[i, j]:
                        sizes[i, j], largest[i, j] = size, S
    before[1 << d] = found
