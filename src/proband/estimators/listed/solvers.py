"""Two solvers of the ignorable likelihood: expectation-maximisation, and coordinate ascent in the dual.

With c(x) the mass that cell x owns (complete observations and pseudo-counts), n_o the counts of partial
observations, and r(x) a rate for each cell, the concave objective is

    F(p) = Σ_x c(x) log p(x) + Σ_o n_o log p(o) − Σ_x r(x) p(x),        p(o) = Σ_{x agrees with o} p(x).

With r(x) = Σ c + Σ n for every x the maximiser sums to one and maximises the (penalised) ignorable likelihood: the
linear term stands for the constraint. One step allots each partial count to its cells in proportion to p:

    p(x) ← ( c(x) + p(x) Σ_{o ∋ x} n_o / p(o) ) / r(x).

Two steps give a direction and a curvature; the squared extrapolation of Varadhan and Roland (2008), taken in log p
and followed by one step, is kept only where F is no lower than after the plain steps: F never decreases. EM is the
yardstick; where complete observations are few among many partial ones it creeps, and the dual does not.

The dual takes one scalar root per partial observation. Give each of them its own variable q_o with the constraint
q_o = p(o) = Σ_{x ∋ o} p(x) and the multiplier λ_o. The Lagrangian of F,

    Σ_x c(x) log p(x) + Σ_o n_o log q_o − Σ_x r(x) p(x) − Σ_o λ_o (q_o − p(o)),

falls apart: its maximum is at q_o = n_o / λ_o and

    p(x) = c(x) / ( r(x) − Σ_{o ∋ x} λ_o ).                                                                     (1)

What is left to minimise is the convex dual −Σ_x c(x) log(r(x) − Σ_{o ∋ x} λ_o) − Σ_o n_o log λ_o + constant, over
λ > 0 with positive gaps g(x) = r(x) − Σ_{o ∋ x} λ_o. Its derivative in one λ_o vanishes where λ_o p(o) = n_o, i.e.
at the root of

    φ(λ) = n_o / Σ_{x ∋ o} c(x) / (G(x) − λ)  −  λ,         G(x) = g(x) + λ_o: the gap without o.

The first term is a weighted harmonic mean of G(x) − λ: concave, and linear when the G(x) are equal. So φ is concave
and decreasing, and Newton's method needs one to three steps. Observations with no cell in common do not interact: for
the leaves of a single policy one sweep is exact. Where plain EM needs in the order of n_o / c(o) steps, the dual does
not notice how rare complete observations are. Where leaves of many policies overlap, sweeps alone converge linearly;
between them a Newton step is taken in all multipliers at once (conjugate gradients on Aᵀ diag(c / g²) A + diag(n / λ²)
with A the cells of each observation; halved until the dual falls), and the error then squares at every step.

By (1) the gap g(x) − (the prior's part of r) = n − Σ_{o ∋ x} n_o / p(o) is an estimate of the *exposure* of x: the
number of subjects on whom x would have been seen completely. The estimate is complete count over exposure.

Cells that own no mass (c(x) = 0, without a prior) have no gap to divide by. They get c(x) = μ p'(x) and r(x) + μ, with
p' the last iterate: each such problem is the proximal step max F(p) − μ KL(p' ‖ p), which never lowers F and whose
fixed points maximise F.
"""

from __future__ import annotations

import numpy as np

from proband.estimators.listed.cells import NEGLIGIBLE, Cells, Fit, multiplier_sums, observed_mass
from proband.vocabulary import FloatArray

EM_TOLERANCE = 1e-15
"""EM stops when a step moves no probability by more than this times the solver's tolerance over 1e-10."""

EM_LIMIT = 100_000
"""Most extrapolated steps of one fit."""

SWEEP_LIMIT = 20_000
"""Most sweeps of one fit."""

UNSOLVED = 1e-6
"""An error after which the sweeps have failed and EM, which cannot, takes over (not met in any instance so far)."""

FIRST_STEPS = 10
"""Steps of EM before the first sweep of a fit that starts from nothing."""

PROXIMAL_LIMIT = 2_000
"""Most proximal steps of a fit with cells that own no mass."""

PROXIMAL_WEIGHT = 0.02
"""μ, as a share of the rate."""


def solve_em(
    cells: Cells, mass: FloatArray, rate: FloatArray, *, start: Fit | None = None, tolerance: float = 1e-10
) -> Fit:
    """Maximise F by EM.

    Parameters
    ----------
    cells : Cells
        Partial observations (`cells.own` is not read: it is part of `mass`).
    mass : FloatArray of shape (K,)
        c(x), 0 or more.
    rate : FloatArray of shape (K,)
        r(x), positive.
    start : Fit, optional
        The last fit over the same support; by default EM starts from equal probabilities, so that cells which the
        data do not tell apart share their mass equally.
    tolerance : float
        Aimed-at accuracy of the probabilities.

    Examples
    --------
    >>> from proband.estimators.listed.cells import ProductAgreement
    >>> agreement = ProductAgreement(np.array([2, 2]))
    >>> agreement.extend(np.array([[0, np.nan]]))
    >>> own = np.array([1.0, 3.0, 2.0, 2.0])
    >>> cells = Cells(own, np.array([8.0]), agreement.base, agreement.start, agreement.size, agreement.offsets)
    >>> solve_em(cells, own, np.full(4, 16.0)).probabilities.round(6)
    array([0.1875, 0.5625, 0.125 , 0.125 ])
    """
    from proband.estimators.listed.kernel import em_solve

    if start is None or len(start.probabilities) != len(mass):
        p = (mass + cells.counts.sum() / len(mass)) / rate
    else:
        p = start.probabilities.copy()
    np.maximum(p, np.finfo(float).tiny, out=p, where=mass > 0)
    path = np.empty(EM_LIMIT)
    n, moved = em_solve(cells, mass, rate, p, EM_TOLERANCE * tolerance / 1e-10, path)
    p[(mass == 0) & (p < NEGLIGIBLE / len(p))] = 0.0
    return Fit(p, cells.counts / observed_mass(cells, p), int(n), float(moved), path[:n].copy())


def solve_dual(
    cells: Cells, mass: FloatArray, rate: FloatArray, *, start: Fit | None = None, tolerance: float = 1e-10
) -> Fit:
    """Maximise F by dual coordinate ascent; parameters as for :func:`solve_em`.

    Examples
    --------
    >>> from proband.estimators.listed.cells import ProductAgreement
    >>> agreement = ProductAgreement(np.array([2, 2]))
    >>> agreement.extend(np.array([[0, np.nan]]))
    >>> own = np.array([1.0, 3.0, 2.0, 2.0])
    >>> cells = Cells(own, np.array([8.0]), agreement.base, agreement.start, agreement.size, agreement.offsets)
    >>> fit = solve_dual(cells, own, np.full(4, 16.0))
    >>> fit.probabilities, fit.multipliers
    (array([0.1875, 0.5625, 0.125 , 0.125 ]), array([10.66666667]))
    """
    if (mass == 0).any():
        return _proximal(cells, mass, rate, tolerance)
    multipliers = _first_multipliers(cells, mass, rate) if start is None else start.multipliers
    return _coordinate(cells, mass, rate, feasible(cells, rate, multipliers), tolerance)


def feasible(cells: Cells, rate: FloatArray, multipliers: FloatArray) -> FloatArray:
    """Return multipliers scaled down so far that every gap is positive."""
    sums = multiplier_sums(cells, multipliers)
    share = float((sums / rate).max(initial=0.0))
    return multipliers * (0.99 / share) if share >= 1 else multipliers.copy()


def _first_multipliers(cells: Cells, mass: FloatArray, rate: FloatArray) -> FloatArray:
    """Return n_o / p(o) after a few steps of EM: from nothing, coordinate ascent runs into the corners."""
    from proband.estimators.listed.kernel import em_solve

    p = (mass + cells.counts.sum() / len(mass)) / rate
    em_solve(cells, mass, rate, p, 0.0, np.empty(FIRST_STEPS))
    return cells.counts / observed_mass(cells, p)


def _coordinate(cells: Cells, mass: FloatArray, rate: FloatArray, multipliers: FloatArray, tolerance: float) -> Fit:
    from proband.estimators.listed.dual_kernel import dual_solve
    from proband.estimators.listed.kernel import em_solve, em_step

    limit = SWEEP_LIMIT if len(cells.counts) else 0
    gap, sweeps, worst = dual_solve(cells, mass, rate, multipliers, 0.1 * tolerance, limit)
    law = mass / gap
    if worst > UNSOLVED:
        _, worst = em_solve(cells, mass, rate, law, 1e-5 * tolerance, np.empty(EM_LIMIT))
        return Fit(law, cells.counts / observed_mass(cells, law), sweeps, worst, np.empty(0))
    p = np.empty_like(law)
    em_step(cells, mass, rate, law, p)  # one step of EM lowers what error is left and restores the sum
    return Fit(p, multipliers, sweeps, worst, np.empty(0))


def _proximal(cells: Cells, mass: FloatArray, rate: FloatArray, tolerance: float) -> Fit:
    empty = mass == 0
    weight = PROXIMAL_WEIGHT * float(rate.max())
    p = (mass + cells.counts.sum() / len(mass)) / rate
    multipliers = np.zeros(len(cells.counts))
    sweeps = 0
    residual = np.inf
    for _ in range(PROXIMAL_LIMIT):
        near = np.where(empty, weight * np.maximum(p, np.finfo(float).tiny / weight), mass)
        rates = np.where(empty, rate + weight, rate)
        fit = _coordinate(cells, near, rates, feasible(cells, rates, multipliers), min(tolerance, 1e-11))
        sweeps += fit.iterations
        multipliers = fit.multipliers
        residual = float(np.abs(fit.probabilities - p).max())
        p = fit.probabilities
        if residual <= 1e-4 * tolerance:
            break
    p = np.where(empty & (p < NEGLIGIBLE / len(p)), 0.0, p)
    return Fit(p, cells.counts / observed_mass(cells, p), sweeps, residual, np.empty(0))
