"""Sums over the cells of observations, and back, compiled."""

from __future__ import annotations

import numpy as np

from proband.compiling import kernel


@kernel
def sums(base, start, size, offsets, p):  # type: ignore[no-untyped-def]
    """Return the sum of p over the cells of each observation."""
    totals = np.zeros(len(base))
    for o in range(len(base)):
        for j in range(start[o], start[o] + size[o]):
            totals[o] += p[base[o] + offsets[j]]
    return totals


@kernel
def spread(base, start, size, offsets, values, out):  # type: ignore[no-untyped-def]
    """Add the value of each observation to all its cells in `out`."""
    for o in range(len(base)):
        for j in range(start[o], start[o] + size[o]):
            out[base[o] + offsets[j]] += values[o]
