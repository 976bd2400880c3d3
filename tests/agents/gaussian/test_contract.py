"""Every agent for measured outcomes keeps the contract, and the kit catches those that do not."""

from __future__ import annotations

import numpy as np
import pytest

from proband import Records, plan
from proband.agents import FOREVER, Doubling, LeafCompletion
from proband.agents.gaussian import GaussianExploreThenCommit
from proband.estimators.gaussian.likelihood import GaussianLikelihood
from proband.policies import Completing, DecideNow, test_everything
from proband.testing import check_measured_agent, random_gaussian, random_measured_problem, random_measured_states
from proband.testing.agents import counted

AGENTS = {
    "given N": lambda problem, law, horizon: GaussianExploreThenCommit(problem, horizon=horizon, explore=17),
    "no exploration": lambda problem, law, horizon: GaussianExploreThenCommit(problem, horizon=horizon, explore=0),
    "a floor": lambda problem, law, horizon: LeafCompletion(
        problem, first=20, draws=3, subjects=100, horizon=horizon, floor=1.0
    ),
    "doubling-keep": lambda problem, law, horizon: Doubling(
        lambda n: GaussianExploreThenCommit(problem, horizon=n), keep=True
    ),
}
"""With other settings than those of the registry, on which the kit runs in tests/agents/test_registry.py."""


@pytest.mark.parametrize("name", AGENTS)
def test_agents_keep_their_contract(name):
    check_measured_agent(AGENTS[name], np.random.default_rng(5), instances=3, subjects=50)


class Right:
    """Plan again after every eight subjects, learned at the end of the block."""

    def __init__(self, problem, law, horizon):
        self.problem, self.law, self.horizon = problem, law, horizon
        self.estimator = GaussianLikelihood(problem)
        self.block, self.left = [], 8
        self._policy = test_everything(problem, self.estimator.distribution())

    @property
    def commitment(self):
        return self.left

    def policy(self):
        return self._policy

    def learn(self, records):
        self.block.append(records)
        self.left -= records.n
        if self.left <= 0:
            self.absorb()
            self.block, self.left = [], 8
            self._policy = plan(self.problem, self.estimator.distribution())

    def absorb(self):
        rows = np.vstack([records.outcomes for records in self.block])
        self.estimator.update_counts(rows, np.concatenate([records.counts for records in self.block]))


class AddsUpAsItComes(Right):
    """Sums in the order of the calls: the last bits depend on it."""

    def absorb(self):
        for records in self.block:
            self.estimator.update(records)


class ForgetsCounts(Right):
    def absorb(self):
        self.estimator.update_counts(np.vstack([records.outcomes for records in self.block]), None)


class PromisesTooMuch(Right):
    @property
    def commitment(self):
        return self.left + 5


class PromisesNothing(Right):
    @property
    def commitment(self):
        return 0


class ChangesWhenAsked(Right):
    def policy(self):
        self.estimator.update(Records(np.zeros((1, self.problem.d))))
        return self._policy


class RememberTheLast(Right):
    """The policy depends on who came last."""

    def learn(self, records):
        super().learn(records)
        if records.n and self.left == 8:
            sign = int(np.nan_to_num(records.outcomes[-1], nan=0.0).sum() > 0)
            self._policy = DecideNow(self.problem, self.problem.decisions[sign % len(self.problem.decisions)])


class LyingCoins(Completing):
    def act(self, states, coins=None):
        return self.base.act(states)


class Lies(Right):
    @property
    def commitment(self):
        return FOREVER

    def policy(self):
        law = GaussianLikelihood(self.problem).distribution()
        half = lambda states: np.full(len(np.atleast_2d(states)), 0.5)  # noqa: E731
        return LyingCoins(self.problem, DecideNow(self.problem, distribution=law), half, law)

    def learn(self, records):
        pass


class Peeping:
    """Takes the last decision where an unavailable test is known."""

    def __init__(self, problem, right):
        self.problem, self.right = problem, right

    def act(self, states, coins=None):
        actions = self.right.act(states, coins)
        hidden = [not test.available for test in self.problem.tests]
        seen = ~np.isnan(np.atleast_2d(states)[:, hidden]).all(axis=1) if any(hidden) else False
        return np.where(seen & (actions >= self.problem.d), self.problem.d + self.problem.n_decisions - 1, actions)


class ReadsTheGoldStandard(Right):
    def policy(self):
        return Peeping(self.problem, self._policy)


def test_the_pattern_for_wrong_agents_is_right():
    check_measured_agent(Right, np.random.default_rng(2), instances=4, subjects=40)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (AddsUpAsItComes, "bit for bit"),
        (ForgetsCounts, "bit for bit"),
        (PromisesTooMuch, "bit for bit"),
        (PromisesNothing, "the commitment is 0"),
        (ChangesWhenAsked, "bit for bit"),
        (RememberTheLast, "bit for bit"),
        (Lies, "with the coin"),
        (ReadsTheGoldStandard, "unavailable"),
    ],
)
def test_wrong_agents_are_caught(wrong, message):
    with pytest.raises(AssertionError, match=message):
        check_measured_agent(wrong, np.random.default_rng(2), instances=12, subjects=40)


def test_random_problems_show_every_feature(rng):
    problems = [random_measured_problem(rng) for _ in range(200)]
    tests = [test for problem in problems for test in problem.tests]
    assert {problem.d for problem in problems} == {1, 2, 3, 4}
    assert any(test.on_arrival for test in tests)
    assert any(not test.available for test in tests)
    assert any(test.group for test in tests)
    assert all(len(problem.reward.scores) == 1 for problem in problems)
    assert len(random_measured_problem(rng, scores=2).reward.scores) == 2
    laws = [random_gaussian(rng, problem) for problem in problems]
    assert any(law.redundant for law in laws)
    assert sum(not law.redundant for law in laws) > 100
    states = random_measured_states(rng, laws[0], 300)
    assert np.isnan(states).any()
    assert not np.isnan(states).all()


def test_counting_together_keeps_negative_numbers_and_gaps():
    states = np.array([[-1.0, np.nan], [2.0, -3.0], [-1.0, np.nan]])
    assert counted(states) == Records([[-1.0, np.nan], [2.0, -3.0]], [2, 1])
