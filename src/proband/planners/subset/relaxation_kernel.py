"""The linx relaxation of a node, compiled: slower than the mixed bound, and closer where correlations are strong.

With A[i,j] = M[i,j]·exp((offset_i + offset_j)/2 − λ) over the free tests, X = Diag(x) and x the indicator of S − I,

    F(S) = inside + λ·(s − |I|) + ½·log det(A·X·A + 1 − X)

(K. M. Anstreicher, "Efficient solution of maximum-entropy sampling problems", Operations Research 68, 2020). The
right-hand side is concave in x, so for any point x of the box [0, 1]^E, with its gradient g,

    max F ≤ value(x) + Σ_i max(g_i·(1 − x_i), −g_i·x_i):

a bound that needs no optimal x. Leaving i out lowers it by g_i where that is positive, taking i in by −g_i.

*Ascent.* Moving x_j by t multiplies the determinant by 1 + t·(p − m) − t²·(p·m − q²), with N the inverse of
A·X·A + 1 − X and p = (A·N·A)[j,j], m = N[j,j], q = (N·A)[j,j]: the best step has a closed form, and N changes by a
matrix of rank two. A few rounds over the tests suffice. The first value tells when the node cannot be closed: the
maximum is not below it.

*Groups.* Each free test of a closed group carries an equal share of its least opening price.

*Rounding* is that of N: at most a small multiple of ε·κ, κ ≤ trace(A·X·A + 1 − X)·trace(N), and is added to the bound.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from proband.compiling import inner
from proband.planners.subset.bound_kernel import LEAST, POSSIBLE, TAKEN_HERE
from proband.planners.subset.matrix_kernel import dot, factorise, invert
from proband.planners.subset.node_kernel import INSIDE, LEFT, TAKEN, Levels
from proband.planners.subset.objective import EPSILON, Objective
from proband.vocabulary import FloatArray

ROUNDS = 4


class Relaxation(NamedTuple):
    """Room for one relaxation: A and N (d, d), and x, g and three more rows (d,)."""

    scaled: FloatArray
    inverse: FloatArray
    point: FloatArray
    gradient: FloatArray
    image: FloatArray
    column: FloatArray


def new_relaxation(d: int) -> Relaxation:
    """Return room for nodes of d tests."""
    return Relaxation(np.empty((d, d)), np.empty((d, d)), np.empty(d), np.empty(d), np.empty(d), np.empty(d))


@inner
def scale_up(
    objective: Objective, levels: Levels, top: int, openings: FloatArray, price: float, relaxation: Relaxation
) -> None:
    """Fill in A, and the point x of the node."""
    k, scale = levels.counts[top, LEFT], relaxation.image
    for i in range(k):
        test = levels.tests[top, i]
        offset, g = objective.offset[test] - price, objective.group[test]
        if g >= 0 and openings[TAKEN_HERE, g] == 0:
            offset -= openings[LEAST, g] / openings[POSSIBLE, g]
        scale[i] = math.exp(0.5 * offset)
        relaxation.point[i] = levels.point[top, test]
    for i in range(k):
        for j in range(k):
            relaxation.scaled[i, j] = levels.given[top, i, j] * scale[i] * scale[j]


@inner
def fill_lower(A: FloatArray, x: FloatArray, k: int, N: FloatArray) -> None:
    """Fill the lower triangle of N with that of A·X·A + 1 − X."""
    for i in range(k):
        for j in range(i + 1):
            N[i, j] = 0.0
    for m in range(k):
        if x[m] > 0:
            for i in range(k):
                share = A[m, i] * x[m]
                for j in range(i + 1):
                    N[i, j] += share * A[m, j]
    for i in range(k):
        N[i, i] += 1.0 - x[i]


@inner
def best_step(p: float, m: float, q: float, x: float) -> tuple[float, float]:
    """Return the step of a coordinate x in [0, 1] that makes the determinant largest, and the factor that it gains."""
    curvature = q * q - p * m
    step = (m - p) / (2.0 * curvature) if curvature < 0 else p - m
    step = min(max(step, -x), 1.0 - x)
    return step, 1.0 + step * (p - m) + step * step * curvature


@inner
def move(
    N: FloatArray, j: int, k: int, step: float, p: float, m: float, q: float, image: FloatArray, column: FloatArray
) -> None:
    """Update N after a step of coordinate j, by the formula of Woodbury for the rank-two change."""
    first, last = 1.0 / step + p, m - 1.0 / step
    determinant = first * last - q * q
    for i in range(k):
        column[i] = N[j, i]
    for r in range(k):
        one = (last * image[r] - q * column[r]) / determinant
        two = (first * column[r] - q * image[r]) / determinant
        row = N[r]
        for c in range(k):
            row[c] -= one * image[c] + two * column[c]


@inner
def ascend(relaxation: Relaxation, k: int) -> float:
    """Move every coordinate of x once to its best place; returns what the log-determinant gains."""
    A, N, x, image = relaxation.scaled, relaxation.inverse, relaxation.point, relaxation.image
    gained = 0.0
    for j in range(k):
        for i in range(k):
            image[i] = dot(N[i], A[j], k)
        p, m, q = dot(A[j], image, k), N[j, j], image[j]
        step, factor = best_step(p, m, q, x[j])
        if abs(step) > 1e-7:
            move(N, j, k, step, p, m, q, image, relaxation.column)
            x[j] += step
            gained += math.log(factor)
    return gained


@inner
def slope(relaxation: Relaxation, k: int) -> float:
    """Fill in the gradient; returns Σ max(g_i·(1 − x_i), −g_i·x_i)."""
    A, N, x, g, image = relaxation.scaled, relaxation.inverse, relaxation.point, relaxation.gradient, relaxation.image
    total = 0.0
    for j in range(k):
        for i in range(k):
            image[i] = dot(N[i], A[j], k)
        g[j] = 0.5 * (dot(A[j], image, k) - N[j, j])
        total += max(g[j] * (1.0 - x[j]), -g[j] * x[j])
    return total


@inner
def relax(
    objective: Objective, levels: Levels, top: int, openings: FloatArray, price: float, enough: float, stubborn: bool,
    relaxation: Relaxation,
) -> float:  # fmt: skip
    """Return a bound on F in the node without what open groups pay, inf where x already shows that it exceeds `enough`.

    A stubborn call goes on nevertheless. The point reached is kept with the node, for those below it.
    """
    k = levels.counts[top, LEFT]
    A, N, x = relaxation.scaled, relaxation.inverse, relaxation.point
    scale_up(objective, levels, top, openings, price, relaxation)
    base = levels.figures[top, INSIDE]
    if objective.size >= 0:
        base += price * (objective.size - levels.counts[top, TAKEN])
    fill_lower(A, x, k, N)
    logarithm = factorise(N, k)
    if not stubborn and base + 0.5 * logarithm > enough:  # the maximum is not below this value: no bound can close it
        return np.inf
    fill_lower(A, x, k, N)
    invert(N, k)
    bound = np.inf
    for _ in range(ROUNDS):
        logarithm += ascend(relaxation, k)
        value = base + 0.5 * logarithm
        bound = value + slope(relaxation, k)
        if bound <= enough or bound - value < 0.02 * (bound - enough) or (value > enough and not stubborn):
            break
    for i in range(k):
        levels.point[top, levels.tests[top, i]] = x[i]
    return bound + rounding(relaxation, k)


@inner
def rounding(relaxation: Relaxation, k: int) -> float:
    """Return what rounding may add to a bound: 8·k·ε·κ."""
    A, N, x = relaxation.scaled, relaxation.inverse, relaxation.point
    size, inverse = 0.0, 0.0
    for i in range(k):
        size += x[i] * dot(A[i], A[i], k) + 1.0 - x[i]
        inverse += N[i, i]
    return 8.0 * k * EPSILON * size * inverse
