"""A plane in standard units, as arrays for compiled code.

Both scores are measured from their prior means in prior standard deviations, tests in their own. With
W_O(m) = E max_y g_y(z), the value of perfect information, the planner works with what is lost against it,

    r_O(m) = W_O(m) − v_O(m) = min( min_y ρ_y,  min_i c_i + E r_{O+i}(m + step·ε) ),      ρ_y = W_O(m) − E g_y(z) ≥ 0.

This is the recursion for v_O with W_O taken off on both sides: W_O(m) = E W_{O+i}(m + step·ε). Where z is revealed,
r_O is 0, and no test is worth its price where c_i ≥ min_y ρ_y.

Conditioning is by :mod:`~proband.planners.gaussian.conditioning_kernel`, with one row of factors for each score.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from proband.piecewise.creases import Surfaces
from proband.planners.gaussian.conditioning_kernel import ROUNDING, project_all
from proband.planners.gaussian.plane.conditioning_kernel import condition_many
from proband.planners.gaussian.plane.problem import Plane
from proband.prices import as_bits
from proband.vocabulary import FloatArray, IntArray

NO_SPREAD = 1e-15
"""Directions with less than this share of the variance of a test are left out: rounding."""


class Instance(NamedTuple):
    """A plane in standard units; m tests can be run.

    Attributes
    ----------
    factors : (m + 2, k)
        Rows whose inner products are the covariances of the tests that can be run and of both scores, given what is
        known on arrival.
    noise : (2,)
        Scale of the numbers that enter each score.
    prior, arrival : (3,)
        Covariance of z before anything is known, and of the mean of z after arrival: T_11, T_12, T_22.
    prices : (2, m)
        Prices alone, and within an opened group.
    peers : (m,)
        Bits of the tests that lower the price of a test.
    surfaces : Surfaces
        The reward.
    origin, units : (2,)
        z = origin + units · u.
    """

    factors: FloatArray
    noise: FloatArray
    prior: FloatArray
    arrival: FloatArray
    prices: FloatArray
    peers: IntArray
    surfaces: Surfaces
    origin: FloatArray
    units: FloatArray

    @property
    def arrival_steps(self) -> tuple[FloatArray, FloatArray]:
        """Two steps whose independent multiples make what is known on arrival; the second changes score 2 only."""
        v1, v12, v2 = self.arrival
        first = np.array([math.sqrt(v1), v12 / math.sqrt(v1)] if v1 > 0 else [0.0, math.sqrt(v2)])
        rest = v2 - first[1] ** 2
        return first, np.array([0.0, math.sqrt(rest) if rest > ROUNDING * v2 else 0.0])


def standardise(plane: Plane) -> Instance:
    """Return a plane in standard units."""
    rows, noise, units = _factors(plane)
    (prior, after), _ = condition_many(rows, np.array([0, plane.context]), noise)
    project_all(rows, plane.context)
    arrival = np.zeros(3)
    if plane.context:
        v1, v12, v2 = prior - after
        v1, v2 = (max(v, 0.0) if v > (ROUNDING * n) ** 2 + 1e-14 else 0.0 for v, n in zip((v1, v2), noise, strict=True))
        largest = math.sqrt(v1 * v2)
        arrival[:] = v1, min(max(v12, -largest), largest), v2
    return Instance(
        np.ascontiguousarray(rows[[*plane.tests, plane.d, plane.d + 1]]), noise, prior, arrival,
        plane.prices.both, as_bits(plane.prices.peers),
        plane.reward.rescaled(plane.mean_z, units).surfaces, plane.mean_z, units,
    )  # fmt: skip


def _factors(plane: Plane) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return rows for tests and scores in standard units, the scale of what enters each score, and the units of z."""
    deviation = np.sqrt(np.maximum(np.diag(plane.covariance), 0.0))
    scale = np.where(deviation > 0, deviation, 1.0)
    shares, directions = np.linalg.eigh(plane.covariance / scale / scale[:, None])
    kept = shares > NO_SPREAD * plane.d
    tests = directions[:, kept] * np.sqrt(shares[kept])
    weights = plane.weights * scale
    scores, noise = weights @ tests, np.abs(weights).sum(axis=1)
    lengths = np.linalg.norm(scores, axis=1)
    units = np.where(lengths > ROUNDING * noise, lengths, 1.0)
    return np.ascontiguousarray(np.vstack([tests, scores / units[:, None]])), noise / units, units
