"""Regret at T = 2^15 rounds on the paper's instances and on near-ties (``make test-slow``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from proband import Records
from proband.agents.entropy import Certified, Thrifty
from proband.planners.subset import solve_subset

ROUNDS = 2**15

pytestmark = pytest.mark.slow


def optimum(world: Any) -> tuple[int, ...]:
    return solve_subset(world.covariance, [test.cost for test in world.problem.tests]).chosen


def regret(agent: Any, world: Any, rng: np.random.Generator) -> float:
    best, total, t = world.reward(optimum(world)), 0.0, 0
    while t < ROUNDS:
        n = min(agent.commitment, ROUNDS - t)
        total += n * (best - world.reward(agent.tested))
        agent.learn(Records(world.rows(rng, n, agent.tested)))
        t += n
    return total


def mean_regret(kind: Callable[[Any], Any], worlds: list[Any], replications: int) -> float:
    runs = [
        regret(kind(world.problem), world, np.random.default_rng([n, replication]))
        for n, world in enumerate(worlds)
        for replication in range(replications)
    ]
    return float(np.mean(runs))


@pytest.mark.parametrize(("costs", "certified", "thrifty"), [((1.0, 3.0), 650, 220), ((1.4, 2.4), 1700, 350)])
def test_the_paper_s_instances(
    make_world: Callable[..., Any], costs: tuple[float, float], certified: float, thrifty: float
) -> None:
    low, high = costs
    worlds = [make_world(np.random.default_rng(1000 + n), 15, low=low, high=high) for n in range(5)]
    assert mean_regret(lambda problem: Certified(problem, mean=0), worlds, 5) <= certified
    frugal = mean_regret(lambda problem: Thrifty(problem, mean=0, horizon=ROUNDS), worlds, 5)
    assert frugal <= thrifty
    everything = [world.reward(optimum(world)) - world.reward(range(15)) for world in worlds]
    if low == 1.0:
        assert frugal <= ROUNDS * np.mean(everything) / 700


def test_near_ties(make_near_ties: Callable[..., Any]) -> None:
    """Always measuring the union of the two best sets costs five times as much."""
    worlds = [make_near_ties(np.random.default_rng(n)) for n in range(5)]
    unions = [world.reward(best := optimum(world)) - world.reward(sorted({*best, 0, 1})) for world in worlds]
    frugal = mean_regret(lambda problem: Thrifty(problem, mean=0, horizon=ROUNDS), worlds, 3)
    assert frugal <= ROUNDS * np.mean(unions) / 5


@pytest.mark.parametrize(("d", "less"), [(20, 200), (100, 200)])
def test_many_tests(make_world: Callable[..., Any], d: int, less: float) -> None:
    worlds = [make_world(np.random.default_rng(1000 + n), d) for n in range(3)]
    everything = [world.reward(optimum(world)) - world.reward(range(d)) for world in worlds]
    frugal = mean_regret(lambda problem: Thrifty(problem, horizon=ROUNDS), worlds, 2)
    assert frugal <= ROUNDS * np.mean(everything) / less
