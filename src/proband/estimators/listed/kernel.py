"""EM, coordinate ascent in the dual and data augmentation over listed cells, compiled.

The formulas are in :mod:`proband.estimators.listed.solvers`. Random numbers come from the Generator alone.

Arrays are copied entry by entry: a slice is assigned with a check of its length, whose message takes longer to compile
than the whole of EM.
"""

from __future__ import annotations

import numpy as np

from proband.compiling import inner, kernel
from proband.estimators.listed.cells import Cells
from proband.vocabulary import FloatArray, IntArray

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


@inner(inline=True)
def add_up(cells: Cells, o: int, values: FloatArray, total: float) -> float:
    """Return `total` with the values of the cells of an observation added, one after the other."""
    home, offsets = cells.base[o], cells.offsets
    for j in range(cells.start[o], cells.start[o] + cells.size[o]):
        total += values[home + offsets[j]]
    return total


@inner(inline=True)
def add_to(cells: Cells, o: int, value: float, out: FloatArray) -> None:
    """Add a value to all cells of an observation in `out`."""
    home, offsets = cells.base[o], cells.offsets
    for j in range(cells.start[o], cells.start[o] + cells.size[o]):
        out[home + offsets[j]] += value


@kernel
def sums(cells: Cells, p: FloatArray) -> FloatArray:
    """Return the sum of p over the cells of each observation."""
    totals = np.empty(len(cells.base))
    for o in range(len(cells.base)):
        totals[o] = add_up(cells, o, p, 0.0)
    return totals


@kernel
def spread(cells: Cells, values: FloatArray, out: FloatArray) -> None:
    """Add the value of each observation to all its cells in `out`."""
    for o in range(len(cells.base)):
        add_to(cells, o, values[o], out)


@inner
def copy(values: FloatArray, out: FloatArray) -> None:
    """Write values into `out`."""
    for x in range(len(out)):
        out[x] = values[x]


@kernel
def em_step(cells: Cells, mass: FloatArray, rate: FloatArray, p: FloatArray, out: FloatArray) -> float:
    """Write the next law into `out` and return the objective at `p`."""
    value = 0.0
    out[:] = 0.0
    for o in range(len(cells.counts)):
        total = add_up(cells, o, p, 0.0)
        value += cells.counts[o] * np.log(total)
        add_to(cells, o, cells.counts[o] / total, out)
    for x in range(len(p)):
        if mass[x] > 0:
            value += mass[x] * np.log(p[x])
        value -= rate[x] * p[x]
        out[x] = (mass[x] + p[x] * out[x]) / rate[x]
    return value


@inner
def extrapolate(first: FloatArray, second: FloatArray, third: FloatArray, out: FloatArray) -> bool:
    """Write the squared extrapolation of three iterates (in their logarithms) into `out`; False if it is no step."""
    along, bend = 0.0, 0.0
    for x in range(len(first)):
        if first[x] > 0 and second[x] > 0 and third[x] > 0:
            r = np.log(second[x] / first[x])
            v = np.log(third[x] / second[x]) - r
            along += second[x] * r * r
            bend += second[x] * v * v
    if not bend > 0:
        return False
    step = np.sqrt(along / bend)
    if not step > 1:
        return False
    for x in range(len(first)):
        out[x] = third[x]
        if first[x] > 0 and second[x] > 0 and third[x] > 0:
            r = np.log(second[x] / first[x])
            v = np.log(third[x] / second[x]) - r
            exponent = 2 * step * r + step * step * v
            out[x] = first[x] * np.exp(min(max(exponent, -700.0), 700.0))
            if not np.isfinite(out[x]):
                return False
    return True


@kernel
def em_solve(
    cells: Cells, mass: FloatArray, rate: FloatArray, p: FloatArray, tolerance: float, path: FloatArray
) -> tuple[int, float]:
    """Iterate from `p`, in place, until a step moves no entry by more than `tolerance`.

    Writes the objective at each accepted law into `path`; returns how many there were and the last movement.
    """
    one, two, far, next_far = np.empty_like(p), np.empty_like(p), np.empty_like(p), np.empty_like(p)
    moved = np.inf
    for iteration in range(len(path)):
        path[iteration] = em_step(cells, mass, rate, p, one)
        moved = 0.0
        for x in range(len(p)):
            moved = max(moved, abs(one[x] - p[x]))
        if moved <= tolerance:
            copy(one, p)
            return iteration + 1, moved
        value = em_step(cells, mass, rate, one, two)
        accepted = False
        if extrapolate(p, one, two, far):
            accepted = em_step(cells, mass, rate, far, next_far) >= value
        copy(next_far if accepted else two, p)
    return len(path), moved


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
