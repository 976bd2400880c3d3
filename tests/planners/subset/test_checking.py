"""Wrong input is named, with the rule and the remedy."""

from __future__ import annotations

import numpy as np
import pytest

from proband.errors import DistributionError
from proband.planners.subset import enumerate_values, improve, sizes, solve_subset

GOOD = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.3], [0.1, 0.3, 1.5]])
SKEW = GOOD + np.array([[0, 0.1, 0], [0, 0, 0], [0, 0, 0]])
INDEFINITE = np.array([[1.0, 0.9, 0.9], [0.9, 1.0, -0.9], [0.9, -0.9, 1.0]])
SINGULAR = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("covariance", "message"),
    [
        (GOOD[:2], "the covariance has shape \\(2, 3\\)"),
        (np.zeros((0, 0)), "the covariance has shape \\(0, 0\\)"),
        (np.ones(3), "the covariance has shape \\(3,\\)"),
        ([["a", "b"], ["c", "d"]], "no array of numbers"),
        (np.where(GOOD == 0.3, np.nan, GOOD), "tests 1 and 2 is nan; covariances must be finite"),
        (np.where(GOOD == 0.3, np.inf, GOOD), "tests 1 and 2 is inf; covariances must be finite"),
        (GOOD - np.diag([0, 1, 0]), "the variance of test 1 is 0; a variance must be above 0"),
        (SKEW, "a covariance must be symmetric"),
        (INDEFINITE, "the smallest eigenvalue of the correlations is -0.8; a covariance must be positive definite"),
        (SINGULAR, "singular to working precision"),
        (SINGULAR + 1e-13 * np.eye(3), "singular to working precision"),
    ],
)
def test_covariances(covariance, message):
    with pytest.raises(DistributionError, match=message):
        solve_subset(covariance, 1.0)


def test_every_entry_point_checks_the_covariance():
    for solve in (solve_subset, enumerate_values, improve):
        with pytest.raises(DistributionError, match="symmetric"):
            solve(SKEW, 1.0)
    for solve in (solve_subset, enumerate_values):
        with pytest.raises(DistributionError, match="positive definite"):
            solve(INDEFINITE, 1.0)
    with pytest.raises(DistributionError, match="positive definite"):
        sizes(INDEFINITE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"costs": [1.0, 1.0]}, "costs have shape \\(2,\\); there must be one for each of the 3 tests"),
        ({"costs": [1.0, -1.0, 1.0]}, "costs: test 1 has -1.0; a cost must be finite and 0 or more"),
        ({"costs": [1.0, np.nan, 1.0]}, "costs: test 1 has nan"),
        ({"costs": [1.0, np.inf, 1.0]}, "costs: test 1 has inf"),
        ({"costs": ["a", 1.0, 1.0]}, "costs are no numbers"),
        ({"costs": 1e300, "scale": 1e-300}, "overflow"),
        ({"scale": 0.0}, "scale is 0.0; it must be finite and above 0"),
        ({"scale": -1.0}, "scale is -1.0"),
        ({"scale": np.nan}, "scale is nan"),
        ({"groups": [0, 0, -1]}, "the two go together"),
        ({"group_costs": [0.5, 0.5, 0.5]}, "the two go together"),
        ({"groups": [0, 0], "group_costs": 0.5}, "groups have shape \\(2,\\)"),
        ({"groups": [0, 0, -2], "group_costs": 0.5}, "whole numbers of -1 or more"),
        ({"groups": [0.0, 0.0, 1.0], "group_costs": 0.5}, "type float64"),
        ({"groups": [0, 0, -1], "group_costs": [0.5, 2.0, 0.5]}, "the group cost of test 1 is 2 and its cost 1"),
        ({"groups": [0, 0, -1], "group_costs": [0.5, -2.0, 0.5]}, "group_costs: test 1 has -2.0"),
        ({"groups": [0, 0, -1], "group_costs": np.ones((3, 3))}, "group_costs have shape \\(3, 3\\)"),
        ({"size": 4}, "size is 4; with 0 of 3 tests forced in and 0 forced out it must be a whole number from 0 to 3"),
        ({"size": -1}, "size is -1"),
        ({"size": 1.5}, "size is 1.5"),
        ({"size": 1, "forced_in": [0, 1]}, "from 2 to 3"),
        ({"size": 3, "forced_out": [0]}, "from 0 to 2"),
        ({"forced_in": [3]}, "forced_in has 3; tests are numbered 0 to 2"),
        ({"forced_out": [-1]}, "forced_out has -1"),
        ({"forced_in": [True]}, "forced_in has True"),
        ({"forced_in": [1], "forced_out": [1]}, "test 1 is in forced_in and in forced_out"),
        ({"start": ["a"]}, "start has 'a'"),
        ({"tolerance": -1.0}, "tolerance is -1.0"),
        ({"method": "magic"}, "method is 'magic'"),
        ({"method": "Lagrangian"}, "the last one with a size only"),
    ],
)
def test_options(options, message):
    with pytest.raises(DistributionError, match=message):
        solve_subset(GOOD, **{"costs": 1.0, **options})


def test_sizes_are_checked():
    with pytest.raises(DistributionError, match="size is 4"):
        sizes(GOOD, sizes=[1, 4])
    with pytest.raises(DistributionError, match="tolerance is nan"):
        sizes(GOOD, tolerance=np.nan)


def test_nothing_given_is_changed():
    covariance, costs = GOOD.copy(), np.ones(3)
    solve_subset(covariance, costs, method="branch and bound")
    np.testing.assert_array_equal(covariance, GOOD)
    np.testing.assert_array_equal(costs, np.ones(3))
