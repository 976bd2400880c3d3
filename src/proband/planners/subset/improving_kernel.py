"""Greedy addition, then single additions, removals and exchanges, on a swept matrix, compiled.

Sweeping the correlations R on the tests of S gives a matrix T with

    T[i,i] = R[i,i | S] for i outside,    T[j,j] = −K[j,j] for j inside, K = R[S,S]⁻¹,    T[j,i] = (K·R[S,i])_j,

so that F changes by log T[i,i] + offset_i when i joins, by log K[j,j] − offset_j when j leaves, and by
log(T[i,i]·K[j,j] + T[j,i]²) + offset_i − offset_j when i takes the place of j, each less what the groups' openings
change. A move costs one sweep, d² operations, and each one improves F, so no set comes twice.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

LEAST_VARIANCE = 1e-10
"""Share of a test's variance, given the set, below which it adds nothing that rounding has not blurred."""
NOTHING = -1


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(swept, inside, i):  # type: ignore[no-untyped-def]
    """Take test i into the set or out of it."""
    d = len(inside)
    pivot = swept[i, i]
    for r in range(d):
        if r != i:
            share = swept[r, i] / pivot
            for c in range(d):
                if c != i:
                    swept[r, c] -= share * swept[i, c]
    sign = -1.0 if inside[i] else 1.0
    for c in range(d):
        if c != i:
            swept[i, c] *= sign / pivot
            swept[c, i] *= sign / pivot
    swept[i, i] = -1.0 / pivot
    inside[i] = not inside[i]


@njit(cache=True, nogil=True, error_model="numpy")
def two_cheapest(group, extra, inside, cheapest):  # type: ignore[no-untyped-def]
    """Fill in the two smallest extras of each group inside, inf where there are fewer, shape (groups, 2)."""
    for g in range(len(cheapest)):
        cheapest[g, 0], cheapest[g, 1] = np.inf, np.inf
    for i in range(len(inside)):
        g = group[i]
        if g >= 0 and inside[i]:
            if extra[i] < cheapest[g, 0]:
                cheapest[g, 1] = cheapest[g, 0]
                cheapest[g, 0] = extra[i]
            else:
                cheapest[g, 1] = min(cheapest[g, 1], extra[i])


@njit(cache=True, nogil=True, error_model="numpy")
def opening_change(group, extra, cheapest, leaving, joining):  # type: ignore[no-untyped-def]
    """Return by how much a move changes what groups pay for opening; NOTHING stands for no test."""
    total = 0.0
    for this, other in ((leaving, joining), (joining, leaving)):
        if this == NOTHING or group[this] < 0 or (this == joining and other != NOTHING and group[other] == group[this]):
            continue
        g = group[this]
        before, after = cheapest[g, 0], cheapest[g, 0]
        if this == leaving and extra[leaving] == cheapest[g, 0]:
            after = cheapest[g, 1]
        if joining != NOTHING and group[joining] == g:
            after = min(after, extra[joining])
        total += (0.0 if after == np.inf else after) - (0.0 if before == np.inf else before)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def best_joining(swept, inside, movable, offset, group, extra, cheapest):  # type: ignore[no-untyped-def]
    """Return the largest gain of adding a test, and the test."""
    best, found = -np.inf, NOTHING
    for i in range(len(inside)):
        if movable[i] and not inside[i] and swept[i, i] > LEAST_VARIANCE:
            gain = math.log(swept[i, i]) + offset[i] - opening_change(group, extra, cheapest, NOTHING, i)
            if gain > best:
                best, found = gain, i
    return best, found


@njit(cache=True, nogil=True, error_model="numpy")
def best_leaving(swept, inside, movable, offset, group, extra, cheapest):  # type: ignore[no-untyped-def]
    """Return the largest gain of removing a test, and the test."""
    best, found = -np.inf, NOTHING
    for j in range(len(inside)):
        if movable[j] and inside[j]:
            gain = math.log(-swept[j, j]) - offset[j] - opening_change(group, extra, cheapest, j, NOTHING)
            if gain > best:
                best, found = gain, j
    return best, found


@njit(cache=True, nogil=True, error_model="numpy")
def best_exchange(swept, inside, movable, offset, group, extra, cheapest):  # type: ignore[no-untyped-def]
    """Return the largest gain of an exchange, the test that leaves and the one that joins.

    Factors are compared, not their logarithms: these take most of the time otherwise.
    """
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
            if group[i] >= 0 or group[j] >= 0:
                worth -= opening_change(group, extra, cheapest, j, i)
            factor = ratio if worth == 0.0 else ratio * math.exp(min(worth, 600.0))
            if factor > best:
                best, leaving, joining = factor, j, i
    return math.log(best) if best > 0 else -np.inf, leaving, joining


@njit(cache=True, nogil=True, error_model="numpy")
def one_move(swept, inside, movable, offset, group, extra, cheapest, least, most, smallest):  # type: ignore[no-untyped-def]
    """Make the best move that keeps least to most tests inside; returns whether one gains more than `smallest`.

    Exchanges are looked at when no addition and no removal helps: there are d²/4 of them.
    """
    count = 0
    for i in range(len(inside)):
        count += inside[i]
    two_cheapest(group, extra, inside, cheapest)
    best, leaving, joining = smallest, NOTHING, NOTHING
    if count < most:
        gain, i = best_joining(swept, inside, movable, offset, group, extra, cheapest)
        if i != NOTHING and (gain > best or count < least):
            best, leaving, joining = gain, NOTHING, i
    if count > least:
        gain, j = best_leaving(swept, inside, movable, offset, group, extra, cheapest)
        if j != NOTHING and (gain > best or count > most):
            best, leaving, joining = gain, j, NOTHING
    if leaving == NOTHING and joining == NOTHING:
        best, leaving, joining = best_exchange(swept, inside, movable, offset, group, extra, cheapest)
        if best <= smallest:
            return False
    if leaving != NOTHING:
        sweep(swept, inside, leaving)
    if joining != NOTHING:
        sweep(swept, inside, joining)
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_anew(swept, inside, correlation):  # type: ignore[no-untyped-def]
    """Sweep R on the tests inside; one that is a combination of those before it is dropped."""
    d = len(inside)
    for i in range(d):
        for j in range(d):
            swept[i, j] = correlation[i, j]
    for i in range(d):
        if inside[i]:
            inside[i] = False
            if swept[i, i] > LEAST_VARIANCE:
                sweep(swept, inside, i)


@njit(cache=True, nogil=True, error_model="numpy")
def climb(correlation, start, movable, offset, group, extra, groups, least, most, smallest):  # type: ignore[no-untyped-def]
    """Move from a set to better ones until no move helps; returns it as flags.

    Rounding of many sweeps is kept small by sweeping anew from R after every d moves.
    """
    d = len(offset)
    inside = start.copy()
    cheapest = np.empty((groups, 2))
    swept = np.empty((d, d))
    moves = 0
    going = True
    while going:
        if moves % d == 0:
            sweep_anew(swept, inside, correlation)
        going = one_move(swept, inside, movable, offset, group, extra, cheapest, least, most, smallest)
        moves += 1
    return inside
