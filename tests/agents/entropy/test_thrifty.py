"""The thrifty agent: nested sets, little regret, no promises. And explore-then-commit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from proband import Problem, Records
from proband.agents import FOREVER
from proband.agents.entropy import EntropyExploreThenCommit, Thrifty
from proband.errors import AgentError


@pytest.mark.parametrize("groups", [False, True], ids=["alone", "groups"])
@pytest.mark.parametrize("mean", [None, 0.0], ids=["estimated", "known"])
@pytest.mark.parametrize("horizon", [None, 4000])
def test_it_finds_a_good_set_with_little_regret(
    make_world: Callable[..., Any], groups: bool, mean: float | None, horizon: int | None
) -> None:
    lost, everything = 0.0, 0.0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        world = make_world(rng, 6, groups=groups)
        agent = Thrifty(world.problem, horizon=horizon, mean=mean)
        lost += world.play(agent, rng, 4000)
        value = world.best()[1]
        everything += 4000 * (value - world.reward(range(6)))
        assert value - world.reward(agent.tested) < 0.05
    assert lost < everything / 15


def test_the_measured_set_only_shrinks(make_world: Callable[..., Any], rng: np.random.Generator) -> None:
    world = make_world(rng, 9)
    agent = Thrifty(world.problem, horizon=5000)
    before = set(range(9))
    while agent.t < 5000:
        world.play(agent, rng, agent.commitment)
        assert set(agent.best) <= set(agent.tested) <= before
        before = set(agent.tested)
    assert len(before) < 9


def test_nothing_new_is_tried_when_no_rounds_are_left(make_world: Callable[..., Any], rng: np.random.Generator) -> None:
    world = make_world(rng, 8)
    agent = Thrifty(world.problem, horizon=30)
    world.play(agent, rng, 200)
    assert agent.tested == agent.best


def test_nothing_is_measured_for_ever_where_nothing_pays(
    make_problem: Callable[..., Problem], rng: np.random.Generator
) -> None:
    agent = Thrifty(make_problem([9.0, 9.0, 9.0]), horizon=10**6)
    while agent.commitment < FOREVER:
        agent.learn(Records(rng.normal(size=(agent.commitment, 3))))
    assert agent.tested == ()
    agent.learn(Records(np.full((5, 3), np.nan)))
    assert agent.policy().act(np.full((1, 3), np.nan)).tolist() == [3]


def test_it_says_that_it_certifies_nothing(make_problem: Callable[..., Problem]) -> None:
    assert "certifies nothing" in Thrifty(make_problem([1.0])).notices[0]


def test_more_tests_than_rounds(make_problem: Callable[..., Problem], rng: np.random.Generator) -> None:
    agent = Thrifty(make_problem(rng.uniform(1, 3, size=90)), horizon=1000)
    assert agent.commitment == 22
    deviation = np.exp(rng.normal(size=90))
    while agent.t < 300:
        rows = np.full((agent.commitment, 90), np.nan)
        rows[:, list(agent.tested)] = (rng.normal(size=rows.shape) * deviation)[:, list(agent.tested)]
        agent.learn(Records(rows))
    assert 0 < len(agent.tested) < 90


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"horizon": 0}, "horizon is 0; it must be a whole number above 0"),
        ({"horizon": 1.5}, "horizon is 1.5"),
        ({"caution": 0.0}, "caution is 0.0"),
        ({"ahead": -1.0}, "ahead is -1.0"),
        ({"growth": math.inf}, "growth is inf"),
    ],
)
def test_wrong_values_are_refused(make_problem: Callable[..., Problem], options: dict[str, Any], message: str) -> None:
    with pytest.raises(AgentError, match=message):
        Thrifty(make_problem([1.0, 1.0]), **options)


def test_explore_then_commit_commits_to_the_best_set_of_the_sample(
    make_world: Callable[..., Any], rng: np.random.Generator
) -> None:
    for groups in (False, True):
        world = make_world(rng, 5, groups=groups)
        agent = EntropyExploreThenCommit(world.problem, horizon=1000)
        assert agent.exploration == agent.commitment == 100
        rows = world.rows(rng, 100)
        agent.learn(Records(rows))
        sample = type(world)(np.cov(rows.T), world.problem)
        assert agent.tested == sample.best()[0]
        assert agent.commitment >= FOREVER


def test_explore_then_commit_with_a_given_length_and_few_rounds(
    make_problem: Callable[..., Problem], rng: np.random.Generator
) -> None:
    agent = EntropyExploreThenCommit(make_problem([1.0] * 12), horizon=50, explore=7, mean=0)
    rows = rng.normal(size=(7, 12))
    agent.learn(Records(np.where(np.arange(12) == 3, np.nan, rows)))
    assert agent.commitment == 7
    agent.learn(Records(rows))
    assert len(agent.tested) <= 2
    with pytest.raises(AgentError, match="explore is 0"):
        EntropyExploreThenCommit(make_problem([1.0]), horizon=5, explore=0)
