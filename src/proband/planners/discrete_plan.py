"""Plans under a discrete law: values of states, explanations and decision trees, all from the support.

The sparse and the greedy planners return trees. A tree grows on sets of support rows, never on the product space: a
node stands for the rows that agree with what was seen. Outcomes that no row shows end in the decision for the most
similar rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Discrete, totals
from proband.planners.plans import Explanation, Plan, ranked
from proband.planners.room import Room, room_after
from proband.policies import Decider, Episodes, Node, Origin, Tree, follow
from proband.policies.nodes import Alternative
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Pooling


class DiscretePlan(Plan):
    """A plan for listed outcomes: it can also be compiled into a tree.

    Attributes
    ----------
    exact : bool
        Whether it acts in the best way in every state, also in those that it does not come to by itself. Otherwise what
        it would do after another test than its own is one way to go on, and there may be a better one.
    """

    distribution: Discrete
    exact: bool = False

    def _values(self, rows: FloatArray, mass: FloatArray) -> FloatArray:
        """Return the values of checked states of positive probability whose context is known.

        By following the plan from each state with every outcome vector that agrees with it; planners that have a
        table of values read it instead.
        """
        values = np.empty(len(rows))
        for n, row in enumerate(rows):
            agrees = self.distribution.agrees(row)
            support, p = self.distribution.support[agrees], self.distribution.probabilities[agrees]
            episodes = follow(self.problem, self, support, start=row)
            values[n] = p @ (self.problem.realised(support, episodes.actions) - episodes.costs) / p.sum()
        return values

    @cached_property
    def decider(self) -> Decider:
        """Best decisions under the plan's law."""
        return Decider(self.problem, self.distribution)

    def values(self, states: ArrayLike) -> FloatArray:
        """Return the expected remaining reward of following the plan from each state, shape (n,).

        Where the context is not known the value is the mean over it; in a state of probability zero it is the
        reward expected of the decision that is taken there.
        """
        rows = self.problem.states(states)
        values = np.empty(len(rows))
        mass = self.distribution.mass(rows)
        forced, known = self.missing_context(rows)
        unseen, here = mass <= 0, known & (mass > 0)
        if unseen.any():
            values[unseen] = self.decider.decide(rows[unseen])[1]
        values[here] = self._values(rows[here], mass[here])
        for n in np.flatnonzero(~known & ~unseen):
            values[n] = self._mean_after(rows[n], int(forced[n]))
        return values

    def explain(self, state: ArrayLike) -> Explanation:
        """Return every possible action in a state with its value and what it loses to the best."""
        row = self.one_state(state)
        action, value = int(self.act(row)[0]), float(self.values(row)[0])
        agrees = np.flatnonzero(self.distribution.agrees(row))
        probability = float(self.distribution.probabilities[agrees].sum())
        if self.max_tests is not None or self.budget is not None:
            room = room_after(self.problem, self._bought(row), max_tests=self.max_tests, budget=self.budget)
            return Explanation(action, probability, self._within(row, action, value, room))
        scores = {action: value}
        if not self._reads(action):
            scores |= self._decision_values(row)
            if probability > 0:
                scores |= self._test_values(row, agrees)
        others = [a for a in scores if a < self.problem.d and a != action]
        return Explanation(action, probability, ranked(scores, action, at_most=() if self.exact else others))

    def _bought(self, row: FloatArray) -> list[int]:
        """Return the tests that were run where a state is known, in an order in which they may have been."""
        return [int(i) for i in self.problem.cheapest_order if not np.isnan(row[i])]

    def _reads(self, action: int) -> bool:
        """Return whether an action is to read what is known on arrival."""
        return action < self.problem.d and self.problem.tests[action].on_arrival

    def _within(self, row: FloatArray, action: int, value: float, room: Room) -> tuple[Alternative, ...]:
        """Return what is possible in a state within limits, where `action` is the plan's, and brings `value`.

        Any other test counts with the best decision after it, which breaks no limit; with room for more tests it may be
        worth more.
        """
        scores, agrees = {action: value}, np.flatnonzero(self.distribution.agrees(row))
        if self._reads(action):
            return ranked(scores, action)
        costs, others = self.problem.costs(row)[0], list[int]()
        scores = self._decision_values(row) | scores
        if len(agrees):
            others = [int(i) for i in self.problem.operable if np.isnan(row[i]) and i != action]
            others = [i for i in others if room.allows(float(costs[i]))]
        for test in others:
            after = self.problem.after(row, test)
            mass = self.distribution.mass(after)
            decided = np.where(mass > 0, self.decider.decide(after)[1], 0.0)
            scores[test] = float(mass @ decided / mass.sum() - costs[test])
        return ranked(scores, action, at_most=others if room.tests > 1 else ())

    def tree(self, *, depth: int | None = None) -> Tree:
        """Compile the plan into a decision tree, a policy of its own that needs no distribution.

        Parameters
        ----------
        depth : int, optional
            Cut below this many tests (what is known on arrival does not count): deeper states get the decision
            that is best there, and the values are those of the cut tree.
        """
        limits = [limit for limit in (depth, self.max_tests) if limit is not None]
        origin = Origin(self.method, self.distribution, min(limits, default=None), self.budget)
        return Tree(self.problem, self._node(np.full(self.problem.d, np.nan), origin, ()), origin)

    def _node(self, row: FloatArray, origin: Origin, path: tuple[int, ...]) -> Node:
        """Return the node of a state to which the tests of `path` lead, in this order, and all below it."""
        action, mass = int(self.act(row)[0]), float(self.distribution.mass(row)[0])
        room = room_after(self.problem, path, max_tests=origin.max_tests, budget=origin.budget)
        if action >= self.problem.d or (room.tests < 1 and not self._reads(action)):
            actions, values = self.decider.decide(row)
            action, value = int(actions[0]), float(values[0])
            return Node(action, value, mass, self._offered(row, action, value, room))
        children = tuple(self._node(child, origin, (*path, action)) for child in self.problem.after(row, action))
        value = float(self.values(row)[0])
        if mass > 0:
            mean = sum(child.probability * child.value for child in children) / mass
            value = mean - float(self.problem.costs(row)[0, action])
        return Node(action, value, mass, self._offered(row, action, value, room), children)

    def _offered(self, row: FloatArray, action: int, value: float, room: Room) -> tuple[Alternative, ...]:
        """Return what is possible in a state, where a tree acts so."""
        return self.explain(row).alternatives if room == Room() else self._within(row, action, value, room)

    def _mean_after(self, row: FloatArray, test: int) -> float:
        """Return the mean, over the outcomes of a test, of the value that follows."""
        after = self.problem.after(row, test)
        mass = self.distribution.mass(after)
        return float(mass @ np.where(mass > 0, self.values(after), 0.0) / mass.sum())

    def _test_values(self, row: FloatArray, agrees: IntArray) -> dict[int, float]:
        """Return the value of running each remaining test; `agrees` are the support rows that agree with the state."""
        tests = [int(i) for i in self.problem.operable if np.isnan(row[i])]
        if not tests:
            return {}
        outcomes = self.distribution.support[agrees].astype(np.int64)
        p, costs = self.distribution.probabilities[agrees], self.problem.costs(row)[0]
        mass = [totals(outcomes[:, i], p, self.problem.tests[i].k) for i in tests]
        after, flat = np.vstack([self.problem.after(row, i) for i in tests]), np.concatenate(mass)
        value = np.zeros(len(flat))
        value[flat > 0] = self._values(after[flat > 0], flat[flat > 0])
        parts = np.split(flat * value, np.cumsum([len(m) for m in mass])[:-1])
        return {i: float(part.sum() / p.sum() - costs[i]) for i, part in zip(tests, parts, strict=True)}

    def _decision_values(self, row: FloatArray) -> dict[int, float]:
        if self.problem.reward.pooling is Pooling.MAXIMUM:
            actions, values = self.decider.decide(row)
            return {int(actions[0]): float(values[0])}
        return {self.problem.d + y: float(value) for y, value in enumerate(self.decider.values_of(row))}


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

    def _from(self, row: FloatArray, agrees: IntArray, first: int | None = None) -> float:
        """Return what a state is worth from there on, if a test is run first that may not have been the tree's choice.

        A tree asks what it asks: what is known already is not paid for again, and changes nothing else.
        """
        course, prices, p = self._course, self.problem.prices, self.distribution.probabilities[agrees]
        known = ~np.isnan(row)
        price = 0.0 if first is None else float(self.problem.costs(row)[0, first])
        if first is not None:
            known = known | (np.arange(len(row)) == first)
        mean = p / p.sum()
        further = np.where(known, 0.0, mean @ course.asked[agrees]) @ prices.group_cost
        shut = np.ones(course.openings.shape[1], dtype=np.bool_)
        shut[prices.group[known & (prices.group >= 0)]] = False
        opening = (mean @ course.openings[agrees])[shut].sum()
        return float(mean @ course.reward[agrees] - further - opening - price)

    def _values(self, rows: FloatArray, mass: FloatArray) -> FloatArray:
        """Return the values of checked states of positive probability whose context is known."""
        return np.array([self._from(row, np.flatnonzero(self.distribution.agrees(row))) for row in rows])

    def _test_values(self, row: FloatArray, agrees: IntArray) -> dict[int, float]:
        """Return the value of running each remaining test: one that the tree asks later is only paid for earlier."""
        return {int(i): self._from(row, agrees, int(i)) for i in self.problem.operable if np.isnan(row[i])}


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
