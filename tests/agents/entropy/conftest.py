from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from proband import Problem, Records, Test
from proband.rewards import Entropy
from proband.vocabulary import FloatArray

LOG_TWO_PI_E = np.log(2 * np.pi * np.e)


class World:
    """A covariance, the costs of its tests, and rounds drawn from them: no library code decides what is right."""

    def __init__(self, covariance: FloatArray, problem: Problem) -> None:
        self.covariance, self.problem, self.d = covariance, problem, problem.d
        self.factor = np.linalg.cholesky(covariance)
        self.scale = problem.reward.scale  # type: ignore[attr-defined]

    def cost(self, tests: Sequence[int]) -> float:
        """Pay tests in the cheapest order, as a problem counts."""
        total, opened = 0.0, set()
        for i in sorted(tests, key=lambda i: self.problem.tests[i].cost - (self.problem.tests[i].group_cost or 0.0)):
            test = self.problem.tests[i]
            total += test.group_cost if test.group in opened and test.group_cost is not None else test.cost
            opened |= {test.group} - {None}
        return total

    def reward(self, tests: Sequence[int]) -> float:
        chosen = list(tests)
        _, logdet = np.linalg.slogdet(self.covariance[np.ix_(chosen, chosen)])
        return float(self.scale * (len(chosen) * LOG_TWO_PI_E + logdet) / 2 - self.cost(chosen))

    def best(self) -> tuple[tuple[int, ...], float]:
        sets = ([i for i in range(self.d) if n >> i & 1] for n in range(1 << self.d))
        found = max(sets, key=self.reward)
        return tuple(found), self.reward(found)

    def rows(self, rng: np.random.Generator, n: int, tests: Sequence[int] | None = None) -> FloatArray:
        drawn = rng.standard_normal((n, self.d)) @ self.factor.T
        if tests is None:
            return drawn
        seen = np.full((n, self.d), np.nan)
        seen[:, list(tests)] = drawn[:, list(tests)]
        return seen

    def play(self, agent: Any, rng: np.random.Generator, rounds: int) -> float:
        """Let an agent measure for some rounds; returns its regret."""
        optimum, regret, t = self.best()[1], 0.0, 0
        while t < rounds:
            n = min(agent.commitment, rounds - t)
            regret += n * (optimum - self.reward(agent.tested))
            agent.learn(Records(self.rows(rng, n, agent.tested)))
            t += n
        return regret


def problem_of(
    costs: Sequence[float] | FloatArray, *, scale: float = 1.0, groups: Sequence[tuple[str, float] | None] = ()
) -> Problem:
    shared = [*groups, *[None] * (len(costs) - len(groups))]
    return Problem(
        [
            Test(f"site {i}", float(cost), outcomes=None, group=group and group[0], group_cost=group and group[1])
            for i, (cost, group) in enumerate(zip(costs, shared, strict=True))
        ],
        ["stop"],
        Entropy(scale),
    )


@pytest.fixture
def make_problem() -> Callable[..., Problem]:
    return problem_of


@pytest.fixture
def make_world() -> Callable[..., World]:
    """Return the paper's instance Σ = LLᵀ + I with given or uniform(1, 3) costs, with groups if asked for."""

    def make(
        rng: np.random.Generator, d: int = 5, *, groups: bool = False, low: float = 1.0, high: float = 3.0
    ) -> World:
        factor = rng.random((d, d))
        costs = rng.uniform(low, high, size=d)
        shared = [("van" if i % 2 else "boat", costs[i] * rng.uniform(0.3, 1)) if i < d - 1 else None for i in range(d)]
        return World(factor @ factor.T + np.eye(d), problem_of(costs, groups=shared if groups else ()))

    return make


@pytest.fixture
def make_near_ties() -> Callable[..., World]:
    """Return an instance whose two best sets exchange tests 0 and 1, noisy copies of one thing, and differ by a gap."""

    def make(rng: np.random.Generator, d: int = 10, *, gap: float = 0.01) -> World:
        factor = rng.random((d, d)) / 2
        covariance = factor @ factor.T + np.eye(d)
        covariance[1], covariance[:, 1] = 0.97 * covariance[0], 0.97 * covariance[:, 0]
        covariance[1, 1] = covariance[0, 0]
        covariance[0, 1] = covariance[1, 0] = 0.97 * covariance[0, 0]
        costs = rng.uniform(1.2, 1.5, size=d)
        costs[2:] += rng.uniform(-0.6, 0.6, size=d - 2)
        world = World(covariance, problem_of(costs))
        while True:
            best = world.best()[0]
            if 0 in best and 1 not in best:
                rival = tuple(sorted({*best, 1} - {0}))
                costs[1] += world.reward(rival) - world.reward(best) + gap
                world = World(covariance, problem_of(costs))
                if world.best()[0] == best:
                    return world
            costs[0] -= 0.01
            costs[1] = costs[0] + 0.05
            world = World(covariance, problem_of(costs))

    return make
