"""Where losses are kept: panels, one after another, set after set; and the scratch of compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proband.compiling import inner
from proband.planners.gaussian.line.basis_kernel import CELLS, N
from proband.vocabulary import FloatArray, IntArray

MOST_CLUSTERS = 256
"""Clusters of nodes that the expectation over one child may use; a child that needs more is integrated locally."""


class Panels(NamedTuple):
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


class Level(NamedTuple):
    """Losses of all sets of one size.

    Attributes
    ----------
    first, length, error : (2^m,)
        For each set its first panel, the number of its panels, and its estimated error (these three arrays are shared
        by all levels).
    panels : Panels
    """

    first: IntArray
    length: NDArray[np.int32]
    error: FloatArray
    panels: Panels


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


class Edges(NamedTuple):
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


class Functions(NamedTuple):
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


class Pieces(NamedTuple):
    """The pieces into which a panel is split: right ends in [−1, 1], winners; `cells` and `scores` are scratch."""

    ends: FloatArray
    winners: IntArray
    cells: FloatArray
    scores: FloatArray


@inner(inline=True)
def new_edges(m: int) -> Edges:
    """Return room for the tests after a set."""
    return Edges(
        np.empty(m), np.empty(m), np.empty(m, dtype=np.int64), np.empty((m, MOST_CLUSTERS)),
        np.empty((m, MOST_CLUSTERS)), np.empty((m, MOST_CLUSTERS * N)), np.empty((m, MOST_CLUSTERS * N)),
    )  # fmt: skip


@inner(inline=True)
def new_functions(f: int) -> Functions:
    """Return room for the losses of f actions."""
    return Functions(
        np.empty((f, N)), np.empty((f, N)), np.empty((f, CELLS + 1)), np.empty(f), np.empty(f),
        np.empty(f, dtype=np.int64),
    )  # fmt: skip


@inner(inline=True)
def new_pieces(f: int, most: int) -> Pieces:
    """Return room for the pieces of a panel on which f actions compete."""
    return Pieces(np.empty(most), np.empty(most, dtype=np.int64), np.empty((64, 2)), np.empty(f))


@inner
def new_panels(most: int) -> Panels:
    """Return room for panels."""
    return Panels(np.empty(most), np.empty(most), np.empty((most, N)), np.empty(most, dtype=np.int16))
