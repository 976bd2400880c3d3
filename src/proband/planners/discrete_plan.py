"""Plans under a discrete law: values of states, explanations and decision trees, all from the support.

The sparse and the greedy planners return trees. A tree grows on sets of support rows, never on the product space: a
node stands for the rows that agree with what was seen. Outcomes that no row shows end in the decision for the most
similar rows. A plan is compiled in one walk, which hands the rows down: nobody looks for them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Discrete, totals
from proband.planners.plans import Explanation, Plan, ranked
from proband.planners.room import Room, room_after
from proband.policies import Decider, Node, Origin, Tree, follow
from proband.policies.nodes import Alternative
from proband.vocabulary import FloatArray, IntArray, Pooling


@dataclass(frozen=True)
class Spot:
    """A state (d,), the support rows that agree with it, and their probability."""

    row: FloatArray
    agrees: IntArray
    mass: float


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
        spot = self._spot(row, np.flatnonzero(self.distribution.agrees(row)))
        room = room_after(self.problem, self._bought(row), max_tests=self.max_tests, budget=self.budget)
        return Explanation(action, spot.mass, self._possible(spot, action, value, room))

    def _spot(self, row: FloatArray, agrees: IntArray) -> Spot:
        p = self.distribution.probabilities[agrees]
        return Spot(row, agrees, float(totals(np.zeros_like(agrees), p, 1)[0]))

    def _possible(self, spot: Spot, action: int, value: float, room: Room) -> tuple[Alternative, ...]:
        """Return what is possible in a state where `action` is the plan's, and brings `value`."""
        if room != Room():
            return self._within(spot, action, value, room)
        scores = {action: value}
        if not self._reads(action):
            scores |= self._decision_values(spot)
            if spot.mass > 0:
                scores |= self._test_values(spot.row, spot.agrees)
        others = [a for a in scores if a < self.problem.d and a != action]
        return ranked(scores, action, at_most=() if self.exact else others)

    def _bought(self, row: FloatArray) -> list[int]:
        """Return the tests that were run where a state is known, in an order in which they may have been."""
        return [int(i) for i in self.problem.cheapest_order if not np.isnan(row[i])]

    def _reads(self, action: int) -> bool:
        """Return whether an action is to read what is known on arrival."""
        return action < self.problem.d and self.problem.tests[action].on_arrival

    def _within(self, spot: Spot, action: int, value: float, room: Room) -> tuple[Alternative, ...]:
        """Return what is possible in a state within limits, where `action` is the plan's, and brings `value`.

        Any other test counts with the best decision after it, which breaks no limit; with room for more tests it may be
        worth more.
        """
        scores = {action: value}
        if self._reads(action):
            return ranked(scores, action)
        costs, others = self.problem.costs(spot.row)[0], list[int]()
        scores = self._decision_values(spot) | scores
        if spot.mass > 0:
            others = [int(i) for i in self.problem.operable if np.isnan(spot.row[i]) and i != action]
            others = [i for i in others if room.allows(float(costs[i]))]
        for test in others:
            cells = self.distribution.support[spot.agrees, test].astype(np.int64)
            decided = self.decider.total(spot.agrees, cells, int(self.problem.k[test]))
            scores[test] = decided / spot.mass - float(costs[test])
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
        start = self._spot(self.problem.state(), np.arange(len(self.distribution)))
        return Tree(self.problem, self._node(start, origin, ()), origin)

    def _node(self, spot: Spot, origin: Origin, path: tuple[int, ...]) -> Node:
        """Return the node of a state to which the tests of `path` lead, in this order, and all below it."""
        action, row = self._action(spot.row), spot.row
        room = room_after(self.problem, path, max_tests=origin.max_tests, budget=origin.budget)
        if action >= self.problem.d or (room.tests < 1 and not self._reads(action)):
            action, value = self.decider.decide_at(row, spot.agrees)
            return Node(action, value, spot.mass, self._possible(spot, action, value, room))
        outcomes = self.distribution.support[spot.agrees, action]
        after = enumerate(self.problem.after(row, action))
        spots = [self._spot(state, spot.agrees[outcomes == outcome]) for outcome, state in after]
        children = tuple(self._node(each, origin, (*path, action)) for each in spots)
        if spot.mass > 0:
            mean = sum(child.probability * child.value for child in children) / spot.mass
            value = mean - float(self.problem.costs(row)[0, action])
        else:
            value = float(self.values(row)[0])
        return Node(action, value, spot.mass, self._possible(spot, action, value, room), children)

    def _action(self, row: FloatArray) -> int:
        return int(self.act(row)[0])

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

    def _decision_values(self, spot: Spot) -> dict[int, float]:
        if self.problem.reward.pooling is Pooling.MAXIMUM:
            action, value = self.decider.decide_at(spot.row, spot.agrees)
            return {action: value}
        rows = spot.agrees if len(spot.agrees) else self.decider.agreeing(spot.row)
        return {self.problem.d + y: float(value) for y, value in enumerate(self.decider.values_at(rows))}
