"""Complete cases, the empirical law of the complete rows, and available cases, which are naive.

*Complete cases* are the estimate of the paper's Explore-Then-Commit (Algorithm 2), unbiased when completeness was
decided *before looking*: subjects on whom every test was run, whatever it showed. They are biased for subjects handled
by a policy that tests some outcomes completely and not others (:class:`BiasedPooledCompleteCases`).

*Available cases* are the naive reading of incomplete records, kept to show what it costs. Each test's outcome
frequencies are taken from the subjects on whom it was run, m_i(b), and every partial row is spread over its completions
as if the missing entries were independent of everything seen:

    P(x) = (1/n) Σ_o n_o 1{x agrees with o} Π_{i missing in o} m_i(x_i)        (renormalised over a sparse support).

A policy runs a test *because of* earlier outcomes, so m_i is the frequency among the subjects for whom the test looked
useful, and the dependence between tests is erased where it was not observed. The error does not shrink with n.
It is one step of EM from the law of independent tests; EM would go on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import DistributionError
from proband.estimators.listed.cells import multiplier_sums, observed_mass
from proband.estimators.listed.observations import CountingEstimator
from proband.estimators.listed.supports import choose_support, count_cells
from proband.problem import Problem
from proband.vocabulary import FloatArray


class _Cases(CountingEstimator):
    """Counts with `alpha` added for every row of a support."""

    def __init__(self, problem: Problem, *, alpha: float = 0.0, support: ArrayLike | str | None = None) -> None:
        super().__init__(problem)
        if not (np.isfinite(alpha) and alpha >= 0):
            raise DistributionError(f"alpha is {alpha}; it must be finite and 0 or more; correct it")
        self.alpha = float(alpha)
        self._support = choose_support(problem, support)


class CompleteCases(_Cases):
    """Count the complete rows; feed it only subjects whose completeness was decided before looking.

    Parameters
    ----------
    problem : Problem
    alpha : float, default 0
        Add so much to the count of every row of the support (the posterior mean under Dirichlet(alpha)).
    support : "product", "seen", array_like of shape (K, d), or None
        The rows that get `alpha`; None for the product space up to 2^20 outcome vectors, the rows seen beyond.
        Without `alpha` the estimate is the empirical law and the support is not used.

    Examples
    --------
    >>> from proband import Problem, Records, Test
    >>> from proband.rewards import Match
    >>> problem = Problem([Test("length"), Test("weight")], (), Match())
    >>> records = Records([[0, 0], [0, 0], [1, 1], [1, float("nan")]])
    >>> empirical, smooth = CompleteCases(problem), CompleteCases(problem, alpha=1)
    >>> empirical.update(records)
    >>> smooth.update(records)
    >>> 3 * empirical.distribution().probabilities, 7 * smooth.distribution().probabilities
    (array([2., 1.]), array([3., 1., 1., 2.]))
    >>> empirical.left_out
    1.0
    """

    def __init__(self, problem: Problem, *, alpha: float = 0.0, support: ArrayLike | str | None = None) -> None:
        super().__init__(problem, alpha=alpha, support="seen" if support is None and not alpha else support)

    @property
    def left_out(self) -> float:
        """Number of subjects left out because a test is missing."""
        return float(self.observations.counts[~self.observations.is_complete].sum())

    def _estimate(self) -> tuple[FloatArray, FloatArray]:
        complete = self.observations.is_complete
        if not self.alpha:
            if not complete.any():
                raise DistributionError(
                    f"none of {self.observations.total:g} records is complete; an empirical law needs one or more; "
                    "test everything on some subjects, give alpha, or use Likelihood"
                )
            return self.observations.rows[complete], self.observations.counts[complete]
        agreement = self._support.agreement(self.observations)
        rows = self._support.rows
        if not len(rows):
            raise DistributionError("no row was seen, so there is none to add alpha to; add records, or name a support")
        outside = self.observations.counts[complete & (agreement.size == 0)].sum()
        if outside:
            raise DistributionError(
                f"{outside:g} complete records are outside the given support; it must hold every row that occurs; "
                "add the rows"
            )
        cells = agreement.base[complete] + agreement.offsets[agreement.start[complete]]
        counts = np.bincount(cells, weights=self.observations.counts[complete], minlength=len(rows))
        return rows, np.asarray(counts + self.alpha, dtype=np.float64)


class BiasedPooledCompleteCases(CompleteCases):
    """BIASED, for demonstration: count the complete rows of *all* subjects, whichever policy made them complete.

    The arithmetic of :class:`CompleteCases` on data that it is not valid for: a policy that stops early on common
    outcomes leaves complete rows that over-represent the rare ones, without limit as subjects accrue.
    """


class BiasedAvailableCases(_Cases):
    """BIASED, for demonstration: fill missing entries independently from each test's available outcomes.

    Parameters
    ----------
    problem : Problem
    alpha : float, default 0
        Add so much to the count of every row of the support in the end.
    support : "product", "seen", array_like of shape (K, d), or None
        As for :class:`~proband.estimators.Likelihood`. An observation that no row agrees with is left out.

    Examples
    --------
    >>> from proband import Problem, Records, Test
    >>> from proband.rewards import Match
    >>> problem = Problem([Test("length"), Test("weight")], (), Match())
    >>> estimator = BiasedAvailableCases(problem)
    >>> estimator.update(Records([[0, 0], [0, 1], [0, 1], [0, 1], [1, float("nan")]]))
    >>> 5 * estimator.distribution().probabilities
    array([1.  , 3.  , 0.25, 0.75])
    """

    def marginals(self) -> list[FloatArray]:
        """Return each test's outcome frequencies among the subjects on whom it was run (equal if on none)."""
        frequencies = []
        for column, k in zip(self.observations.rows.T, self.problem.k, strict=True):
            known = ~np.isnan(column)
            counts = np.bincount(column[known].astype(np.int64), weights=self.observations.counts[known], minlength=k)
            frequencies.append(counts / counts.sum() if counts.sum() else np.full(k, 1 / k))
        return frequencies

    def _estimate(self) -> tuple[FloatArray, FloatArray]:
        agreement = self._support.agreement(self.observations)
        rows = self._support.rows
        cells = count_cells(self.observations, agreement, len(rows))
        if not len(rows) or not (self.alpha or self.observations.total):
            raise DistributionError(
                "no subject has been seen; an estimate needs one or more; add records, or give alpha"
            )
        independent = np.full(len(rows), np.finfo(float).tiny)
        independent += np.prod([m[c.astype(np.int64)] for m, c in zip(self.marginals(), rows.T, strict=True)], axis=0)
        blank = self.observations.counts[self.observations.is_blank & (agreement.size > 1)].sum()
        ratios = multiplier_sums(cells, cells.counts / observed_mass(cells, independent))
        return rows, cells.own + self.alpha + independent * (ratios + blank / independent.sum())


def add_alpha(problem: Problem) -> CompleteCases:
    """Count complete rows, and one more of each that is possible."""
    return CompleteCases(problem, alpha=1.0)
