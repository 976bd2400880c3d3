"""Tests whose group no test of a set opens yet: they pay together or not at all.

Where a group is closed, adding one of its tests pays the opening too, and no single addition may pay although several
together do. So a test i of a closed group stands for a *bundle*: i, and greedily every other test of the group that
pays once the bundle is there. With v the variances given the set and the bundle so far (k degrees of freedom),

    gain(bundle) = λ/2 · Σ log(2πe·v) − cost of the bundle.

The sum of m logarithms of χ² spreads √m times as much as one, so the expected improvement of a bundle of m tests is
taken to be √m times that of one test with the gain divided by √m: exact for m = 1, an approximation otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from proband.agents.entropy.certificates.rules import LOG_TWO_PI_E
from proband.prices import Prices
from proband.vocabulary import FloatArray


@dataclass(frozen=True)
class Bundle:
    """Some tests of a closed group, and what adding them all brings."""

    tests: tuple[int, ...]
    gain: float


def closed_bundles(
    costs: Prices, scale: float, inside: list[int], others: list[int], squares: FloatArray, degrees: float
) -> dict[int, Bundle]:
    """Return the bundle of each test whose group is closed and holds another test that is still measured.

    `inside` is the set, `others` are the tests beside it, and `squares` (others, others) their scatter given the set.
    """
    opened = {-1, *costs.group[inside].tolist()}
    bundles = {}
    for n, i in enumerate(others):
        if costs.group[i] in opened:
            continue
        peers = [m for m, j in enumerate(others) if costs.group[j] == costs.group[i] and j != i]
        if peers:
            bundles[i] = _grown(costs, scale, others, squares / degrees, n, peers)
    return bundles


def _grown(costs: Prices, scale: float, others: list[int], variances: FloatArray, n: int, peers: list[int]) -> Bundle:
    bundle, gain, given, left = [n], 0.0, variances, list(peers)
    gain = _worth(scale, variances[n, n]) - costs.of([others[n]])
    while left:
        last = bundle[-1]
        given = given - np.outer(given[last], given[last]) / max(given[last, last], 1e-300)
        paid = costs.of([others[m] for m in bundle])
        gains = [_worth(scale, given[m, m]) - costs.of([others[k] for k in (*bundle, m)]) + paid for m in left]
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        gain += gains[best]
        bundle.append(left.pop(best))
    return Bundle(tuple(others[m] for m in bundle), gain)


def _worth(scale: float, variance: float) -> float:
    return scale / 2 * (LOG_TWO_PI_E + math.log(max(variance, 1e-300)))
