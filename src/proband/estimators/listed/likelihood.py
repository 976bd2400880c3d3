"""The ignorable likelihood: learn from every subject, complete or not.

A policy chooses the next test by what it has seen, so entries are *missing at random*: the probability of ending with
observation o is P(x agrees with o) times a factor that does not depend on P (the policy's coins). The likelihood of the
law is therefore, up to that factor,

    Π_o P(o)^{n_o},        P(o) = Σ_{x agrees with o} P(x),

whatever the policies were, and however they were chosen from earlier subjects. It knows the law through the masses P(o)
of what is observed. Under a fixed policy its maximiser is consistent for these, and for the whole law where every
outcome vector is seen completely with positive probability. Where two tests are never run on the same subject nothing
tells how they are related: laws with the same P(o) are equally likely, and the prior, or without one the start of the
fit, decides. Counting complete or available cases is not consistent even where all is identified
(:mod:`proband.estimators.listed.cases`).

With a Dirichlet(alpha) prior the estimate is the fixed point P(x) = (alpha(x) + E[n(x) | counts, P]) / (n + Σ alpha):
EM with pseudo-counts. It is the posterior mode of Dirichlet(alpha + 1), and with complete records the posterior mean of
Dirichlet(alpha). With incomplete ones the exact posterior mean is an average over all completions; the fixed point
replaces it by its usual approximation, exact for nested or disjoint observations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.distributions import Discrete
from proband.errors import DistributionError
from proband.estimators.listed.cells import Cells, Fit, Solver, multiplier_sums, observed_mass
from proband.estimators.listed.draws import posterior_draws
from proband.estimators.listed.observations import CountingEstimator
from proband.estimators.listed.priors import Dirichlet, EmpiricalBayes, GammaMixture, Prior
from proband.estimators.listed.solvers import solve_dual
from proband.estimators.listed.supports import SeenSupport, choose_support, count_cells
from proband.problem import Problem
from proband.vocabulary import FloatArray

EXPOSURE_PSEUDO = 0.05
"""Pseudo-count per row of the fit that estimates exposures for a fitted prior: light, so that p(o) is near n_o's."""

EXPOSURE_TOLERANCE = 1e-6
"""Accuracy of that fit, at most: the mixture does not notice more."""


class Likelihood(CountingEstimator):
    """Estimate a discrete law from complete and partial observations by the ignorable likelihood.

    Parameters
    ----------
    problem : Problem
    prior : Prior, default Dirichlet(1)
        Pseudo-counts (``Dirichlet(0)`` for maximum likelihood) or :class:`EmpiricalBayes`.
    support : "product", "seen", array_like of shape (K, d), or None
        Where mass may lie (:mod:`proband.estimators.listed.supports`); by default the product space up to 2^20 outcome
        vectors, the rows seen beyond.
    solver : Solver, default solve_dual
        :func:`solve_dual` or :func:`solve_em`.
    tolerance : float, default 1e-10
        Aimed-at accuracy of the probabilities.

    Notes
    -----
    A fit starts at the last one. With a proper prior the maximiser is unique, so that the order of the records
    and the times of the fits matter only within `tolerance`. Without one every fit starts from equal probabilities:
    where the data do not tell rows apart the likelihood has many maximisers, and rows that it cannot tell apart share
    their mass equally.

    Examples
    --------
    >>> from proband import Problem, Records, Test
    >>> from proband.rewards import Match
    >>> problem = Problem([Test("length"), Test("weight")], (), Match())
    >>> estimator = Likelihood(problem, prior=Dirichlet(0))
    >>> estimator.update(Records([[0, 0], [0, 1], [0, 1], [0, 1], [1, float("nan")], [1, float("nan")], [1, 0]]))
    >>> estimator.support.tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> (7 * estimator.probabilities).round(6)
    array([1., 3., 3., 0.])
    """

    def __init__(
        self,
        problem: Problem,
        *,
        prior: Prior | None = None,
        support: ArrayLike | str | None = None,
        solver: Solver = solve_dual,
        tolerance: float = 1e-10,
    ) -> None:
        super().__init__(problem)
        self.prior: Prior = Dirichlet(1.0) if prior is None else prior
        self.solver = solver
        self.tolerance = tolerance
        self._support = choose_support(problem, support)
        self._known_exposures: FloatArray | None = None
        self._exposures: FloatArray = np.empty(0)
        self._cells: Cells | None = None
        self._mixture: GammaMixture | None = None
        self._fit: Fit | None = None
        # Where the next fit starts: the multipliers of all observations, their counts, and the law.
        self._last: dict[str, tuple[FloatArray, FloatArray, FloatArray]] = {}

    @property
    def support(self) -> FloatArray:
        """The rows that may have mass, shape (K, d)."""
        self._support.agreement(self.observations)
        return self._support.rows

    @property
    def probabilities(self) -> FloatArray:
        """The estimate over :attr:`support`, shape (K,)."""
        p = self.fit().probabilities
        return np.asarray(p / p.sum())

    @property
    def exposures(self) -> FloatArray:
        """How many subjects would have shown each row of the support completely, shape (K,).

        What was given to :meth:`expose`, or else the estimate n − Σ_{o ∋ x} n_o / P(o).
        """
        self.fit()
        return self._exposures

    @property
    def left_out(self) -> float:
        """Number of subjects whose observation no row of a given support agrees with."""
        size = self._support.agreement(self.observations).size
        return float(self.observations.counts[size == 0].sum())

    def update_counts(self, observations: ArrayLike, counts: ArrayLike | None) -> None:
        """Learn from observations (u, d) that were seen `counts` (u,) times; None for once each."""
        super().update_counts(observations, counts)
        self._fit = None

    def expose(self, exposures: ArrayLike) -> None:
        """Add known exposures (K,): for each row of the support, how many more subjects would have shown it completely.

        For a policy known with its coins: Σ over its subjects of the probability that x is seen completely. Only
        a fitted prior uses them.
        """
        if isinstance(self._support, SeenSupport):
            raise DistributionError(
                "the support is what was seen, and grows; exposures need fixed rows; name the product space, or rows"
            )
        more = np.asarray(exposures, dtype=np.float64)
        if more.shape != (len(self.support),) or not (np.isfinite(more) & (more >= 0)).all():
            raise DistributionError(
                f"exposures have shape {more.shape}; they must be one number of 0 or more for each of the "
                f"{len(self.support)} rows of the support; correct them"
            )
        self._known_exposures = more if self._known_exposures is None else self._known_exposures + more
        self._fit = self._law = None

    def fit(self) -> Fit:
        """Return the solver's result for all subjects so far (kept until the next update)."""
        if self._fit is None:
            agreement = self._support.agreement(self.observations)
            self._cells = count_cells(self.observations, agreement, len(self._support.rows))
            self._check(self._cells)
            partial = (agreement.size > 1) & ~self.observations.is_blank
            self._exposures = self._estimate_exposures(self._cells, partial)
            self._mixture = self.prior.mixture(self._cells.own, self._exposures)
            self._fit = self._solve("law", self._cells, self._mixture, partial, self.tolerance)
            if not self.prior.is_fitted and self._known_exposures is None:
                self._exposures = _exposures(self._cells, self._fit)
        return self._fit

    def log_likelihood(self) -> float:
        """Return Σ_o n_o log P(o) at the estimate (without the prior)."""
        p = self.probabilities
        assert self._cells is not None
        own = self._cells.own > 0
        partial = observed_mass(self._cells, p)
        return float(self._cells.own[own] @ np.log(p[own]) + self._cells.counts @ np.log(partial))

    def draws(self, rng: np.random.Generator, n: int, *, sweeps: int = 0) -> FloatArray:
        """Draw n laws from the posterior, shape (n, K), over :attr:`support`.

        Parameters
        ----------
        rng : numpy.random.Generator
        n : int
        sweeps : int, default 0
            Gibbs sweeps after each perturbation (:mod:`proband.estimators.listed.draws`): more exact, slower.
        """
        if not self.prior.is_proper:
            raise DistributionError(
                "the prior has no mass on some rows; only a proper prior has a posterior to draw from; use "
                "Dirichlet(alpha) with a positive alpha"
            )
        fit = self.fit()
        assert self._cells is not None
        assert self._mixture is not None
        return posterior_draws(rng, n, self._cells, self._mixture, fit, exposures=self._exposures, sweeps=sweeps)

    def draw(self, rng: np.random.Generator) -> Discrete:
        """Draw a law from the posterior."""
        weights = self.draws(rng, 1)[0]
        return Discrete.from_weights(self.support, weights)

    def _estimate(self) -> tuple[FloatArray, FloatArray]:
        return self.support, self.fit().probabilities

    def _check(self, cells: Cells) -> None:
        if not len(cells.own) or (not self.prior.is_proper and not cells.total):
            raise DistributionError(
                f"there are {self.observations.total:g} subjects and nothing known of them fits the support; "
                "without a prior an estimate needs one or more; add records, or a prior over the product space"
            )

    def _estimate_exposures(self, cells: Cells, partial: NDArray[np.bool_]) -> FloatArray:
        if self._known_exposures is not None or not self.prior.is_fitted:
            return np.zeros(len(cells.own)) if self._known_exposures is None else self._known_exposures
        light = Dirichlet(EXPOSURE_PSEUDO).mixture(cells.own, cells.own)
        tolerance = max(self.tolerance, EXPOSURE_TOLERANCE)
        return _exposures(cells, self._solve("exposures", cells, light, partial, tolerance))

    def _solve(
        self, purpose: str, cells: Cells, mixture: GammaMixture, partial: NDArray[np.bool_], tolerance: float
    ) -> Fit:
        mass, rate = mixture.terms(cells.own, self._exposures, cells.total)
        start = self._start(purpose, partial) if self.prior.is_proper else None
        fit = self.solver(cells, mass, rate, start=start, tolerance=tolerance)
        multipliers = np.zeros(len(partial))
        multipliers[partial] = fit.multipliers
        self._last[purpose] = (multipliers, self.observations.counts.copy(), fit.probabilities)
        return fit

    def _start(self, purpose: str, partial: NDArray[np.bool_]) -> Fit | None:
        """Return the last fit, its multipliers grown like the counts (n_o / p(o) at an unchanged law)."""
        if purpose not in self._last:
            return None
        last, counts, law = self._last[purpose]
        known = len(counts)
        multipliers = np.zeros(len(partial))
        multipliers[:known] = last * self.observations.counts[:known] / counts
        return Fit(law, multipliers[partial], 0, 0.0, np.empty(0))


def _exposures(cells: Cells, fit: Fit) -> FloatArray:
    return np.maximum(cells.total - multiplier_sums(cells, fit.multipliers), 0.0)


def maximum_likelihood(problem: Problem) -> Likelihood:
    """Learn from all subjects, without a prior."""
    return Likelihood(problem, prior=Dirichlet(0.0))


def empirical_bayes(problem: Problem) -> Likelihood:
    """Learn from all subjects, and the prior from them too."""
    return Likelihood(problem, prior=EmpiricalBayes())
