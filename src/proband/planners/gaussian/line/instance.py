"""A line in standard units, as arrays for compiled code.

z is measured from its prior mean in prior standard deviations, tests in their own, and rewards in the largest loss
that deciding at once can have. With W_O(m) = E max_y g_y(z), the value of perfect information, the planner works with
what is lost against it,

    r_O(m) = W_O(m) − v_O(m) = min( min_y ρ_y,  min_i c_i + E r_{O+i}(m + step·ε) ),      ρ_y = E h_y(z),

where h_y = max_y' g_y' − g_y ≥ 0 is piecewise linear too. This is the recursion for v_O with W_O taken off on both
sides: W_O(m) = E W_{O+i}(m + step·ε). Nothing grows without limit: r_O is between 0 and ρ, and it vanishes away from
the *turns*, the points where the best decision changes. Let y be best on the right of a turn k, and
h_y(z) ≤ A + B·(k − z) on its left; then, u standard deviations to the right of the turn,

    ρ_y ≤ A·Q(u) + B·τ·(φ(u) − u·Q(u)),

which falls in u: beyond some u the loss is below any given bound, and needs no grid. (Around turns a million prior
deviations away nothing is solved: deciding at once is taken for best there.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proband.piecewise import PiecewiseLinear
from proband.planners.gaussian.conditioning_kernel import ROUNDING, project_all
from proband.planners.gaussian.line.problem import Line
from proband.prices import as_bits
from proband.vocabulary import FloatArray, IntArray

NO_SPREAD = 1e-14
"""Eigenvalues of the correlations below this, for each test, are rounding."""


FARTHEST = 1e6
"""Turns farther than this from the prior mean, in prior deviations, are left out: no subject gets there."""


class Instance(NamedTuple):
    """A line in standard units; m tests can be run, n decisions can be taken.

    Attributes
    ----------
    factors : (m + 1, k)
        Rows F of the tests that can be run and of z, given what is known on arrival; F Fᵀ is their covariance.
    noise : float
        Scale of the numbers that enter z.
    prices : (2, m)
        Prices alone, and within an opened group.
    peers : (m,)
        Bits of the tests that lower the price of a test.
    opens : (m,)
        Bits of the tests that save more in an opened group than a test itself does.
    knots, intercepts, slopes : (k,), (n, k + 1), (n, k + 1)
        The losses h_y.
    turns : (t,)
        Where the best decision changes.
    majorants : (t, 4)
        A and B on the left of each turn, for the decision that is best on its right, and A and B the other way round.
    """

    factors: FloatArray
    noise: float
    prices: FloatArray
    peers: IntArray
    opens: IntArray
    knots: FloatArray
    intercepts: FloatArray
    slopes: FloatArray
    turns: FloatArray
    majorants: FloatArray


class Units(NamedTuple):
    """What standard units are worth: z = origin + unit · u, reward = scale · standard reward.

    `sd` is the prior standard deviation of z, and `arrival` how far what is known on arrival moves its mean, in
    standard units.
    """

    origin: float
    unit: float
    scale: float
    sd: float
    arrival: float


def standardise(line: Line) -> tuple[Instance, Units]:
    """Return a line in standard units."""
    factors, noise, sd, arrival = _factors(line)
    unit = sd if sd > 0 else 1.0
    reward = line.reward.rescaled(line.mean_z, unit)
    cut, best = reward.cut_at_crossings()
    pieces = np.arange(len(best))
    losses = PiecewiseLinear(
        cut.knots,
        cut.intercepts[best, pieces] - cut.intercepts,
        cut.slopes[best, pieces] - cut.slopes,
    )
    turning = np.flatnonzero((np.diff(best) != 0) & (np.abs(losses.knots) <= FARTHEST))
    scale = _scale(losses, best, turning)
    losses = PiecewiseLinear(losses.knots, losses.intercepts / scale, losses.slopes / scale)
    prices, peers = line.prices.both / scale, line.prices.peers
    savings = prices[0] - prices[1]
    opens = peers & (savings > savings[:, None])
    instance = Instance(
        factors, noise, prices, as_bits(peers), as_bits(opens), losses.knots, losses.intercepts, losses.slopes,
        losses.knots[turning], _majorants(losses, best, turning),
    )  # fmt: skip
    return instance, Units(line.mean_z, unit, scale, sd, arrival)


def _factors(line: Line) -> tuple[FloatArray, float, float, float]:
    """Return the factors given the context, the scale of what enters z, its deviation, and the arrival's step."""
    deviation = np.sqrt(np.maximum(np.diag(line.covariance), 0.0))
    scale = np.where(deviation > 0, deviation, 1.0)
    shares, directions = np.linalg.eigh(line.covariance / scale / scale[:, None])
    kept = shares > NO_SPREAD * line.d
    factors = directions[:, kept] * np.sqrt(shares[kept])
    weights = line.weights * scale
    joint = np.ascontiguousarray(np.vstack([factors, weights @ factors]))
    noise, sd = float(np.abs(weights).sum()), float(np.linalg.norm(joint[-1]))
    if sd <= ROUNDING * noise:  # z is known
        sd, joint[-1] = 0.0, 0.0
    else:
        noise, joint[-1] = noise / sd, joint[-1] / sd
    before = joint[-1].copy()
    project_all(joint, line.context)
    arrival = float(np.linalg.norm(before - joint[-1]))
    arrival = arrival if arrival > ROUNDING * noise else 0.0
    return np.ascontiguousarray(joint[[*line.tests, line.d]]), noise, sd, arrival


def _scale(losses: PiecewiseLinear, best: IntArray, turning: IntArray) -> float:
    """Return the largest loss of deciding at once, at the prior deviation or with z almost known."""
    largest = 0.0
    for turn in turning:
        k = losses.knots[turn]
        around = losses.expectation(k + np.linspace(-3, 3, 25), 1.0).min(axis=1).max()
        left = losses.intercepts[best[turn + 1], turn] + losses.slopes[best[turn + 1], turn] * k
        right = losses.intercepts[best[turn], turn + 1] + losses.slopes[best[turn], turn + 1] * k
        largest = max(largest, around, min(left, right) / 2)
    return float(largest) if largest > 0 else 1.0


def _majorants(losses: PiecewiseLinear, best: IntArray, turning: IntArray) -> FloatArray:
    found = np.zeros((len(turning), 4))
    for row, turn in zip(found, turning, strict=True):
        k = losses.knots[turn]
        row[:2] = _majorant(losses, int(best[turn + 1]), np.arange(turn + 1), k)
        row[2:] = _majorant(losses, int(best[turn]), np.arange(turn + 1, len(best)), k)
    return found


def _majorant(losses: PiecewiseLinear, y: int, pieces: NDArray[np.int64], turn: float) -> tuple[float, float]:
    """Return A and B with h_y(z) ≤ A + B·|z − turn| on some pieces, all on one side of a turn."""
    steepest = float(np.abs(losses.slopes[y, pieces]).max())
    highest = 0.0
    for piece in pieces:
        for end in {piece - 1, piece} & set(range(len(losses.knots))):
            z = losses.knots[end]
            value = losses.intercepts[y, piece] + losses.slopes[y, piece] * z
            highest = max(highest, float(value - steepest * abs(z - turn)))
    return highest, steepest
