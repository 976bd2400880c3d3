"""Where the loss r_O of a set is kept: cells on which each candidate action is a polynomial.

A box around the prior mean is cut into cells, panels on one axis times panels on the other. r_O is a minimum of smooth
functions, one for each action, whose kinks are curves; so a cell keeps every action that is best at one of its nodes,
as a polynomial of degree 3 in both coordinates, and r_O is read as their minimum. Kinks are then as sharp as they are.

Panels are of one width, except near knots of a score whose posterior deviation τ is small: there the loss of deciding
changes within a few τ, so panels shrink to the size of τ towards the knot. For τ = 0 the loss jumps at the knot, and
panels end there. *Cuts* are the ends at which an integral along a line must be split.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proband.vocabulary import FloatArray, IntArray

BoolArray = NDArray[np.bool_]

P = 4
"""Nodes of a panel."""
NODES = np.cos(np.pi * (np.arange(P)[::-1] + 0.5) / P)
TO_POWERS = np.ascontiguousarray(np.linalg.inv(np.vander(NODES, increasing=True)))
"""From values at the nodes to coefficients of 1, x, x², x³."""
GRADED = 0.5
"""Panels shrink towards knots for posterior deviations below this."""
ROOM = 1e-3
"""What is added to each box, so that none is empty."""
DIRECTIONS = np.array([[math.cos(t), math.sin(t)] for t in np.pi * np.arange(16) / 16])


class Table(NamedTuple):
    """The loss of one set.

    Attributes
    ----------
    breaks_1, breaks_2 : (n_1 + 1,), (n_2 + 1,)
        Ends of the panels.
    cuts_1, cuts_2
        Where integrals are split.
    first : (n_1 n_2 + 1,)
        Where the polynomials of each cell begin; the second axis counts fastest.
    blocks : (polynomials, P · P)
        Coefficients of x^a y^b, b counting fastest, in coordinates from −1 to 1.
    """

    breaks_1: FloatArray
    breaks_2: FloatArray
    cuts_1: FloatArray
    cuts_2: FloatArray
    first: IntArray
    blocks: FloatArray

    @property
    def nbytes(self) -> int:
        """Bytes taken."""
        return sum(array.nbytes for array in self)


def axis(half: float, knots: FloatArray, deviation: float, width: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the panels and the cuts on one axis, around 0.

    Parameters
    ----------
    half : float
        Half the width of the box.
    knots : FloatArray
    deviation : float
        Posterior deviation of the score.
    width : float
        Widest panel.
    """
    low, high = -half, half + ROOM
    marks = knots[(knots > low) & (knots < high)] if deviation < GRADED else np.zeros(0)
    offsets = _offsets(deviation, width)
    ends, graded = [low], [*marks]
    for a, b in zip([low, *marks], [*marks, high], strict=True):
        near = offsets[(offsets == 0) | (offsets < (b - a) / 2 - offsets[1] / 4)]
        left = a + near if a > low else np.array([a])
        right = (b - near)[::-1] if b < high else np.array([b])
        pieces = max(1, math.ceil((right[0] - left[-1]) / width))
        ends += [*left[1:], *np.linspace(left[-1], right[0], pieces + 1)[1:], *right[1:]]
        graded += [*left[1:], *right[:-1]]
    return np.array(ends), np.sort(graded) if deviation < width / 2 else np.zeros(0)


def _offsets(deviation: float, width: float) -> FloatArray:
    """Return the distances from a knot at which panels end: first of the size of the deviation, then growing."""
    offsets = [0.0, width * deviation if deviation > 0 else math.inf]
    while math.isfinite(offsets[-1]) and offsets[-1] - offsets[-2] < width:
        offsets.append(offsets[-1] + max(width * deviation, min(width, 1.0) * offsets[-1]))
    return np.array(offsets)


def nodes_of(breaks_1: FloatArray, breaks_2: FloatArray) -> FloatArray:
    """Return the nodes of all cells, shape (cells · P · P, 2)."""
    points = np.empty((len(breaks_1) - 1, len(breaks_2) - 1, P, P, 2))
    points[..., 0] = _nodes_on(breaks_1)[:, None, :, None]
    points[..., 1] = _nodes_on(breaks_2)[None, :, None, :]
    return points.reshape(-1, 2)


def _nodes_on(breaks: FloatArray) -> FloatArray:
    low, high = breaks[:-1, None], breaks[1:, None]
    return np.asarray(0.5 * (low + high + (high - low) * NODES))


def half_width(variance: float, reach: float, margin: float, width: float) -> float:
    """Return how far from the prior mean a posterior mean of some variance is followed.

    That is `reach` standard deviations and, where these are few panels, a margin: a polynomial needs nodes beside the
    line or the strip that the mean moves on, and what these lead to.
    """
    deviation = math.sqrt(max(variance, 0.0))
    return reach * deviation + margin * max(0.0, 1.0 - deviation / (2 * width))


def within_reach(
    breaks_1: FloatArray, breaks_2: FloatArray, spread: FloatArray, reach: float, margin: float, width: float
) -> BoolArray:
    """Return which cells are followed, shape (cells,): those that are near enough in each direction.

    Parameters
    ----------
    spread : FloatArray of shape (3,)
        Covariance of the posterior mean: C_11, C_12, C_22.
    """
    within = np.ones((len(breaks_1) - 1, len(breaks_2) - 1), dtype=np.bool_)
    for u1, u2 in DIRECTIONS:
        variance = u1 * u1 * spread[0] + 2 * u1 * u2 * spread[1] + u2 * u2 * spread[2]
        limit = half_width(variance, reach, margin, width) + 2 * ROOM
        first, second = u1 * breaks_1, u2 * breaks_2
        nearest = np.minimum(first[:-1], first[1:])[:, None] + np.minimum(second[:-1], second[1:])
        farthest = np.maximum(first[:-1], first[1:])[:, None] + np.maximum(second[:-1], second[1:])
        within &= (nearest <= limit) & (farthest >= -limit)
    return within.ravel()


def best_somewhere(losses: FloatArray, cells: int) -> BoolArray:
    """Return which actions are best at a node of a cell: losses (actions, nodes), found (actions, cells)."""
    found = np.zeros((len(losses), cells), dtype=np.bool_)
    found[losses.argmin(axis=0), np.repeat(np.arange(cells), P * P)] = True
    return found


def polynomials(losses: FloatArray, kept: BoolArray) -> tuple[IntArray, FloatArray]:
    """Return `first` and `blocks` of a table from losses at the nodes, for the kept actions of each cell."""
    cells, actions = np.nonzero(kept.T)
    values = losses.reshape(len(losses), -1, P, P)[actions, cells]
    blocks = (TO_POWERS @ values @ TO_POWERS.T).reshape(-1, P * P)
    return np.concatenate([[0], np.cumsum(kept.sum(axis=0))]), blocks
