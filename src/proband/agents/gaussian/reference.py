"""What vetoes a law of measured outcomes: that of subjects who are an independent sample, whatever the agent did.

A complete subject whose policy completes subjects like it with probability e is *accepted* with probability ε/e, ε the
floor. So every subject is accepted with probability ε whatever it shows: the accepted ones are an independent sample,
and their mean and covariance are those of Algorithm 3. If the law to plan with is further than `threshold`·√(D/n) from
that of the n accepted subjects, the plan of the latter is played instead.

How far apart two laws are is told by what the plan of one can lose under the other. In units in which the reference P
is standard normal let the law Q be N(m, S). Then

    δ(Q | P)² = ½·‖S − I‖_F² + |m|²,

and, with G² = E_P (max_y |f(x, y)| + Σ c_i)², the best policy for Q loses at most (14/3)·G·δ(Q | P) to the best one for
P, whatever reward, prices and condition number (``docs/safe-gaussian.md``, Lemma 1). The maximum-likelihood law of n
complete subjects is √(D/n) from the truth in root mean square, up to O(1/n), D = d(d + 3)/2 being the number of means,
variances and covariances.
"""

from __future__ import annotations

import math

import numpy as np

from proband.agents.estimates import Planner
from proband.distributions import Gaussian
from proband.distributions.gaussian import SINGULAR
from proband.estimators import Estimator, GaussianPlugIn
from proband.planners import Plan
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy

OUTSIDE = 1e-4
"""Where the reference does not vary, another law may be off by this many of its units: rounding, and no more."""


class AcceptedSubjects(GaussianPlugIn):
    """Mean and covariance of the accepted subjects (:class:`~proband.agents.stops.Reference`)."""

    def __init__(self, problem: Problem, estimator: Estimator, *, threshold: float, floor: float, seed: int) -> None:
        super().__init__(problem)
        self.threshold = threshold
        self.rng = np.random.default_rng([seed, 1])

    def add(self, rows: FloatArray, chances: FloatArray, counts: IntArray, *, lowest: float, subjects: int) -> None:
        """Accept some of the complete subjects, given with their chances."""
        if self.problem.all_available and len(rows):
            self.update_counts(rows, self.rng.binomial(counts, np.minimum(1.0, lowest / chances)))

    def against_distribution(self, distribution: Gaussian, planner: Planner, t: int) -> Plan | None:
        """Return the plan of the accepted subjects where their law is too far from another one."""
        if self.n <= self.problem.d:
            return None
        width = math.sqrt(free_parameters(self.problem.d) / self.n)
        own = self.distribution()
        return planner(self.problem, own, t) if apart(distribution, own) > self.threshold * width else None

    def against_plan(self, plan: Policy) -> Plan | None:
        """Return None: the law is judged, before a plan is made of it."""
        return None


def apart(distribution: Gaussian, reference: Gaussian) -> float:
    """Return δ(law | reference); infinite if the law varies, or lies, where the reference does not vary.

    Examples
    --------
    >>> apart(Gaussian([3.0], [[4.0]]), Gaussian([1.0], [[4.0]]))
    1.0
    >>> apart(Gaussian([0.0], [[1.0]]), Gaussian([0.0], [[0.0]]))
    inf
    """
    sd = np.sqrt(np.diagonal(reference.covariance))
    unit = np.where(sd > 0, sd, np.maximum(np.abs(reference.mean), 1.0))
    values, vectors = np.linalg.eigh(reference.covariance / np.outer(unit, unit))
    kept = values > SINGULAR
    covariance, shift = distribution.covariance / np.outer(unit, unit), (distribution.mean - reference.mean) / unit
    outside = vectors[:, ~kept]
    if np.trace(outside.T @ covariance @ outside) > OUTSIDE**2 or np.abs(outside.T @ shift).max(initial=0.0) > OUTSIDE:
        return math.inf
    whiten = vectors[:, kept] / np.sqrt(values[kept])
    spread = whiten.T @ covariance @ whiten - np.eye(int(kept.sum()))
    return math.sqrt(0.5 * float((spread**2).sum()) + float(((whiten.T @ shift) ** 2).sum()))


def free_parameters(d: int) -> float:
    """Return D: how many means, variances and covariances a Gaussian law of d tests has.

    Examples
    --------
    >>> free_parameters(1), free_parameters(6)
    (2.0, 27.0)
    """
    return d * (d + 3) / 2
