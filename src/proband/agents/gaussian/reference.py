"""What vetoes a law of measured outcomes: that of subjects who are an independent sample, whatever the agent did.

A complete subject whose policy completes subjects like it with probability e is *accepted* with probability ε/e, ε the
floor. So every subject is accepted with probability ε whatever it shows: the accepted ones are an independent sample,
and their mean and covariance are those of Algorithm 3. If the law to plan with is further than `threshold`·√(D/n) from
that of the n accepted subjects (:mod:`proband.agents.gaussian.nearness`), the plan of the latter is played instead.
"""

from __future__ import annotations

import math

import numpy as np

from proband.agents.estimates import Planner
from proband.agents.gaussian.nearness import apart, free_parameters
from proband.distributions import Gaussian
from proband.estimators import Estimator, GaussianPlugIn
from proband.planners import Plan
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy


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
