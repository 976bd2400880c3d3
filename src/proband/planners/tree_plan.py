"""Plans that are trees: grown over sets of support rows, valued in one walk of the support down the tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Discrete
from proband.planners.discrete_plan import DiscretePlan
from proband.policies import Decider, Episodes, Node, Tree
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


@dataclass(frozen=True)
class Course:
    """What a tree does to each of K support rows, whatever else is known of it.

    1 for each test that is asked, else 0 (K, d), what is paid for opening each group (K, groups), and what the
    decision brings (K,).
    """

    asked: FloatArray
    openings: FloatArray
    reward: FloatArray


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

    def run(self, rows: FloatArray) -> Episodes:
        """Take subjects with complete outcome vectors (n, d) from arrival to decision, in one walk down the tree."""
        return self.compact.run(rows)

    def _action(self, row: FloatArray) -> int:
        node = self.compact.root
        while node.children and not np.isnan(row[node.action]):
            node = node.children[int(row[node.action])]
        return node.action

    def _bought(self, row: FloatArray) -> list[int]:
        used = self.compact.used(row)
        return [*used, *(i for i in super()._bought(row) if i not in used)]

    @cached_property
    def _course(self) -> Course:
        support = self.distribution.support
        ended = self.run(support)
        asked = (~np.isnan(ended.states)).astype(np.float64)
        return Course(asked, self._openings(), self.problem.realised(support, ended.actions))

    def _openings(self) -> FloatArray:
        """Return what each support row pays for opening each group, shape (K, groups)."""
        prices, support = self.problem.prices, self.distribution.support
        paid = np.zeros((len(support), int(prices.group.max(initial=-1)) + 1))
        pending = [(self.compact.root, np.arange(len(support)), frozenset[int]())] if paid.shape[1] else []
        while pending:
            node, rows, opened = pending.pop()
            if not node.children:
                continue
            group = int(prices.group[node.action])
            if group >= 0 and group not in opened:
                paid[rows, group] = prices.cost[node.action] - prices.group_cost[node.action]
                opened |= {group}
            outcomes = support[rows, node.action]
            pending += [(child, rows[outcomes == b], opened) for b, child in enumerate(node.children)]
        return paid

    def _from(self, row: FloatArray, agrees: IntArray) -> tuple[float, FloatArray]:
        """Return what a state is worth from there on, and by how much more if each test (d,) is paid for already.

        A tree asks what it asks: what is known already is not paid for again, and changes nothing else.
        """
        course, prices, p = self._course, self.problem.prices, self.distribution.probabilities[agrees]
        known, mean = ~np.isnan(row), p / p.sum()
        further = np.where(known, 0.0, mean @ course.asked[agrees]) * prices.group_cost
        shut = np.append(mean @ course.openings[agrees], 0.0)  # the last is for tests without a group
        shut[prices.group[known & (prices.group >= 0)]] = 0.0
        value = float(mean @ course.reward[agrees] - further.sum() - shut.sum())
        return value, further + shut[prices.group]

    def _values(self, rows: FloatArray, mass: FloatArray) -> FloatArray:
        """Return the values of checked states of positive probability whose context is known."""
        return np.array([self._from(row, np.flatnonzero(self.distribution.agrees(row)))[0] for row in rows])

    def _test_values(self, row: FloatArray, agrees: IntArray) -> dict[int, float]:
        """Return the value of running each remaining test: one that the tree asks later is only paid for earlier."""
        value, spared = self._from(row, agrees)
        first = value + spared - self.problem.costs(row)[0]
        return {int(i): float(first[i]) for i in self.problem.operable if np.isnan(row[i])}


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
        action, value = decider.decide_at(place.state, place.rows)
        return Node(action, value, mass)
    cost = float(problem.prices.after(~np.isnan(place.state)[None])[0, test])
    ran = 0 if context else 1
    children = []
    outcomes = decider.distribution.support[place.rows, test]
    for outcome, state in enumerate(problem.after(place.state, test)):
        rows = place.rows[outcomes == outcome]
        children.append(_grow(problem, decider, choose, Place(rows, state, place.tests + ran, place.paid + cost)))
    value = -cost + sum(child.probability * child.value for child in children) / mass
    return Node(test, value, mass, (), tuple(children))
