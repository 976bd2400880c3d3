"""One coherent law for a tree: what was believed on the way to each leaf, and what is believed there.

States that have pseudo-subjects of their own have no law in common. A tree visits few of them, and there is a law under
which each of these is as it was believed: the probability of a leaf is the product of those of its outcomes, that of a
label within it the believed one, and the rest (what else might be known there) is half subjects, half model. Under it
the tree's values are those that the plan believed, and whoever knows something else can use it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from proband.distributions import Discrete
from proband.planners.tree_plan import Place, TreePlan, grow
from proband.policies import Decider, Node
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray

Ask = Callable[[FloatArray], int]
"""From a state to an action."""


@dataclass(frozen=True, eq=False)
class Believed:
    """Rows (n, d) that may be, their labels (n,), what was counted of them and what a model thinks of them (n,)."""

    rows: FloatArray
    labels: IntArray
    counted: FloatArray
    model: FloatArray


class FitPlan(TreePlan):
    """A plan from past subjects (:mod:`proband.fitting`), a tree with the law that it believes in."""


class _Spreading:
    """A way to act, and the weights of the law believed along it."""

    def __init__(self, problem: Problem, believed: Believed, pseudo: float, act: Ask) -> None:
        self.problem, self.believed, self.pseudo, self.act = problem, believed, pseudo, act
        self.weights = np.zeros(len(believed.rows))
        self.base = believed.counted / believed.counted.sum() + believed.model / believed.model.sum()

    def spread(self, state: FloatArray, here: IntArray, mass: float) -> None:
        """Spread the mass of a state over the rows that agree with it."""
        action = self.act(state)
        if action >= self.problem.d:
            self._settle(here, mass)
            return
        outcomes = self.believed.rows[here, action].astype(np.int64)
        shares = self._shares(here, outcomes, int(self.problem.k[action]))
        for b, (after, share) in enumerate(zip(self.problem.after(state, action), shares, strict=True)):
            self.spread(after, here[outcomes == b], mass * share)

    def _shares(self, here: IntArray, cell: IntArray, n: int) -> FloatArray:
        counted = np.bincount(cell, weights=self.believed.counted[here], minlength=n)
        model = np.bincount(cell, weights=self.believed.model[here], minlength=n)
        told = counted + self.pseudo * model / max(model.sum(), 1e-300)
        return np.asarray(told / told.sum() if told.sum() > 0 else np.zeros(n))

    def _settle(self, here: IntArray, mass: float) -> None:
        if not len(here):
            return
        labels, cell = np.unique(self.believed.labels[here], return_inverse=True)
        shares = self._shares(here, cell, len(labels))
        within = np.bincount(cell, weights=self.base[here], minlength=len(labels))
        self.weights[here] = mass * (shares / np.maximum(within, 1e-300))[cell] * self.base[here]


def plan_of(problem: Problem, believed: Believed, act: Ask, *, pseudo: float, method: str) -> FitPlan:
    """Return the tree that a way to act makes, as a plan under the law that is believed along it."""
    root, law = decided(problem, believed, act, pseudo=pseudo)
    return FitPlan(problem, law, root, method=method)


def decided(problem: Problem, believed: Believed, act: Ask, *, pseudo: float) -> tuple[Node, Discrete]:
    """Return the tests of a way to act with the decisions that are best under the law believed along it, and this law.

    The law does not depend on decisions, so that they are chosen here for good: whoever compiles a plan of this tree
    and this law chooses the same.
    """

    def choose(place: Place) -> int | None:
        action = act(place.state)
        return action if action < problem.d else None

    along = _Spreading(problem, believed, pseudo, act)
    along.spread(np.full(problem.d, np.nan), np.arange(len(believed.rows)), 1.0)
    law = Discrete.from_weights(believed.rows, along.weights)
    return grow(problem, Decider(problem, law), choose), law


def asking(root: Node) -> Ask:
    """Return the way in which a tree acts."""

    def act(state: FloatArray) -> int:
        node = root
        while node.children and not np.isnan(state[node.action]):
            node = node.children[int(state[node.action])]
        return node.action

    return act
