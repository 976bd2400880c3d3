"""Functions of two variables that are affine on rectangles, jumps allowed, and their expectations under a Gaussian.

n functions g_1, ..., g_n share knots on both axes, which cut the plane into rectangular cells, closed on the left and
below. On a cell g_y(z) = a + b·z. For z ~ N(μ, T) every expectation is a sum over the *creases*, the segments along
which a function f changes by Δa + Δb·z when they are crossed in the direction of their unit normal ν:

    E f(z) = f(μ) + Σ over creases of  (Δa + Δb·μ)·Θ + (Δb·Tν)·Λ,
    Θ = ∫ exp(−r²/2) dθ / 2π,      Λ = ∫ density of z,      along the crease.

Here r and θ are polar coordinates around μ after z was scaled to unit covariance. (Both come from the divergence
theorem: (z − μ)·density = −T ∇density, and the probability of a polygon is 1 or 0, as μ is inside or not, minus the
integral Θ once around it.) Let α be the signed distance of the crease's line from μ and u the position of an end on
this line, both in standard deviations. Then Θ is the difference of ±T(|α|, u/|α|) at the ends, T being Owen's function,
and Λ that of φ(α)·Φ(u)/sd(ν·z): exact up to rounding. The best reward max_y g_y is affine on polygons: it has more
creases inside the cells, where two functions cross, and the same formula.

A singular T lets z move on a line only, on which f is piecewise linear; T = 0 gives f(μ).

Examples
--------
>>> both = PiecewisePlane(
...     ([0.0], [0.0]), [[[-1.0, -1.0], [-1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]], np.zeros((2, 2, 2, 2))
... )
>>> both([[0.5, -0.5], [0.0, 0.0]])
array([[-1.,  0.],
       [ 1.,  0.]])
>>> both.expectation([[0.0, 0.0]], [[1.0, 0.5], [0.5, 1.0]]).round(6)
array([[-0.333333,  0.      ]])
>>> both.expected_maximum([[0.0, 0.0]], [[1.0, 0.5], [0.5, 1.0]]).round(6)
array([0.333333])
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import ProblemError
from proband.piecewise.creases import Surfaces, surfaces_of
from proband.vocabulary import FloatArray


@dataclass(frozen=True, eq=False)
class PiecewisePlane:
    """n functions of two variables, affine on common rectangular cells.

    Parameters
    ----------
    knots : pair of array_like of shapes (m_1,) and (m_2,)
        Where cells meet on each axis, strictly increasing; a knot belongs to the cell on its right.
    intercepts : array_like of shape (n, m_1 + 1, m_2 + 1)
    slopes : array_like of shape (n, m_1 + 1, m_2 + 1, 2)
        g_y(z) = intercept + slope · z on each cell.
    """

    knots: tuple[FloatArray, FloatArray]
    intercepts: FloatArray
    slopes: FloatArray

    def __init__(self, knots: tuple[ArrayLike, ArrayLike], intercepts: ArrayLike, slopes: ArrayLike) -> None:
        if len(knots) != 2:
            raise ProblemError(f"there are knots for {len(knots)} axes; a plane has two; give a pair of lists")
        first, second = (_numbers("knots", given) for given in knots)
        object.__setattr__(self, "knots", (first, second))
        object.__setattr__(self, "intercepts", _numbers("intercepts", intercepts))
        object.__setattr__(self, "slopes", _numbers("slopes", slopes))
        for axis in self.knots:
            if axis.ndim != 1 or (np.diff(axis) <= 0).any():
                raise ProblemError(f"knots are {axis.tolist()}; they must increase strictly; sort them, each once")
        shape, cells = self.intercepts.shape, (len(first) + 1, len(second) + 1)
        if len(shape) != 3 or not shape[0] or shape[1:] != cells or self.slopes.shape != (*shape, 2):
            raise ProblemError(
                f"intercepts have shape {shape} and slopes {self.slopes.shape}; with {len(first)} and {len(second)} "
                f"knots they must be (functions, {cells[0]}, {cells[1]}) and the same with a 2 at the end; reshape them"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PiecewisePlane):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self._arrays, other._arrays, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(array.tobytes() for array in self._arrays))

    @property
    def _arrays(self) -> tuple[FloatArray, ...]:
        return (*self.knots, self.intercepts, self.slopes)

    @property
    def n(self) -> int:
        """Number of functions."""
        return len(self.intercepts)

    @property
    def span(self) -> float:
        """Largest minus smallest value that any function takes at a corner of its cells.

        A scale of the functions, without a scale of z; an axis without knots is looked at where it is 0. Where this is
        0, the span of the intercepts, and where this is 0 too, the largest slope.
        """
        values = []
        for cell in np.ndindex(self.intercepts.shape[1:]):
            corners = [
                axis[max(i - 1, 0) : i + 1] if len(axis) else np.zeros(1)
                for axis, i in zip(self.knots, cell, strict=True)
            ]
            a, b = self.intercepts[:, *cell], self.slopes[:, *cell]
            values += [a + b @ np.array([x, y]) for x in corners[0] for y in corners[1]]
        spans = (np.ptp(values), np.ptp(self.intercepts), np.abs(self.slopes).max())
        return float(next((span for span in spans if span > 0), 0.0))

    def __call__(self, z: ArrayLike) -> FloatArray:
        """Return every function at every point (k, 2), shape (k, n)."""
        points = _points(z)
        cell = [np.searchsorted(axis, x, side="right") for axis, x in zip(self.knots, points.T, strict=True)]
        return np.asarray((self.intercepts[:, *cell] + (self.slopes[:, *cell] * points).sum(axis=-1)).T)

    def expectation(self, means: ArrayLike, covariance: ArrayLike) -> FloatArray:
        """Return E g_y(z) for z ~ N(mean, covariance), exact up to rounding.

        Parameters
        ----------
        means : array_like of shape (k, 2)
        covariance : array_like of shape (2, 2)
            It may be singular.

        Returns
        -------
        FloatArray of shape (k, n)

        Examples
        --------
        >>> step = PiecewisePlane(([0.0], []), [[[0.0], [1.0]]], np.zeros((1, 2, 1, 2)))
        >>> step.expectation([[0.0, 3.0], [1.0, 3.0]], [[1.0, 0.0], [0.0, 0.0]]).round(6)
        array([[0.5     ],
               [0.841345]])
        """
        return self._expected(means, covariance, self.n)

    def expected_maximum(self, means: ArrayLike, covariance: ArrayLike) -> FloatArray:
        """Return E max_y g_y(z), what perfect information about z is worth, exact up to rounding, shape (k,).

        Examples
        --------
        >>> better = PiecewisePlane(([], []), [[[0.0]], [[0.0]]], [[[[1.0, 0.0]]], [[[0.0, 1.0]]]])
        >>> better.expected_maximum([[0.0, 0.0]], np.eye(2)).round(6)
        array([0.56419])
        """
        return self._expected(means, covariance, self.n + 1)[:, -1]

    def branch_probabilities(self, means: ArrayLike, covariance: ArrayLike) -> FloatArray:
        """Return the probability of each cell for z ~ N(mean, covariance), shape (k, m_1 + 1, m_2 + 1).

        Examples
        --------
        >>> quadrants = PiecewisePlane(([0.0], [0.0]), np.zeros((1, 2, 2)), np.zeros((1, 2, 2, 2)))
        >>> quadrants.branch_probabilities([[0.0, 0.0]], [[1.0, 0.5], [0.5, 1.0]]).round(4)
        array([[[0.3333, 0.1667],
                [0.1667, 0.3333]]])
        """
        cells = self.intercepts.shape[1:]
        count = math.prod(cells)
        indicators = PiecewisePlane(self.knots, np.eye(count).reshape(count, *cells), np.zeros((count, *cells, 2)))
        return np.asarray(indicators.expectation(means, covariance).clip(0.0, 1.0).reshape(-1, *cells))

    def rescaled(self, origin: ArrayLike, units: ArrayLike) -> PiecewisePlane:
        """Return the same functions of u, where z = origin + units · u on each axis, and units > 0.

        Cells too narrow to be told apart in u are left out.
        """
        shift, scale = np.asarray(origin, dtype=np.float64), np.asarray(units, dtype=np.float64)
        knots, kept = [], []
        for axis, at, unit in zip(self.knots, shift, scale, strict=True):
            moved = (axis - at) / unit
            told = np.append(np.diff(moved) > 0, True)[: len(moved)]
            knots.append(moved[told])
            kept.append(np.flatnonzero(np.concatenate([[True], told])))
        rows, columns = kept
        slopes = self.slopes[:, rows][:, :, columns]
        intercepts = self.intercepts[:, rows][:, :, columns] + slopes @ shift
        return PiecewisePlane((knots[0], knots[1]), intercepts, slopes * scale)

    def _expected(self, means: ArrayLike, covariance: ArrayLike, functions: int) -> FloatArray:
        from proband.piecewise.plane_kernel import expect_many

        return expect_many(self.surfaces, _points(means), _covariance(covariance), functions)

    @cached_property
    def surfaces(self) -> Surfaces:
        """The functions and their maximum with all creases, for compiled code."""
        return surfaces_of(self.knots, np.concatenate([self.intercepts[..., None], self.slopes], axis=-1))


def _numbers(name: str, given: ArrayLike) -> FloatArray:
    array = np.array(given, dtype=np.float64, order="C")
    if not np.isfinite(array).all():
        raise ProblemError(f"{name} are {array.tolist()}; they must be finite numbers; replace NaN and infinities")
    array.setflags(write=False)
    return array


def _points(given: ArrayLike) -> FloatArray:
    points = np.array(given, dtype=np.float64, order="C")
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise ProblemError(f"points have shape {points.shape}; they must be finite, of shape (k, 2); reshape them")
    return points


def _covariance(given: ArrayLike) -> FloatArray:
    matrix = np.asarray(given, dtype=np.float64)
    fine = matrix.shape == (2, 2) and np.isfinite(matrix).all()
    if fine:
        (a, b), (c, d) = matrix
        largest = math.sqrt(max(a, 0.0) * max(d, 0.0))
        fine = min(a, d) >= 0 and abs(b - c) <= 1e-8 * largest and abs(b + c) / 2 <= (1 + 1e-8) * largest
    if not fine:
        raise ProblemError(
            f"the covariance is {matrix.tolist()}; it must be (2, 2), symmetric and positive semi-definite; correct it"
        )
    return np.array([a, (b + c) / 2, d])
