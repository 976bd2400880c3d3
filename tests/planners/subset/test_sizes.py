"""The best set of every size, proved."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from proband.planners.subset import sizes, solve_subset


def test_every_size_is_that_of_enumeration(hard_case, best_by_enumeration, plain_reward):
    methods = set()
    for seed in range(12):
        covariance, options = hard_case(np.random.default_rng([seed, 5]), 12, grouped=seed % 2 == 0)
        for size, found in enumerate(sizes(covariance, **options)):
            best = best_by_enumeration(covariance, options, size=size)
            assert len(found.chosen) == size
            assert found.status == "optimal"
            assert found.value == pytest.approx(best, abs=1e-9)
            assert found.value == pytest.approx(plain_reward(covariance, found.chosen, **options), abs=1e-9)
            assert best - 1e-11 <= found.bound <= best + 1e-8
            methods.add(found.method)
    assert methods == {"Lagrangian", "branch and bound"}


def test_without_costs_it_is_the_classical_problem():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(30, 20))
    covariance = rows.T @ rows
    found = sizes(covariance, sizes=[7, 3])
    for size, solution in zip([7, 3], found, strict=True):
        alone = solve_subset(covariance, 0.0, size=size, method="branch and bound")
        assert solution.value == pytest.approx(alone.value, abs=1e-9)
        chosen = list(solution.chosen)
        determinant = np.linalg.slogdet(covariance[np.ix_(chosen, chosen)])[1]
        assert 2 * solution.value - size * np.log(2 * np.pi * np.e) == pytest.approx(determinant, abs=1e-9)


def test_what_is_forced_limits_the_sizes(hard_case, best_by_enumeration):
    covariance, options = hard_case(np.random.default_rng(8), 11, grouped=True)
    forced = {"forced_in": (2, 9), "forced_out": (0,)}
    found = sizes(covariance, **options, **forced)
    assert [len(solution.chosen) for solution in found] == list(range(2, 11))
    for solution in found:
        best = best_by_enumeration(covariance, options, size=len(solution.chosen), **forced)
        assert solution.value == pytest.approx(best, abs=1e-9)


def hard_covariance(d=50):
    rng = np.random.default_rng(1)
    loadings = rng.normal(size=(d, d))
    return loadings @ loadings.T + np.eye(d)


def test_a_time_limit_leaves_valid_bounds():
    covariance = hard_covariance()
    short = sizes(covariance, sizes=[15, 20, 25], time_limit=0.2)
    assert {solution.status for solution in short} <= {"time", "optimal"}
    assert "time" in {solution.status for solution in short}
    longer = sizes(covariance, sizes=[15, 20, 25], time_limit=1.0)
    for one, other in zip(short, longer, strict=True):
        assert one.value < one.bound < np.inf
        assert one.value <= other.bound + 1e-9
        assert other.value <= one.bound + 1e-9


def test_ctrl_c_leaves_what_is_known():
    covariance = hard_covariance()
    seen = []

    def progress(report):
        seen.append(report)
        if len(seen) == 3:
            signal.raise_signal(signal.SIGINT)

    found = sizes(covariance, progress=progress)
    assert len(found) == 51
    assert found[0].status == found[50].status == "optimal"
    assert "interrupted" in {solution.status for solution in found}
    for size, solution in enumerate(found):
        assert len(solution.chosen) == size
        assert solution.value <= solution.bound < np.inf


def test_progress_can_end_the_search():
    reports = []

    def progress(report):
        reports.append(report)
        return len(reports) < 5

    found = sizes(hard_covariance(), progress=progress)
    assert len(reports) == 5
    assert reports[-1].total == 51
    assert reports[-1].details["nodes"] > reports[0].details["nodes"]
    assert reports[-1].done <= sum(solution.status == "optimal" for solution in found)
    assert "interrupted" in {solution.status for solution in found}
