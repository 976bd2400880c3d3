"""The check for Gaussian measurements: seldom alarmed by them, alarmed by others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from proband import Records
from proband.agents.entropy import Certified, Thrifty, check_normality
from proband.agents.entropy.learning.normality import normal_kurtosis, normal_skewness


@pytest.mark.parametrize("shape", [(64, 3), (200, 8)])
def test_gaussian_measurements_seldom_alarm(shape: tuple[int, int], rng: np.random.Generator) -> None:
    factor = rng.random((shape[1], shape[1]))
    found = [check_normality(rng.normal(size=shape) @ factor) for _ in range(120)]
    assert sum(each is not None and each.broken for each in found) <= 4


@pytest.mark.parametrize(
    ("kind", "culprit"),
    [("heavy", "kurtosis"), ("skewed", "skewness"), ("together", "kurtosis of all tests together")],
)
def test_other_measurements_alarm(kind: str, culprit: str, rng: np.random.Generator) -> None:
    rows = rng.normal(size=(400, 3))
    if kind == "heavy":
        rows[:, 1] = rng.standard_t(3, size=400)
    elif kind == "skewed":
        rows[:, 1] = rng.exponential(size=400)
    else:  # normal one by one, not together
        rows[:, 1] = rows[:, 0] * rng.choice([-1, 1], size=400)
        rows[:, 2] = rows[:, 0] * rng.choice([-1, 1], size=400)
    found = check_normality(rows, names=["a", "b", "c"])
    assert found is not None
    assert found.broken
    assert culprit in found.culprit
    assert "clearly not Gaussian" in found.message


@pytest.mark.parametrize(("n", "k"), [(64, 1), (200, 5), (1024, 3)])
def test_the_scales_are_those_of_scipy(n: int, k: int, rng: np.random.Generator) -> None:
    for rows in (rng.normal(3.0, 2.0, size=(n, k)), rng.exponential(size=(n, k)), rng.uniform(size=(n, k))):
        for own, given in ((normal_skewness, stats.skewtest), (normal_kurtosis, stats.kurtosistest)):
            assert own(rows) == pytest.approx(given(rows).statistic, rel=1e-12, abs=1e-12)


def test_the_smallest_p_value_is_that_of_scipy(rng: np.random.Generator) -> None:
    for rows in (rng.normal(size=(200, 1)), rng.standard_t(5, size=(300, 1)), rng.gamma(20.0, size=(100, 1))):
        found = check_normality(rows)
        assert found is not None
        expected = 2 * min(float(test(rows[:, 0]).pvalue) for test in (stats.skewtest, stats.kurtosistest))
        assert found.p_value == pytest.approx(min(1.0, expected), rel=1e-12)


def test_nothing_is_said_of_few_rounds_or_constants() -> None:
    assert check_normality(np.zeros((63, 2))) is None
    assert check_normality(np.ones((200, 2))) is None
    assert check_normality(np.empty((200, 0))) is None
    found = check_normality(np.column_stack([np.random.default_rng(0).normal(size=100)] * 2))
    assert found is not None
    assert "look Gaussian" in found.message


@pytest.mark.parametrize("kind", [Certified, Thrifty])
def test_agents_notice(kind: Callable[..., Any], make_world: Callable[..., Any], rng: np.random.Generator) -> None:
    world = make_world(rng, 5, low=0.1, high=1.0)
    quiet, loud = kind(world.problem), kind(world.problem)
    for _ in range(30):
        quiet.learn(Records(world.rows(rng, min(quiet.commitment, 200), quiet.tested)))
        loud.learn(Records(np.exp(world.rows(rng, min(loud.commitment, 200), loud.tested))))
    assert len(loud.notices) == len(quiet.notices) + 1
    assert "not Gaussian" in loud.notices[-1]


def test_a_lump_of_rounds_is_sampled_fairly(make_world: Callable[..., Any], rng: np.random.Generator) -> None:
    world = make_world(rng, 4)
    agent = Certified(world.problem)
    agent.learn(Records(world.rows(rng, 20_000)))
    found = agent.normality()
    assert found is not None
    assert (found.rounds, found.broken) == (1024, False)
