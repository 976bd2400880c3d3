"""Complete cases: the empirical law of the complete rows, smoothed if asked.

This is the estimate of the paper's Explore-Then-Commit (Algorithm 2), unbiased when completeness was decided *before
looking*: subjects on whom every test was run, whatever it showed. It is biased for subjects handled by a policy that
tests some outcomes completely and not others (:class:`BiasedPooledCompleteCases`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import DistributionError
from proband.estimators.listed.counting import CountingEstimator
from proband.estimators.listed.supports import choose_support
from proband.problem import Problem
from proband.vocabulary import FloatArray


class CompleteCases(CountingEstimator):
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
        super().__init__(problem)
        if not (np.isfinite(alpha) and alpha >= 0):
            raise DistributionError(f"alpha is {alpha}; it must be finite and 0 or more; correct it")
        self.alpha = float(alpha)
        self._support = choose_support(problem, "seen" if support is None and not alpha else support)

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
