"""Gaussian expectations of functions that are affine on pieces of the plane, compiled: sums over their creases.

The formulas are those of :mod:`proband.piecewise.plane`.
"""

from __future__ import annotations

import math

import numpy as np

from proband.compiling import ZERO, inner, kernel
from proband.piecewise.creases import Surfaces
from proband.piecewise.line_kernel import normal_density, normal_tail
from proband.vocabulary import FloatArray

NODES = 0.5 + 0.5 * np.polynomial.legendre.leggauss(16)[0]
WEIGHTS = 0.5 * np.polynomial.legendre.leggauss(16)[1]
FAR = 9.0
"""Creases this many standard deviations away bring less than rounding does."""
SINGULAR = 1e-15
"""Below this share of its largest possible value a determinant is rounding, and z moves on a line."""
APART = 1e-20
"""A mean closer to a knot than this, in standard deviations, is taken to its right: at a corner, angles need a side."""


@kernel
def owens_t(h: float, k: float) -> float:
    """Return Owen's T(h, k/h) for h, k ≥ 0, that is P(X > h, 0 < Y < X·k/h) of two standard normals, to 1e-15."""
    if k == 0.0 or h > FAR:
        return 0.0
    if k > h:
        near, far = normal_tail(h), normal_tail(k)
        return 0.5 * near + 0.5 * far - near * far - _owens_t_flat(k, h)
    return _owens_t_flat(h, k)


@inner
def _owens_t_flat(h: float, k: float) -> float:
    """Return Owen's T(h, k/h) for 0 ≤ k ≤ h, where the integrand is smooth."""
    if h > FAR or k == 0.0:
        return 0.0
    slope, total = k / h, 0.0
    for node in range(len(NODES)):
        y = 1.0 + (slope * NODES[node]) ** 2
        total += WEIGHTS[node] * math.exp(-0.5 * h * h * y) / y
    return total * slope / (2 * math.pi)


@inner
def swept(alpha: float, u: float) -> float:
    """Return Θ of a line at signed distance α, from its lower end up to u; α = 0 counts as negative."""
    half = 0.5 * normal_tail(abs(alpha)) + math.copysign(owens_t(abs(alpha), abs(u)), u)
    return half if alpha > 0 else -half


@kernel
def bivariate_normal(h: float, k: float, rho: float) -> float:
    """Return P(X < h, Y < k) of two standard normals with correlation ρ, to about 1e-15.

    Examples
    --------
    >>> round(bivariate_normal(0.0, 0.0, 0.5), 12)
    0.333333333333
    """
    if rho >= 1.0:
        return normal_tail(-min(h, k))
    if rho <= -1.0:
        return max(normal_tail(-h) - normal_tail(k), 0.0)
    h = h if abs(h) > APART else -APART
    k = k if abs(k) > APART else -APART
    rest = math.sqrt((1.0 - rho) * (1.0 + rho))
    inside = 1.0 if h > 0 and k > 0 else 0.0
    found = inside - swept(h, (k - rho * h) / rest) - swept(k, (h - rho * k) / rest)
    return min(max(found, 0.0), 1.0)


@inner
def expect_at(surfaces: Surfaces, mean: FloatArray, covariance: FloatArray, out: FloatArray) -> None:
    """Write the expectations under N(mean, covariance) into `out`: of g_1, ..., g_n and, if it is longer, of max g.

    `covariance` is T_11, T_12, T_22.
    """
    v1, v12, v2 = covariance[0], covariance[1], covariance[2]
    if v1 > 0 and v2 > 0 and v1 * v2 - v12 * v12 > SINGULAR * v1 * v2:
        _expect_in_plane(surfaces, mean, covariance, out)
    elif v1 > 0 or v2 > 0:
        _expect_on_line(surfaces, mean, math.sqrt(max(v1, 0.0)), math.copysign(math.sqrt(max(v2, 0.0)), v12), out)
    else:
        cell_1, cell_2 = _cell(surfaces.knots_1, mean[0], 0.0), _cell(surfaces.knots_2, mean[1], 0.0)
        _at_rest(surfaces, cell_1, cell_2, mean, out)


@kernel
def expect_many(surfaces: Surfaces, means: FloatArray, covariance: FloatArray, functions: int) -> FloatArray:
    """Return the expectations for each mean, shape (means, functions)."""
    out = np.empty((len(means), functions))
    for r in range(len(means)):
        expect_at(surfaces, means[r], covariance, out[r])
    return out


@inner
def _cell(knots: FloatArray, z: float, shift: float) -> int:
    """Return how many knots are at or below z + shift, without rounding the shift away."""
    cell = 0
    while cell < len(knots) and (knots[cell] - z) - shift <= 0:
        cell += 1
    return cell


@inner
def _side(knots: FloatArray, mean: float, sd: float) -> float:
    """Return by how much a mean is moved off a knot."""
    for k in range(len(knots)):
        if abs(knots[k] - mean) < APART * sd:
            return APART * sd
    return 0.0


@inner
def _at_rest(surfaces: Surfaces, cell_1: int, cell_2: int, z: FloatArray, out: FloatArray) -> None:
    """Write the functions of a cell at z, and their maximum if there is room for it."""
    n = len(surfaces.heights)
    best = -np.inf
    for y in range(n):
        height = surfaces.heights[y, cell_1, cell_2]
        out[y] = height[0] + height[1] * z[0] + height[2] * z[1]
        best = max(best, out[y])
    if len(out) > n:
        out[n] = best


@inner
def _expect_in_plane(surfaces: Surfaces, mean: FloatArray, covariance: FloatArray, out: FloatArray) -> None:
    m1, m2 = mean[0], mean[1]
    v1, v12, v2 = covariance[0], covariance[1], covariance[2]
    s1, s2 = _side(surfaces.knots_1, m1, math.sqrt(v1)), _side(surfaces.knots_2, m2, math.sqrt(v2))
    _at_rest(surfaces, _cell(surfaces.knots_1, m1, s1), _cell(surfaces.knots_2, m2, s2), mean, out)
    lines = surfaces.along if len(out) == len(surfaces.heights) else len(surfaces.offsets)
    for line in range(lines):
        n1, n2 = surfaces.normals[line, 0], surfaces.normals[line, 1]
        t1, t2 = v1 * n1 + v12 * n2, v12 * n1 + v2 * n2
        variance = n1 * t1 + n2 * t2
        distance = surfaces.offsets[line] - n1 * m1 - n2 * m2 - (n1 * s1 + n2 * s2)
        alpha = distance / math.sqrt(variance)
        if abs(alpha) > FAR:
            continue
        centre = (n1 * t2 - n2 * t1) / variance * distance + n1 * s2 - n2 * s1
        spread = math.sqrt((v1 * v2 - v12 * v12) / variance)
        density = normal_density(alpha) / math.sqrt(variance)
        theta, share = 0.0, 0.0
        last = surfaces.first[line + 1]
        for end in range(surfaces.first[line], last + 1):
            if end < last:
                u = (surfaces.ends[end] + n2 * m1 - n1 * m2 - centre) / spread
                up_to, below = swept(alpha, u), normal_tail(-u)
            else:
                up_to, below = swept(alpha, np.inf), 1.0
            for f in range(len(out)):
                jump = surfaces.jumps[end + line, f]
                step, b1, b2 = jump[0], jump[1], jump[2]
                out[f] += (step + b1 * m1 + b2 * m2) * (up_to - theta) + (b1 * t1 + b2 * t2) * density * (below - share)
            theta, share = up_to, below


@inner
def _cross(knots: FloatArray, at: float, t: float, cuts: FloatArray, count: int) -> int:
    """Insert where the line at + t·ε crosses knots into `cuts`, which stays sorted; return the new number of cuts."""
    if t != 0.0:
        for k in range(len(knots)):
            cut, place = (knots[k] - at) / t, count
            while place > 0 and cuts[place - 1] > cut:
                cuts[place] = cuts[place - 1]
                place -= 1
            cuts[place] = cut
            count += 1
    return count


@inner
def _stretch(a: float, b: float, low: float, high: float) -> float:
    """Return E[(a + b·ε) 1{low < ε < high}] for ε ~ N(0, 1)."""
    if low > 0:
        share = normal_tail(low) - normal_tail(high)
    elif high < 0:
        share = normal_tail(-high) - normal_tail(-low)
    else:
        share = 1.0 - normal_tail(-low) - normal_tail(high)
    return a * share + b * (normal_density(low) - normal_density(high))


@inner
def _largest_on_stretch(lines: FloatArray, low: float, high: float) -> float:
    """Return E[max_y (a_y + b_y·ε) 1{low < ε < high}]."""
    n, best, total = len(lines), 0, 0.0
    for y in range(1, n):
        if low == -np.inf:
            gain, bend = lines[best, 1] - lines[y, 1], lines[y, 0] - lines[best, 0]
        else:
            gain, bend = (
                lines[y, 0] - lines[best, 0] + (lines[y, 1] - lines[best, 1]) * low,
                lines[y, 1] - lines[best, 1],
            )
        if gain > 0 or (gain == 0 and bend > 0):
            best = y
    while True:
        following, until = -1, high
        for y in range(n):
            bend = lines[y, 1] - lines[best, 1]
            if bend > 0:
                at = max((lines[best, 0] - lines[y, 0]) / bend, low)
                if at < until or (at == until and following >= 0 and lines[y, 1] > lines[following, 1]):
                    following, until = y, at
        total += _stretch(lines[best, 0], lines[best, 1], low, until)
        if following < 0:
            return total
        best, low = following, until


@inner
def _expect_on_line(surfaces: Surfaces, mean: FloatArray, t1: float, t2: float, out: FloatArray) -> None:
    """Write expectations for z = mean + t·ε, ε ~ N(0, 1), from one knot to the next."""
    n = len(surfaces.heights)
    cuts, lines = np.empty(len(surfaces.knots_1) + len(surfaces.knots_2) + 2), np.empty((n, 2))
    cuts[0], cuts[1] = -np.inf, np.inf
    count = _cross(surfaces.knots_1, mean[0], t1, cuts, ZERO + 2)
    count = _cross(surfaces.knots_2, mean[1], t2, cuts, count)
    for f in range(len(out)):
        out[f] = 0.0
    for stretch in range(count - 1):
        low, high = cuts[stretch], cuts[stretch + 1]
        if low < high:
            middle = 0.5 * (max(low, min(high, 1.0) - 2.0) + min(high, max(low, -1.0) + 2.0))
            cell_1 = _cell(surfaces.knots_1, mean[0] + t1 * middle, 0.0)
            cell_2 = _cell(surfaces.knots_2, mean[1] + t2 * middle, 0.0)
            for y in range(n):
                height = surfaces.heights[y, cell_1, cell_2]
                lines[y, 0] = height[0] + height[1] * mean[0] + height[2] * mean[1]
                lines[y, 1] = height[1] * t1 + height[2] * t2
                out[y] += _stretch(lines[y, 0], lines[y, 1], low, high)
            if len(out) > n:
                out[n] += _largest_on_stretch(lines, low, high)
