"""Costs of sets, against paying test by test in every order."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from proband import Problem, Test
from proband.agents.entropy.costs import SetCosts
from proband.errors import AgentError
from proband.rewards import Match

D = 6


@pytest.fixture(params=range(12))
def problem(request: pytest.FixtureRequest, make_problem: Callable[..., Problem]) -> Problem:
    rng = np.random.default_rng(request.param)
    costs = rng.uniform(0, 3, size=D)
    kinds = [None, "van", "boat"]
    groups = [kinds[rng.integers(3)] for _ in range(D)]
    return make_problem(costs, groups=[g and (g, c * rng.random()) for g, c in zip(groups, costs, strict=True)])


def paid(problem: Problem, order: Sequence[int]) -> float:
    state, total = np.full((1, problem.d), np.nan), 0.0
    for i in order:
        total += float(problem.costs(state)[0, i])
        state[0, i] = 0.0
    return total


def cheapest(problem: Problem, tests: Sequence[int]) -> float:
    return min(paid(problem, order) for order in itertools.permutations(tests))


def subsets(tests: Sequence[int]) -> list[list[int]]:
    return [[i for n, i in enumerate(tests) if number >> n & 1] for number in range(1 << len(tests))]


def test_a_set_costs_what_its_cheapest_order_costs(problem: Problem) -> None:
    costs = SetCosts(problem)
    for tests in subsets(range(5)):
        assert costs.of(tests) == pytest.approx(cheapest(problem, tests), abs=1e-12)
        order = [i for i in problem.cheapest_order if i in tests]
        assert paid(problem, order) == pytest.approx(costs.of(tests), abs=1e-12)


def test_all_subsets_at_once(problem: Problem) -> None:
    costs = SetCosts(problem)
    for base, free in ([[], range(D)], [[1, 4], [0, 2, 5]], [[0], []]):
        expected = [costs.of([*base, *more]) for more in subsets(list(free))]
        assert costs.of_all(base, free) == pytest.approx(expected, abs=1e-12)


def test_bounds_on_the_rise_are_reached(problem: Problem) -> None:
    costs, inside, possible = SetCosts(problem), [2], [0, 1, 2, 4]
    flags = np.isin(np.arange(D), inside), np.isin(np.arange(D), possible)
    least, most = costs.bounds(*flags)
    for i in range(D):
        base = [j for j in inside if j != i]
        sets = [[*base, *more] for more in subsets([j for j in possible if j not in {i, *inside}])]
        rises = [costs.of([*tests, i]) - costs.of(tests) for tests in sets]
        assert (least[i], most[i]) == pytest.approx((min(rises), max(rises)), abs=1e-12)


def test_exchanges(problem: Problem) -> None:
    costs, inside, others = SetCosts(problem), [0, 2, 3], [1, 4, 5]
    found = costs.exchanges(inside, others)
    for n, i in enumerate(others):
        for m, j in enumerate(inside):
            exchanged = [k for k in inside if k != j] + [i]
            assert found[n, m] == pytest.approx(costs.of(exchanged) - costs.of(inside), abs=1e-12)


def test_another_reward_is_refused() -> None:
    with pytest.raises(AgentError, match="the reward is Match; this agent is for maximum-entropy sampling"):
        SetCosts(Problem([Test("crack", 1.0)], (), Match()))
