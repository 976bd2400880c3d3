"""Posterior draws of the law from incomplete observations.

*Perturbation.* Replace every count by a gamma variable of that shape, c(x) → Gamma(c(x)) and n_o → Gamma(n_o) (and the
rate by that of a drawn component, for a mixture), and maximise F again: the weighted likelihood bootstrap of Newton and
Raftery (1994). With a Dirichlet prior and complete records this *is* the posterior. It also is when the observations
are nested or disjoint (the leaves of one policy): there the posterior is a tree of Dirichlet laws, and so are ratios of
gamma variables. With overlapping observations it is right to first order. With a fitted mixture, which is taken as
known, it is an approximation always.

*Gibbs sweeps* (data augmentation): allot every partial count to its agreeing cells by a multinomial, then draw the
intensities given the completed counts. They leave the posterior invariant, so sweeps after a perturbation only bring it
closer. Alone, from the fixed point, a few sweeps are much too narrow when complete observations are rare: a leaf
with n_o partial and c complete observations forgets its start in about n_o / c sweeps.
"""

from __future__ import annotations

import numpy as np

from proband.estimators.listed.cells import Cells, Fit
from proband.estimators.listed.priors import GammaMixture
from proband.estimators.listed.solvers import feasible
from proband.vocabulary import FloatArray

DRAW_TOLERANCE = 1e-2
"""Relative error of n_o = λ_o p(o) in a draw: far below the noise of any count that matters."""

DRAW_SWEEPS = 200
"""Most dual sweeps for one draw."""


def perturb(rng: np.random.Generator, cells: Cells, mixture: GammaMixture, fit: Fit, bounds: FloatArray) -> FloatArray:
    """Return intensities maximising F with perturbed counts and drawn components, shape (K,)."""
    from proband.estimators.listed.dual_kernel import dual_solve

    mass = np.maximum(rng.standard_gamma(cells.own + mixture.shape), 1e-300)
    counts = np.maximum(rng.standard_gamma(cells.counts), 1e-300)
    rate = cells.total + mixture.draw_rates(rng, bounds)
    if not len(counts):
        return np.asarray(mass / rate)
    multipliers = feasible(cells, rate, fit.multipliers)
    gap, _, _ = dual_solve(cells._replace(counts=counts), mass, rate, multipliers, DRAW_TOLERANCE, DRAW_SWEEPS)
    return np.asarray(mass / gap)


def sweep(rng: np.random.Generator, cells: Cells, mixture: GammaMixture, intensities: FloatArray, sweeps: int) -> None:
    """Run Gibbs sweeps from `intensities` (K,), in place; fractional counts are rounded."""
    from proband.estimators.listed.draws_kernel import gibbs

    with np.errstate(divide="ignore"):
        weights = np.log(mixture.weights)
    counts = np.rint(cells.counts).astype(np.int64)
    gibbs(rng, cells, counts, mixture.shape, mixture.rates, weights, cells.total, intensities, sweeps)


def posterior_draws(
    rng: np.random.Generator,
    n: int,
    cells: Cells,
    mixture: GammaMixture,
    fit: Fit,
    *,
    exposures: FloatArray,
    sweeps: int = 0,
) -> FloatArray:
    """Draw n laws over the support, shape (n, K): a perturbation each, then `sweeps` Gibbs sweeps."""
    laws = np.empty((n, len(cells.own)))
    bounds = np.cumsum(mixture.responsibilities(cells.own, exposures)[:, :-1], axis=1)
    for row in range(n):
        laws[row] = perturb(rng, cells, mixture, fit, bounds)
        if sweeps:
            sweep(rng, cells, mixture, laws[row], sweeps)
    return np.asarray(laws / laws.sum(axis=1, keepdims=True))
