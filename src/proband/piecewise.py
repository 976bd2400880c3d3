"""Piecewise-linear functions of one variable, jumps allowed, and their expectations under a Gaussian.

n functions g_1, ..., g_n share the knots k_1 < ... < k_m, which cut the line into the m + 1 pieces (−∞, k_1),
[k_1, k_2), ..., [k_m, ∞). On piece p, g_y(z) = a_yp + b_yp·z. For z = μ + τ·ε with ε ~ N(0, 1), Φ the normal
distribution function, Q = 1 − Φ and φ its density, a change of height and slope at a knot k brings in closed form

    E[ 1{z ≥ k} (Δa + Δb·z) ] = (Δa + Δb·μ)·Q(α) + Δb·τ·φ(α)      for a knot above μ, α = (k − μ)/τ,
    E[ 1{z < k} (−Δa − Δb·z) ] = −(Δa + Δb·μ)·Φ(α) + Δb·τ·φ(α)    for a knot below it,

so E g_y is g_y's own line at μ plus a sum over the knots. Far knots bring products of tiny numbers, never differences
of large ones; lines are taken from the nearest knot, Δa + Δb·μ = jump + Δb·(μ − k), so that rounding does not depend on
how far from 0 everything is. For τ = 0 it is g_y(μ) itself.

The upper envelope max_y g_y is piecewise linear again, with knots added where two functions cross.

Examples
--------
>>> limits = PiecewiseLinear([-1.0, 1.0], [[-5.0, 1.0, -5.0], [0.0, 0.0, 0.0]], np.zeros((2, 3)))
>>> limits([0.0, 1.0])
array([[ 1.,  0.],
       [-5.,  0.]])
>>> limits.expectation(0.0, 0.5).round(6)
array([0.726998, 0.      ])
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from proband.errors import ProblemError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

HALF_ROOT = math.sqrt(0.5)
DENSITY = 1 / math.sqrt(2 * math.pi)


@njit(cache=True, nogil=True, error_model="numpy")
def normal_tail(u):  # type: ignore[no-untyped-def]
    """Return Q(u) = P(ε > u) of a standard normal, accurate relative to its own size for large u."""
    return 0.5 * math.erfc(u * HALF_ROOT)


@njit(cache=True, nogil=True, error_model="numpy")
def normal_density(u):  # type: ignore[no-untyped-def]
    """Return φ(u), the density of a standard normal."""
    return DENSITY * math.exp(-0.5 * u * u)


@njit(cache=True, nogil=True, error_model="numpy")
def piece_of(knots, z):  # type: ignore[no-untyped-def]
    """Return the piece that contains z, a knot belonging to the piece on its right."""
    return np.searchsorted(knots, z, side="right")


@njit(cache=True, nogil=True, error_model="numpy")
def expect(knots, intercepts, slopes, mean, sd, out):  # type: ignore[no-untyped-def]
    """Write E g_y(N(mean, sd²)) of every function into `out`, shape (n,)."""
    n = intercepts.shape[0]
    here = piece_of(knots, mean)
    if not sd > 0:
        for y in range(n):
            out[y] = intercepts[y, here] + slopes[y, here] * mean
        return
    anchor = knots[max(here - 1, 0)] if len(knots) else 0.0
    for y in range(n):
        out[y] = intercepts[y, here] + slopes[y, here] * anchor + slopes[y, here] * (mean - anchor)
    for k in range(len(knots)):
        u = (knots[k] - mean) / sd
        tail, density = normal_tail(abs(u)), sd * normal_density(u)
        if tail == 0.0:
            continue
        sign = 1.0 if k >= here else -1.0
        for y in range(n):
            bend = slopes[y, k + 1] - slopes[y, k]
            jump = intercepts[y, k + 1] + slopes[y, k + 1] * knots[k] - (intercepts[y, k] + slopes[y, k] * knots[k])
            out[y] += sign * tail * (jump + bend * (mean - knots[k])) + bend * density


@njit(cache=True, nogil=True, error_model="numpy")
def expect_many(knots, intercepts, slopes, means, sds):  # type: ignore[no-untyped-def]
    """Return E g_y(N(mean, sd²)) for each pair of a mean and an sd, shape (pairs, n)."""
    out = np.empty((len(means), intercepts.shape[0]))
    for r in range(len(means)):
        expect(knots, intercepts, slopes, means[r], sds[r], out[r])
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def pieces_probabilities(knots, means, sds):  # type: ignore[no-untyped-def]
    """Return the probability of each piece for each pair of a mean and an sd, shape (pairs, m + 1)."""
    m = len(knots)
    out = np.zeros((len(means), m + 1))
    for r in range(len(means)):
        here = piece_of(knots, means[r])
        if not sds[r] > 0:
            out[r, here] = 1.0
            continue
        below, above = 0.0, 0.0
        for k in range(here):  # lower tails, growing towards the mean
            tail = normal_tail((means[r] - knots[k]) / sds[r])
            out[r, k] = tail - below
            below = tail
        for k in range(m - 1, here - 1, -1):  # upper tails
            tail = normal_tail((knots[k] - means[r]) / sds[r])
            out[r, k + 1] = tail - above
            above = tail
        out[r, here] = 1.0 - below - above
    return out


@dataclass(frozen=True, eq=False)
class PiecewiseLinear:
    """n piecewise-linear functions on common pieces.

    Parameters
    ----------
    knots : array_like of shape (m,)
        Where pieces meet, strictly increasing; a knot belongs to the piece on its right.
    intercepts, slopes : array_like of shape (n, m + 1)
        g_y(z) = intercept + slope · z on each piece.
    """

    knots: FloatArray
    intercepts: FloatArray
    slopes: FloatArray

    def __init__(self, knots: ArrayLike, intercepts: ArrayLike, slopes: ArrayLike) -> None:
        for name, given in (("knots", knots), ("intercepts", intercepts), ("slopes", slopes)):
            array = np.array(given, dtype=np.float64, order="C")
            if not np.isfinite(array).all():
                raise ProblemError(
                    f"{name} are {array.tolist()}; they must be finite numbers; replace NaN and infinities"
                )
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if self.knots.ndim != 1 or (np.diff(self.knots) <= 0).any():
            raise ProblemError(f"knots are {self.knots.tolist()}; they must increase strictly; sort them, each once")
        shape = self.intercepts.shape
        if len(shape) != 2 or not shape[0] or shape[1] != len(self.knots) + 1 or self.slopes.shape != shape:
            raise ProblemError(
                f"intercepts have shape {shape} and slopes {self.slopes.shape}; with {len(self.knots)} knots both must "
                f"be (functions, {len(self.knots) + 1}); give one number for each function and piece"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PiecewiseLinear):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self._arrays, other._arrays, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(array.tobytes() for array in self._arrays))

    @property
    def _arrays(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.knots, self.intercepts, self.slopes

    @property
    def n(self) -> int:
        """Number of functions."""
        return len(self.intercepts)

    @property
    def span(self) -> float:
        """Largest minus smallest value that any function takes at a knot, on either side of it.

        A scale of the functions, without a scale of z. Where this is 0, the span of the intercepts, and where this is 0
        too, the largest slope.
        """
        left = self.intercepts[:, :-1] + self.slopes[:, :-1] * self.knots
        right = self.intercepts[:, 1:] + self.slopes[:, 1:] * self.knots
        values = np.concatenate([left.ravel(), right.ravel()])
        spans = (np.ptp(values) if len(values) else 0.0, np.ptp(self.intercepts), np.abs(self.slopes).max())
        return float(next((span for span in spans if span > 0), 0.0))

    def __call__(self, z: ArrayLike) -> FloatArray:
        """Return every function at every point, shape (points, n)."""
        points = np.atleast_1d(np.asarray(z, dtype=np.float64))
        piece = np.searchsorted(self.knots, points, side="right")
        return np.asarray((self.intercepts[:, piece] + self.slopes[:, piece] * points).T)

    def expectation(self, mean: ArrayLike, sd: ArrayLike) -> FloatArray:
        """Return E g_y(z) for z ~ N(mean, sd²), in closed form.

        Parameters
        ----------
        mean, sd : array_like
            They are broadcast; sd is 0 or more, and 0 gives g at the mean exactly.

        Returns
        -------
        FloatArray of shape (..., n)

        Examples
        --------
        >>> step = PiecewiseLinear([0.0], [[0.0, 1.0]], [[0.0, 0.0]])
        >>> step.expectation([0.0, 1.0], [1.0, 0.0])
        array([[0.5],
               [1. ]])
        """
        means, sds = _pairs(mean, sd)
        found = expect_many(self.knots, self.intercepts, self.slopes, means.ravel(), sds.ravel())
        return np.asarray(found.reshape(*means.shape, self.n))

    def branch_probabilities(self, mean: ArrayLike, sd: ArrayLike) -> FloatArray:
        """Return the probability of each piece for z ~ N(mean, sd²), shape (..., m + 1).

        Examples
        --------
        >>> limits = PiecewiseLinear([-1.0, 1.0], np.zeros((1, 3)), np.zeros((1, 3)))
        >>> limits.branch_probabilities(0.0, 1.0).round(4)
        array([0.1587, 0.6827, 0.1587])
        """
        means, sds = _pairs(mean, sd)
        found = pieces_probabilities(self.knots, means.ravel(), sds.ravel())
        return np.asarray(found.reshape(*means.shape, len(self.knots) + 1))

    def rescaled(self, origin: float, unit: float) -> PiecewiseLinear:
        """Return the same functions of u, where z = origin + unit · u and unit > 0.

        Pieces too narrow to be told apart in u are left out.
        """
        knots = (self.knots - origin) / unit
        told = np.append(np.diff(knots) > 0, True)[: len(knots)]
        pieces = np.flatnonzero(np.concatenate([[True], told]))
        intercepts, slopes = self.intercepts[:, pieces], self.slopes[:, pieces]
        return PiecewiseLinear(knots[told], intercepts + slopes * origin, slopes * unit)

    def cut_at_crossings(self) -> tuple[PiecewiseLinear, IntArray]:
        """Return the same functions with knots added where the largest one changes, and the largest on each piece.

        Where several are equally large, the first of them counts.

        Examples
        --------
        >>> lines = PiecewiseLinear([], [[0.0], [1.0]], [[1.0], [-1.0]])
        >>> cut, largest = lines.cut_at_crossings()
        >>> cut.knots, largest
        (array([0.5]), array([1, 0]))
        """
        ends = np.concatenate([[-np.inf], self.knots, [np.inf]])
        knots: list[float] = []
        pieces: list[int] = []
        largest: list[int] = []
        for piece in range(len(self.knots) + 1):
            crossings, best = _largest_on(self.intercepts[:, piece], self.slopes[:, piece], *ends[piece : piece + 2])
            knots += ([float(ends[piece])] if piece else []) + crossings
            pieces += [piece] * len(best)
            largest += best
        cut = PiecewiseLinear(knots, self.intercepts[:, pieces], self.slopes[:, pieces])
        return cut, np.array(largest, dtype=np.int64)

    def upper_envelope(self) -> PiecewiseLinear:
        """Return max_y g_y, one function.

        Examples
        --------
        >>> PiecewiseLinear([], [[0.0], [1.0]], [[1.0], [-1.0]]).upper_envelope()([0.0, 0.5, 2.0])
        array([[1. ],
               [0.5],
               [2. ]])
        """
        cut, largest = self.cut_at_crossings()
        pieces = np.arange(len(largest))
        return PiecewiseLinear(cut.knots, cut.intercepts[largest, pieces][None], cut.slopes[largest, pieces][None])


def _largest_on(a: FloatArray, b: FloatArray, low: float, high: float) -> tuple[list[float], list[int]]:
    """Return where the largest of the lines a + b·z changes inside (low, high), and the largest ones in turn."""
    if math.isinf(low):
        keys: tuple[FloatArray, ...] = (-np.arange(len(a), dtype=np.float64), a, -b)
    else:
        keys = (-np.arange(len(a), dtype=np.float64), b, a + b * low)
    best = [int(np.lexsort(keys)[-1])]
    crossings: list[float] = []
    position = low
    while True:
        now = best[-1]
        steeper = np.flatnonzero(b > b[now])
        if not len(steeper):
            return crossings, best
        at = np.maximum((a[now] - a[steeper]) / (b[steeper] - b[now]), position)
        nearest = steeper[at == at.min()]
        position = float(at.min())
        if position >= high:
            return crossings, best
        best.append(int(nearest[np.argmax(b[nearest])]))
        if position > low and (not crossings or position > crossings[-1]):
            crossings.append(position)
        else:
            best.pop(-2)


def _pairs(mean: ArrayLike, sd: ArrayLike) -> tuple[FloatArray, FloatArray]:
    means, sds = np.broadcast_arrays(np.asarray(mean, dtype=np.float64), np.asarray(sd, dtype=np.float64))
    if not (np.isfinite(means).all() and np.isfinite(sds).all() and (sds >= 0).all()):
        raise ProblemError(
            f"mean is {np.asarray(mean).tolist()} and sd {np.asarray(sd).tolist()}; both must be finite and sd 0 or "
            "more; correct them"
        )
    return np.array(means), np.array(sds)
