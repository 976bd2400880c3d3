"""Cut points that people can remember: near quantiles, and round.

Near the quantile of a share q lie all numbers that would cut off a share between q − 0.06 and q + 0.06. The roundest of
them is taken: a multiple of the largest possible power of ten, or half of one. Where one value fills that stretch,
the cut goes beside it, to the side on which the shares come out nearer.
"""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np

from proband.vocabulary import FloatArray

NEAR = 0.06
_PARTS = (Decimal(1), Decimal("0.5"))


def friendly_cuts(values: FloatArray, pieces: int) -> list[float]:
    """Return the cuts of a column of numbers (n,) into pieces; fewer where its values leave no room.

    Examples
    --------
    >>> friendly_cuts(np.linspace(41.3, 88.7, 400), 3)
    [55.0, 75.0]
    >>> friendly_cuts(np.array([0.0] * 90 + [1.0, 2.0, 3.0, 7.0, 9.0]), 3)
    [1.0]
    """
    ordered = np.sort(values)
    cuts = set()
    for place in range(1, pieces):
        stretch = _stretch(ordered, place / pieces)
        if stretch is not None:
            cuts.add(roundest(*stretch, near=float(ordered[place * len(ordered) // pieces])))
    below = np.searchsorted(ordered, sorted(cuts), side="left").tolist()
    kept, last = [], 0
    for cut, n in zip(sorted(cuts), below, strict=True):
        if last < n < len(ordered):  # each piece holds something
            kept.append(cut)
            last = n
    return kept


def roundest(low: float, high: float, *, near: float) -> float:
    """Return the roundest number above `low` and up to `high`, of several the one nearest to `near`.

    Examples
    --------
    >>> roundest(57.3, 63.1, near=60.2), roundest(0.123, 0.129, near=0.125), roundest(-3.0, 4.0, near=2.0)
    (60.0, 0.125, 0.0)
    """
    lower, upper = Decimal(repr(low)), Decimal(repr(high))
    top = math.floor(math.log10(max(abs(low), abs(high)))) + 1
    for exponent in range(top, top - 25, -1):
        for part in _PARTS:
            step = Decimal(1).scaleb(exponent) * part
            first, last = (
                (lower / step).to_integral_value("ROUND_FLOOR") + 1,
                (upper / step).to_integral_value("ROUND_FLOOR"),
            )
            if first <= last:
                wanted = (Decimal(repr(near)) / step).to_integral_value()
                found = float(min(max(wanted, first), last) * step)
                if low < found <= high:
                    return found
    return high


def _stretch(ordered: FloatArray, share: float) -> tuple[float, float] | None:
    """Return the numbers between which a cut may lie: above the first, up to the second."""
    n = len(ordered)
    low, high = ordered[max(0, int((share - NEAR) * n))], ordered[min(n - 1, int((share + NEAR) * n))]
    if low < high:
        return float(low), float(high)
    below, upto = np.searchsorted(ordered, low, side="left"), np.searchsorted(ordered, low, side="right")
    sides = [(abs(below / n - share), below), (abs(upto / n - share), upto)]
    for _, place in sorted((distance, int(place)) for distance, place in sides):
        if 0 < place < n:
            return float(ordered[place - 1]), float(ordered[place])
    return None
