"""Fits of problems whose states can be listed: pseudo-subjects in every state, all of them solved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from proband.fitting.believing import Believed, FitPlan, plan_of
from proband.fitting.choosing import DEFAULT, SCALES, Candidates
from proband.fitting.grid import Grid
from proband.fitting.learning import Learned, Sample
from proband.fitting.smoothed import PSEUDO, Brought, Limits, Solved, solve
from proband.planners.rivals import Rules, mistake_cost
from proband.vocabulary import FloatArray, IntArray

MOST_KEPT = 30_000
"""Rows of the law of a fit, about."""


class DenseEngine:
    """Plans for all candidates from some rows (n, d), and what they bring."""

    method = "dense"
    scales: ClassVar[Sequence[Sequence[float]]] = SCALES

    def __init__(self, grid: Grid, rows: FloatArray, rng: np.random.Generator, *, quick: bool = False) -> None:
        self.grid, self.learned = grid, Learned(grid, rows, rng, quick=quick)
        self.masses = self.learned.masses()
        sample = self.learned.sample
        self.mistake = mistake_cost(grid.label_payoff[grid.labels(sample.rows)], sample.weights)

    @property
    def how(self) -> str:
        """How plans are made, for people."""
        return f"all {self.grid.layout.n_states:,} states are solved"

    def solve(self, candidates: Candidates, limits: Limits) -> Solved:
        """Return the plans of candidates."""
        endless = np.isinf(candidates.strength)  # whatever a mistake costs, and it may cost nothing
        penalties = np.where(endless, np.inf, np.where(endless, 1.0, candidates.strength) * self.mistake)
        return solve(self.grid, self.masses, scale=candidates.scale, penalties=penalties, limits=limits)

    def treatments(self, strength: float, limits: Limits, rows: FloatArray) -> dict[str, Brought]:
        """Return what the plan and its rivals bring to complete rows (n, d)."""
        solved = self.solve(Candidates.of((1.0, strength), (0.0, DEFAULT)), limits)
        tests = self.grid.layout.tests
        return {
            "plan": solved.treat(0, rows),
            "everything": solved.treat_with(self._ordered(tests), rows),
            "now": solved.treat_with(tests[:0], rows),
            "best fixed set": solved.treat_with(self.best_set(solved, limits), rows),
            "cost-blind tree": solved.treat(1, rows),
        }

    def best_set(self, solved: Solved, limits: Limits) -> IntArray:
        """Return the tests that bring most when always the same ones are run."""
        tests, k = self.grid.layout.tests, self.grid.layout.k
        rules = Rules.of(self.mistake, float(self.masses[0].sum()), limits.max_tests, limits.budget)
        return self._ordered(tests[rules.best_of_all(self.grid.problem.prices.only(tests), k, solved.fixed)])

    def _ordered(self, tests: IntArray) -> IntArray:
        order = self.grid.problem.cheapest_order
        return order[np.isin(order, tests)]

    def plan(self, strength: float, limits: Limits) -> FitPlan:
        """Return the plan of one strength, with its law."""
        solved, layout = self.solve(Candidates.of((1.0, strength)), limits), self.grid.layout
        problem, actions = self.grid.problem, solved.actions[0]

        def act(state: FloatArray) -> int:
            unknown = [int(i) for i in problem.context if np.isnan(state[i])]
            if unknown:
                return unknown[0]
            code = int(actions[layout.number(state[None])[0]])
            return int(layout.tests[code]) if code < layout.m else problem.d + code - layout.m

        return plan_of(problem, self._believed(), act, pseudo=PSEUDO, method="fit")

    def _believed(self) -> Believed:
        """Return cells with each label that agrees, what was counted and what the model thinks."""
        grid, learned = self.grid, self.learned
        sample, cells = learned.sample, grid.cells
        counted = np.zeros((len(cells), grid.n_labels))
        np.add.at(counted, (grid.cell_of(sample.rows), grid.labels(sample.rows)), sample.weights)
        features = cells[:, grid.features].astype(np.int64)
        model = learned.of_features(cells)[:, None] * learned.chances(features) * grid.agreeing
        keep = np.asarray(grid.agreeing > 0)
        if keep.sum() > MOST_KEPT:
            chance = model / model.sum()
            keep &= (counted > 0) | (np.random.default_rng(0).random(model.shape) < MOST_KEPT * chance)
            model = np.where(keep, np.maximum(model, model.sum() / MOST_KEPT), 0.0)
        cell, label = np.nonzero(keep)
        rows = cells[cell].copy()
        rows[:, grid.targets] = grid.label_rows[label]
        return Believed(filled(rows, sample), label, counted[keep], model[keep])


def filled(rows: FloatArray, sample: Sample) -> FloatArray:
    """Return rows (n, d) whose unknown columns, which nobody needs, hold the most frequent outcome."""
    for i in np.flatnonzero(np.isnan(rows).any(axis=0)):
        seen = sample.rows[:, i][~np.isnan(sample.rows[:, i])]
        rows[np.isnan(rows[:, i]), i] = np.bincount(seen.astype(np.int64)).argmax() if len(seen) else 0.0
    return rows
