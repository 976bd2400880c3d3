"""What laws can bring from given states on, without the table of all states: a small table below each state.

Of every state two values are cheap: that of deciding at once, and that of running every test that is left. Where even
knowing everything for nothing would not pay for the cheapest test, the first is exact. Otherwise tests are worth
a look, and the states with the most to gain get a table of the states below them: 3^r of them with r tests of two
outcomes left. Where these are too many, only the tests that look best in one step are tried. A value is then a lower
bound. How many states are solved in all is fixed, so that the time hardly depends on how many tests there are, nor on
where the states are.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np

from proband.planners.layout import Layout
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Pooling

MOST_TABLES = 256
"""How many states get a table, at most: those with the most to gain."""

MOST_STATES = 2**23
"""How many states are solved in all, over all laws."""


def values_below(
    problem: Problem,
    states: FloatArray,
    support: FloatArray,
    of_row: IntArray,
    laws: FloatArray,
    *,
    most_states: int = MOST_STATES,
) -> FloatArray:
    """Return P(s)·v(s) of some states under many laws on one support, or a lower bound, shape (laws, states).

    Parameters
    ----------
    problem : Problem
    states : FloatArray of shape (states, d)
        Their tests known on arrival are known.
    support : FloatArray of shape (K, d)
    of_row : IntArray of shape (K,)
        In which of the states each support row lies: these are disjoint, such as the leaves of a plan, and none is
        without rows.
    laws : FloatArray of shape (laws, K)
        Weights of the support rows; they need not sum to one.
    most_states : int
        How many states may be solved in all.

    Examples
    --------
    >>> from proband.instances import bolts
    >>> from proband.planners import plan
    >>> example = bolts()
    >>> law, start = example.distribution, np.full((1, example.problem.d), np.nan)
    >>> found = values_below(example.problem, start, law.support, np.zeros(len(law), int), law.probabilities[None])
    >>> float(found[0, 0]) == plan(example.problem, law).value
    True
    """
    leaves = _Leaves(problem, states, support, of_row, laws)
    chosen = np.argsort(-leaves.hopes, kind="stable")[:MOST_TABLES]
    chosen = chosen[leaves.hopes[chosen] > 0]
    tried = _tests_to_try(leaves.left[chosen].sum(axis=1), problem.k[problem.operable], most_states // len(laws))

    def solve(number: int) -> None:
        rows = leaves.rows_of(number)
        tests = problem.operable[leaves.left[number]]
        stakes = laws[:, rows, None] * leaves.payoff[rows]
        if len(tests) > tried:
            gains = _gains(problem, states[number], support[rows], stakes, laws[:, rows], tests)
            tests = np.sort(tests[np.argsort(-gains, kind="stable")[:tried]])
        found = _solve(problem, states[number], support[rows], stakes, laws[:, rows], tests)
        leaves.values[:, number] = np.maximum(leaves.values[:, number], found)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(solve, chosen.tolist()))
    return leaves.values


class _Leaves:
    """States with their rows, what is left to test there, and values (laws, states) that are cheap.

    `hopes` (states,) is what knowing everything would bring beyond deciding at once and the cheapest test, on average
    over the laws where it is positive.
    """

    def __init__(
        self, problem: Problem, states: FloatArray, support: FloatArray, of_row: IntArray, laws: FloatArray
    ) -> None:
        self.left = np.isnan(states[:, problem.operable])
        self.payoff = problem.payoff(support)
        self.order = np.argsort(of_row, kind="stable")
        self.bounds = np.searchsorted(of_row, np.arange(len(states) + 1), sorter=self.order)
        weights, payoff = laws[:, self.order], self.payoff[self.order]
        mass = self._total(weights)
        known = self._total(weights * payoff.max(axis=1))
        if problem.reward.pooling is Pooling.MAXIMUM:
            decided = np.maximum.reduceat(weights * payoff[:, 0], self.bounds[:-1], axis=1)
        else:
            decided = np.max([self._total(weights * column) for column in payoff.T], axis=0)
        costs = problem.costs(states)[:, problem.operable]
        cheapest = np.where(self.left, costs, np.inf).min(axis=1, initial=np.inf)
        some = self.left.any(axis=1)
        hopes = known - decided - np.where(some, cheapest, 0.0) * mass
        self.hopes = np.where(some, np.maximum(hopes, 0.0).mean(axis=0), 0.0)
        # Where a test is unavailable running all the others does not tell everything: only deciding is cheap there.
        all_run = known - problem.cost_of_the_rest(states) * mass
        self.values = np.maximum(decided, all_run) if problem.all_available else decided

    def _total(self, weights: FloatArray) -> FloatArray:
        return np.add.reduceat(weights, self.bounds[:-1], axis=1)

    def rows_of(self, number: int) -> IntArray:
        """Return the support rows in a state."""
        return self.order[self.bounds[number] : self.bounds[number + 1]]


def _tests_to_try(left: IntArray, k: IntArray, most_states: int) -> int:
    """Return how many tests may be tried in each state, one at least, so that all have `most_states` below them."""
    tried, grows = 1, int(k.max(initial=1)) + 1
    while tried < left.max(initial=0) and sum(grows ** min(int(n), tried + 1) for n in left) <= most_states:
        tried += 1
    return tried


def _pooled(problem: Problem, stakes: FloatArray) -> FloatArray:
    """Return what deciding at once brings on some rows under each law, from stakes (laws, rows, columns)."""
    if not stakes.shape[1]:
        return np.zeros(len(stakes))
    if problem.reward.pooling is Pooling.MAXIMUM:
        return np.asarray(stakes[:, :, 0].max(axis=1))
    return np.asarray(stakes.sum(axis=1).max(axis=1))


def _gains(
    problem: Problem, state: FloatArray, rows: FloatArray, stakes: FloatArray, laws: FloatArray, tests: IntArray
) -> FloatArray:
    """Return what each test would bring in one step, less its price, on average over the laws."""
    costs, mass = problem.costs(state[None])[0], laws.sum(axis=1)
    gains = np.empty(len(tests))
    for number, test in enumerate(tests):
        after = sum(_pooled(problem, stakes[:, rows[:, test] == b]) for b in range(int(problem.k[test])))
        gains[number] = np.mean(after - costs[test] * mass)
    return gains


@lru_cache(maxsize=4096)
def _layout(problem: Problem, tests: tuple[int, ...]) -> Layout:
    """Return the layout of states in which some tests are left, and nothing else is known."""
    k = problem.k[list(tests)]
    return Layout(
        problem, np.array(tests, dtype=np.int64), np.empty(0, dtype=np.int64), k, 1, math.prod((k + 1).tolist())
    )


def _solve(
    problem: Problem, state: FloatArray, rows: FloatArray, stakes: FloatArray, laws: FloatArray, tests: IntArray
) -> FloatArray:
    """Return the values of a state under each law if some of its tests can be run, shape (laws,)."""
    from proband.planners import dense_kernel

    layout, columns = _layout(problem, tuple(tests.tolist())), stakes.shape[2]
    n, maximum = layout.level_sizes[layout.m], problem.reward.pooling is Pooling.MAXIMUM
    codes = rows[:, tests] @ np.array([math.prod(layout.k[i + 1 :].tolist()) for i in range(layout.m)])
    # A test whose group was opened before this state costs its reduced price from the beginning.
    prices = np.array([problem.costs(state[None])[0, tests], layout.prices[1]])
    actions = np.empty(layout.n_states, dtype=np.uint8 if layout.m + columns < 256 else np.int32)
    own, buffer = np.empty(layout.n_states), np.zeros((1 + columns, layout.n_states))
    fixed = (layout.size, layout.offset, layout.k, prices, layout.peers, maximum, np.zeros((0, 0)), own, actions)
    values = np.empty(len(laws))
    for number, (law, stake) in enumerate(zip(laws, stakes, strict=True)):
        _pool(codes.astype(np.int64), law, stake, buffer[:, :n], maximum=maximum)
        mass, staked = buffer[0], buffer[1:]
        dense_kernel.decide(staked, mass, own, actions, 0, n, layout.m)
        dense_kernel.solve_sets(layout.order[1:], *fixed, 0, mass, staked, 0, mass, staked)
        values[number] = own[layout.offset[0]]
    return values


def _pool(codes: IntArray, law: FloatArray, stake: FloatArray, out: FloatArray, *, maximum: bool) -> None:
    """Write mass and stakes of the states in which all tests are done, by the numbers of the rows in them."""
    n = out.shape[1]
    out[0] = np.bincount(codes, weights=law, minlength=n)
    if maximum:
        out[1] = 0.0
        np.maximum.at(out[1], codes, stake[:, 0])
        return
    for column, each in zip(out[1:], stake.T, strict=True):
        column[:] = np.bincount(codes, weights=each, minlength=n)
