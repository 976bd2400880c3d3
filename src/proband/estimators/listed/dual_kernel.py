"""Coordinate ascent in the dual, compiled; the derivation is in :mod:`proband.estimators.listed.dual`."""

from __future__ import annotations

import numpy as np

from proband.compiling import inner, kernel

ROOT_STEPS = 4
"""Newton steps for one multiplier in one sweep: the next sweep goes on from there."""

FIRST_SWEEPS = 3
"""Sweeps before Newton steps are taken between them."""

CONJUGATE_STEPS = 100
"""Most conjugate-gradient steps for one Newton direction."""

HALVINGS = 10
"""Most halvings of a Newton step."""

PATIENCE = 40
"""Sweeps without the error halving after which a solver stops."""


@inner
def fill_gaps(base, start, size, offsets, rate, multipliers, gap):  # type: ignore[no-untyped-def]
    """Write r(x) − Σ_{o ∋ x} λ_o into `gap`."""
    for x in range(len(gap)):
        gap[x] = rate[x]
    for o in range(len(base)):
        for j in range(start[o], start[o] + size[o]):
            gap[base[o] + offsets[j]] -= multipliers[o]


@inner
def sweep(base, start, size, offsets, counts, mass, multipliers, gap):  # type: ignore[no-untyped-def]
    """Set each multiplier in turn to its root; return the largest relative error of n_o = λ_o p(o) met."""
    worst = 0.0
    for o in range(len(counts)):
        old = multipliers[o]
        new = old
        for step in range(ROOT_STEPS):
            total, slope, least = 0.0, 0.0, np.inf
            for j in range(start[o], start[o] + size[o]):
                x = base[o] + offsets[j]
                left = gap[x] + (old - new)
                p = mass[x] / left
                total += p
                slope += p / left
                least = min(least, left)
            if step == 0:
                worst = max(worst, abs(counts[o] - new * total) / max(counts[o], 1.0))
            target = counts[o] / total
            move = (target - new) / (1 + target * slope / total)
            if move >= least:
                move = (1 - 0.01 ** (step + 1)) * least
            new += move
            if abs(move) <= 1e-4 * new:
                break
        for j in range(start[o], start[o] + size[o]):
            gap[base[o] + offsets[j]] += old - new
        multipliers[o] = new
    return worst


@inner
def reach(values, moves):  # type: ignore[no-untyped-def]
    """Return the longest step in [0, 1] that keeps a hundredth of every value."""
    longest = 1.0
    for i in range(len(values)):
        if moves[i] < 0:
            longest = min(longest, -0.99 * values[i] / moves[i])
    return longest


@inner
def change(weights, values, moves, length):  # type: ignore[no-untyped-def]
    """Return −Σ w log((v + length · move) / v): what a step adds to a part of the dual."""
    total = 0.0
    for i in range(len(values)):
        total -= weights[i] * np.log1p(length * moves[i] / values[i])
    return total


@inner
def curve(base, start, size, offsets, weight, diagonal, vector, cells, out):  # type: ignore[no-untyped-def]
    """Write the dual's Hessian times `vector` into `out`: (Aᵀ diag(weight) A + diag(diagonal)) vector."""
    cells[:] = 0.0
    for o in range(len(base)):
        for j in range(start[o], start[o] + size[o]):
            cells[base[o] + offsets[j]] += vector[o]
    cells *= weight
    for o in range(len(base)):
        total = diagonal[o] * vector[o]
        for j in range(start[o], start[o] + size[o]):
            total += cells[base[o] + offsets[j]]
        out[o] = total


@inner
def direction(base, start, size, offsets, counts, mass, multipliers, gap, precision):  # type: ignore[no-untyped-def]
    """Return the Newton direction of the dual, by conjugate gradients with the diagonal as preconditioner."""
    law = mass / gap
    weight = law / gap
    diagonal = counts / multipliers**2
    residual = counts / multipliers
    scale = diagonal.copy()
    for o in range(len(base)):
        for j in range(start[o], start[o] + size[o]):
            residual[o] -= law[base[o] + offsets[j]]
            scale[o] += weight[base[o] + offsets[j]]
    step = np.zeros_like(residual)
    image = np.empty_like(residual)
    cells = np.empty_like(gap)
    ready = residual / scale
    search = ready.copy()
    strength = residual @ ready
    goal = precision * precision * strength
    for _ in range(CONJUGATE_STEPS):
        if not strength > goal:
            break
        curve(base, start, size, offsets, weight, diagonal, search, cells, image)
        length = strength / (search @ image)
        step += length * search
        residual -= length * image
        ready = residual / scale
        before, strength = strength, residual @ ready
        search = ready + (strength / before) * search
    return step


@inner
def newton(base, start, size, offsets, counts, mass, rate, multipliers, gap, precision):  # type: ignore[no-untyped-def]
    """Take a Newton step in all multipliers at once, halved until the dual falls; none if it never does."""
    step = direction(base, start, size, offsets, counts, mass, multipliers, gap, precision)
    opening = np.zeros_like(gap)
    fill_gaps(base, start, size, offsets, opening.copy(), step, opening)
    length = min(reach(multipliers, step), reach(gap, opening))
    for _ in range(HALVINGS):
        if change(counts, multipliers, step, length) + change(mass, gap, opening, length) <= 0:
            multipliers += length * step
            break
        length /= 2
    fill_gaps(base, start, size, offsets, rate, multipliers, gap)


@kernel
def dual_solve(  # type: ignore[no-untyped-def]
    base, start, size, offsets, counts, mass, rate, multipliers, gap, tolerance, limit
):
    """Sweep until the relative error of every n_o = λ_o p(o) is within `tolerance`; return sweeps and error.

    Gives up, too, when the error has not halved for `PATIENCE` sweeps: rounding allows no more.
    """
    worst, best, since = 0.0, np.inf, 0
    fill_gaps(base, start, size, offsets, rate, multipliers, gap)
    for n in range(limit):
        worst = sweep(base, start, size, offsets, counts, mass, multipliers, gap)
        if worst <= 0.5 * best:
            best, since = worst, 0
        since += 1
        if worst <= tolerance or since > PATIENCE:
            return n + 1, worst
        if n >= FIRST_SWEEPS:
            newton(base, start, size, offsets, counts, mass, rate, multipliers, gap, min(0.3, np.sqrt(worst)))
    return limit, worst
