"""Whether probabilities are as told: rows in groups by what they were told, and what was observed in each.

Each group's share has a Wilson interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from proband.planners.validation import LEVEL
from proband.vocabulary import FloatArray

MOST_GROUPS = 10
FEWEST = 15
"""Rows of a group."""


@dataclass(frozen=True)
class Group:
    """Rows that were told about the same probability: how many, the mean of it, and what was observed."""

    rows: int
    told: float
    observed: float
    low: float
    high: float


@dataclass(frozen=True)
class Calibration:
    """Whether probabilities are as told; `event` says of what."""

    event: str
    groups: list[Group]


def grouped(told: FloatArray, observed: NDArray[np.bool_]) -> list[Group]:
    """Return rows in groups of about equal size by what they were told, equal ones together.

    Examples
    --------
    >>> [group] = grouped(np.full(20, 0.25), np.arange(20) < 5)
    >>> group.rows, group.told, group.observed, round(group.low, 3), round(group.high, 3)
    (20, 0.25, 0.25, 0.127, 0.432)
    """
    order = np.argsort(told, kind="stable")
    told, seen = np.round(told[order], 12), np.asarray(observed, dtype=np.float64)[order]
    size = max(FEWEST, math.ceil(len(told) / MOST_GROUPS))
    ends = np.append(np.flatnonzero(np.diff(told)) + 1, len(told))  # where another number is told
    groups, start = [], 0
    for end in ends:
        if (end - start >= size and len(told) - end >= size) or end == len(told):
            low, high = wilson(float(seen[start:end].sum()), int(end - start))
            mean = float(seen[start:end].mean())
            groups.append(Group(int(end - start), float(told[start:end].mean()), mean, low, high))
            start = end
    return groups


def wilson(count: float, n: int, *, level: float = LEVEL) -> tuple[float, float]:
    """Return Wilson's interval for a share of which `count` of n were seen.

    Examples
    --------
    >>> low, high = wilson(0, 10)
    >>> round(low, 3), round(high, 3)
    (0.0, 0.213)
    """
    z, share = NormalDist().inv_cdf(0.5 + level / 2), count / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - reach), min(1.0, middle + reach)
