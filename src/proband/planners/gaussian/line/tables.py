"""Where losses are kept: panels, one after another, set after set; and the scratch of compiled code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from proband.bundle import Bundle
from proband.planners.gaussian.line.basis_kernel import CELLS, N
from proband.vocabulary import FloatArray, IntArray

Arrays = tuple[FloatArray, FloatArray, FloatArray, NDArray[np.int16]]
"""Of panels: low and high ends, values, actions."""

MOST_CLUSTERS = 256
"""Clusters of nodes that the expectation over one child may use; a child that needs more is integrated locally."""


@dataclass(frozen=True, eq=False)
class Panels(Bundle):
    """Losses r_O on panels, from left to right.

    Attributes
    ----------
    low, high : (panels,)
    values : (panels, 16)
        r_O at the Gauss-Legendre nodes.
    actions : (panels,)
        What is done there: a test, or m + a decision.
    """

    low: FloatArray
    high: FloatArray
    values: FloatArray
    actions: NDArray[np.int16]

    @classmethod
    def room(cls, most: int) -> Self:
        """Return room for so many panels."""
        return cls.zeros(low=most, high=most, values=(most, N), actions=most)

    def copied(self, count: int) -> Arrays:
        """Return copies of the arrays, of the first panels."""
        return (
            self.low[:count].copy(),
            self.high[:count].copy(),
            self.values[:count].copy(),
            self.actions[:count].copy(),
        )


@dataclass(frozen=True, eq=False)
class Level(Bundle):
    """Losses of all sets of one size.

    Attributes
    ----------
    first, length, error : (2^m,)
        For each set its first panel, the number of its panels, and its estimated error (these three arrays are shared
        by all levels).
    low, high, values, actions
        The panels of all its sets, as in :class:`Panels`.
    """

    first: IntArray
    length: NDArray[np.int32]
    error: FloatArray
    low: FloatArray
    high: FloatArray
    values: FloatArray
    actions: NDArray[np.int16]

    @property
    def panels(self) -> Arrays:
        """The arrays of the panels."""
        return self.low, self.high, self.values, self.actions


class Settings(NamedTuple):
    """How accurate everything is, in standard units.

    Attributes
    ----------
    tail : largest estimated error of a polynomial on a panel
    cut : losses below this are taken for 0
    tie : actions closer than this are tied
    window : steps beyond which a Gaussian kernel is taken for 0
    reach : largest half width, in steps, of a cluster of nodes
    width : widest panel, in standard deviations
    allowance : what cut, tie, window and reach may add to the error
    """

    tail: float
    cut: float
    tie: float
    window: float
    reach: float
    width: float
    allowance: float


@dataclass(frozen=True, eq=False)
class Edges(Bundle):
    """The tests after a set, and what remains of the children for expectations: r_C as weights at points.

    Attributes
    ----------
    steps, prices : (m,)
        The price is infinite for tests that are done or need not be next.
    made : (m,)
        Number of clusters; NOT_YET if they are not made, LOCALLY if they would be too many.
    low, high : (m, MOST_CLUSTERS)
        What each cluster covers.
    points, weights : (m, 16 MOST_CLUSTERS)
        In units of the step; the weights include the normalisation of the kernel.
    """

    steps: FloatArray
    prices: FloatArray
    made: IntArray
    low: FloatArray
    high: FloatArray
    points: FloatArray
    weights: FloatArray

    @classmethod
    def room(cls, m: int) -> Self:
        """Return room for m tests."""
        covered, placed = (m, MOST_CLUSTERS), (m, MOST_CLUSTERS * N)
        return cls.zeros(steps=m, prices=m, made=m, low=covered, high=covered, points=placed, weights=placed)


@dataclass(frozen=True, eq=False)
class Functions(Bundle):
    """Losses of several actions on one panel, decisions first, then tests.

    Attributes
    ----------
    values, series : (f, 16)
        At the nodes, and as Chebyshev coefficients.
    grid : (f, 33)
    tails, curvatures : (f,)
    codes : (f,)
        The actions: a test, or m + a decision.
    """

    values: FloatArray
    series: FloatArray
    grid: FloatArray
    tails: FloatArray
    curvatures: FloatArray
    codes: IntArray

    @classmethod
    def room(cls, f: int) -> Self:
        """Return room for the losses of f actions."""
        return cls.zeros(values=(f, N), series=(f, N), grid=(f, CELLS + 1), tails=f, curvatures=f, codes=f)


@dataclass(frozen=True, eq=False)
class Pieces(Bundle):
    """The pieces into which a panel is split: right ends in [−1, 1], winners; `cells` and `scores` are scratch."""

    ends: FloatArray
    winners: IntArray
    cells: FloatArray
    scores: FloatArray

    @classmethod
    def room(cls, f: int, most: int) -> Self:
        """Return room for the pieces of a panel on which f actions compete."""
        return cls.zeros(ends=most, winners=most, cells=(64, 2), scores=f)


@dataclass(frozen=True, eq=False)
class Scratch(Bundle):
    """Working arrays: rows of 16 numbers for a panel, panels that wait, intervals of a set, and where they are cut."""

    rows: FloatArray
    stack: FloatArray
    intervals: FloatArray
    cuts: FloatArray

    @classmethod
    def room(cls, turns: int = 0, most: int = 0) -> Self:
        """Return room for a set; none but for a panel by default."""
        return cls.zeros(rows=(9, N), stack=(64, 2), intervals=(turns, 2), cuts=most)


class Workspace(NamedTuple):
    """All that a thread needs to solve sets; `scores` is an array because expectations take one from everybody."""

    edges: Edges
    functions: Functions
    pieces: Pieces
    found: Panels  # of one set,
    kept: Panels  # and of those before
    scratch: Scratch
    scores: FloatArray
