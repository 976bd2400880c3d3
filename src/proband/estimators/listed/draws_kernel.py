"""Data augmentation over listed cells, compiled; random numbers come from the Generator alone."""

from __future__ import annotations

import numpy as np

from proband.compiling import inner, kernel
from proband.estimators.listed.cells import Cells
from proband.estimators.listed.kernel import add_up, copy
from proband.vocabulary import FloatArray, IntArray


@inner
def allot(rng: np.random.Generator, cells: Cells, counts: IntArray, p: FloatArray, completed: FloatArray) -> None:
    """Add to `completed` a multinomial allotment of each partial count to its cells, in proportion to p."""
    for o in range(len(counts)):
        total, left = add_up(cells, o, p, 0.0), counts[o]
        last = cells.start[o] + cells.size[o] - 1
        for j in range(cells.start[o], last):
            if left == 0:
                break
            x = cells.base[o] + cells.offsets[j]
            share = p[x] / total if total > 0 else 0.0
            taken = left if share >= 1 else rng.binomial(left, share)
            completed[x] += taken
            left -= taken
            total -= p[x]
        completed[cells.base[o] + cells.offsets[last]] += left


@inner
def pick(rng: np.random.Generator, logs: FloatArray) -> int:
    """Draw an index in proportion to exp(logs)."""
    highest = logs.max()
    total = 0.0
    for j in range(len(logs)):
        total += np.exp(logs[j] - highest)
    rest = rng.random() * total
    for j in range(len(logs)):
        rest -= np.exp(logs[j] - highest)
        if rest < 0:
            return j
    return len(logs) - 1


@kernel
def gibbs(
    rng: np.random.Generator,
    cells: Cells,
    counts: IntArray,
    shape: FloatArray,
    rates: FloatArray,
    weights: FloatArray,
    total: float,
    p: FloatArray,
    sweeps: int,
) -> None:
    """Run sweeps from the intensities `p`, in place: complete the counts, then draw component and intensity."""
    completed = np.empty_like(p)
    logs = np.empty(len(rates))
    for _ in range(sweeps):
        copy(cells.own, completed)
        allot(rng, cells, counts, p, completed)
        for x in range(len(p)):
            a = shape[x] + completed[x]
            rate = rates[0]
            if len(rates) > 1:
                for j in range(len(rates)):
                    logs[j] = weights[j] + shape[x] * np.log(rates[j]) - a * np.log(rates[j] + total)
                rate = rates[pick(rng, logs)]
            p[x] = max(rng.standard_gamma(a), 1e-300) / (rate + total)
