"""The lattice of sets, its rules and its bounds, against plain loops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from proband import Problem
from proband.agents.entropy.certificates.branches import Branches, Chains
from proband.agents.entropy.certificates.lattice import Lattice
from proband.agents.entropy.certificates.lattice_kernel import log_determinants
from proband.agents.entropy.certificates.rivals import Rivals
from proband.agents.entropy.certificates.rules import LOG_TWO_PI_E, Rules, residuals, residuals_given
from proband.agents.entropy.certificates.widths import Event, Looks, pair_widths
from proband.agents.entropy.learning.scatter import Scatter
from proband.prices import Prices

EVENT = Event(6, 60, 60, 60, math.log(0.01))


def scatter_of(rng: np.random.Generator, d: int = 6, n: int = 60) -> Scatter:
    scatter = Scatter(range(d), np.zeros(d))
    scatter.add(rng.normal(size=(n, d)) @ (rng.random((d, d)) + np.eye(d)) * 2)
    return scatter


def reward(scatter: Scatter, costs: Prices, tests: Any, scale: float = 1.0) -> float:
    chosen = np.searchsorted(scatter.sites, sorted(tests))
    logdet = np.linalg.slogdet(scatter.matrix[np.ix_(chosen, chosen)] / scatter.degrees)[1]
    return float(scale * (len(chosen) * LOG_TWO_PI_E + logdet) / 2 - costs.of(tests))


@pytest.fixture(params=[False, True], ids=["alone", "groups"])
def problem(request: pytest.FixtureRequest, make_problem: Callable[..., Problem]) -> Problem:
    groups = [("van", 0.8), None, ("van", 1.0), ("boat", 0.2), ("boat", 0.9), None] if request.param else ()
    return make_problem([1.9, 2.4, 2.2, 2.0, 2.5, 2.1], groups=groups)


def test_log_determinants_of_all_subsets(rng: np.random.Generator) -> None:
    matrix = scatter_of(rng).matrix
    found = log_determinants(matrix)
    for number in range(1 << 6):
        members = [i for i in range(6) if number >> i & 1]
        assert found[number] == pytest.approx(np.linalg.slogdet(matrix[np.ix_(members, members)])[1], abs=1e-10)


def test_singular_subsets_have_no_log_determinant() -> None:
    found = log_determinants(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]]))
    assert np.isinf(found[[0b011, 0b111]]).all()
    assert found[[0b101, 0b110]] == pytest.approx(math.log(2))


def test_rewards_differ_as_those_of_whole_sets(problem: Problem, rng: np.random.Generator) -> None:
    scatter, costs = scatter_of(rng), problem.prices
    lattice = Lattice(np.array([1, 4]), np.array([0, 3, 5]))
    found = lattice.rewards(scatter, costs, 1.5)
    right = np.array([reward(scatter, costs, lattice.members(S), 1.5) for S in range(8)])
    assert found - found[0] == pytest.approx(right - right[0])


def test_comparisons_drop_what_plain_loops_drop(problem: Problem, rng: np.random.Generator) -> None:
    scatter, costs = scatter_of(rng, n=400), problem.prices
    event = Event(6, 400, 400, 400, math.log(0.01))
    lattice = Lattice(np.array([1]), np.array([0, 2, 3, 4, 5]))
    rewards, widths = lattice.rewards(scatter, costs, 1.0), lattice.widths(event, 1.0)

    def width(S: int, T: int) -> float:
        table = event.pairs(1 + (S & T).bit_count(), 5, 5)
        return float(table[(S & ~T).bit_count(), (T & ~S).bit_count()]) / 2

    order = np.argsort(-rewards, kind="stable")[:16].tolist()
    near = [1 << i for i in range(5)] + [1 << i | 1 << j for i, j in itertools.combinations(range(5), 2)]
    alive = []
    for S in range(32):
        close = [S ^ m for m in near if m.bit_count() == 1 or (S & m).bit_count() == 1]
        alive.append(not any(rewards[S] + width(S, T) < rewards[T] for T in {*order, *close} - {S}))
    lattice.compare(rewards, widths)
    assert lattice.alive.tolist() == alive
    assert 0 < lattice.alive.sum() < 32
    best = lattice.best(rewards)
    left = np.flatnonzero(alive).tolist()
    bound = max(rewards[S] - rewards[best] + (width(S, best) if best != S else 0.0) for S in left)
    assert lattice.bound(rewards, widths, best) == pytest.approx(bound)


def test_somebody_survives_even_impossible_widths() -> None:
    lattice = Lattice(np.array([], dtype=np.int64), np.array([0, 1]))
    lattice.compare(np.array([0.0, 1.0, 2.0, 1.5]), np.full((3, 3, 3), -10.0))
    assert lattice.alive.tolist() == [False, False, True, False]


def test_a_settled_lattice_has_the_same_sets() -> None:
    lattice = Lattice(np.array([7]), np.array([0, 2, 5, 9]))
    lattice.alive[:] = False
    lattice.alive[[0b0010, 0b1010, 0b1110]] = True
    smaller = lattice.settled()
    assert smaller.base.tolist() == [2, 7]
    assert smaller.free.tolist() == [5, 9]
    sets = {lattice.members(int(S)) for S in np.flatnonzero(lattice.alive)}
    assert {smaller.members(int(S)) for S in np.flatnonzero(smaller.alive)} == sets
    assert smaller.settled() is smaller
    assert smaller.members(smaller.top) == (2, 5, 7, 9)


def test_maximal_sets_lie_in_no_other() -> None:
    lattice = Lattice(np.array([], dtype=np.int64), np.arange(4))
    lattice.alive[:] = False
    lattice.alive[[0b0001, 0b0011, 0b0110, 0b1100, 0b0100]] = True
    assert sorted(lattice.maximal().tolist()) == [0b0011, 0b0110, 0b1100]


def test_residuals_are_those_of_regressions(rng: np.random.Generator) -> None:
    rows = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4))
    scatter = Scatter(range(4), np.zeros(4))
    scatter.add(rows)
    for given in ([0, 1, 3], [2], []):
        flags = np.isin(np.arange(4), given)
        for i in range(4):
            fitted = rows[:, given] @ np.linalg.lstsq(rows[:, given], rows[:, i], rcond=None)[0] if given else 0.0
            assert residuals_given(scatter, flags)[i] == pytest.approx(((rows[:, i] - fitted) ** 2).sum(), abs=1e-8)
    for i in range(4):
        others = np.arange(4) != i
        assert residuals(scatter, np.ones(4, dtype=bool))[i] == pytest.approx(residuals_given(scatter, others)[i])


def test_residuals_of_copies_vanish() -> None:
    rows = np.random.default_rng(0).normal(size=(30, 3))
    rows = np.column_stack([rows, rows[:, 0], np.zeros(30)])
    scatter = Scatter(range(5), np.zeros(5))
    scatter.add(rows)
    found = residuals(scatter, np.ones(5, dtype=bool))
    assert found[[0, 3, 4]] == pytest.approx(0, abs=1e-10)
    assert found[1] == pytest.approx((rows[:, 1] ** 2).sum(), rel=0.2)


def test_rules_settle_what_is_clear_and_nothing_else(
    make_problem: Callable[..., Problem], rng: np.random.Generator
) -> None:
    costs = make_problem([0.2, 4.0, 1.4189, 1.0]).prices
    rules = Rules(costs, 1.0, Looks(20, 0.1), math.log(0.05))
    nobody, everybody = np.zeros(4, dtype=bool), np.ones(4, dtype=bool)
    scatter = Scatter(range(4), np.zeros(4))
    scatter.add(rng.normal(size=(400, 4)))
    inside, possible = rules.settle(scatter, nobody, everybody)
    assert inside.tolist() == [True, False, False, True]
    assert possible.tolist() == [True, False, True, True]
    early = Scatter(range(4), np.zeros(4))
    early.add(rng.normal(size=(19, 4)))
    assert not rules.settle(early, nobody, everybody)[0].any()


def test_rules_do_not_trust_the_price_of_a_group(
    make_problem: Callable[..., Problem], rng: np.random.Generator
) -> None:
    """A test is dear alone and cheap with its peer: nothing is clear until the peer is settled."""
    scatter = Scatter(range(2), np.zeros(2))
    scatter.add(rng.normal(size=(2000, 2)))
    flags = np.zeros(2, dtype=bool), np.ones(2, dtype=bool)
    for peer, inside in ((0.5, [True, True]), (1.42, [False, False])):
        problem = make_problem([peer, 2.0], groups=[("van", peer), ("van", 1.2)])
        rules = Rules(problem.prices, 1.0, Looks(20, 0.1), math.log(0.05))
        found, possible = rules.settle(scatter, *flags)
        assert found.tolist() == inside
        assert possible.all()


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_without_enumeration_is_a_bound(problem: Problem, seed: int) -> None:
    scatter, costs = scatter_of(np.random.default_rng(seed)), problem.prices
    scatter.matrix /= 6  # closer to what the tests cost: several sets are near the best
    inside, possible = np.isin(np.arange(6), [3]), np.arange(6) != 1
    rivals = Rivals(scatter, costs, 1.0, inside, possible)
    best = tuple(rivals.climb())
    highest = 0.0
    for more in itertools.chain.from_iterable(itertools.combinations([0, 2, 4, 5], k) for k in range(5)):
        tests = {3, *more}
        a, b = len(tests - set(best)), len(set(best) - tests)
        if a + b:
            width = float(EVENT.pairs(len(tests & set(best)), a, b)[a, b]) / 2
            highest = max(highest, reward(scatter, costs, tests) - reward(scatter, costs, best) + width)
    bound = rivals.bound(best, EVENT, math.inf)
    assert highest - 1e-9 <= bound <= 2 * highest + 0.2
    for hopeless in (highest / 2, highest):
        assert rivals.bound(best, EVENT, hopeless + 1e-9) in (bound, math.inf if hopeless < highest else bound)


def test_climbing_keeps_what_is_inside_and_the_size(problem: Problem, rng: np.random.Generator) -> None:
    scatter, costs = scatter_of(rng), problem.prices
    inside = np.isin(np.arange(6), [1])
    rivals = Rivals(scatter, costs, 1.0, inside, np.ones(6, dtype=bool))
    assert 1 in rivals.climb()
    nobody = np.zeros(6, dtype=bool)
    assert len(Rivals(scatter, costs, 1.0, nobody, ~nobody).climb(max_size=2)) <= 2


def branches_of(rng: np.random.Generator) -> Branches:
    rows = rng.normal(size=(200, 4)) @ (rng.random((4, 4)) + np.eye(4))
    branches = Branches(4, np.zeros(4))
    branches.add((0, 1, 2, 3), rows[:60], np.ones(60, dtype=np.int64))
    for tested, part in (((0, 1, 2), rows[60:110]), ((1, 3), rows[110:200])):
        seen = np.full(part.shape, np.nan)
        seen[:, list(tested)] = part[:, list(tested)]
        branches.add(tested, seen, np.ones(len(part), dtype=np.int64))
    return branches


def test_branches_serve_the_sets_inside_them(rng: np.random.Generator) -> None:
    branches = branches_of(rng)
    assert [branches.rounds(tests) for tests in ((0, 3), (0, 2), (1,), (1, 3), ())] == [60, 110, 200, 150, 200]
    assert branches.scatter(((0, 1, 2), (1, 3))).sites.tolist() == [1]
    branches.shrink(np.array([True, True, True, False]))
    assert branches.trunk.n == 110
    assert list(branches.others) == [(1,)]
    branches.shrink(np.array([False, True, False, False]))
    assert branches.trunk.n == 200
    assert not branches.others


def test_what_a_row_shows_beyond_what_was_asked_for_is_not_looked_at(rng: np.random.Generator) -> None:
    branches = Branches(3)
    rows = rng.normal(size=(4, 3))
    rows[1, 2] = rows[2, 1] = rows[3, 0] = np.nan
    branches.add((0, 1), rows, np.ones(4, dtype=np.int64))
    assert branches.trunk.n == 0
    assert branches.others[0, 1].n == 2


def test_chains_compare_sets_on_the_rounds_that_hold_them(problem: Problem, rng: np.random.Generator) -> None:
    branches, costs = branches_of(rng), problem.prices
    lattice, looks = Lattice(np.array([1]), np.array([0, 2, 3])), Looks(10, 0.01, flat=400)
    chains = Chains(lattice, branches, costs, 1.0, looks, math.log(0.005))
    S, T = 0b001, 0b100  # tests {0, 1} and {1, 3}: together in 60 rounds, apart in 110 and 150
    sets, ahead, widths = chains.against(T)
    n = int(np.flatnonzero(sets == S)[0])
    first, second = branches.scatter(((0, 1, 2),)), branches.scatter(((1, 3),))
    gain = residuals_given(first, np.isin(np.arange(4), [1]))[0] / 110
    other = residuals_given(second, np.isin(np.arange(4), [1]))[3] / 150
    price = costs.of([0, 1]) - costs.of([1, 3])
    chain = math.log(gain / other) / 2 - price
    together = reward(branches.trunk, costs, [0, 1]) - reward(branches.trunk, costs, [1, 3])
    assert ahead[n] == pytest.approx(chain) or ahead[n] == pytest.approx(together)
    low, high = looks.count(looks.floor(60)), looks.count(looks.floor(60) + 1)
    log_inverse = math.log(6 * 15 / 0.005) - looks.log_share(looks.floor(60))
    joint = pair_widths(low, high, 1, np.full((2, 1), log_inverse), unit=60, start=1)[1, 0] / 2
    assert widths[n] <= joint + 1e-12
    assert widths[sets == T] == 0
    assert ahead[sets == T] == 0
