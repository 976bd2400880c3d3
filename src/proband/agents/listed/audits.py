"""Audits: subjects whom a coin completed that looked at nothing, and what they tell of any plan.

The floor completes every subject that stops with the same probability, whatever was seen of it. Such subjects are a
fair sample of the law. No estimate ever learns from them, so what a plan would have brought them is an honest estimate
of its value, with an interval that holds however the plan was found; the value that a plan promises on the law it was
made for holds for nobody. And where audits say that another plan is better by more than chance explains, it is played
(:mod:`proband.agents.safe_leaf_completion`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proband.agents.estimates import NO_LIMITS, PerSubject, Planner
from proband.distributions import Discrete, Distribution
from proband.estimators import Estimator
from proband.planners import Plan, plan
from proband.policies import follow
from proband.problem import Problem
from proband.quantities import number
from proband.vocabulary import FloatArray, IntArray, Policy

CONFIDENCE_90 = 1.6448536269514722
"""The normal quantile of a two-sided interval of 90 %."""


@dataclass(frozen=True)
class ValueEstimate:
    """What a policy brings a subject, estimated from audits: `value`, and an interval of 90 % from `low` to `high`.

    `distance` is how much more the best plan of the audits themselves brings these audits: it was made for them, so
    that the best plan of all is hardly further away; `subjects` is how many audits there are.
    """

    value: float
    low: float
    high: float
    distance: float
    subjects: int

    def text(self, unit: str = "") -> str:
        """Return it as a sentence; `unit` is written after the numbers.

        Examples
        --------
        >>> ValueEstimate(0.84, 0.79, 0.88, 0.03, 57).text()
        '0.84 a subject (0.79 to 0.88 with 90 % confidence, from 57 audits); the best plan is about 0.03 ahead'
        """
        low, high, value = (number(each, 3) for each in (self.low, self.high, self.value))
        interval = f"{low} to {high} with 90 % confidence, from {self.subjects:,} audits"
        return f"{value}{unit} a subject ({interval}); the best plan is about {number(self.distance, 2)}{unit} ahead"


class AuditedSubjects:
    """Complete subjects with their chances (:class:`~proband.agents.stops.Reference`); audits are kept from learning.

    `known` counts the subjects whose probability of being seen completely is known.
    """

    keeps_audits = True

    def __init__(self, problem: Problem, estimator: Estimator, *, threshold: float, floor: float, seed: int) -> None:
        self.problem = problem
        self.threshold, self.floor = threshold, floor
        self.known = 0
        self.rows: FloatArray = np.empty((0, problem.d))
        self.weights: FloatArray = np.empty(0)
        self.audited: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)

    @property
    def measures(self) -> bool:
        """Whether complete subjects show all that the reward is about: every test can be run."""
        return self.problem.all_available

    def add(self, rows: FloatArray, chances: FloatArray, counts: IntArray, *, lowest: float, subjects: int) -> None:
        """Add complete subjects with their chances; `subjects` is how many have a known chance."""
        self.known += subjects
        if self.measures:
            self.rows = np.vstack([self.rows, np.repeat(rows, counts, axis=0)])
            self.weights = np.concatenate([self.weights, np.repeat(1 / chances, counts)])
            self.audited = np.concatenate([self.audited, np.repeat(self.audits(chances, lowest), counts)])

    @staticmethod
    def audits(chances: FloatArray, lowest: float) -> NDArray[np.bool_]:
        """Return which complete subjects were completed by the floor alone, from their chances (n,)."""
        return np.asarray((chances <= lowest) & (chances < 1))

    def against_distribution(self, distribution: Distribution, planner: Planner, t: int) -> Plan | None:
        """Return None: a plan is judged, not the law behind it."""
        return None

    def against_plan(self, policy: Policy) -> Plan | None:
        """Return the plan of the complete subjects where it beats another one by too much."""
        least, most = self._range()
        if not self.measures or not len(self.rows) or self.threshold * self.width >= most - least:
            return None  # nothing that is measured could be enough
        rival = self._best(self.rows, self.weights)
        gain = self.weights @ (self._earned(rival, self.rows) - self._earned(policy, self.rows)) / self.known
        return rival if gain > self.threshold * self.width else None

    @property
    def width(self) -> float:
        """How far measured values of plans may be off: G·K^(1/3)·c0^(−1/2)·t^(−1/3)."""
        least, most = self._range()
        return float(max(most, -least) * self.root * self.floor**-0.5 * max(1, self.known) ** (-1 / 3))

    root: float = 1.0
    """K^(1/3), set by the agent."""

    limits: PerSubject = NO_LIMITS
    """Of all plans, set by the agent."""

    def value_of(self, policy: Policy) -> ValueEstimate | None:
        """Return what a policy would have brought the audits; None without any."""
        rows = self.rows[self.audited]
        if not self.measures or len(rows) < 2:
            return None
        earned = self._earned(policy, rows)
        best = self._earned(self._grown(Discrete.from_weights(rows, np.ones(len(rows)))), rows)
        low, high = bounded_interval(earned, *self._range(policy))
        return ValueEstimate(float(earned.mean()), low, high, float((best - earned).mean()), len(rows))

    def _range(self, policy: Policy | None = None) -> tuple[float, float]:
        """Return what a subject can bring at least and at most; with a plan, what it can under the plan."""
        law = getattr(policy, "distribution", None)
        if isinstance(law, Discrete) and policy is not None:
            dearest = float(follow(self.problem, policy, law.support).costs.max())
        else:
            dearest = sum(self.problem.tests[i].cost for i in self.problem.operable)
        payoff = self.problem.payoff(self.rows) if len(self.rows) else np.zeros(1)
        return float(payoff.min()) - dearest, float(payoff.max())

    def _best(self, rows: FloatArray, weights: FloatArray) -> Plan:
        """Return the better of a plan grown for weighted subjects, and their best one of at most two tests a subject.

        The latter is exact, so that the guarantee holds for all plans of two tests without a word about the search.
        """
        law = Discrete.from_weights(rows, weights)
        most = 2 if self.limits.max_tests is None else min(2, self.limits.max_tests)
        short = plan(self.problem, law, method="sparse", max_tests=most, budget=self.limits.budget)
        return max(short, self._grown(law), key=lambda found: found.value)

    def _grown(self, law: Discrete) -> Plan:
        """Return a plan grown without a penalty, within the limits."""
        most, budget = self.limits.max_tests, self.limits.budget
        return plan(self.problem, law, method="rollout", max_tests=most, budget=budget)

    def _earned(self, policy: Policy, rows: FloatArray) -> FloatArray:
        episodes = follow(self.problem, policy, rows)
        return self.problem.realised(rows, episodes.actions) - episodes.costs


def bounded_interval(values: FloatArray, least: float, most: float) -> tuple[float, float]:
    """Return an interval of 90 % for the mean of numbers between `least` and `most`.

    Agresti's and Coull's for a share, of any numbers: z²/2 made-up ones at each bound are added, and the interval is
    the mean ± z standard errors of all. A coin has their interval; numbers that spread less have a narrower one. The
    made-up ones stand for what was not seen yet: equal numbers alone prove nothing. It stays within the bounds.

    Examples
    --------
    >>> low, high = bounded_interval(np.array([1.0, 1.0, 0.0, 1.0]), 0.0, 1.0)
    >>> round(low, 3), round(high, 3)
    (0.346, 0.952)
    >>> low, high = bounded_interval(np.full(100, 0.75), 0.0, 1.0)
    >>> round(low, 3), round(high, 3)
    (0.729, 0.758)
    """
    added = CONFIDENCE_90**2 / 2
    n = len(values) + 2 * added
    mean = (float(values.sum()) + added * (least + most)) / n
    spread = float(((values - mean) ** 2).sum()) + added * ((least - mean) ** 2 + (most - mean) ** 2)
    half = CONFIDENCE_90 * math.sqrt(spread) / n
    return max(least, mean - half), min(most, mean + half)
