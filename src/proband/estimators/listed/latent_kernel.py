"""Loops over observations and the latent classes that they may be of."""

from __future__ import annotations

from typing import Any

from proband.compiling import FINITE, SUMMING, inner, kernel
from proband.elementary_kernel import exponential

Array = Any

SMALLEST = -690.0
"""Chances below exp of this are that."""


@kernel
def believe(first: Array, shown: Array, shares: Array, outcomes: Array, chances: Array) -> None:
    """Write the chances of each class (n, classes), from logarithms of shares and of outcomes (levels, classes).

    Observation o shows the outcomes ``shown[first[o]:first[o + 1]]``.
    """
    for o in range(chances.shape[0]):
        _believe_one(first[o], first[o + 1], shown, shares, outcomes, chances[o], 1.0)


@kernel
def count_classes(
    first: Array, shown: Array, counts: Array, shares: Array, outcomes: Array, chances: Array, of_class: Array,
    seen: Array,
) -> None:  # fmt: skip
    """Add how many subjects are of each class (classes,), and of these with each outcome (levels, classes)."""
    for o in range(counts.size):
        _believe_one(first[o], first[o + 1], shown, shares, outcomes, chances, counts[o])
        for c in range(chances.size):
            of_class[c] += chances[c]
        for e in range(first[o], first[o + 1]):
            level = shown[e]
            for c in range(chances.size):
                seen[level, c] += chances[c]


@inner(fastmath=SUMMING | FINITE)
def _believe_one(
    start: Any, stop: Any, shown: Array, shares: Array, outcomes: Array, chances: Array, count: float
) -> None:
    """Write the chances of each class for one observation, times how often it was seen."""
    for c in range(chances.size):
        chances[c] = shares[c]
    for e in range(start, stop):
        level = shown[e]
        for c in range(chances.size):
            chances[c] += outcomes[level, c]
    most, total = chances[0], 0.0
    for c in range(chances.size):
        most = max(most, chances[c])
    for c in range(chances.size):
        chances[c] = exponential(max(chances[c] - most, SMALLEST))
    for c in range(chances.size):
        total += chances[c]
    for c in range(chances.size):
        chances[c] *= count / total
