"""The recipe: all that is chosen by looking at rows, so that it can be chosen again from other rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proband.distributions import totals
from proband.fitting.believing import FitPlan
from proband.fitting.choosing import Candidates, Strength, choose
from proband.fitting.cutpoints import coded, with_cuts
from proband.fitting.dense import DenseEngine
from proband.fitting.grid import Grid
from proband.fitting.learning import Learned, Sample
from proband.fitting.smoothed import Brought, Limits
from proband.fitting.wide import SearchEngine, WideEngine
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray

ENGINES: dict[str, type[DenseEngine] | type[WideEngine]] = {
    "dense": DenseEngine,
    "rollout": WideEngine,
    "sparse": SearchEngine,
}
"""How plans are made."""


@dataclass(frozen=True)
class Recipe:
    """How a plan is made from rows.

    Attributes
    ----------
    problem : Problem
    engine : str
        One of `ENGINES`.
    strength : float, optional
        Of the penalty; chosen where it is not given.
    limits : Limits
    seed : int
    """

    problem: Problem
    engine: str
    strength: float | None
    limits: Limits
    seed: int = 0

    def made(self, rows: FloatArray) -> Made:
        """Make everything from rows (n, d): the same plan where the strength that was chosen is given."""
        strength = Strength(self.strength) if self.strength is not None else self._chosen(rows)
        problem, rng = with_cuts(self.problem, rows), np.random.default_rng([self.seed, len(rows)])
        return Made(self, problem, self._engine(problem, coded(self.problem, problem, rows), rng), strength)

    def _engine(
        self, problem: Problem, rows: FloatArray, rng: np.random.Generator, *, quick: bool = False
    ) -> DenseEngine | WideEngine:
        return ENGINES[self.engine](Grid(problem), rows, rng, quick=quick)

    def _chosen(self, rows: FloatArray) -> Strength:
        def brought(learn: IntArray, treat: IntArray, every: Candidates, seed: int) -> FloatArray:
            own = np.random.default_rng(seed)
            problem = with_cuts(self.problem, rows[learn])
            outcomes = coded(self.problem, problem, rows)
            engine = self._engine(problem, outcomes[learn], own, quick=True)
            sample, solved = engine.learned.completed(outcomes[treat], own), engine.solve(every, self.limits)
            values = [
                per_subject(sample, _rescaled(solved.treat(c, sample.rows), scale), len(treat))
                for c, scale in enumerate(every.scale.tolist())
            ]
            return np.column_stack(values)

        rng = np.random.default_rng([self.seed, len(rows), 1])
        return choose(len(rows), brought, ENGINES[self.engine].scales, rng=rng)


@dataclass(frozen=True, eq=False)
class Made:
    """What a recipe made from rows."""

    recipe: Recipe
    problem: Problem
    engine: DenseEngine | WideEngine
    strength: Strength

    @property
    def learned(self) -> Learned:
        """The model."""
        return self.engine.learned

    def plan(self) -> FitPlan:
        """Return the plan, with its law."""
        return self.engine.plan(self.strength.chosen, self.recipe.limits)

    def coded(self, rows: FloatArray) -> FloatArray:
        """Return rows (n, d) in the outcomes of the problem with its cuts."""
        return coded(self.recipe.problem, self.problem, rows)

    def brought(self, rows: FloatArray) -> dict[str, Brought]:
        """Return what the plan and its rivals bring to rows (n, d), each a mean over the ways to complete it."""
        rows = self.coded(rows)
        sample = self.learned.completed(rows, np.random.default_rng(self.recipe.seed))
        found = self.engine.treatments(self.strength.chosen, self.recipe.limits, sample.rows)
        return {name: _joined(sample, each, len(rows)) for name, each in found.items()}


def _rescaled(brought: Brought, scale: float) -> FloatArray:
    """Return the value with prices multiplied."""
    return np.asarray(brought.value + (1 - scale) * brought.cost)


def _joined(sample: Sample, brought: Brought, n: int) -> Brought:
    return Brought(*(per_subject(sample, each, n) for each in (brought.value, brought.cost, brought.tests)))


def per_subject(sample: Sample, amounts: FloatArray, n: int) -> FloatArray:
    """Return the mean of each subject's parts, shape (n,)."""
    return totals(sample.subject, sample.weights * amounts, n)
