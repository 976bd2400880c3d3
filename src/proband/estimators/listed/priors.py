"""Priors over the cells of a support: gamma mixtures for their intensities.

Let n subjects arrive, and let x occur with intensity θ(x) (θ / Σθ is the law). Given a count n(x) with exposure e(x),
n(x) ~ Poisson(e(x) θ(x)). A prior is a mixture of gamma laws with a common shape,

    θ(x) ~ Σ_j w_j Gamma(shape a(x), rate b_j),

so that, given component j, θ(x) ~ Gamma(a + n(x), b_j + e(x)) afterwards. Dirichlet(a) is the case of one component
(independent gammas of one rate, divided by their sum, are Dirichlet); no prior is the case a = b = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import DistributionError
from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True)
class GammaMixture:
    """A prior law of the intensities of K cells.

    Attributes
    ----------
    shape : FloatArray of shape (K,)
    rates, weights : FloatArray of shape (J,)
        The components.
    """

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

    def draw_rates(self, rng: np.random.Generator, shares: FloatArray) -> FloatArray:
        """Draw a component for each cell with probabilities `shares` (K, J), and return its rate, shape (K,)."""
        if len(self.rates) == 1:
            return np.full(len(shares), self.rates[0])
        chosen: IntArray = (rng.random(len(shares))[:, None] >= np.cumsum(shares[:, :-1], axis=1)).sum(axis=1)
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

    alpha: float | ArrayLike = 1.0

    def __post_init__(self) -> None:
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim > 1 or not (np.isfinite(alpha) & (alpha >= 0)).all():
            raise DistributionError(
                f"alpha is {self.alpha!r}; it must be a number, or one for each row of the support, finite and 0 or "
                "more; correct it"
            )

    @property
    def is_fitted(self) -> bool:
        """False: the pseudo-counts are given."""
        return False

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
