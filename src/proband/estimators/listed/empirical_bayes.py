"""Empirical Bayes: an exchangeable gamma mixture for the cells' intensities, fitted by marginal likelihood.

With K cells of intensities θ(x), independent draws from an unknown mixture Σ_j w_j Gamma(a, b_j), and complete counts
n(x) ~ Poisson(e(x) θ(x)) given their exposures, the marginal law of a count is a mixture of negative binomials,

    P(n(x)) ∝ Σ_j w_j b_j^a / (b_j + e(x))^(a + n(x)).

The rates b_j are fixed so that the means a / b_j run from far below 1/K to 1 in equal ratios; the weights w maximise
the marginal likelihood of all cells (times a Dirichlet prior that keeps every component possible) by Newton's method.
The posterior mean of a cell mixes (a + n) / (b_j + e) over components: rare cells are shrunk towards what most cells
are like, common ones hardly at all. A Dirichlet prior has one b for all.

The exposure e(x), the number of subjects whose x would have been seen completely, is known when the policies and
their coins are (:meth:`Likelihood.expose`), and otherwise estimated by n − Σ_{o ∋ x} n_o / P(o), see
:mod:`proband.estimators.listed.dual`, from a first fit with a light Dirichlet prior. (Fitting mixture and exposures in
turns does not settle while leaves have few complete observations: tried.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proband.errors import DistributionError
from proband.estimators.listed.priors import GammaMixture
from proband.vocabulary import FloatArray

WEIGHT_STEPS = 100
"""Most Newton steps for the weights of the mixture."""


@dataclass(frozen=True, kw_only=True)
class EmpiricalBayes:
    """A prior fitted to the counts.

    Parameters
    ----------
    shape : float, default 1
        a, the common shape of the gamma components.
    components : int, default 16
        Number of rates.
    smallest : float, default 1e-3
        The smallest mean, as a share of 1/K; the largest is 1.
    pseudo : float, default 1
        Pseudo-cells in each component: keeps the weights positive when data are few.

    Examples
    --------
    >>> counts = np.array([90.0, 8, 1, 1, 0, 0, 0, 0])
    >>> mixture = EmpiricalBayes().mixture(counts, np.full(8, 100.0))
    >>> mass, rate = mixture.terms(counts, np.full(8, 100.0), 100.0)
    >>> (mass / rate).round(3)
    array([0.894, 0.079, 0.01 , 0.01 , 0.002, 0.002, 0.002, 0.002])
    """

    shape: float = 1.0
    components: int = 16
    smallest: float = 1e-3
    pseudo: float = 1.0

    def __post_init__(self) -> None:
        if not (self.shape > 0 and self.components >= 1 and 0 < self.smallest <= 1 and self.pseudo > 0):
            raise DistributionError(
                f"empirical Bayes has shape {self.shape}, {self.components} components, smallest {self.smallest} and "
                f"pseudo {self.pseudo}; they must be positive, at least 1, in (0, 1], and positive; correct them"
            )

    @property
    def is_fitted(self) -> bool:
        """True: the weights are fitted to the counts."""
        return True

    @property
    def is_proper(self) -> bool:
        """True: every cell has a positive intensity."""
        return True

    def mixture(self, counts: FloatArray, exposures: FloatArray) -> GammaMixture:
        """Return the mixture with the weights of greatest marginal likelihood."""
        n = len(counts)
        means = np.geomspace(self.smallest / n, 1.0, self.components) if self.components > 1 else np.array([1 / n])
        rates = self.shape / means
        logs = self.shape * np.log(rates) - (self.shape + counts)[:, None] * np.log(rates + exposures[:, None])
        likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights = mixture_weights(likelihood, self.pseudo)
        return GammaMixture(np.full(n, self.shape), rates, weights)


def mixture_weights(likelihood: FloatArray, pseudo: float) -> FloatArray:
    """Return the weights w maximising Σ_x log Σ_j w_j L(x, j) + pseudo · Σ_j log w_j for L of shape (K, J).

    The constraint Σ w = 1 is a linear term, as in F (:mod:`~proband.estimators.listed.em`); the objective is concave
    and tends to minus infinity at the boundary, so Newton's method with halving finds its only maximiser.

    Examples
    --------
    >>> mixture_weights(np.array([[1.0, 0.5], [1.0, 0.5], [0.1, 1.0]]), 1.0).round(4)
    array([0.4736, 0.5264])
    """
    n, components = likelihood.shape
    total = n + components * pseudo

    def value(w: FloatArray) -> float:
        return float(np.log(likelihood @ w).sum() + pseudo * np.log(w).sum() - total * w.sum())

    w = np.full(components, 1.0 / components)
    for _ in range(WEIGHT_STEPS):
        ratios = likelihood / (likelihood @ w)[:, None]
        gradient = ratios.sum(axis=0) + pseudo / w - total
        hessian = ratios.T @ ratios + np.diag(pseudo / w**2)
        step = np.linalg.solve(hessian, gradient)
        length = min(1.0, 0.95 / max(float((-step / w).max()), 1e-300))
        now = value(w)
        while length > 1e-6 and value(w + length * step) < now:
            length /= 2
        w = w + length * step
        if np.abs(length * step).max() <= 1e-12:
            break
    return np.asarray(w / w.sum())
