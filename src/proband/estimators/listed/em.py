"""Expectation-maximisation, accelerated and monotone.

With c(x) the mass that cell x owns (complete observations and pseudo-counts), n_o the counts of partial
observations, and r(x) a rate for each cell, the concave objective is

    F(p) = Σ_x c(x) log p(x) + Σ_o n_o log p(o) − Σ_x r(x) p(x),        p(o) = Σ_{x agrees with o} p(x).

With r(x) = Σ c + Σ n for every x the maximiser sums to one and maximises the (penalised) ignorable likelihood: the
linear term stands for the constraint. One step allots each partial count to its cells in proportion to p:

    p(x) ← ( c(x) + p(x) Σ_{o ∋ x} n_o / p(o) ) / r(x).

Two steps give a direction and a curvature; the squared extrapolation of Varadhan and Roland (2008), taken in log p
and followed by one step, is kept only where F is no lower than after the plain steps: F never decreases. EM is the
yardstick; where complete observations are few among many partial ones it creeps, and the dual
(:mod:`proband.estimators.listed.dual`) does not.
"""

from __future__ import annotations

import numpy as np

from proband.estimators.listed.cells import NEGLIGIBLE, Cells, Fit, observed_mass
from proband.vocabulary import FloatArray

EM_TOLERANCE = 1e-15
"""EM stops when a step moves no probability by more than this times the solver's tolerance over 1e-10."""

EM_LIMIT = 100_000
"""Most extrapolated steps of one fit."""


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
