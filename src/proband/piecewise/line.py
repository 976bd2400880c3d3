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

import bisect
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import ProblemError
from proband.vocabulary import FloatArray, IntArray


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
        from proband.piecewise.line_kernel import expect_many

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
        found = [_on_pieces(self.knots.tolist(), *pair) for pair in zip(means.flat, sds.flat, strict=True)]
        return np.array(found).reshape(*means.shape, len(self.knots) + 1)

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


def _on_pieces(knots: list[float], mean: float, sd: float) -> list[float]:
    """Return the probability of each piece."""
    here, out = bisect.bisect_right(knots, mean), [0.0] * (len(knots) + 1)
    if not sd > 0:
        out[here] = 1.0
        return out
    tails = [0.5 * math.erfc(abs(knot - mean) / sd * math.sqrt(0.5)) for knot in knots]
    below, above = 0.0, 0.0
    for k in range(here):  # lower tails, growing towards the mean: no differences of numbers close to 1
        out[k], below = tails[k] - below, tails[k]
    for k in range(len(knots) - 1, here - 1, -1):  # upper tails
        out[k + 1], above = tails[k] - above, tails[k]
    out[here] = 1.0 - below - above
    return out


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
