"""What tests cost: one by one, in any order, as sets, and between which bounds where the set is not known yet.

Tests of a group share a preparation. The first one that is run pays `cost`, each further one `group_cost`; with
opening_i = cost_i − group_cost_i, what test i pays for opening its group, a set whose order is free costs

    Σ group_cost_i + min opening_i        over the members of each group in the set,

the cheapest opener first, and test i raises the cost of S by

    cost_i                                       where no other member of its group is in S,
    group_cost_i − (min opening_j − opening_i)⁺  otherwise, the minimum over the members of its group in S.

The rise is exact for a given set. For an unknown set between I and J it lies between two bounds, which meet where the
groups are settled; a test without a group always costs the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from proband.vocabulary import FloatArray, IntArray, Test

Flags = NDArray[np.bool_]
"""Which tests are in a set, shape (d,)."""


@dataclass(frozen=True, eq=False)
class Prices:
    """What tests cost, alone and together.

    Attributes
    ----------
    cost, group_cost : FloatArray of shape (d,)
        Price of a test alone, and once another test of its group was run; equal where it has no group.
    group : IntArray of shape (d,)
        Number of the group, -1 for none; a test that cannot be run is in none.

    Examples
    --------
    >>> van = {"outcomes": None, "group": "van", "group_cost": 0.5}
    >>> prices = Prices.of_tests([Test("a", 2.0, **van), Test("b", 1.0, **van), Test("c", 3.0, outcomes=None)])
    >>> prices.group, prices.cheapest_order, prices.of([0, 1])
    (array([ 0,  0, -1]), array([1, 0, 2]), 1.5)
    """

    cost: FloatArray
    group: IntArray
    group_cost: FloatArray

    @classmethod
    def of_tests(cls, tests: Sequence[Test]) -> Prices:
        """Return the prices of a problem's tests."""
        groups = [test.group if test.operable else None for test in tests]
        names = sorted({group for group in groups if group is not None})
        cost = np.array([test.cost for test in tests], dtype=np.float64)
        number = np.array([-1 if group is None else names.index(group) for group in groups], dtype=np.int64)
        within = np.array([test.cost if test.group_cost is None else test.group_cost for test in tests])
        return cls(cost, number, np.where(number >= 0, within, cost))

    def only(self, tests: IntArray) -> Prices:
        """Return the prices of some of the tests."""
        return Prices(self.cost[tests], self.group[tests], self.group_cost[tests])

    @cached_property
    def opening(self) -> FloatArray:
        """What each test pays for opening its group, shape (d,)."""
        return self.cost - self.group_cost

    @cached_property
    def both(self) -> FloatArray:
        """Price alone, and with the group open, shape (2, d)."""
        return np.array([self.cost, self.group_cost])

    @cached_property
    def peers(self) -> Flags:
        """Which tests lower the price of each test once they were run, shape (d, d)."""
        same = (self.group[:, None] == self.group) & (self.group >= 0)
        np.fill_diagonal(same, False)
        return np.asarray(same)

    @cached_property
    def cheapest_order(self) -> IntArray:
        """The tests in an order in which any set of them costs least.

        What opens a group for the least comes first of its group; groups keep the places that their tests have.
        """
        order = np.arange(len(self.cost))
        for members in self._groups:
            order[members] = members[np.argsort(self.opening[members], kind="stable")]
        return order

    def after(self, done: Flags) -> FloatArray:
        """Return what each test would cost where some were run, shape (n, d) for flags (n, d)."""
        prices = np.tile(self.cost, (len(done), 1))
        for members in self._groups:
            others = done[:, members].sum(axis=1, keepdims=True) - done[:, members]  # a test does not open for itself
            prices[:, members] = np.where(others > 0, self.group_cost[members], self.cost[members])
        return prices

    def adding(self, done: Flags, tests: IntArray) -> FloatArray:
        """Return what it costs to run some tests, in this order, but for those done, shape (n,) for flags (n, d)."""
        total = np.zeros(len(done))
        known: dict[int, Flags] = {}
        for i in tests.tolist():
            price: FloatArray | np.float64 = self.cost[i]
            if self.group[i] >= 0:
                opened = np.zeros(len(done), dtype=np.bool_)
                for j in np.flatnonzero(self.peers[i]).tolist():
                    opened |= known.get(j, done[:, j])
                price = np.where(opened, self.group_cost[i], price)
            total += np.where(known.get(i, done[:, i]), 0.0, price)
            known[i] = np.ones(len(done), dtype=np.bool_)
        return total

    def of(self, tests: Iterable[int]) -> float:
        """Return the cost of a set."""
        members = np.array(sorted(tests), dtype=np.int64)
        total, groups = float(self.group_cost[members].sum()), self.group[members]
        for group in np.unique(groups[groups >= 0]):
            total += float(self.opening[members[groups == group]].min())
        return total

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
            sure, maybe = self.opening[self.peers[i] & inside], self.opening[self.peers[i] & possible]
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

    @cached_property
    def _groups(self) -> list[IntArray]:
        """The members of each group."""
        return [np.flatnonzero(self.group == group) for group in np.unique(self.group[self.group >= 0])]

    def _openings(self, group: int, base: list[int], free: list[int]) -> FloatArray:
        opened = np.array([min((float(self.opening[i]) for i in base if self.group[i] == group), default=np.inf)])
        for i in free:
            with_it = np.minimum(opened, self.opening[i]) if self.group[i] == group else opened
            opened = np.concatenate([opened, with_it])
        return np.where(np.isinf(opened), 0.0, opened)


def as_bits(flags: Flags) -> IntArray:
    """Return sets of up to 62 tests, given as flags (n, m), as the bits of numbers, shape (n,)."""
    return np.asarray(flags @ (np.int64(1) << np.arange(flags.shape[-1], dtype=np.int64)), dtype=np.int64)
