"""Plans that are trees over the support: what the sparse and the greedy planners return.

A tree grows on sets of support rows, never on the product space: a node stands for the rows that agree with what
was seen. Outcomes that no row shows end in the decision for the most similar rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Discrete
from proband.planners.discrete_plan import DiscretePlan
from proband.policies import Decider, Node, Tree
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True)
class Place:
    """A node to be: the rows that come here, what is known, and what was paid on the way."""

    rows: IntArray
    state: FloatArray
    tests: int
    paid: float


Chooser = Callable[[Place], int | None]
"""Returns the test to run in a place, or None to decide."""


class TreePlan(DiscretePlan):
    """A plan given by a tree; states off the tree are led back to it (see :class:`~proband.policies.Tree`).

    Without a bound of its own, `bound` is what perfect information would bring at no cost.
    """

    def __init__(
        self, problem: Problem, distribution: Discrete, root: Node, *, method: str, bound: float | None = None
    ) -> None:
        super().__init__(problem, distribution)
        self.method = method
        self.compact = Tree(problem, root)
        self.value = self.evaluation.value
        best = self.decider.perfect_information() if bound is None else bound
        self.bound = max(best, self.value)

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return the tree's action in each state, shape (n,)."""
        return self.compact.act(states)


def grow(problem: Problem, decider: Decider, choose: Chooser) -> Node:
    """Grow a tree: at each place the test that `choose` returns, or the best decision."""
    rows = np.arange(len(decider.distribution))
    return _grow(problem, decider, choose, Place(rows, np.full(problem.d, np.nan), 0, 0.0))


def _grow(problem: Problem, decider: Decider, choose: Chooser, place: Place) -> Node:
    mass = float(decider.distribution.probabilities[place.rows].sum())
    context = [int(i) for i in problem.context if np.isnan(place.state[i])]
    test = None
    if mass > 0:
        test = context[0] if context else choose(place)
    if test is None:
        actions, values = decider.decide(place.state)
        return Node(int(actions[0]), float(values[0]), mass)
    cost = float(problem.costs(place.state)[0, test])
    ran = 0 if context else 1
    children = []
    for outcome, state in enumerate(problem.after(place.state, test)):
        rows = place.rows[decider.distribution.support[place.rows, test] == outcome]
        children.append(_grow(problem, decider, choose, Place(rows, state, place.tests + ran, place.paid + cost)))
    value = -cost + sum(child.probability * child.value for child in children) / mass
    return Node(test, value, mass, (), tuple(children))
