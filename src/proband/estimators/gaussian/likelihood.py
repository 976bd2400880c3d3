"""Estimators of a Gaussian law from measured records.

*Plug-in* (Algorithm 3 of the paper): mean and covariance of complete rows. The paper writes Σ̂ = (1/N) Σ x xᵀ beside
an estimated mean; that is a covariance only where the mean is zero, so here it is centred. Right for subjects on whom
every test was run whatever it showed.

*Likelihood*: EM on all rows, complete or not (:mod:`proband.estimators.gaussian.em`). Right wherever tests were
skipped by what had been seen, as policies do.

*Shrinkage* moves the estimate towards independent tests, Σ ← (1 − ρ) Σ + ρ diag(Σ). The mean squared error of the
correlations is smallest (Ledoit and Wolf 2004; Schäfer and Strimmer 2005) at

    ρ = Σ Var(r_ij) / Σ E[r_ij²],        Var(r_ij) ≈ (1 − r_ij²)² / n_ij        for Gaussian rows,

sums over the pairs seen together on n_ij subjects, at most 1; the automatic choice puts the estimates in.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Gaussian
from proband.distributions.gaussian import SINGULAR
from proband.errors import DistributionError
from proband.estimators.gaussian.draws import posterior_laws
from proband.estimators.gaussian.em import GaussianFit, Standardised, fit_gaussian, standardise
from proband.estimators.gaussian.patterns import Pattern, Patterns
from proband.problem import Problem
from proband.vocabulary import FloatArray, Records

Shrinkage = float | Literal["automatic"] | None


class _Measured:
    """What is kept of measured records."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.patterns = Patterns(problem)

    def update(self, records: Records) -> None:
        """Learn from more subjects."""
        self.update_counts(records.outcomes, records.counts)

    def update_counts(self, observations: ArrayLike, counts: ArrayLike | None) -> None:
        """Learn from rows (u, d) that were seen `counts` (u,) times; None for once each."""
        self.patterns.add(observations, counts)


class GaussianPlugIn(_Measured):
    """Mean and covariance of the complete rows; feed it only subjects whose completeness was decided before looking.

    Parameters
    ----------
    problem : Problem
        Its tests are measured.

    Examples
    --------
    >>> from proband import Problem, Records, Test
    >>> from proband.rewards import Entropy
    >>> tests = [Test("length", 1.0, outcomes=None), Test("strength", 1.0, outcomes=None)]
    >>> estimator = GaussianPlugIn(Problem(tests, ["stop"], Entropy()))
    >>> estimator.update(Records([[1.0, 4.0], [3.0, 4.0], [5.0, 10.0], [5.0, float("nan")]]))
    >>> law = estimator.distribution()
    >>> law.mean, law.covariance.round(3), estimator.n, estimator.left_out
    (array([3., 6.]), array([[2.667, 4.   ], [4.   , 8.   ]]), 3, 1)
    """

    @property
    def n(self) -> int:
        """Number of complete subjects."""
        return 0 if self.patterns.complete is None else int(self.patterns.complete.n)

    @property
    def left_out(self) -> int:
        """Number of subjects left out because a test is missing."""
        return self.patterns.n - self.n

    def distribution(self) -> Gaussian:
        """Return the law with the mean and the covariance (divided by n) of the complete rows."""
        complete = self.patterns.complete
        if complete is None or complete.n < 2:
            raise DistributionError(
                f"{self.n} of {self.patterns.n} records are complete; a covariance needs two or more; test everything "
                "on some subjects, or use GaussianLikelihood"
            )
        return Gaussian(complete.mean, complete.scatter / complete.n)

    def log_likelihood(self) -> float:
        """Return the log-likelihood of the complete rows at the estimate."""
        law = self.distribution()
        return sum(_log_density(law, pattern) for pattern in self.patterns if len(pattern.tests) == self.problem.d)


class GaussianLikelihood(_Measured):
    """Estimate a Gaussian law from complete and incomplete rows by the ignorable likelihood.

    Parameters
    ----------
    problem : Problem
        Its tests are measured.
    shrinkage : float or "automatic", optional
        ρ from 0 (none, the default) to 1 (independent tests), or chosen from the data.

    Notes
    -----
    The estimate is a function of the statistics alone: every fit starts from independent tests. What the data do not
    tell is settled by the rules of :mod:`proband.estimators.gaussian.em`.

    Examples
    --------
    >>> from proband import Problem, Records, Test
    >>> from proband.rewards import Entropy
    >>> tests = [Test("length", 1.0, outcomes=None), Test("strength", 1.0, outcomes=None)]
    >>> estimator = GaussianLikelihood(Problem(tests, ["stop"], Entropy()))
    >>> nan = float("nan")
    >>> estimator.update(Records([[1.0, 2.0], [2.0, 3.0], [3.0, 7.0], [4.0, nan], [5.0, nan]]))
    >>> estimator.distribution().mean.round(6)
    array([3. , 6.5])
    >>> len(estimator.draws(np.random.default_rng(0), 4))
    4
    """

    def __init__(self, problem: Problem, *, shrinkage: Shrinkage = None) -> None:
        if shrinkage is not None and shrinkage != "automatic" and not 0 <= shrinkage <= 1:
            raise DistributionError(f'shrinkage is {shrinkage!r}; it must be from 0 to 1, or "automatic"; correct it')
        super().__init__(problem)
        self.shrinkage = shrinkage
        self._data: Standardised | None = None
        self._fit: GaussianFit | None = None
        self._law: Gaussian | None = None

    @property
    def n(self) -> int:
        """Number of subjects."""
        return self.patterns.n

    def update_counts(self, observations: ArrayLike, counts: ArrayLike | None) -> None:
        """Learn from rows (u, d) that were seen `counts` (u,) times; None for once each."""
        super().update_counts(observations, counts)
        self._data = self._fit = self._law = None

    def fit(self) -> GaussianFit:
        """Return the maximiser in standard units, before shrinking (kept until the next update)."""
        if self._fit is None:
            self._fit = fit_gaussian(self.standardised())
        return self._fit

    def standardised(self) -> Standardised:
        """Return the statistics in standard units (kept until the next update)."""
        if self._data is None:
            self._data = standardise(self.patterns)
        return self._data

    def distribution(self) -> Gaussian:
        """Return the estimate from all subjects so far (kept until the next update)."""
        if self._law is None:
            law = self.standardised().law(self.fit().theta)
            self._law = shrunk(law, self.intensity)
        return self._law

    @property
    def intensity(self) -> float:
        """The ρ by which the estimate is shrunk."""
        if self.shrinkage == "automatic":
            return best_shrinkage(self.fit().theta[1:, 1:], self.standardised().together)
        return 0.0 if self.shrinkage is None else float(self.shrinkage)

    def log_likelihood(self) -> float:
        """Return the log-likelihood of all that was seen at the estimate."""
        law = self.distribution()
        return sum(_log_density(law, pattern) for pattern in self.patterns)

    def draws(self, rng: np.random.Generator, n: int, *, sweeps: int | None = None) -> list[Gaussian]:
        """Draw n laws from the posterior (:mod:`proband.estimators.gaussian.draws`); shrinkage plays no part in it.

        Parameters
        ----------
        rng : numpy.random.Generator
        n : int
        sweeps : int, optional
            Of data augmentation for each draw; by default as many as the rarest pair of tests needs.
        """
        return posterior_laws(rng, n, self.standardised(), self.fit(), sweeps=sweeps)

    def draw(self, rng: np.random.Generator) -> Gaussian:
        """Draw a law from the posterior."""
        return self.draws(rng, 1)[0]


def shrunk(law: Gaussian, intensity: float) -> Gaussian:
    """Return the law with its covariances (not variances) multiplied by 1 − intensity."""
    if not intensity:
        return law
    return Gaussian(law.mean, (1 - intensity) * law.covariance + intensity * np.diag(np.diagonal(law.covariance)))


def best_shrinkage(covariance: FloatArray, together: FloatArray) -> float:
    """Return ρ of the smallest expected error, for a covariance (k, k) and how often each pair was seen together."""
    sd = np.sqrt(np.diagonal(covariance))
    pairs = np.triu(together > 0, 1)
    r = (covariance / np.outer(sd, sd))[pairs]
    noise = float(((1 - r**2) ** 2 / together[pairs]).sum())
    signal = float((r**2).sum())
    return min(1.0, noise / signal) if signal > 0 else float(noise > 0)


def _log_density(law: Gaussian, pattern: Pattern) -> float:
    """Return the log-density of a pattern's rows, on the space that a singular covariance allows."""
    covariance = law.covariance[np.ix_(pattern.tests, pattern.tests)]
    sd = np.sqrt(np.diagonal(covariance))
    varying = sd > 0
    sd, apart = sd[varying], (pattern.mean - law.mean[pattern.tests])[varying]
    values, vectors = np.linalg.eigh(covariance[np.ix_(varying, varying)] / np.outer(sd, sd))
    kept = values > SINGULAR
    scatter = pattern.scatter[np.ix_(varying, varying)] + pattern.n * np.outer(apart, apart)
    along = vectors[:, kept].T @ (scatter / np.outer(sd, sd)) @ vectors[:, kept]
    logs = kept.sum() * math.log(2 * math.pi) + np.log(values[kept]).sum() + 2 * np.log(sd).sum()
    return float(-0.5 * (pattern.n * logs + (np.diagonal(along) / values[kept]).sum()))
