"""Thousands of runs in which nothing certified may be wrong (``make test-slow``).

It may be wrong in a share δ of all runs; the union bounds are generous, and with these seeds it never is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from proband import Records
from proband.agents.entropy import Certified
from proband.planners.subset import solve_subset

DELTA = 0.05
ROUNDS = 3000
RUNS = 300

pytestmark = pytest.mark.slow


def optimum(world: Any) -> tuple[set[int], float]:
    prices = world.problem.prices
    chosen = solve_subset(
        world.covariance, prices.cost, scale=world.scale, groups=prices.group, group_costs=prices.group_cost
    ).chosen
    return set(chosen), world.reward(chosen)


def wrong(agent: Certified, world: Any, rng: np.random.Generator) -> bool:
    """Play, and return whether anything that the agent held for certain, at any look, was not true."""
    best, value = optimum(world)
    while agent.t < ROUNDS and not agent.finished:
        n = min(agent.commitment, ROUNDS - agent.t)
        agent.learn(Records(world.rows(rng, n, agent.tested)))
        inside, possible = set(np.flatnonzero(agent.inside)), set(np.flatnonzero(agent.possible))
        if not inside <= best <= possible or value - world.reward(agent.best) > agent._bound + 1e-9:
            return True
    return False


@pytest.mark.parametrize("d", [6, 8, 10, 12, 15, 17, 20])
def test_what_is_certified_is_true(make_world: Callable[..., Any], d: int) -> None:
    failures = []
    for run in range(RUNS):
        rng = np.random.default_rng([d, run])
        low, high = ((1.0, 3.0), (1.4, 2.4), (1.6, 2.0))[run % 3]
        world = make_world(rng, d, groups=run % 4 == 0, low=low, high=high)
        mean = 0.0 if run % 2 else None
        agent = Certified(world.problem, delta=DELTA, epsilon=(0.0, 0.05, 0.3)[run % 5 % 3], mean=mean)
        if wrong(agent, world, rng):
            failures.append(run)
    assert failures == []


@pytest.mark.parametrize("gap", [0.005, 0.05])
def test_what_is_certified_of_near_ties_is_true(make_near_ties: Callable[..., Any], gap: float) -> None:
    failures = []
    for run in range(RUNS // 2):
        rng = np.random.default_rng([7, run])
        world = make_near_ties(rng, 6, gap=gap)
        if wrong(Certified(world.problem, delta=DELTA, epsilon=0.0, mean=0), world, rng):
            failures.append(run)
    assert failures == []


def test_widths_are_not_wider_than_they_have_to_be(make_world: Callable[..., Any]) -> None:
    """With δ = 0.999 something certified may well be wrong; it seldom is: the union bounds are generous."""
    failures = 0
    for run in range(RUNS):
        rng = np.random.default_rng([3, run])
        world = make_world(rng, 6, low=1.6, high=2.0)
        failures += wrong(Certified(world.problem, delta=0.999, epsilon=0.0, mean=0), world, rng)
    assert failures <= 0.5 * RUNS
