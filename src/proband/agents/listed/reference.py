"""What vetoes a plan of listed outcomes: an unbiased measure of the law, whatever the agent did.

With e_t(x) the (known) probability that the policy of subject t would see x completely, the measure
W_t(x) = (1/t) Σ 1{x seen completely}/e_t(x) estimates the law without bias. If the plan of W_t beats the proposal,
under W_t, by more than `threshold`·G·K^(1/3)·c0^(−1/2)·t^(−1/3), it is played instead (G bounds what a subject can
gain or lose).
"""

from __future__ import annotations

import numpy as np

from proband.agents.estimates import NO_LIMITS, PerSubject, Planner, plan_estimate
from proband.distributions import Discrete, Distribution
from proband.estimators import Likelihood
from proband.planners import Plan, evaluate
from proband.planners.dense import solve_many
from proband.planners.dense_plan import DensePlan
from proband.planners.layout import layout_of
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy, outcome_codes


class WeightedSubjects:
    """Complete subjects, each counted for the inverse of its chance (:class:`~proband.agents.stops.Reference`).

    `known` counts the subjects whose probability of being seen completely is known: W_t averages over these.
    `weighted` (K,) is t·W_t.
    """

    def __init__(self, problem: Problem, estimator: Likelihood, *, threshold: float, floor: float, seed: int) -> None:
        self.problem = problem
        self.layout = layout_of(problem)
        self.support = estimator.support
        self.threshold, self.floor = threshold, floor
        self.known = 0
        self.weighted = np.zeros(len(self.support))

    @property
    def measures(self) -> bool:
        """Whether W exists: every test can be run, and every outcome vector is in the support."""
        return self.problem.all_available and len(self.weighted) == self.problem.size

    limits: PerSubject = NO_LIMITS
    """Of all plans, set by the agent."""

    def add(self, rows: FloatArray, chances: FloatArray, counts: IntArray, *, lowest: float, subjects: int) -> None:
        """Add complete subjects with their chances to the measure; `subjects` is how many have a known chance."""
        self.known += subjects
        if self.measures:
            np.add.at(self.weighted, outcome_codes(rows, self.problem.tests), counts / chances)

    def against_distribution(self, distribution: Distribution, planner: Planner, t: int) -> Plan | None:
        """Return None: a plan is judged, not the law behind it."""
        return None

    def against_plan(self, plan: Policy) -> Plan | None:
        """Return the plan of the measure where it beats another one by too much."""
        if not self.measures or not self.weighted.any():
            return None
        weights = self.weighted / self.known
        payoff = self.problem.payoff(self.support)
        # G: the largest |f| plus the full prices of all tests (in a group, what all cost depends on their order)
        stake = float(np.abs(payoff).max() + sum(self.problem.tests[i].cost for i in self.problem.operable))
        root = float(self.layout.level_sizes[self.layout.m] ** (1 / 3))
        width = self.threshold * stake * root * self.floor**-0.5 * self.known ** (-1 / 3)
        law = Discrete.from_weights(self.support, weights)
        value = weights.sum() * evaluate(self.problem, law, plan).value
        # No plan beats knowing everything for nothing: where that is within the width, W need not be solved.
        if weights @ payoff.max(axis=1) - value <= width:
            return None
        if self.limits.given:
            rival: Plan = plan_estimate(self.problem, law, self.known, self.limits)
        else:
            [solution] = solve_many(self.layout, self.support, weights[None], payoff)
            rival = DensePlan(self.layout, law, solution)
        return rival if rival.value - value > width else None
