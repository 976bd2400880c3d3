"""Costs of sets, against paying test by test in every order."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from proband import Problem, Test
from proband.prices import as_bits
from proband.rewards import Entropy

D = 6


@pytest.fixture(params=range(12))
def problem(request: pytest.FixtureRequest) -> Problem:
    rng = np.random.default_rng(request.param)
    costs = rng.uniform(0, 3, size=D)
    kinds = [None, "van", "boat"]
    groups = [kinds[rng.integers(3)] for _ in range(D)]
    tests = [
        Test(f"site {i}", c, outcomes=None, group=g, group_cost=g and c * rng.random())
        for i, (g, c) in enumerate(zip(groups, costs, strict=True))
    ]
    return Problem(tests, ["stop"], Entropy())


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
    costs = problem.prices
    for tests in subsets(range(5)):
        assert costs.of(tests) == pytest.approx(cheapest(problem, tests), abs=1e-12)
        order = [i for i in problem.cheapest_order if i in tests]
        assert paid(problem, order) == pytest.approx(costs.of(tests), abs=1e-12)


def test_all_subsets_at_once(problem: Problem) -> None:
    costs = problem.prices
    for base, free in ([[], range(D)], [[1, 4], [0, 2, 5]], [[0], []]):
        expected = [costs.of([*base, *more]) for more in subsets(list(free))]
        assert costs.of_all(base, free) == pytest.approx(expected, abs=1e-12)


def test_bounds_on_the_rise_are_reached(problem: Problem) -> None:
    costs, inside, possible = problem.prices, [2], [0, 1, 2, 4]
    flags = np.isin(np.arange(D), inside), np.isin(np.arange(D), possible)
    least, most = costs.bounds(*flags)
    for i in range(D):
        base = [j for j in inside if j != i]
        sets = [[*base, *more] for more in subsets([j for j in possible if j not in {i, *inside}])]
        rises = [costs.of([*tests, i]) - costs.of(tests) for tests in sets]
        assert (least[i], most[i]) == pytest.approx((min(rises), max(rises)), abs=1e-12)


def test_exchanges(problem: Problem) -> None:
    costs, inside, others = problem.prices, [0, 2, 3], [1, 4, 5]
    found = costs.exchanges(inside, others)
    for n, i in enumerate(others):
        for m, j in enumerate(inside):
            exchanged = [k for k in inside if k != j] + [i]
            assert found[n, m] == pytest.approx(costs.of(exchanged) - costs.of(inside), abs=1e-12)


def test_what_is_run_lowers_the_prices_of_its_peers(problem: Problem) -> None:
    prices = problem.prices
    done = np.array([[bool(number >> i & 1) for i in range(D)] for number in range(1 << D)])
    opened = (done[:, None, :] & prices.peers).any(axis=2)
    assert (prices.after(done) == np.where(opened, *prices.both[::-1])).all()
    assert [sum(1 << int(j) for j in problem.peers(i)) for i in range(D)] == as_bits(prices.peers).tolist()
    some = np.array([1, 2, 5])
    assert (prices.only(some).peers == prices.peers[np.ix_(some, some)]).all()
