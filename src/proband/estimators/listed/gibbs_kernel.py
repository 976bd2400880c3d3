"""Data augmentation over listed cells, compiled; random numbers come from the Generator alone."""

from __future__ import annotations

import numpy as np

from proband.compiling import inner, kernel


@inner
def allot(rng, base, start, size, offsets, counts, p, completed):  # type: ignore[no-untyped-def]
    """Add to `completed` a multinomial allotment of each partial count to its cells, in proportion to p."""
    for o in range(len(counts)):
        total = 0.0
        for j in range(start[o], start[o] + size[o]):
            total += p[base[o] + offsets[j]]
        left = counts[o]
        for j in range(start[o], start[o] + size[o] - 1):
            if left == 0:
                break
            x = base[o] + offsets[j]
            share = p[x] / total if total > 0 else 0.0
            taken = left if share >= 1 else rng.binomial(left, share)
            completed[x] += taken
            left -= taken
            total -= p[x]
        completed[base[o] + offsets[start[o] + size[o] - 1]] += left


@inner
def pick(rng, logs):  # type: ignore[no-untyped-def]
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
def gibbs(  # type: ignore[no-untyped-def]
    rng, base, start, size, offsets, counts, own, shape, rates, weights, total, p, sweeps
):
    """Run sweeps from the intensities `p`, in place: complete the counts, then draw component and intensity."""
    completed = np.empty_like(own)
    logs = np.empty(len(rates))
    for _ in range(sweeps):
        for x in range(len(own)):
            completed[x] = own[x]
        allot(rng, base, start, size, offsets, counts, p, completed)
        for x in range(len(p)):
            a = shape[x] + completed[x]
            rate = rates[0]
            if len(rates) > 1:
                for j in range(len(rates)):
                    logs[j] = weights[j] + shape[x] * np.log(rates[j]) - a * np.log(rates[j] + total)
                rate = rates[pick(rng, logs)]
            p[x] = max(rng.standard_gamma(a), 1e-300) / (rate + total)
