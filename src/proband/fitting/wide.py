"""Fits of problems with too many states to be listed: trees grown on rows, and on rows that a model draws.

The law is half that of the rows and half the model's: rows as they were seen and rows drawn from latent classes, each
with every label, weighted by what the mixture of models believes. Trees are grown by rollouts, each test charged for
its leaves (:mod:`proband.planners.rollout`). What a leaf decides is best under the law that the plan believes in
(:func:`proband.fitting.believing.decided`), in what is compared and validated as in what is written down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from proband.distributions import Discrete, totals
from proband.distributions.discrete import row_ids
from proband.fitting.believing import Believed, FitPlan, asking, decided
from proband.fitting.choosing import SPARSE_SCALES, Candidates
from proband.fitting.dense import filled
from proband.fitting.grid import Grid
from proband.fitting.learning import Learned
from proband.fitting.smoothed import PSEUDO, Brought, Limits
from proband.planners import Options, plan
from proband.planners.rivals import RIVALS, Rules, mistake_cost
from proband.policies import Node, Tree, follow
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy

if TYPE_CHECKING:
    from proband.planners.sparse.planner import GrownPlan

DRAWN = 2000
"""Rows that the model draws."""


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
    made: ClassVar[str] = "a tree grown by rollouts"
    scales: ClassVar[Sequence[Sequence[float]]] = SPARSE_SCALES

    def __init__(self, grid: Grid, rows: FloatArray, rng: np.random.Generator, *, quick: bool = False) -> None:
        self.grid, self.learned = grid, Learned(grid, rows, rng, quick=quick)
        self.quick = quick
        sample = self.learned.sample
        self.mistake = mistake_cost(grid.label_payoff[grid.labels(sample.rows)], sample.weights)
        self.drawn = self.learned.drawn(DRAWN, rng)

    @property
    def how(self) -> str:
        """How plans are made, for people."""
        tests = len(self.grid.problem.operable)
        return f"{self.made} on the rows and on {DRAWN:,} that the model draws; all {tests} tests take part"

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
        """Return the tree of a candidate, with the prices as they are."""
        return Tree(self.grid.problem, self._decided(scale, strength, limits)[0])

    def _decided(self, scale: float, strength: float, limits: Limits) -> tuple[Node, Discrete]:
        """Return the root of a candidate's tree, and the law that is believed along it."""
        problem = self.grid.problem
        none = math.isinf(strength)
        options = Options(
            max_tests=0 if none else limits.max_tests,
            budget=None if limits.budget is None else limits.budget * scale,
            node_penalty=0.0 if none else strength * self.mistake / float(self.learned.sample.weights.sum()),
        )
        grown = self._planned(problem.priced(scale), options, limits).compact.root
        return decided(problem, self.believed, asking(grown), pseudo=PSEUDO)

    def _planned(self, problem: Problem, options: Options, limits: Limits) -> GrownPlan:
        from proband.planners.rollout import Enough, plan_rollout

        least = float(limits.min_leaf)
        return plan_rollout(problem, self.law, options, enough=Enough(least, self._subjects) if least > 1 else None)

    @cached_property
    def _subjects(self) -> FloatArray:
        """For how many subjects each row of the law stands."""
        sample, support = self.learned.sample, self.law.support
        seen = filled(sample.rows.copy(), sample)
        _, place = np.unique(row_ids(np.vstack([support, seen])), return_inverse=True)
        subjects = totals(place[len(support) :], sample.weights, int(place.max()) + 1)
        return np.asarray(subjects[place[: len(support)]])

    def treatments(self, strength: float, limits: Limits, rows: FloatArray) -> dict[str, Brought]:
        """Return what the plan and its rivals bring to complete rows (n, d)."""
        problem, order = self.grid.problem, self.grid.problem.cheapest_order
        total = float(self.learned.sample.weights.sum())
        rules = Rules.of(self.mistake, total, limits.max_tests, limits.budget)
        rivals = {name: make(problem, self.law, rules) for name, make in RIVALS.items()}
        return {
            "plan": treated(problem, self._tree(1.0, strength, limits), rows),
            "everything": self._treat_with(order, rows),
            "now": treated(problem, self._tree(1.0, math.inf, limits), rows),
            **{name: treated(problem, rival, rows) for name, rival in rivals.items()},
        }

    def _treat_with(self, tests: IntArray, rows: FloatArray) -> Brought:
        """Run the same tests on everybody, and decide by the models."""
        problem, features = self.grid.problem, self.grid.features
        chances = self.learned.chances(rows[:, features].astype(np.int64))
        decisions = (chances @ self.grid.label_payoff).argmax(axis=1)
        cost = float(problem.prices.adding(np.zeros((1, problem.d), dtype=np.bool_), tests)[0])
        value = problem.realised(rows, problem.d + decisions) - cost
        return Brought(value, np.full(len(rows), cost), np.full(len(rows), float(len(tests))))

    def plan(self, strength: float, limits: Limits) -> FitPlan:
        """Return the plan of one strength, with its law."""
        root, law = self._decided(1.0, strength, limits)
        return FitPlan(self.grid.problem, law, root, method="fit")


class SearchEngine(WideEngine):
    """The same, with trees from a search over the rows, for so many seconds each."""

    method = "sparse"
    made = "a tree searched for"

    def _planned(self, problem: Problem, options: Options, limits: Limits) -> GrownPlan:
        if self.quick:
            return super()._planned(problem, options, limits)
        found = plan(
            problem, self.law, method="sparse", max_tests=options.max_tests, budget=options.budget,
            node_penalty=options.node_penalty, time_limit=limits.time_limit,
        )  # fmt: skip
        return cast("GrownPlan", found)
