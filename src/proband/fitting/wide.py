"""Fits of problems with too many states to be listed: trees grown on rows, and on rows that a model draws.

The law is half that of the rows and half the model's: rows as they were seen and rows drawn from latent classes, each
with every label, weighted by what the mixture of models believes. Trees are grown by rollouts, each test charged for
its leaves (:mod:`proband.planners.rollout`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from proband.distributions import Discrete
from proband.fitting.believing import Believed, FitPlan, plan_of
from proband.fitting.choosing import DEFAULT, Candidates
from proband.fitting.dense import filled, mistake_cost
from proband.fitting.grid import Grid
from proband.fitting.learning import Learned
from proband.fitting.smoothed import PSEUDO, Brought, Limits
from proband.planners import plan
from proband.policies import FixedSet, Tree, follow
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy

DRAWN = 2000
"""Rows that the model draws."""

STEPS_OF_SETS = 6
"""Most tests of the best fixed set, which is found one test at a time."""


class Grown:
    """The trees of some candidates."""

    def __init__(self, problem: Problem, policies: list[Policy]) -> None:
        self.problem, self.policies = problem, policies

    def treat(self, candidate: int, rows: FloatArray) -> Brought:
        """Take complete rows (n, d) from arrival to decision by one candidate's tree."""
        return treated(self.problem, self.policies[candidate], rows)


def treated(problem: Problem, policy: Policy, rows: FloatArray) -> Brought:
    """Return what a policy brings to complete rows (n, d)."""
    ended = follow(problem, policy, np.nan_to_num(rows))
    return Brought(problem.realised(rows, ended.actions) - ended.costs, ended.costs, ended.tests.astype(np.float64))


class WideEngine:
    """Plans for all candidates from some rows (n, d), and what they bring."""

    method: ClassVar[str] = "rollout"
    scales: ClassVar[Sequence[float]] = (1.0,)

    def __init__(self, grid: Grid, rows: FloatArray, rng: np.random.Generator, *, quick: bool = False) -> None:
        self.grid, self.learned = grid, Learned(grid, rows, rng, quick=quick)
        self.quick = quick
        sample = self.learned.sample
        self.mistake = mistake_cost(grid, grid.labels(sample.rows), sample.weights)
        self.drawn = self.learned.drawn(DRAWN, rng)

    @cached_property
    def believed(self) -> Believed:
        """Rows with every label that agrees, what was counted and what the model thinks."""
        grid, sample = self.grid, self.learned.sample
        n, total = grid.n_labels, sample.weights.sum()
        rows = np.vstack([sample.rows, self.drawn])
        counted = np.zeros((len(rows), n))
        counted[np.arange(len(sample.rows)), grid.labels(sample.rows)] = sample.weights
        share = np.concatenate([0.5 * sample.weights / total, np.full(len(self.drawn), 0.5 / len(self.drawn))])
        model = share[:, None] * self.learned.chances(rows[:, grid.features].astype(np.int64))
        every = np.repeat(rows, n, axis=0)
        every[:, grid.targets] = np.tile(grid.label_rows, (len(rows), 1))
        label = np.tile(np.arange(n), len(rows))
        return Believed(filled(every, sample), label, counted.ravel(), model.ravel())

    @cached_property
    def law(self) -> Discrete:
        """Half the rows, half the model."""
        believed = self.believed
        weights = believed.counted / believed.counted.sum() + believed.model / believed.model.sum()
        return Discrete.from_weights(believed.rows, weights)

    def solve(self, candidates: Candidates, limits: Limits) -> Grown:
        """Return the trees of candidates."""
        pairs = zip(candidates.scale.tolist(), candidates.strength.tolist(), strict=True)
        return Grown(self.grid.problem, [self._tree(scale, strength, limits) for scale, strength in pairs])

    def _tree(self, scale: float, strength: float, limits: Limits) -> Tree:
        problem = _scaled(self.grid.problem, scale)
        budget = None if limits.budget is None else limits.budget * scale
        most = 0 if math.isinf(strength) else limits.max_tests
        total = self.learned.sample.weights.sum()
        penalty = 0.0 if math.isinf(strength) else strength * self.mistake / float(total)
        method = "rollout" if self.quick else self.method
        seconds = limits.time_limit if method == "sparse" else None
        best = plan(
            problem, self.law, method=method, max_tests=most, budget=budget, node_penalty=penalty, time_limit=seconds
        )
        return best.compact if hasattr(best, "compact") else best.tree()

    def treatments(self, strength: float, limits: Limits, rows: FloatArray) -> dict[str, Brought]:
        """Return what the plan and its rivals bring to complete rows (n, d)."""
        problem, order = self.grid.problem, self.grid.problem.cheapest_order
        blind = replace(limits, budget=None)
        return {
            "plan": treated(problem, self._tree(1.0, strength, limits), rows),
            "everything": self._treat_with(order, rows),
            "now": treated(problem, FixedSet(problem, (), self.law), rows),
            "best fixed set": treated(problem, self._best_set(limits), rows),
            "cost-blind tree": treated(problem, self._tree(0.0, DEFAULT, blind), rows),
        }

    def _treat_with(self, tests: IntArray, rows: FloatArray) -> Brought:
        """Run the same tests on everybody, and decide by the models."""
        problem, features = self.grid.problem, self.grid.features
        chances = self.learned.chances(rows[:, features].astype(np.int64))
        decisions = (chances @ self.grid.label_payoff).argmax(axis=1)
        cost = float(problem.prices.adding(np.zeros((1, problem.d), dtype=np.bool_), tests)[0])
        value = problem.realised(rows, problem.d + decisions) - cost
        return Brought(value, np.full(len(rows), cost), np.full(len(rows), float(len(tests))))

    def _best_set(self, limits: Limits) -> FixedSet:
        """Add the test that brings most, as long as one does."""
        problem, chosen = self.grid.problem, list[int]()
        best, total = self._worth(chosen), self.learned.sample.weights.sum()
        most = STEPS_OF_SETS if limits.max_tests is None else min(limits.max_tests, STEPS_OF_SETS)
        while len(chosen) < most:
            scores = {}
            for i in problem.operable.tolist():
                cost = problem.prices.of([*chosen, i])
                if i not in chosen and (limits.budget is None or cost <= limits.budget):
                    leaves = math.prod(int(problem.k[j]) for j in [*chosen, i]) - 1
                    scores[i] = self._worth([*chosen, i]) - cost - DEFAULT * self.mistake * leaves / total
            if not scores or max(scores.values()) <= best:
                break
            test = max(scores, key=lambda i: scores[i])
            chosen, best = [*chosen, test], scores[test]
        return FixedSet(problem, [problem.tests[i].name for i in problem.cheapest_order if i in chosen], self.law)

    def _worth(self, tests: list[int]) -> float:
        """Return what deciding is worth once some tests are known, costs aside."""
        from proband.distributions.discrete import row_ids

        problem, law = self.grid.problem, self.law
        _, place = np.unique(row_ids(law.support[:, [*problem.context, *tests]]), return_inverse=True)
        stakes = law.probabilities[:, None] * problem.payoff(law.support)
        pooled = np.array([np.bincount(place, weights=column) for column in stakes.T])
        return float(pooled.max(axis=0).sum())

    def plan(self, strength: float, limits: Limits) -> FitPlan:
        """Return the plan of one strength, with its law."""
        tree = self._tree(1.0, strength, limits)
        return plan_of(
            self.grid.problem, self.believed, lambda state: int(tree.act(state)[0]), pseudo=PSEUDO, method="fit"
        )


class SearchEngine(WideEngine):
    """The same, with trees from a search over the rows, for so many seconds each."""

    method = "sparse"


def _scaled(problem: Problem, scale: float) -> Problem:
    """Return the problem with all prices multiplied."""
    if scale == 1:
        return problem
    tests = [
        replace(test, cost=test.cost * scale, group_cost=None if test.group_cost is None else test.group_cost * scale)
        for test in problem.tests
    ]
    return Problem(tests, problem.decisions, problem.reward, name=problem.name, unit=problem.unit)
