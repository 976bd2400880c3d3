"""Coordinate ascent in the dual over listed cells, compiled.

The formulas are in :mod:`proband.estimators.listed.solvers`.
"""

from __future__ import annotations

import numpy as np

from proband.compiling import inner, kernel
from proband.estimators.listed.cells import Cells
from proband.estimators.listed.kernel import add_to, add_up, copy, spread
from proband.vocabulary import FloatArray

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
def fill_gaps(cells: Cells, rate: FloatArray, multipliers: FloatArray, gap: FloatArray) -> None:
    """Write r(x) − Σ_{o ∋ x} λ_o into `gap`."""
    copy(rate, gap)
    for o in range(len(cells.base)):
        add_to(cells, o, -multipliers[o], gap)


@inner
def sweep(cells: Cells, mass: FloatArray, multipliers: FloatArray, gap: FloatArray) -> float:
    """Set each multiplier in turn to its root; return the largest relative error of n_o = λ_o p(o) met."""
    counts, base, start, size, offsets = cells.counts, cells.base, cells.start, cells.size, cells.offsets
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
        add_to(cells, o, old - new, gap)
        multipliers[o] = new
    return worst


@inner
def reach(values: FloatArray, moves: FloatArray) -> float:
    """Return the longest step in [0, 1] that keeps a hundredth of every value."""
    longest = 1.0
    for i in range(len(values)):
        if moves[i] < 0:
            longest = min(longest, -0.99 * values[i] / moves[i])
    return longest


@inner
def change(weights: FloatArray, values: FloatArray, moves: FloatArray, length: float) -> float:
    """Return −Σ w log((v + length · move) / v): what a step adds to a part of the dual."""
    total = 0.0
    for i in range(len(values)):
        total -= weights[i] * np.log1p(length * moves[i] / values[i])
    return total


@inner
def curve(
    cells: Cells, weight: FloatArray, diagonal: FloatArray, vector: FloatArray, work: FloatArray, out: FloatArray
) -> None:
    """Write the dual's Hessian times `vector` into `out`: (Aᵀ diag(weight) A + diag(diagonal)) vector."""
    work[:] = 0.0
    spread(cells, vector, work)
    work *= weight
    for o in range(len(out)):
        out[o] = add_up(cells, o, work, diagonal[o] * vector[o])


@inner
def direction(cells: Cells, mass: FloatArray, multipliers: FloatArray, gap: FloatArray, precision: float) -> FloatArray:
    """Return the Newton direction of the dual, by conjugate gradients with the diagonal as preconditioner."""
    law = mass / gap
    weight = law / gap
    diagonal = cells.counts / multipliers**2
    residual = cells.counts / multipliers
    scale = diagonal.copy()
    for o in range(len(residual)):
        for j in range(cells.start[o], cells.start[o] + cells.size[o]):
            x = cells.base[o] + cells.offsets[j]
            residual[o] -= law[x]
            scale[o] += weight[x]
    step = np.zeros_like(residual)
    image = np.empty_like(residual)
    work = np.empty_like(gap)
    ready = residual / scale
    search = ready.copy()
    strength = residual @ ready
    goal = precision * precision * strength
    for _ in range(CONJUGATE_STEPS):
        if not strength > goal:
            break
        curve(cells, weight, diagonal, search, work, image)
        length = strength / (search @ image)
        step += length * search
        residual -= length * image
        ready = residual / scale
        before, strength = strength, residual @ ready
        search = ready + (strength / before) * search
    return step


@inner
def newton(
    cells: Cells, mass: FloatArray, rate: FloatArray, multipliers: FloatArray, gap: FloatArray, precision: float
) -> None:
    """Take a Newton step in all multipliers at once, halved until the dual falls; none if it never does."""
    step = direction(cells, mass, multipliers, gap, precision)
    opening = np.zeros_like(gap)
    fill_gaps(cells, opening.copy(), step, opening)
    length = min(reach(multipliers, step), reach(gap, opening))
    for _ in range(HALVINGS):
        if change(cells.counts, multipliers, step, length) + change(mass, gap, opening, length) <= 0:
            multipliers += length * step
            break
        length /= 2
    fill_gaps(cells, rate, multipliers, gap)


@kernel
def dual_solve(
    cells: Cells, mass: FloatArray, rate: FloatArray, multipliers: FloatArray, tolerance: float, limit: int
) -> tuple[FloatArray, int, float]:
    """Sweep until the relative error of every n_o = λ_o p(o) is within `tolerance`; return gaps, sweeps and error.

    Gives up, too, when the error has not halved for `PATIENCE` sweeps: rounding allows no more.
    """
    gap = np.empty_like(rate)
    worst, best, since = 0.0, np.inf, 0
    fill_gaps(cells, rate, multipliers, gap)
    for n in range(limit):
        worst = sweep(cells, mass, multipliers, gap)
        if worst <= 0.5 * best:
            best, since = worst, 0
        since += 1
        if worst <= tolerance or since > PATIENCE:
            return gap, n + 1, worst
        if n >= FIRST_SWEEPS:
            newton(cells, mass, rate, multipliers, gap, min(0.3, np.sqrt(worst)))
    return gap, limit, worst
