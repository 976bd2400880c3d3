"""Bundles of closed groups, against all ways to open the group."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from proband import Problem, Records
from proband.agents.entropy import Thrifty
from proband.agents.entropy.learning.bundles import closed_bundles

GROUPS = [None, ("van", 0.4), ("van", 0.5), ("van", 3.0), ("boat", 1.0)]


def test_a_bundle_is_the_best_way_to_open_the_group_with_a_test(
    make_problem: Callable[..., Problem], rng: np.random.Generator
) -> None:
    costs = make_problem([1.0, 2.5, 2.6, 4.0, 1.2], groups=GROUPS).prices
    variances = np.diag(rng.uniform(0.8, 1.2, size=4))
    bundles = closed_bundles(costs, 1.0, [0], [1, 2, 3, 4], 50 * variances, 50)
    assert set(bundles) == {1, 2, 3}  # the boat has no other test

    def gain(tests: tuple[int, ...]) -> float:
        worth = sum(0.5 * math.log(2 * math.pi * math.e * variances[i - 1, i - 1]) for i in tests)
        return worth - costs.of(tests)

    for i, bundle in bundles.items():
        ways = [tests for k in (1, 2, 3) for tests in itertools.combinations((1, 2, 3), k) if i in tests]
        assert bundle.gain == pytest.approx(gain(bundle.tests))
        assert bundle.gain == pytest.approx(max(map(gain, ways)))


def test_opened_groups_have_no_bundles(make_problem: Callable[..., Problem]) -> None:
    costs = make_problem([1.0, 2.5, 2.6, 4.0, 1.2], groups=GROUPS).prices
    assert closed_bundles(costs, 1.0, [3], [0, 1, 2, 4], np.eye(4), 1) == {}


def test_a_bundle_counts_what_its_tests_share(make_problem: Callable[..., Problem]) -> None:
    costs = make_problem([2.0, 2.0], groups=[("van", 1.0), ("van", 1.0)]).prices
    apart = closed_bundles(costs, 1.0, [], [0, 1], np.eye(2), 1)[0]
    copies = closed_bundles(costs, 1.0, [], [0, 1], np.array([[1.0, 0.95], [0.95, 1.0]]), 1)[0]
    assert apart.tests == (0, 1)
    assert copies.tests == (0,)


def test_tests_that_pay_only_together_are_found(make_problem: Callable[..., Problem], rng: np.random.Generator) -> None:
    """Each of three tests costs too much alone; the van pays for all of them."""
    agent = Thrifty(make_problem([2.2] * 3, groups=[("van", 0.7)] * 3), horizon=2000)
    while agent.t < 2000:
        rows = np.full((agent.commitment, 3), np.nan)
        rows[:, list(agent.tested)] = rng.normal(size=rows.shape)[:, list(agent.tested)]
        agent.learn(Records(rows))
    assert agent.best == (0, 1, 2)
