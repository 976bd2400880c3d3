"""Climbing ends where no addition, removal or exchange helps."""

from __future__ import annotations

import numpy as np
import pytest

from proband.errors import DistributionError
from proband.planners.subset import improve


def neighbours(chosen, d, least, most):
    inside, outside = set(chosen), set(range(d)) - set(chosen)
    if len(inside) < most:
        yield from (inside | {i} for i in outside)
    if len(inside) > least:
        yield from (inside - {j} for j in inside)
    yield from (inside - {j} | {i} for j in inside for i in outside)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("size", [None, 4])
@pytest.mark.parametrize("start", [(), (0, 1, 2, 3, 4, 5)])
def test_no_move_helps(grouped, size, start, hard_case, plain_reward):
    for seed in range(8):
        covariance, options = hard_case(np.random.default_rng([seed, grouped]), 9, grouped=grouped)
        chosen = improve(covariance, start=start, size=size, **options)
        value = plain_reward(covariance, chosen, **options)
        assert chosen == tuple(sorted(set(chosen)))
        least, most = (0, 9) if size is None else (size, size)
        assert least <= len(chosen) <= most
        for other in neighbours(chosen, 9, least, most):
            assert plain_reward(covariance, sorted(other), **options) <= value + 1e-9


def test_it_begins_where_it_is_told_to(hard_case, plain_reward):
    covariance, options = hard_case(np.random.default_rng(4), 10, grouped=False)
    start = (1, 3, 5)
    assert plain_reward(covariance, improve(covariance, start=start, **options), **options) >= plain_reward(
        covariance, start, **options
    )


def test_what_is_forced_stays():
    covariance = np.eye(6) + 0.5
    chosen = improve(covariance, np.zeros(6), size=3, forced_in=[5], forced_out=[0], start=[0, 1, 2, 3])
    assert len(chosen) == 3
    assert 5 in chosen
    assert 0 not in chosen


def test_a_largest_size_is_kept():
    assert len(improve(np.eye(6), np.zeros(6), max_size=2)) == 2


def test_a_singular_covariance_is_no_obstacle():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4, 9))
    covariance = rows.T @ rows  # rank 4
    chosen = improve(covariance, np.zeros(9))
    assert 0 < len(chosen) <= 4
    assert np.linalg.eigvalsh(covariance[np.ix_(chosen, chosen)]).min() > 0
    with pytest.raises(DistributionError, match="ask for fewer tests"):
        improve(covariance, np.zeros(9), size=5)


def test_a_largest_size_below_the_size_is_refused():
    with pytest.raises(DistributionError, match="max_size is 2 and 3 tests are asked for"):
        improve(np.eye(5), 1.0, size=3, max_size=2)


def test_a_start_that_is_no_test_is_refused():
    with pytest.raises(DistributionError, match="start has 5"):
        improve(np.eye(5), 1.0, start=[5])
