from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from proband import Gaussian, Problem, Records, Test, plan
from proband.planners.evaluation import expected_rewards
from proband.policies import ProjectionDecider, branches, follow
from proband.rewards import Piece, Projection, Score

NAMES = ("bore", "pitch", "thread", "finish")


def quality_control(costs=(0.05, 0.09, 0.13, 0.2)):
    """Four correlated measurements, one score with two limits; the best plan runs them one after the other."""
    fit = Score("fit", dict(zip(NAMES, (1.0, 0.8, 0.6, 0.4), strict=True)))
    pieces = [
        Piece("pass", 1.0, when={"fit": (-2, 2)}),
        Piece("pass", -2.0, when={"fit": (None, -2)}),
        Piece("pass", -2.0, when={"fit": (2, None)}),
    ]
    tests = [Test(name, cost, outcomes=None, unit="mm") for name, cost in zip(NAMES, costs, strict=True)]
    problem = Problem(tests, ["pass", "scrap"], Projection([fit], pieces))
    return problem, Gaussian([0.2, -0.2, 0.2, 0.2], np.full((4, 4), 0.3) + 0.7 * np.eye(4))


def single_test(mean, cost=0.75):
    """A Gaussian twin of the paper's lower bound: the test is never worth its price, and only it tells the sign."""
    pieces = [Piece("up", 1.0, when={"x": (0, None)}), Piece("down", 1.0, when={"x": (None, 0)})]
    problem = Problem([Test("x", cost, outcomes=None)], ["up", "down"], Projection([Score("x", {"x": 1.0})], pieces))
    return problem, Gaussian([mean], [[1.0]])


def gold_standard():
    """What is wanted is unavailable: only history shows it."""
    reward = Projection([Score("gold", {"gold": 1.0})], [Piece("treat", slope={"gold": 1.0})])
    tests = [Test("marker", 0.1, outcomes=None), Test("gold", outcomes=None, available=False)]
    return Problem(tests, ["treat", "wait"], reward), Gaussian([0.0, 1.0], [[1.0, 0.8], [0.8, 1.0]])


class World:
    """A problem and its true law, and what policies lose under it on the same subjects."""

    def __init__(self, problem, law, subjects=4_000):
        self.problem, self.law = problem, law
        self.decider = ProjectionDecider(problem, law)
        self.rows = law.sample(np.random.default_rng(99), subjects)
        self.best = self.values(plan(problem, law))

    def values(self, policy):
        return sum(
            chance * (expected_rewards(self.decider, episodes.states, episodes.actions) - episodes.costs)
            for chance, episodes in branches(self.problem, policy, self.rows)
        )

    def loss(self, policy):
        return float((self.best - self.values(policy)).mean())

    def regret(self, agent, horizon, *, seed):
        rng = np.random.default_rng(seed)
        stream, coins = self.law.sample(rng, horizon), rng.random(horizon)
        t, total = 0, 0.0
        while t < horizon:
            policy, end = agent.policy(), min(horizon, t + agent.commitment)
            agent.learn(Records(follow(self.problem, policy, stream[t:end], coins=coins[t:end]).states))
            total += self.loss(policy) * (end - t)
            t = end
        return total


@pytest.fixture
def lab():
    return SimpleNamespace(
        World=World, quality_control=quality_control, single_test=single_test, gold_standard=gold_standard
    )
