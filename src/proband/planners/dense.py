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
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from proband.distributions import Discrete, totals
from proband.errors import TooLargeError
from proband.planners.dense_plan import Actions, DensePlan, Solution
from proband.planners.layout import MOST_TESTS, Layout, layout_of
from proband.planners.memory import available_memory, human_bytes, human_number
from proband.planners.options import Options, serves
from proband.problem import Problem
from proband.rewards import Table
from proband.vocabulary import FloatArray, IntArray, Kind, Pooling, outcome_codes, outcome_rows

ONE_CALL = 2**18
"""Problems with fewer states are solved in one call by one thread."""

MANY_DECISIONS = 8
"""From so many decisions on stakes may be those of labels."""

NO_TABLE = np.zeros((0, 0))

WORTH_THREADS = 2**16
"""With fewer states in all, threads take longer to start than to work."""


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
    return _labels(problem) if _by_label(problem) else problem.n_columns


def staked(problem: Problem, support: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what is at stake in support rows, a column for each stake, and a table from stakes to decisions.

    Where there are far more decisions than labels (what the reward depends on), such as forecasts, the stakes are those
    of labels, and the table has what each decision brings for each label; otherwise it is empty.
    """
    if not _by_label(problem):
        return problem.payoff(support), NO_TABLE
    targets, labels = problem.targets, _labels(problem)
    asked = [problem.tests[i] for i in targets]
    rows = np.zeros((labels, problem.d))
    rows[:, targets] = outcome_rows(np.arange(labels), asked)
    shown = outcome_codes(support[:, targets], asked)
    return (shown[:, None] == np.arange(labels)).astype(np.float64), np.ascontiguousarray(problem.payoff(rows))


def _labels(problem: Problem) -> int:
    """Return how many outcomes the tests have together on which the reward depends."""
    return math.prod(problem.k[problem.targets].tolist())


def _by_label(problem: Problem) -> bool:
    return isinstance(problem.reward, Table) and problem.n_columns >= max(MANY_DECISIONS, 2 * _labels(problem))


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
