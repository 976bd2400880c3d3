"""Priors over the cells of a support: gamma mixtures for their intensities.

Let n subjects arrive, and let x occur with intensity θ(x) (θ / Σθ is the law). Given a count n(x) with exposure e(x),
n(x) ~ Poisson(e(x) θ(x)). A prior is a mixture of gamma laws with a common shape,

    θ(x) ~ Σ_j w_j Gamma(shape a(x), rate b_j),

so that, given component j, θ(x) ~ Gamma(a + n(x), b_j + e(x)) afterwards. Dirichlet(a) is the case of one component
(independent gammas of one rate, divided by their sum, are Dirichlet); no prior is the case a = b = 0.

*Empirical Bayes* fits an exchangeable mixture by marginal likelihood. With K cells of intensities θ(x), independent
draws from an unknown mixture Σ_j w_j Gamma(a, b_j), and complete counts n(x) ~ Poisson(e(x) θ(x)) given their
exposures, the marginal law of a count is a mixture of negative binomials,

    P(n(x)) ∝ Σ_j w_j b_j^a / (b_j + e(x))^(a + n(x)).

The rates b_j are fixed so that the means a / b_j run from far below 1/K to 1 in equal ratios; the weights w maximise
the marginal likelihood of all cells (times a Dirichlet prior that keeps every component possible) by Newton's method.
The posterior mean of a cell mixes (a + n) / (b_j + e) over components: rare cells are shrunk towards what most cells
are like, common ones hardly at all. A Dirichlet prior has one b for all.

The exposure e(x), the number of subjects whose x would have been seen completely, is known when the policies and
their coins are (:meth:`Likelihood.expose`), and otherwise estimated by n − Σ_{o ∋ x} n_o / P(o), see
:mod:`proband.estimators.listed.solvers`, from a first fit with a light Dirichlet prior. (Fitting mixture and exposures
in turns does not settle while leaves have few complete observations: tried.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import DistributionError
from proband.vocabulary import FloatArray, IntArray

WEIGHT_STEPS = 100
"""Most Newton steps for the weights of the mixture."""

MANY_CELLS = 2**13
"""With more cells those of equal count and exposure, most of them, are fitted as one."""


@dataclass(frozen=True)
class GammaMixture:
    """A prior law of the intensities of K cells: their shapes (K,), and rates and weights (J,) of the components."""

    shape: FloatArray
    rates: FloatArray
    weights: FloatArray

    def responsibilities(self, counts: FloatArray, exposures: FloatArray) -> FloatArray:
        """Return the probability of each component for each cell given its count and exposure, shape (K, J)."""
        with np.errstate(divide="ignore"):
            weights = np.log(self.weights)
        logs = (
            weights
            + self.shape[:, None] * np.log(self.rates)
            - (self.shape + counts)[:, None] * np.log(self.rates + exposures[:, None])
        )
        logs -= logs.max(axis=1, keepdims=True)
        likely = np.exp(logs)
        return np.asarray(likely / likely.sum(axis=1, keepdims=True))

    def terms(self, counts: FloatArray, exposures: FloatArray, total: float) -> tuple[FloatArray, FloatArray]:
        """Return mass c(x) and rate r(x) under which a cell's estimate is its posterior mean, each (K,).

        With r(x) − total = b̄(x) and 1 / (b̄ + e) = Σ_j P(j | n, e) / (b_j + e), the estimate c / (r − Σ λ) at
        Σ λ = total − e is the mixture's posterior mean (a + n) Σ_j P(j | n, e) / (b_j + e).
        """
        mass = counts + self.shape
        if len(self.rates) == 1:
            return mass, np.full(len(mass), total + self.rates[0])
        shares = self.responsibilities(counts, exposures)
        inverse = (shares / (self.rates + exposures[:, None])).sum(axis=1)
        return mass, total + np.maximum(1 / inverse - exposures, self.rates.min())

    def draw_rates(self, rng: np.random.Generator, bounds: FloatArray) -> FloatArray:
        """Draw a component for each cell, and return its rate, shape (K,).

        Between the `bounds` (K, J - 1) lie the components: cumulative probabilities, the last one left out.
        """
        if len(self.rates) == 1:
            return np.full(len(bounds), self.rates[0])
        chosen: IntArray = (rng.random(len(bounds))[:, None] >= bounds).sum(axis=1)
        return self.rates[chosen]


class Prior(Protocol):
    """Gives a gamma mixture, fitted or fixed."""

    @property
    def is_fitted(self) -> bool:
        """Whether the mixture depends on the data."""
        ...

    @property
    def is_proper(self) -> bool:
        """Whether every cell has positive mass before any data."""
        ...

    def mixture(self, counts: FloatArray, exposures: FloatArray) -> GammaMixture:
        """Return the mixture for cells with these complete counts and exposures, each (K,)."""
        ...


@dataclass(frozen=True)
class Dirichlet:
    """Pseudo-counts: alpha for every cell, or one for each.

    Parameters
    ----------
    alpha : float or array_like of shape (K,), default 1
        0 or more; 0 everywhere is no prior: maximum likelihood.

    Examples
    --------
    >>> Dirichlet(0.5).mixture(np.zeros(4), np.zeros(4)).terms(np.array([1.0, 0, 0, 0]), np.ones(4), 1.0)
    (array([1.5, 0.5, 0.5, 0.5]), array([3., 3., 3., 3.]))
    """

    is_fitted: ClassVar[bool] = False
    alpha: float | ArrayLike = 1.0

    def __post_init__(self) -> None:
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim > 1 or not (np.isfinite(alpha) & (alpha >= 0)).all():
            raise DistributionError(
                f"alpha is {self.alpha!r}; it must be a number, or one for each row of the support, finite and 0 or "
                "more; correct it"
            )

    @property
    def is_proper(self) -> bool:
        """Whether every cell has a positive pseudo-count."""
        return bool((np.asarray(self.alpha) > 0).all())

    def mixture(self, counts: FloatArray, exposures: FloatArray) -> GammaMixture:
        """Return the one component with rate Σ alpha."""
        del exposures
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim and alpha.shape != counts.shape:
            raise DistributionError(
                f"alpha has {len(alpha)} entries and the support {len(counts)} rows; give one for each row, or a number"
            )
        shape = np.broadcast_to(alpha, counts.shape).astype(np.float64)
        return GammaMixture(shape, np.array([shape.sum()]), np.ones(1))


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

    is_fitted: ClassVar[bool] = True
    is_proper: ClassVar[bool] = True
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

    def mixture(self, counts: FloatArray, exposures: FloatArray) -> GammaMixture:
        """Return the mixture with the weights of greatest marginal likelihood."""
        n = len(counts)
        means = np.geomspace(self.smallest / n, 1.0, self.components) if self.components > 1 else np.array([1 / n])
        rates = self.shape / means
        times = None
        if n > MANY_CELLS:
            pairs, times = np.unique(counts + 1j * exposures, return_counts=True)
            counts, exposures = pairs.real, pairs.imag
        logs = self.shape * np.log(rates) - (self.shape + counts)[:, None] * np.log(rates + exposures[:, None])
        likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights = mixture_weights(likelihood, self.pseudo, times=times)
        return GammaMixture(np.full(n, self.shape), rates, weights)


def mixture_weights(likelihood: FloatArray, pseudo: float, *, times: IntArray | None = None) -> FloatArray:
    """Return the weights w maximising Σ_x log Σ_j w_j L(x, j) + pseudo · Σ_j log w_j for L of shape (K, J).

    A row that stands for several cells counts as many `times` (K,).

    The constraint Σ w = 1 is a linear term, as in F (:mod:`~proband.estimators.listed.solvers`); the objective is
    concave and tends to minus infinity at the boundary, so Newton's method with halving finds its only maximiser.

    Examples
    --------
    >>> mixture_weights(np.array([[1.0, 0.5], [1.0, 0.5], [0.1, 1.0]]), 1.0).round(4)
    array([0.4736, 0.5264])
    """
    n, components = likelihood.shape
    each = np.ones(n) if times is None else times.astype(np.float64)
    total = each.sum() + components * pseudo

    def value(w: FloatArray) -> float:
        return float((each * np.log(likelihood @ w)).sum() + pseudo * np.log(w).sum() - total * w.sum())

    w = np.full(components, 1.0 / components)
    for _ in range(WEIGHT_STEPS):
        ratios = likelihood / (likelihood @ w)[:, None]
        weighed = ratios if times is None else ratios * each[:, None]
        gradient = weighed.sum(axis=0) + pseudo / w - total
        hessian = weighed.T @ ratios + np.diag(pseudo / w**2)
        step = np.linalg.solve(hessian, gradient)
        length = min(1.0, 0.95 / max(float((-step / w).max()), 1e-300))
        now = value(w)
        while length > 1e-6 and value(w + length * step) < now:
            length /= 2
        w = w + length * step
        if np.abs(length * step).max() <= 1e-12:
            break
    return np.asarray(w / w.sum())
