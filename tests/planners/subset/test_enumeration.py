"""All sets at once: equal to the definition."""

from __future__ import annotations

import numpy as np
import pytest

from proband.errors import TooLargeError
from proband.planners.subset import enumerate_values, solve_subset


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_values_are_those_of_the_definition(d, grouped, hard_case, plain_reward):
    rng = np.random.default_rng([d, grouped])
    covariance, options = hard_case(rng, d, grouped=grouped)
    values = enumerate_values(covariance, **options)
    assert values.shape == (2**d,)
    for number, value in enumerate(values):
        chosen = [i for i in range(d) if number >> i & 1]
        assert value == pytest.approx(plain_reward(covariance, chosen, **options), abs=1e-10)


def test_the_empty_set_is_worth_nothing():
    assert enumerate_values(np.eye(3), np.ones(3))[0] == 0.0


def test_group_costs_of_tests_without_a_group_are_not_read():
    covariance, costs = np.eye(3) + 0.2, np.array([1.0, 2.0, 1.5])
    expected = enumerate_values(covariance, costs)
    given = enumerate_values(covariance, costs, groups=[-1, -1, -1], group_costs=[np.nan, 9.0, -1.0])
    np.testing.assert_array_equal(given, expected)


def test_too_many_tests_are_refused():
    with pytest.raises(TooLargeError, match=r"27 tests have 2\^27 sets"):
        enumerate_values(np.eye(27), 1.0)
    with pytest.raises(TooLargeError, match=r"30 tests have 2\^30 sets"):
        solve_subset(np.eye(30), 1.0, method="enumeration")
