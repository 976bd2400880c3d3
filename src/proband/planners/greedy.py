"""Greedy and look-ahead planners: honest baselines, and first incumbents, for any number of tests.

* ``myopic`` runs the test with the largest one-step value of information, -c_i + E[best decision after it] minus
  the best decision now, and stops when none is positive.
* ``lookahead`` does the same with the best tree of `steps` tests in place of one test.
* ``gain`` runs the test with the largest information gain per cost about what matters for the decision (which
  payoffs the subject has), until nothing is left to gain; then it prunes, from the leaves up, every test that does
  not pay. Myopic rules stop too early where only two tests together tell something; this one does not.
"""

from __future__ import annotations

import math

import numpy as np

from proband.distributions import Discrete, totals
from proband.planners.options import Options, serves
from proband.planners.tree_plan import Place, TreePlan, grow
from proband.policies import Decider, Node
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Kind, Pooling

TIE = 1e-12


class _Choosing:
    """What all greedy rules share: the tests that may be run in a place, and the value of deciding."""

    def __init__(self, problem: Problem, distribution: Discrete, options: Options) -> None:
        self.problem = problem
        self.distribution = distribution
        self.decider = Decider(problem, distribution)
        self.options = options
        self.outcomes = distribution.support.astype(np.int64)
        self.stakes = self.decider.stakes
        self.sums = problem.reward.pooling is Pooling.SUM

    def allowed(self, place: Place) -> list[tuple[int, float]]:
        """Return the tests that may be run and still tell something, with their prices."""
        if self.options.max_tests is not None and place.tests >= self.options.max_tests:
            return []
        left = math.inf if self.options.budget is None else self.options.budget - place.paid
        prices = self.problem.costs(place.state)[0]
        varied = (self.outcomes[place.rows] != self.outcomes[place.rows[0]]).any(axis=0)
        return [
            (int(i), float(prices[i]))
            for i in self.problem.operable
            if varied[i] and np.isnan(place.state[i]) and prices[i] <= left + TIE
        ]

    def stop(self, rows: IntArray) -> float:
        """Return the unnormalised value of deciding."""
        return float((self.stakes[rows].sum(axis=0) if self.sums else self.stakes[rows].max(axis=0)).max())

    def split(self, place: Place, test: int, price: float) -> list[Place]:
        """Return the places after each outcome that occurs."""
        shown, after = self.outcomes[place.rows, test], self.problem.after(place.state, test)
        paid, tests = place.paid + price, place.tests + 1
        return [Place(place.rows[shown == outcome], after[outcome], tests, paid) for outcome in np.unique(shown)]

    def mass(self, rows: IntArray) -> float:
        return float(self.distribution.probabilities[rows].sum())

    def best_within(self, place: Place, steps: int) -> tuple[float, int | None]:
        """Return the unnormalised value of the best tree of at most `steps` tests, and its first test."""
        best, first = self.stop(place.rows), None
        if steps == 0 or len(place.rows) == 1:
            return best, first
        for test, price in self.allowed(place):
            after = sum(self.best_within(child, steps - 1)[0] for child in self.split(place, test, price))
            value = after - price * self.mass(place.rows)
            if value > best + TIE:
                best, first = value, test
        return best, first


@serves(Kind.LISTED)
def plan_myopic(problem: Problem, distribution: Discrete, options: Options) -> TreePlan:
    """Plan by the one-step value of information."""
    return _plan_ahead(problem, distribution, options, steps=1, method="myopic")


@serves(Kind.LISTED)
def plan_lookahead(problem: Problem, distribution: Discrete, options: Options) -> TreePlan:
    """Plan by looking `options.steps` tests ahead."""
    return _plan_ahead(problem, distribution, options, steps=options.steps, method="lookahead")


def _plan_ahead(problem: Problem, distribution: Discrete, options: Options, *, steps: int, method: str) -> TreePlan:
    rule = _Choosing(problem, distribution, options)
    root = grow(problem, rule.decider, lambda place: rule.best_within(place, steps)[1])
    return TreePlan(problem, distribution, root, method=method)


@serves(Kind.LISTED)
def plan_gain(problem: Problem, distribution: Discrete, options: Options) -> TreePlan:
    """Plan by information gain per cost, then prune what does not pay."""
    rule = _Choosing(problem, distribution, options)
    kind = np.unique(problem.payoff(distribution.support), axis=0, return_inverse=True)[1].reshape(-1)
    if not rule.sums:
        kind = np.arange(len(distribution))

    def choose(place: Place) -> int | None:
        scores = {test: _gain(rule, kind, place.rows, test) / max(price, TIE) for test, price in rule.allowed(place)}
        best = max(scores, key=lambda test: scores[test], default=None)
        impure = (kind[place.rows] != kind[place.rows[0]]).any()
        return best if best is not None and impure else None

    root = _prune(rule, grow(problem, rule.decider, choose), np.full(problem.d, np.nan))
    return TreePlan(problem, distribution, root, method="gain")


def _gain(rule: _Choosing, kind: IntArray, rows: IntArray, test: int) -> float:
    """Return the mutual information, times the mass, between a test and the kind of subject."""
    p, outcome = rule.distribution.probabilities[rows], rule.outcomes[rows, test]
    number, here = len(rows), np.unique(kind[rows], return_inverse=True)[1].reshape(-1)
    joint = totals(outcome * number + here, p, 0)
    return (
        _entropy(totals(here, p, 0))
        + _entropy(totals(outcome, p, 0))
        - _entropy(joint)
        - _entropy(p.sum(keepdims=True))
    )


def _entropy(weights: FloatArray) -> float:
    positive = weights[weights > 0]
    return float(-(positive * np.log(positive)).sum())


def _prune(rule: _Choosing, node: Node, state: FloatArray) -> Node:
    """Return the tree in which every test pays: a node decides wherever that is at least as good."""
    if not node.children or node.probability <= 0:
        return node
    below = zip(node.children, rule.problem.after(state, node.action), strict=True)
    children = tuple(_prune(rule, child, row) for child, row in below)
    test = rule.problem.tests[node.action]
    cost = float(rule.problem.costs(state)[0, node.action])
    value = -cost + sum(child.probability * child.value for child in children) / node.probability
    actions, values = rule.decider.decide(state)
    if not test.on_arrival and values[0] >= value - TIE:
        return Node(int(actions[0]), float(values[0]), node.probability)
    return Node(node.action, value, node.probability, (), children)
