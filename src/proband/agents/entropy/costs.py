"""What a set of tests costs, and between which bounds a test raises the cost of a set that is not known yet.

Tests of a group share a preparation, and the order within a round is free: a group costs

    Σ group_cost_i + min (cost_i − group_cost_i)        over its members in the set,

the cheapest opener first. With p_i = cost_i − group_cost_i, test i raises the cost of S by

    cost_i                                where no other member of its group is in S,
    group_cost_i − (min p_j − p_i)⁺       otherwise, the minimum over the members of its group in S.

The rise is exact for a given set. For an unknown set between I and J it lies between two bounds, which meet where the
groups are settled; a test without a group always costs the same.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from proband.errors import AgentError
from proband.planners.arrays import prices_of
from proband.problem import Problem
from proband.rewards import Entropy
from proband.vocabulary import FloatArray, IntArray

Flags = NDArray[np.bool_]


class SetCosts:
    """The costs of sets of tests.

    Parameters
    ----------
    problem : Problem
        With an :class:`~proband.rewards.Entropy` reward.

    Attributes
    ----------
    cost, group_cost : FloatArray of shape (d,)
        Price of a test alone, and once its group is open.
    group : IntArray of shape (d,)
        Number of the group, -1 for none.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> van = {"outcomes": None, "group": "van", "group_cost": 0.5}
    >>> costs = SetCosts(Problem([Test("a", 2.0, **van), Test("b", 1.0, **van)], ["stop"], Entropy()))
    >>> costs.of([0, 1])
    1.5
    """

    def __init__(self, problem: Problem) -> None:
        if not isinstance(problem.reward, Entropy):
            raise AgentError(
                f"the reward is {type(problem.reward).__name__}; this agent is for maximum-entropy sampling; give a "
                "problem with an Entropy reward, or choose another agent"
            )
        prices = prices_of(problem)
        self.cost: FloatArray = prices.costs
        self.group: IntArray = prices.groups
        self.group_cost: FloatArray = np.where(prices.groups >= 0, prices.group_costs, prices.costs)
        self.opening: FloatArray = self.cost - self.group_cost

    def of(self, tests: Iterable[int]) -> float:
        """Return the cost of a set."""
        members = np.array(sorted(tests), dtype=np.int64)
        total = float(self.group_cost[members].sum())
        groups = self.group[members]
        return total + sum(float(self.opening[members[groups == g]].min()) for g in np.unique(groups[groups >= 0]))

    def of_all(self, base: Iterable[int], free: Iterable[int]) -> FloatArray:
        """Return the cost of `base` with each subset of `free`, numbered by its bits, shape (2^k,)."""
        base, free = list(base), list(free)
        totals = np.array([float(self.group_cost[base].sum())])
        for i in free:
            totals = np.concatenate([totals, totals + self.group_cost[i]])
        for g in np.unique(self.group[[*base, *free]]) if [*base, *free] else []:
            if g >= 0:
                totals += self._openings(int(g), base, free)
        return totals

    def rises(self, inside: Flags) -> FloatArray:
        """Return by how much each test raises the cost of the set (the set without it, if it is inside), shape (d,)."""
        return self.bounds(inside, inside)[0]

    def bounds(self, inside: Flags, possible: Flags) -> tuple[FloatArray, FloatArray]:
        """Return the least and the most by which each test raises the cost of any set between two, shapes (d,).

        The sets hold `inside` and lie in `possible`, apart from the test itself.
        """
        least, most = self.cost.copy(), self.cost.copy()
        for i in np.flatnonzero(self.group >= 0):
            peers = (self.group == self.group[i]) & (np.arange(len(self.group)) != i)
            sure, maybe = self.opening[peers & inside], self.opening[peers & possible]
            if not len(maybe):
                continue
            dearest = sure.min() if len(sure) else maybe.max()
            least[i] = self.group_cost[i] - max(dearest - self.opening[i], 0.0)
            if len(sure):
                most[i] = self.group_cost[i] - max(maybe.min() - self.opening[i], 0.0)
        return least, most

    def exchanges(self, inside: list[int], others: list[int]) -> FloatArray:
        """Return by how much the cost rises when a test of the second list takes the place of one of the first.

        `inside` is the whole set; shape (others, inside).
        """
        flags = np.zeros(len(self.cost), dtype=np.bool_)
        flags[inside] = True
        rises = self.rises(flags)
        changes = rises[others][:, None] - rises[inside]
        for n, j in enumerate(inside):
            same = self.group[others] == self.group[j]
            if self.group[j] >= 0 and same.any():
                flags[j] = False
                changes[same, n] = self.rises(flags)[np.array(others)[same]] - rises[j]
                flags[j] = True
        return np.asarray(changes)

    def _openings(self, group: int, base: list[int], free: list[int]) -> FloatArray:
        opened = np.array([min((float(self.opening[i]) for i in base if self.group[i] == group), default=np.inf)])
        for i in free:
            with_it = np.minimum(opened, self.opening[i]) if self.group[i] == group else opened
            opened = np.concatenate([opened, with_it])
        return np.where(np.isinf(opened), 0.0, opened)
