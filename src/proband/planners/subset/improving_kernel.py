"""Greedy addition, then single additions, removals and exchanges, on a swept matrix, compiled.

Sweeping the correlations R on the tests of S gives a matrix T with

    T[i,i] = R[i,i | S] for i outside,    T[j,j] = −K[j,j] for j inside, K = R[S,S]⁻¹,    T[j,i] = (K·R[S,i])_j,

so that F changes by log T[i,i] + offset_i when i joins, by log K[j,j] − offset_j when j leaves, and by
log(T[i,i]·K[j,j] + T[j,i]²) + offset_i − offset_j when i takes the place of j, each less what the groups' openings
change. A move costs one sweep, d² operations, and each one improves F, so no set comes twice.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from proband.compiling import inner, kernel
from proband.prices import Flags
from proband.vocabulary import FloatArray, IntArray

LEAST_VARIANCE = 1e-10
"""Share of a test's variance, given the set, below which it adds nothing that rounding has not blurred."""
NOTHING: Any = np.int64(-1)
"""No test; no Python integer, for which numba would compile every function that takes a test once more."""


class Sweep(NamedTuple):
    """The matrix T swept on the tests inside, which tests may move, and what they bring and cost.

    `cheapest` has the two smallest extras of each group inside, inf where there are fewer, shape (groups, 2).
    """

    swept: FloatArray
    inside: Flags
    movable: Flags
    offset: FloatArray
    group: IntArray
    extra: FloatArray
    cheapest: FloatArray


@inner
def sweep(at: Sweep, i: int) -> None:
    """Take test i into the set or out of it."""
    d, swept = len(at.inside), at.swept
    pivot = swept[i, i]
    for r in range(d):
        if r != i:
            share = swept[r, i] / pivot
            for c in range(d):
                if c != i:
                    swept[r, c] -= share * swept[i, c]
    sign = -1.0 if at.inside[i] else 1.0
    for c in range(d):
        if c != i:
            swept[i, c] *= sign / pivot
            swept[c, i] *= sign / pivot
    swept[i, i] = -1.0 / pivot
    at.inside[i] = not at.inside[i]


@inner
def find_cheapest(at: Sweep) -> None:
    """Fill in the two smallest extras of each group inside."""
    cheapest, extra = at.cheapest, at.extra
    for g in range(len(cheapest)):
        cheapest[g, 0], cheapest[g, 1] = np.inf, np.inf
    for i in range(len(at.inside)):
        g = at.group[i]
        if g >= 0 and at.inside[i]:
            if extra[i] < cheapest[g, 0]:
                cheapest[g, 1] = cheapest[g, 0]
                cheapest[g, 0] = extra[i]
            else:
                cheapest[g, 1] = min(cheapest[g, 1], extra[i])


@inner
def opening_change(at: Sweep, leaving: int, joining: int) -> float:
    """Return by how much a move changes what groups pay for opening; NOTHING stands for no test."""
    group, extra, total = at.group, at.extra, 0.0
    for this, other in ((leaving, joining), (joining, leaving)):
        if this == NOTHING or group[this] < 0 or (this == joining and other != NOTHING and group[other] == group[this]):
            continue
        g = group[this]
        before, after = at.cheapest[g, 0], at.cheapest[g, 0]
        if this == leaving and extra[leaving] == at.cheapest[g, 0]:
            after = at.cheapest[g, 1]
        if joining != NOTHING and group[joining] == g:
            after = min(after, extra[joining])
        total += (0.0 if after == np.inf else after) - (0.0 if before == np.inf else before)
    return total


@inner
def best_joining(at: Sweep) -> tuple[float, int]:
    """Return the largest gain of adding a test, and the test."""
    best, found = -np.inf, NOTHING
    for i in range(len(at.inside)):
        if at.movable[i] and not at.inside[i] and at.swept[i, i] > LEAST_VARIANCE:
            gain = math.log(at.swept[i, i]) + at.offset[i] - opening_change(at, NOTHING, i)
            if gain > best:
                best, found = gain, i
    return best, found


@inner
def best_leaving(at: Sweep) -> tuple[float, int]:
    """Return the largest gain of removing a test, and the test."""
    best, found = -np.inf, NOTHING
    for j in range(len(at.inside)):
        if at.movable[j] and at.inside[j]:
            gain = math.log(-at.swept[j, j]) - at.offset[j] - opening_change(at, j, NOTHING)
            if gain > best:
                best, found = gain, j
    return best, found


@inner
def best_exchange(at: Sweep) -> tuple[float, int, int]:
    """Return the largest gain of an exchange, the test that leaves and the one that joins.

    Factors are compared, not their logarithms: these take most of the time otherwise.
    """
    swept, inside, movable, offset = at.swept, at.inside, at.movable, at.offset
    best, leaving, joining = 0.0, NOTHING, NOTHING
    for j in range(len(inside)):
        if not (movable[j] and inside[j]):
            continue
        least = -LEAST_VARIANCE * swept[j, j]
        for i in range(len(inside)):
            ratio = swept[j, i] * swept[j, i] - swept[i, i] * swept[j, j]
            if inside[i] or not movable[i] or ratio <= least:
                continue
            worth = offset[i] - offset[j]
            if at.group[i] >= 0 or at.group[j] >= 0:
                worth -= opening_change(at, j, i)
            # Beyond 600 the exponential would overflow; nothing but another such exchange can win then.
            factor = ratio if worth == 0.0 else ratio * math.exp(min(worth, 600.0))
            if factor > best:
                best, leaving, joining = factor, j, i
    return math.log(best) if best > 0 else -np.inf, leaving, joining


@inner
def one_move(at: Sweep, least: int, most: int, smallest: float) -> bool:
    """Make the best move that keeps least to most tests inside; returns whether one gains more than `smallest`.

    Exchanges are looked at when no addition and no removal helps: there are d²/4 of them.
    """
    count = 0
    for i in range(len(at.inside)):
        count += at.inside[i]
    find_cheapest(at)
    best, leaving, joining = smallest, NOTHING, NOTHING
    if count < most:
        gain, i = best_joining(at)
        if i != NOTHING and (gain > best or count < least):
            best, leaving, joining = gain, NOTHING, i
    if count > least:
        gain, j = best_leaving(at)
        if j != NOTHING and (gain > best or count > most):
            best, leaving, joining = gain, j, NOTHING
    if leaving == NOTHING and joining == NOTHING:
        best, leaving, joining = best_exchange(at)
        if best <= smallest:
            return False
    if leaving != NOTHING:
        sweep(at, leaving)
    if joining != NOTHING:
        sweep(at, joining)
    return True


@inner
def sweep_anew(at: Sweep, correlation: FloatArray) -> None:
    """Sweep R on the tests inside; one that is a combination of those before it is dropped."""
    d = len(at.inside)
    for i in range(d):
        for j in range(d):
            at.swept[i, j] = correlation[i, j]
    for i in range(d):
        if at.inside[i]:
            at.inside[i] = False
            if at.swept[i, i] > LEAST_VARIANCE:
                sweep(at, i)


@kernel
def climb(at: Sweep, correlation: FloatArray, least: int, most: int, smallest: float) -> None:
    """Move from the set to better ones until no move helps.

    Rounding of many sweeps is kept small by sweeping anew from R after every d moves.
    """
    moves, going = 0, True
    while going:
        if moves % len(at.inside) == 0:
            sweep_anew(at, correlation)
        going = one_move(at, least, most, smallest)
        moves += 1
