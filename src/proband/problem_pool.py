"""A pool of tests: all that follows from them alone, whatever is to be decided.

Names become indices and states here, and back; what tests cost in a state is what :mod:`proband.prices` says of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from proband.prices import Prices
from proband.problem_rules import index_of, no_outcome
from proband.vocabulary import FloatArray, IntArray, Test, as_states, outcome_limits


class Pool:
    """The tests of a problem: what a :class:`~proband.Problem` says of them, of states and of their prices."""

    tests: tuple[Test, ...]

    @property
    def d(self) -> int:
        """Number of tests."""
        return len(self.tests)

    @cached_property
    def k(self) -> IntArray:
        """Number of outcomes of each test, shape (d,)."""
        return np.array([test.k for test in self.tests], dtype=np.int64)

    @cached_property
    def measured(self) -> bool:
        """Whether the tests are measured: their outcomes are numbers, their law a Gaussian one."""
        return self.tests[0].measured

    @property
    def size(self) -> int:
        """Number of outcome vectors, Π k_i (a Python integer: it may be huge)."""
        return math.prod(test.k for test in self.tests)

    @cached_property
    def operable(self) -> IntArray:
        """Indices of the tests that can be chosen."""
        return np.array([i for i, test in enumerate(self.tests) if test.operable], dtype=np.int64)

    @cached_property
    def prices(self) -> Prices:
        """What the tests cost, one by one and as sets."""
        return Prices.of_tests(self.tests)

    @cached_property
    def cheapest_order(self) -> IntArray:
        """The tests that can be chosen, in an order in which any set of them costs least."""
        order = self.prices.cheapest_order
        return order[np.isin(order, self.operable)]

    @cached_property
    def all_available(self) -> bool:
        """Whether every test can be known in operation, so that whole outcome vectors can be seen."""
        return all(test.available for test in self.tests)

    @cached_property
    def context(self) -> IntArray:
        """Indices of the tests known on arrival."""
        return np.array([i for i, test in enumerate(self.tests) if test.on_arrival], dtype=np.int64)

    def states(self, states: ArrayLike) -> FloatArray:
        """Return states as an (n, d) array after checking them; unavailable tests become NaN.

        What an unavailable test showed is never known in operation, so no policy may use it.
        """
        rows = as_states(states, self.tests, self._outcome_limits).copy()
        if not self.all_available:
            rows[:, [not test.available for test in self.tests]] = np.nan
        return rows

    @cached_property
    def _outcome_limits(self) -> FloatArray:
        return outcome_limits(self.tests)

    def costs(self, states: ArrayLike) -> FloatArray:
        """Return what each test would cost in each state, shape (n, d).

        A test of a group costs its `group_cost` where another *run* test of the group is known; tests known on
        arrival cost nothing; tests that cannot be chosen cost infinity.
        """
        costs = self.prices.after(~np.isnan(self.states(states)))
        costs[:, [not test.available for test in self.tests]] = np.inf
        return costs

    def cost_of_the_rest(self, states: ArrayLike) -> FloatArray:
        """Return what it costs to run every remaining test in each state, shape (n,)."""
        return self.prices.adding(~np.isnan(self.states(states)), self.cheapest_order)

    def after(self, state: FloatArray, test: int) -> FloatArray:
        """Return the states after each outcome of a test, shape (k, d)."""
        states = np.tile(state, (self.tests[test].k, 1))
        states[:, test] = np.arange(len(states))
        return states

    def peers(self, test: int) -> IntArray:
        """Return the other tests whose being run lowers the price of `test`."""
        return np.flatnonzero(self.prices.peers[test])

    def test_index(self, name: str) -> int:
        """Return the index of a test by its name."""
        return index_of("test", name, [test.name for test in self.tests])

    def outcome(self, test: int, given: str | float) -> float:
        """Return an outcome as it stands in a state: the number of a named one, or what was measured.

        A number that is told of a test with cuts is the outcome between whose limits it lies.
        """
        one = self.tests[test]
        try:
            return one.read(given)
        except ValueError as error:
            raise no_outcome(one, given, str(error)) from error

    def state(self, known: Mapping[str, str | float] | None = None) -> FloatArray:
        """Return the state in which the named tests have the named (or measured) outcomes, shape (d,)."""
        row = np.full(self.d, np.nan)
        for name, given in (known or {}).items():
            i = self.test_index(name)
            row[i] = self.outcome(i, given)
        return row

    def describe(self, state: ArrayLike) -> dict[str, str | float]:
        """Return the known outcomes of a state by name (measured ones as numbers); the inverse of :meth:`state`."""
        row = as_states(state, self.tests, self._outcome_limits)[0]
        return {
            test.name: float(value) if test.measured else test.names[int(value)]
            for test, value in zip(self.tests, row, strict=True)
            if not np.isnan(value)
        }
