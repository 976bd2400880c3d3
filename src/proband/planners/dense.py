"""The dense planner: Algorithm 1 of the paper over all Π(k_i + 1) states.

Exact for any discrete law. Time and memory are proportional to the number of states, whatever the support; the
layout is that of :mod:`proband.planners.layout`, the recursion that of :mod:`proband.planners.dense_kernel`.

Small problems are solved in one compiled call; large ones level by level (by number of tests done), each level
by all cores, with masses and stakes kept for two levels only.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.distributions import Discrete, totals
from proband.errors import StateError, TooLargeError
from proband.planners.discrete_plan import DiscretePlan
from proband.planners.layout import MOST_TESTS, Layout, layout_of
from proband.planners.memory import available_memory, human_bytes, human_number
from proband.planners.options import Options, serves
from proband.policies import Episodes
from proband.problem import Problem
from proband.rewards import Table
from proband.vocabulary import FloatArray, IntArray, Kind, Pooling, outcome_codes, outcome_rows

Actions = NDArray[np.uint8 | np.int32]

ONE_CALL = 2**18
"""Problems with fewer states are solved in one call by one thread."""


MANY_DECISIONS = 8
"""From so many decisions on stakes may be those of labels."""

NO_TABLE = np.zeros((0, 0))

WORTH_THREADS = 2**16
"""With fewer states in all, threads take longer to start than to work."""


@dataclass(frozen=True)
class Solution:
    """Unnormalised values and coded actions of all states.

    Attributes
    ----------
    values : FloatArray of shape (states,)
        P(s)·v(s).
    actions : array of shape (states,)
        A position in `Layout.tests`, or m + the best column of the payoff, or one more where P(s) = 0.
    """

    values: FloatArray
    actions: Actions


class DensePlan(DiscretePlan):
    """An exact plan that has every state in a table (`solution`), numbered by its `layout`."""

    method = "dense"
    exact = True

    def __init__(self, layout: Layout, distribution: Discrete, solution: Solution) -> None:
        super().__init__(layout.problem, distribution)
        self.layout = layout
        self.solution = solution
        if self.exact:
            self.value = self.bound = root_value(layout, solution)
        self._looks_up = self.problem.reward.pooling is Pooling.MAXIMUM

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return the best action of each state, shape (n,).

        Tests known on arrival come first where they are missing; a state of probability zero gets the decision
        for the most similar outcome vectors (:mod:`proband.policies.deciding`).
        """
        rows = self.problem.states(states)
        actions, known = self.missing_context(rows)
        codes = self.solution.actions[self.layout.number(rows[known])]
        actions[known] = meaning_of_codes(self, self.layout, rows[known], codes)
        return actions

    def run(self, rows: FloatArray) -> Episodes:
        """Take subjects with complete outcome vectors (n, d) from arrival to decision, in compiled code."""
        needed = [*self.layout.context, *self.layout.tests]
        if np.isnan(rows[:, needed]).any():
            raise StateError("an outcome is NaN; a subject's whole outcome vector must be known to run it; fill it in")
        last, sets, costs, tests = self._walk(rows)
        states = np.where(self.layout.done(sets), rows, np.nan)
        if self._looks_up:
            return Episodes(states, self._look_up(last, states), costs, tests)
        codes = self.solution.actions[last]
        return Episodes(states, meaning_of_codes(self, self.layout, states, codes), costs, tests)

    def _walk(self, rows: FloatArray, begun: int = 0) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
        """Take complete outcome vectors (n, d) to decision; `begun` are the tests done before, as bits."""
        from proband.planners import dense_kernel

        layout = self.layout
        arrays = (layout.offset, layout.k, layout.prices, layout.peers)
        outcomes = np.ascontiguousarray(rows[:, layout.tests], dtype=np.int64)
        last, sets, costs, tests = dense_kernel.walk(
            self.solution.actions, *arrays, layout.context_number(rows), outcomes, np.int64(begun)
        )
        return last, sets, costs, tests

    def _look_up(self, last: IntArray, states: FloatArray) -> IntArray:
        """Return the best decisions in last states, by the plan's rows that end there."""
        ends, actions = self._decisions
        place = np.minimum(np.searchsorted(ends, last), len(ends) - 1)
        found = ends[place] == last
        chosen = actions[place]
        if not found.all():
            chosen[~found] = self.decider.decide(states[~found])[0]
        return chosen

    @cached_property
    def _decisions(self) -> tuple[IntArray, IntArray]:
        """The numbers of the states in which subjects of the plan's law end, and the best decisions there."""
        ends, of_row = np.unique(self._walk(self.distribution.support)[0], return_inverse=True)
        return ends, self.decider.best(of_row, len(ends))[0]

    def _values(self, rows: FloatArray, mass: FloatArray) -> FloatArray:
        return np.asarray(self.solution.values[self.layout.number(rows)] / mass)


class BorrowedPlan(DensePlan):
    """The tests of a plan made under another law, with the decisions that are best under this one.

    What it is worth, in every state, is worked out under this law by following it; how much better the best plan is,
    is not known.
    """

    exact = False
    bound = math.inf

    def __init__(self, layout: Layout, distribution: Discrete, solution: Solution) -> None:
        super().__init__(layout, distribution, solution)
        self._looks_up = True

    @cached_property
    def value(self) -> float:  # type: ignore[override]
        """Expected total reward of a new subject under this law."""
        return self.evaluation.value

    def _values(self, rows: FloatArray, mass: FloatArray) -> FloatArray:
        return np.array([self._followed(row) for row in rows])

    def _followed(self, row: FloatArray) -> float:
        """Return what following the tests from a state brings under this law, with the best decisions after them."""
        agrees = np.flatnonzero(self.distribution.agrees(row))
        begun = sum(1 << bit for bit, i in enumerate(self.layout.tests) if not np.isnan(row[i]))
        last, _, costs, _ = self._walk(self.distribution.support[agrees], begun)
        ends, cells = np.unique(last, return_inverse=True)
        p = self.distribution.probabilities[agrees]
        return float((self.decider.total(agrees, cells, len(ends)) - p @ costs) / p.sum())

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return the action of each state, shape (n,)."""
        rows = self.problem.states(states)
        actions = super().act(rows)
        deciding = actions >= self.problem.d
        actions[deciding] = self.decider.decide(rows[deciding])[0]
        return actions


def meaning_of_codes(plan: DiscretePlan, layout: Layout, rows: FloatArray, codes: Actions) -> IntArray:
    """Turn stored codes into actions; decisions that a code does not tell are looked up."""
    problem = plan.problem
    meaning = np.full(layout.m + plan.problem.n_columns + 1, -1, dtype=np.int64)
    meaning[: layout.m] = layout.tests
    if problem.reward.pooling is Pooling.SUM:
        meaning[layout.m : -1] = problem.d + np.arange(len(meaning) - 1 - layout.m)
    actions = meaning[codes]
    untold = actions < 0
    if untold.any():
        actions[untold] = plan.decider.decide(rows[untold])[0]
    return actions


@serves(Kind.LISTED)
def plan_dense(problem: Problem, distribution: Discrete, options: Options) -> DensePlan:
    """Solve all states; refuses to start when they would not fit into the memory."""
    options.refuse_limits_per_subject("dense")
    distribution.check(problem)
    layout = layout_of(problem)
    check_size(layout, stakes_of(problem), options.memory_limit)
    payoff, table = staked(problem, distribution.support)
    codes = complete_codes(layout, distribution.support)
    return DensePlan(layout, distribution, solve(layout, codes, distribution.probabilities, payoff, table))


def stakes_of(problem: Problem) -> int:
    """Return how many stakes a state has: one for each decision, or for each label where these are far fewer."""
    return math.prod(problem.k[_targets(problem)].tolist()) if _by_label(problem) else problem.n_columns


def staked(problem: Problem, support: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what is at stake in support rows, a column for each stake, and a table from stakes to decisions.

    Where there are far more decisions than labels (what the reward depends on), such as forecasts, the stakes are those
    of labels, and the table has what each decision brings for each label; otherwise it is empty.
    """
    if not _by_label(problem):
        return problem.payoff(support), NO_TABLE
    targets = _targets(problem)
    asked, labels = [problem.tests[i] for i in targets], math.prod(problem.k[targets].tolist())
    rows = np.zeros((labels, problem.d))
    rows[:, targets] = outcome_rows(np.arange(labels), asked)
    shown = outcome_codes(support[:, targets], asked)
    return (shown[:, None] == np.arange(labels)).astype(np.float64), np.ascontiguousarray(problem.payoff(rows))


def _targets(problem: Problem) -> IntArray:
    reward = problem.reward
    return reward.depends_on(problem.tests) if isinstance(reward, Table) else np.arange(problem.d)


def _by_label(problem: Problem) -> bool:
    labels = math.prod(problem.k[_targets(problem)].tolist())
    return isinstance(problem.reward, Table) and problem.n_columns >= max(MANY_DECISIONS, 2 * labels)


def solve_many(layout: Layout, support: FloatArray, weights: FloatArray, payoff: FloatArray) -> list[Solution]:
    """Solve one problem under many laws on one support (n, d), such as posterior draws, on all cores.

    The weights (laws, n) need not sum to one: values are then scaled alike. The payoff has shape (n, columns).
    """
    codes = complete_codes(layout, support)
    if layout.n_states >= ONE_CALL:
        return [solve(layout, codes, law, payoff) for law in weights]
    values, actions = _room(layout, payoff.shape[1], len(weights))

    def solve_one(number: int) -> Solution:
        solution = Solution(values[number], actions[number])
        _fill(layout, codes, weights[number], payoff, solution)
        return solution

    if len(weights) * layout.n_states < WORTH_THREADS:
        return [solve_one(number) for number in range(len(weights))]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(solve_one, range(len(weights))))


def root_value(layout: Layout, solution: Solution) -> float:
    """Return the value before anything is known: a sum over what may be known on arrival."""
    return float(solution.values[layout.offset[0] :].sum())


def needed_memory(layout: Layout, columns: int) -> float:
    """Return the bytes that a dense plan needs, counted before it starts."""
    if layout.m > MOST_TESTS or layout.n_states.bit_length() > 1000:  # beyond the range of floats
        return float("inf")
    widest = max((a + b for a, b in pairwise(layout.level_sizes)), default=1)
    aside = layout.n_states if layout.n_states < ONE_CALL else widest
    action = np.dtype(_action_type(layout.m, layout.problem.n_columns)).itemsize
    tables = 3 * 8 * 2**layout.m
    return float(layout.n_states * (8 + action) + aside * 8 * (1 + columns) + tables)


def check_size(layout: Layout, columns: int, memory_limit: float | None) -> None:
    """Raise :class:`TooLargeError` unless a dense plan fits."""
    limit = available_memory() if memory_limit is None else memory_limit
    needed = needed_memory(layout, columns)
    if needed > limit:
        size = "far more memory than any machine has" if needed == float("inf") else f"{human_bytes(needed)} of memory"
        raise TooLargeError(
            f"the dense planner would need {size} for {human_number(layout.n_states)} states ({layout.m} tests that "
            f'can be run); the limit is {human_bytes(limit)}; use method="sparse", which works on the support, or '
            "fewer tests or outcomes"
        )


def complete_codes(layout: Layout, support: FloatArray) -> IntArray:
    """Return, for each support row, the number of the state in which every test that can be run is done."""
    strides, size = np.zeros(layout.problem.d), 1.0
    for i in [*layout.tests[::-1], *layout.context[::-1]]:
        strides[i], size = size, size * layout.problem.k[i]
    return np.asarray(support @ strides, dtype=np.int64)


def solve(
    layout: Layout, codes: IntArray, weights: FloatArray, payoff: FloatArray, table: FloatArray = NO_TABLE
) -> Solution:
    """Run the backward induction for support rows with the given numbers, weights and payoffs (:func:`staked`)."""
    values, actions = _room(layout, max(payoff.shape[1], table.shape[1]), 1)
    solution = Solution(values[0], actions[0])
    _fill(layout, codes, weights, payoff, solution, table)
    return solution


def _room(layout: Layout, columns: int, laws: int) -> tuple[FloatArray, Actions]:
    """Return arrays for the solutions of some laws: one block, which a system can map by large pages."""
    shape = (laws, layout.n_states)
    return np.empty(shape), np.empty(shape, dtype=_action_type(layout.m, columns))


def _fill(
    layout: Layout, codes: IntArray, weights: FloatArray, payoff: FloatArray, solution: Solution,
    table: FloatArray = NO_TABLE,
) -> None:  # fmt: skip
    from proband.planners import dense_kernel

    values, actions, columns = solution.values, solution.actions, payoff.shape[1]
    maximum = layout.problem.reward.pooling is Pooling.MAXIMUM
    n = layout.level_sizes[layout.m]
    fixed = (layout.size, layout.offset, layout.k, layout.prices, layout.peers, maximum, table, values, actions)
    if layout.n_states >= ONE_CALL:
        mass, stakes = complete_states(layout, codes, weights, payoff, np.empty((1 + columns) * n))
        _decide(stakes, table, mass, solution, n, layout.m)
        _solve_by_level(layout, fixed, mass, stakes)
        return
    with layout.scratch((1 + columns) * layout.n_states) as buffer:
        mass, stakes = complete_states(layout, codes, weights, payoff, buffer[: (1 + columns) * layout.n_states])
        _decide(stakes, table, mass, solution, n, layout.m)
        dense_kernel.solve_sets(layout.order[1:], *fixed, 0, mass, stakes, 0, mass, stakes)


def _decide(stakes: FloatArray, table: FloatArray, mass: FloatArray, solution: Solution, n: int, m: int) -> None:
    """Decide in the complete states."""
    from proband.planners import dense_kernel

    if table.size:
        dense_kernel.decide_by_label(stakes, table, mass, solution.values, solution.actions, 0, n, m)
    else:
        dense_kernel.decide(stakes, mass, solution.values, solution.actions, 0, n, m)


def _solve_by_level(layout: Layout, fixed: tuple[Any, ...], mass: FloatArray, stakes: FloatArray) -> None:
    """Solve one level after another, masses and stakes of two levels taking turns in two buffers."""
    from proband.planners import dense_kernel

    columns, sizes = len(stakes), layout.level_sizes[-2::-1]
    buffers = [np.empty((1 + columns) * max(sizes[parity::2], default=0)) for parity in (0, 1)]
    start, cores = 0, os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as threads:
        for level, n in enumerate(sizes, start=1):
            child_start, start = start, start + len(mass)
            buffer = buffers[(level - 1) % 2]
            own_mass, own_stakes = buffer[:n], buffer[n : (1 + columns) * n].reshape(columns, n)
            sets = layout.order[layout.level_bounds[level] : layout.level_bounds[level + 1]]
            arguments = (*fixed, child_start, mass, stakes, start, own_mass, own_stakes)
            # Contiguous, as with one call: for strided sets all of it would be compiled once more.
            parts = [np.ascontiguousarray(sets[core::cores]) for core in range(cores)]
            shares = [partial(dense_kernel.solve_sets, part, *arguments) for part in parts]
            for share in [threads.submit(share) for share in shares]:
                share.result()
            mass, stakes = own_mass, own_stakes


def complete_states(
    layout: Layout, codes: IntArray, weights: FloatArray, payoff: FloatArray, buffer: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return mass and stakes of the complete states, each at the beginning of its share of the buffer."""
    n, problem, columns = layout.level_sizes[layout.m], layout.problem, payoff.shape[1]
    parts = buffer.reshape(1 + columns, -1)
    mass, stakes = parts[0], parts[1:]
    if problem.all_available:  # then no two support rows share a complete state
        mass[:n], stakes[:, :n] = 0, 0
        mass[codes] = weights
        for stake, column in zip(stakes, payoff.T, strict=True):
            stake[codes] = weights * column
        return mass, stakes
    mass[:n] = totals(codes, weights, n)
    if problem.reward.pooling is Pooling.MAXIMUM:
        stakes[0, :n] = 0
        np.maximum.at(stakes[0], codes, weights)
    else:
        for stake, column in zip(stakes, payoff.T, strict=True):
            stake[:n] = totals(codes, weights * column, n)
    return mass, stakes


def _action_type(m: int, columns: int) -> type[np.uint8 | np.int32]:
    return np.uint8 if m + columns < 256 else np.int32
