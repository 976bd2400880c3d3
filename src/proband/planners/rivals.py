"""What stands beside every plan from records: the best fixed set of tests, and a tree that is blind to prices.

They are chosen from the same rows as the plan, and would follow chance where rows are few. So each further leaf is
charged with a · C / n, where C is what a wrong decision costs on average, n the number of subjects, and a = 0.3; a set
of tests has as many leaves as it may show, n at most. Of up to ten tests every set is looked at; with more, a set grows
by the test that brings most, as long as one does. The other tree is our own (:mod:`proband.planners.rollout`), all
prices zero in its choice; it then pays the true ones, so that no budget holds for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from proband.distributions import Discrete, Distribution, totals
from proband.distributions.discrete import row_ids
from proband.planners.options import Options
from proband.policies import FixedSet, Tree
from proband.prices import Prices
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Kind, Policy, Pooling

PENALTY = 0.3
"""Of a leaf with one subject, in units of what a mistake costs."""

MOST_LISTED = 10
"""Tests of which every set is looked at."""

MOST_GROWN = 6
"""Tests of a set that is found one test at a time."""


@dataclass(frozen=True)
class Rules:
    """What is charged for a leaf, from how many subjects rivals are chosen, and the limits that they keep."""

    leaf: float
    subjects: float
    max_tests: int | None = None
    budget: float | None = None

    @classmethod
    def of(cls, mistake: float, subjects: float, max_tests: int | None = None, budget: float | None = None) -> Rules:
        """Return the rules where a mistake costs so much and so many subjects teach."""
        return cls(PENALTY * mistake / subjects, subjects, max_tests, budget)

    def best_of_all(self, prices: Prices, k: IntArray, worth: FloatArray) -> list[int]:
        """Return the best set, where `worth` (2^m,) is what deciding is worth once each set is known, by its bits."""
        places = range(len(k))
        leaves, size = np.ones(1), np.zeros(1, dtype=np.int64)
        for outcomes in k:
            leaves, size = np.concatenate([leaves, leaves * outcomes]), np.concatenate([size, size + 1])
        costs = prices.of_all([], places)
        score = worth - costs - self.leaf * (np.minimum(leaves, self.subjects) - 1)
        score[size > (len(k) if self.max_tests is None else self.max_tests)] = -np.inf
        score[costs > (np.inf if self.budget is None else self.budget + 1e-9)] = -np.inf
        best = int(np.argmax(score))
        return [i for i in places if best >> i & 1]

    def grown(self, prices: Prices, k: IntArray, worth: Callable[[Sequence[int]], float]) -> list[int]:
        """Return a set to which the test that brings most was added, as long as one did."""
        chosen, best = list[int](), worth([])
        most = MOST_GROWN if self.max_tests is None else min(self.max_tests, MOST_GROWN)
        while len(chosen) < most:
            scores = {}
            for i in set(range(len(k))) - set(chosen):
                cost, leaves = prices.of([*chosen, i]), min(float(np.prod(k[[*chosen, i]])), self.subjects)
                if self.budget is None or cost <= self.budget + 1e-9:
                    scores[i] = worth([*chosen, i]) - cost - self.leaf * (leaves - 1)
            if not scores or max(scores.values()) <= best:
                break
            test = max(scores, key=lambda i: scores[i])
            chosen, best = [*chosen, test], scores[test]
        return chosen


def mistake_cost(payoff: FloatArray, weights: FloatArray) -> float:
    """Return what a wrong decision costs on average, over subjects (n,) and wrong decisions, for payoffs (n, a).

    Examples
    --------
    >>> mistake_cost(np.array([[1.0, 0.0], [-20.0, 0.0]]), np.array([3.0, 1.0]))
    5.75
    """
    losses = (payoff.max(axis=1, keepdims=True) - payoff).sum(axis=1) / max(1, payoff.shape[1] - 1)
    return float(losses @ weights / weights.sum())


def best_fixed_set(problem: Problem, law: Discrete, rules: Rules) -> FixedSet:
    """Return the set of tests that brings most under a law when it is run on everybody.

    Examples
    --------
    >>> from proband.instances import bolts
    >>> policy = best_fixed_set(bolts().problem, bolts().distribution, Rules(0.0, 1e9))
    >>> [policy.problem.tests[i].name for i in policy.order]
    ['bolt weight', 'shear strength', 'magnetic particle']
    """
    tests, known = problem.operable, _Known(problem, law)
    prices, k = problem.prices.only(tests), problem.k[tests]
    if len(tests) <= MOST_LISTED:
        best = rules.best_of_all(prices, k, known.of_all())
    else:
        best = rules.grown(prices, k, known.of)
    return FixedSet(problem, [problem.tests[i].name for i in problem.cheapest_order if i in tests[best]], law)


def cost_blind_tree(problem: Problem, law: Discrete, rules: Rules) -> Tree:
    """Return a tree that was grown as if all tests were free, and pruned by the price of leaves."""
    from proband.planners.rollout import plan_rollout

    blind = plan_rollout(problem.priced(0.0), law, Options(max_tests=rules.max_tests, node_penalty=rules.leaf))
    return Tree(problem, blind.compact.root)


RIVALS: dict[str, Callable[[Problem, Discrete, Rules], Policy]] = {
    "best fixed set": best_fixed_set,
    "cost-blind tree": cost_blind_tree,
}


def rivals_of(
    problem: Problem, law: Distribution, *, subjects: int, max_tests: int | None = None, budget: float | None = None
) -> dict[str, Policy]:
    """Return the rivals by name, of a law that so many subjects taught.

    There are none where tests are measured, nor where a decision is about all tests together.
    """
    if problem.kind is not Kind.LISTED or problem.reward.pooling is not Pooling.SUM:
        return {}
    listed = law.solvable()
    assert isinstance(listed, Discrete)
    rules = Rules.of(mistake_cost(problem.payoff(listed.support), listed.probabilities), subjects, max_tests, budget)
    return {name: make(problem, listed, rules) for name, make in RIVALS.items()}


class _Known:
    """What deciding is worth once some of the tests that can be run are known, costs aside."""

    def __init__(self, problem: Problem, law: Discrete) -> None:
        self.stakes = np.ascontiguousarray((law.probabilities[:, None] * problem.payoff(law.support)).T)
        self.outcomes, self.k = law.support[:, problem.operable].astype(np.int64).T, problem.k[problem.operable]
        self.start = _numbered(row_ids(law.support[:, problem.context]))

    def of(self, chosen: Sequence[int]) -> float:
        """Return the worth of some tests."""
        place, n = self.start
        for i in chosen:
            place, n = self._more(place, n, i)
        return self._pooled(place, n)

    def of_all(self) -> FloatArray:
        """Return the worth of every set, by its bits, shape (2^m,)."""
        worth = np.empty(2 ** len(self.k))
        waiting = [(0, 0, *self.start)]
        while waiting:
            bits, first, place, n = waiting.pop()
            worth[bits] = self._pooled(place, n)
            waiting += [(bits | 1 << i, i + 1, *self._more(place, n, i)) for i in range(first, len(self.k))]
        return worth

    def _more(self, place: IntArray, n: int, test: int) -> tuple[IntArray, int]:
        """Return the cells in which rows are once a test more is known, and how many there may be."""
        place, n = place * self.k[test] + self.outcomes[test], n * int(self.k[test])
        return _numbered(place) if n > 4 * len(place) else (place, n)

    def _pooled(self, place: IntArray, n: int) -> float:
        return float(np.max([totals(place, column, n) for column in self.stakes], axis=0).sum())


def _numbered(ids: IntArray) -> tuple[IntArray, int]:
    different, place = np.unique(ids, return_inverse=True)
    return place, len(different)
