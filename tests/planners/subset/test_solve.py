"""Branch and bound finds what enumeration finds, and is honest when stopped."""

from __future__ import annotations

import itertools
import signal

import numpy as np
import pytest

from proband.planners.subset import solve_subset
from proband.planners.subset.branch_and_bound import BranchAndBound, StopRule
from proband.planners.subset.checking import checked_candidates
from proband.planners.subset.objective import objective_of
from proband.planners.subset.search_kernel import RELAXED


def random_limits(rng, d):
    """A size or none, and forced tests that leave it possible."""
    size = int(rng.integers(1, d)) if rng.random() < 0.5 else None
    forced_in, forced_out = (), ()
    if rng.random() < 0.4:
        order = rng.permutation(d).tolist()
        forced_in, forced_out = tuple(order[:1]), tuple(order[1:2])
    return {"size": size, "forced_in": forced_in, "forced_out": forced_out}


def agree(found, best, plain):
    assert found.status == "optimal"
    assert found.value == pytest.approx(best, abs=1e-9)
    assert found.value == pytest.approx(plain, abs=1e-9)
    assert best - 1e-11 <= found.bound <= best + 1e-8
    assert found.gap == found.bound - found.value >= 0


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("seed", range(150))
def test_branch_and_bound_is_enumeration(seed, grouped, hard_case, best_by_enumeration, plain_reward):
    rng = np.random.default_rng([seed, grouped])
    d = int(rng.integers(3, 13))
    covariance, options = hard_case(rng, d, grouped=grouped)
    limits = random_limits(rng, d)
    best = best_by_enumeration(covariance, options, **limits)
    for method in ("enumeration", "branch and bound", "Lagrangian"):
        if method == "Lagrangian" and limits["size"] is None:
            continue
        found = solve_subset(covariance, method=method, **options, **limits)
        agree(found, best, plain_reward(covariance, found.chosen, **options))
        assert limits["size"] in (None, len(found.chosen))
        assert set(limits["forced_in"]) <= set(found.chosen)
        assert not set(limits["forced_out"]) & set(found.chosen)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("size", [None, 7])
def test_larger_trees(size, grouped, hard_case, best_by_enumeration, plain_reward):
    nodes = 0
    for seed in range(12):
        covariance, options = hard_case(np.random.default_rng([seed, grouped]), 15, grouped=grouped)
        best = best_by_enumeration(covariance, options, size=size)
        found = solve_subset(covariance, size=size, method="branch and bound", **options)
        agree(found, best, plain_reward(covariance, found.chosen, **options))
        nodes += found.nodes
    assert nodes > 50


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("size", [None, 6])
def test_no_incumbent_is_needed(size, grouped, hard_case, best_by_enumeration):
    """Without a first set every rule has to work from the bounds alone; the relaxation is among them."""
    relaxed = 0
    for seed in range(25):
        covariance, options = hard_case(np.random.default_rng([seed, grouped, 1]), 13, grouped=grouped)
        complete = {"groups": None, "group_costs": None, **options}
        candidates = checked_candidates(covariance, forced_in=(), forced_out=(), **complete)
        search = BranchAndBound(candidates, objective_of(candidates, size=size), 0.0)
        assert search.run(StopRule()) == "optimal"
        best = 2 / candidates.scale * best_by_enumeration(covariance, options, size=size)
        assert search.value == pytest.approx(best, abs=1e-9)
        assert best - 1e-11 <= search.bound <= best + 1e-8
        relaxed += search.best.counts[RELAXED]
    assert relaxed > 0


@pytest.mark.parametrize(("size", "method"), [(None, "branch and bound"), (6, "branch and bound"), (6, "Lagrangian")])
def test_a_search_cut_short_has_a_valid_bound(size, method, hard_case, best_by_enumeration, plain_reward):
    open_ones = 0
    for seed in range(20):
        covariance, options = hard_case(np.random.default_rng([seed, 2]), 14, grouped=seed % 2 == 0)
        best = best_by_enumeration(covariance, options, size=size)
        bounds = []
        for nodes in (0, 1, 3, 10, 30):
            found = solve_subset(covariance, size=size, node_limit=nodes, method=method, **options)
            assert found.value == pytest.approx(plain_reward(covariance, found.chosen, **options), abs=1e-9)
            assert found.value <= best + 1e-9
            assert found.bound >= best - 1e-11
            assert found.status in ("optimal", "nodes")
            assert found.status == "nodes" or found.gap < 1e-8
            open_ones += found.status == "nodes"
            bounds.append(found.bound)
        assert bounds[-1] <= bounds[0] + 1e-9
    assert open_ones > 20


def hard_one(d=60, factors=60):
    """A case that takes longer than the tests have."""
    rng = np.random.default_rng(3)
    loadings = rng.normal(size=(d, factors))
    covariance = loadings @ loadings.T + np.eye(d)
    bare = np.log(2 * np.pi * np.e * covariance.diagonal()).max() / 2
    last = np.log(2 * np.pi * np.e / np.linalg.inv(covariance).diagonal()).min() / 2
    return covariance, (bare + last) / 2


@pytest.mark.parametrize("size", [None, 30])
def test_a_time_limit_is_kept(size):
    covariance, cost = hard_one()
    found = solve_subset(covariance, cost, size=size, time_limit=0.05)
    assert found.status == "time"
    assert found.seconds >= 0.05
    assert found.gap > 1e-3
    longer = solve_subset(covariance, cost, size=size, node_limit=found.nodes // 4)
    assert found.value <= longer.bound + 1e-9


@pytest.mark.parametrize("size", [None, 30])
def test_ctrl_c_returns_the_best_so_far(size):
    covariance, cost = hard_one()
    seen = []

    def progress(report):
        seen.append(report)
        if len(seen) == 3:
            signal.raise_signal(signal.SIGINT)

    found = solve_subset(covariance, cost, size=size, progress=progress)
    assert found.status == "interrupted"
    assert len(seen) == 3
    assert size in (None, len(found.chosen))
    assert found.value == pytest.approx(seen[-1].value, abs=1e-9) or found.value > seen[-1].value
    assert found.value < found.bound <= seen[-1].bound + 1e-9


@pytest.mark.parametrize("size", [None, 30])
def test_progress_is_seen_and_can_end_the_search(size):
    covariance, cost = hard_one()
    seen = []

    def progress(report):
        seen.append(report)
        return len(seen) < 4

    found = solve_subset(covariance, cost, size=size, progress=progress)
    assert found.status == "interrupted"
    assert len(seen) == 4
    for before, after in itertools.pairwise(seen):
        assert after.value >= before.value - 1e-12
        assert after.bound <= before.bound + 1e-9
        assert after.done > before.done
        assert after.seconds > before.seconds
        assert after.value < after.bound
    assert seen[-1].details["open"] > 0


def test_a_start_is_used():
    covariance, cost = hard_one()
    better = solve_subset(covariance, cost, node_limit=3000)
    found = solve_subset(covariance, cost, node_limit=0, start=better.chosen)
    assert found.value == pytest.approx(better.value, abs=1e-9)


def test_a_start_that_is_not_allowed_is_ignored():
    covariance = np.eye(4) + 0.5
    for method in ("branch and bound", "Lagrangian"):
        found = solve_subset(covariance, 1.0, size=2, forced_out=[3], start=[2, 3], method=method)
        assert len(found.chosen) == 2
        assert 3 not in found.chosen
    assert len(solve_subset(covariance, 1.0, size=2, start=[0, 1, 2], method="branch and bound").chosen) == 2


def test_equal_tests_do_not_multiply_the_work():
    """Sixty tests that can all be exchanged for each other: only their number matters."""
    covariance = np.full((60, 60), 0.5) + 0.5 * np.eye(60)
    found = solve_subset(covariance, 1.2)
    values = [s * (np.log(np.pi * np.e) / 2 - 1.2) + np.log(1 + s) / 2 for s in range(61)]
    assert found.value == pytest.approx(max(values), abs=1e-9)
    assert len(found.chosen) == int(np.argmax(values))
    assert found.nodes < 200
    assert solve_subset(covariance, 0.0, size=30, method="branch and bound").nodes < 200


def test_units_do_not_matter(hard_case):
    covariance, options = hard_case(np.random.default_rng(7), 14, grouped=True)
    found = solve_subset(covariance, **options)
    factor = 1e-4
    scaled = {key: options[key] * factor for key in ("scale", "costs", "group_costs")} | {"groups": options["groups"]}
    again = solve_subset(covariance, tolerance=1e-13, **scaled)
    assert again.chosen == found.chosen
    assert again.value == pytest.approx(factor * found.value, rel=1e-9)


def test_a_nearly_singular_covariance_widens_the_bound():
    x = np.linspace(0, 1, 12)
    covariance = np.exp(-0.5 * ((x[:, None] - x) / 0.3) ** 2)
    gaps = []
    for noise in (1e-2, 1e-5, 1e-8):
        noisy = covariance + noise * np.eye(12)
        best = solve_subset(noisy, 0.1, method="enumeration")
        found = solve_subset(noisy, 0.1, method="branch and bound")
        assert found.value == pytest.approx(best.value, abs=1e-7)
        assert found.bound >= best.value
        gaps.append(found.gap)
    assert gaps[0] < 1e-9 < gaps[2] < 1e-2


def test_ends_are_trivial():
    covariance = np.eye(12) + 0.3
    nothing = solve_subset(covariance, 100.0, method="branch and bound")
    assert (nothing.chosen, nothing.value) == ((), 0.0)
    everything = solve_subset(covariance, 0.0, method="branch and bound")
    assert everything.chosen == tuple(range(12))
    for size in (0, 12):
        for method in ("branch and bound", "Lagrangian"):
            assert len(solve_subset(covariance, 1.0, size=size, method=method).chosen) == size
    fixed = solve_subset(covariance, 1.0, forced_in=range(6), forced_out=range(6, 12), method="branch and bound")
    assert fixed.chosen == tuple(range(6))


def test_the_method_is_chosen_and_named():
    covariance = np.full((15, 15), 0.4) + np.diag(np.linspace(1, 2, 15))
    assert solve_subset(covariance[:10, :10], 1.0).method == "enumeration"
    assert solve_subset(covariance, 1.0).method == "branch and bound"
    assert solve_subset(covariance, 1.0, size=5).method in ("Lagrangian", "branch and bound")
