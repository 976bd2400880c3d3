"""The certified agent: what it says is true, and it says it in the end."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from proband import Problem, Records
from proband.agents import FOREVER
from proband.agents.entropy import Certified
from proband.errors import AgentError


def right(agent: Certified, world: Any) -> bool:
    """Whether everything that the agent holds for certain is true."""
    best, value = world.best()
    inside, possible = set(np.flatnonzero(agent.inside)), set(np.flatnonzero(agent.possible))
    certificate = agent.certificate()
    return bool(inside <= set(best) <= possible and value - world.reward(agent.best) <= certificate.bound + 1e-9)


@pytest.mark.parametrize("groups", [False, True], ids=["alone", "groups"])
@pytest.mark.parametrize("mean", [None, 0.0], ids=["estimated", "known"])
@pytest.mark.parametrize("seed", range(4))
def test_it_ends_with_a_true_statement(
    make_world: Callable[..., Any], groups: bool, mean: float | None, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    world = make_world(rng, 6, groups=groups)
    agent = Certified(world.problem, epsilon=0.1, mean=mean)
    for _ in range(12):
        world.play(agent, rng, 300)
        assert right(agent, world)
        if agent.finished:
            break
    certificate = agent.certificate()
    assert agent.finished
    assert certificate.reached
    assert agent.tested == agent.best
    assert agent.commitment >= FOREVER
    assert world.best()[1] - world.reward(agent.tested) <= 0.1


def test_only_one_set_is_left_where_nothing_may_be_lost(
    make_world: Callable[..., Any], rng: np.random.Generator
) -> None:
    world = make_world(rng, 5)
    agent = Certified(world.problem, epsilon=0.0, mean=0)
    world.play(agent, rng, 20_000)
    assert agent.finished
    assert agent.tested == world.best()[0]
    assert (agent.inside == agent.possible).all()
    assert str(agent.certificate()).endswith("is best.")


def test_many_tests_are_settled_by_rules_and_bounded_without_enumeration(
    make_problem: Callable[..., Problem], rng: np.random.Generator
) -> None:
    """Independent tests, whose best set is known in closed form."""
    d = 30
    worth = rng.uniform(-0.4, 0.4, size=d)
    deviation = np.exp(rng.uniform(0, 1, size=d))
    costs = 0.5 * np.log(2 * np.pi * np.e * deviation**2) - worth
    agent = Certified(make_problem(costs), epsilon=1.0)
    assert math.isinf(agent.certificate().bound)
    bounds = []
    while not agent.finished and agent.t < 5000:
        n = agent.commitment
        rows = np.full((n, d), np.nan)
        rows[:, list(agent.tested)] = (5 + rng.normal(size=(n, d)) * deviation)[:, list(agent.tested)]
        agent.learn(Records(rows))
        assert not (agent.inside & (worth < 0)).any()
        assert not (~agent.possible & (worth > 0)).any()
        bounds.append(agent.certificate().bound)
    assert agent.finished
    assert agent.lattice is None
    assert agent.inside.any()
    assert not agent.possible.all()
    assert bounds[-1] <= 1.0 < bounds[len(bounds) // 2] < math.inf
    assert worth[worth > 0].sum() - worth[list(agent.tested)].sum() <= 1.0


def test_near_ties_are_measured_one_by_one(make_near_ties: Callable[..., Any], rng: np.random.Generator) -> None:
    world = make_near_ties(rng, 6, gap=0.02)
    agent = Certified(world.problem, epsilon=0.0, mean=0)
    branched = False
    for _ in range(20):
        world.play(agent, rng, 500)
        branched |= bool(agent.rounds.others)
        assert right(agent, world)
    assert branched
    union = tuple(np.flatnonzero(agent.possible))
    assert agent.finished or agent.tested != union


def test_a_lump_of_history_is_as_good_as_rounds(make_world: Callable[..., Any], rng: np.random.Generator) -> None:
    world = make_world(rng, 5)
    agent = Certified(world.problem, epsilon=0.3)
    agent.learn(Records(world.rows(rng, 3001)))
    assert agent.finished
    assert right(agent, world)


def test_rows_with_gaps_do_not_count(make_world: Callable[..., Any], rng: np.random.Generator) -> None:
    world = make_world(rng, 5)
    agent = Certified(world.problem)
    agent.learn(Records(world.rows(rng, 500, [0, 1])))
    agent.learn(Records(world.rows(rng, 500, [])))
    assert math.isinf(agent.certificate().bound)
    assert agent.tested == tuple(range(5))
    assert str(agent.certificate()).startswith("Nothing is certified any more. 1,000 of 1,000 rounds did not measure")


def test_too_few_rounds_say_nothing(make_world: Callable[..., Any], rng: np.random.Generator) -> None:
    world = make_world(rng, 5)
    agent = Certified(world.problem)
    agent.learn(Records(world.rows(rng, 4)))
    assert str(agent.certificate()) == "Nothing is certain yet: 0 rounds are too few, 5 tests are undecided."


def test_measurements_that_never_vary_or_repeat_others_are_dropped(
    make_problem: Callable[..., Problem], rng: np.random.Generator
) -> None:
    agent = Certified(make_problem([0.5] * 20), epsilon=0.0, mean=0)
    while not agent.finished and agent.t < 3000:
        rows = rng.normal(size=(agent.commitment, 20)) * 3
        rows[:, 4] = 0.0
        rows[:, 7] = rows[:, 2]
        seen = np.full(rows.shape, np.nan)
        seen[:, list(agent.tested)] = rows[:, list(agent.tested)]
        agent.learn(Records(seen))
    assert 4 not in agent.tested
    assert len({2, 7} & set(agent.tested)) == 1


def test_the_certificate_names_the_tests(make_world: Callable[..., Any], rng: np.random.Generator) -> None:
    world = make_world(rng, 5)
    agent = Certified(world.problem, delta=0.1)
    world.play(agent, rng, 4000)
    certificate = agent.certificate()
    names = {test.name for test in world.problem.tests}
    assert {*certificate.inside, *certificate.outside, *certificate.undecided} == names
    assert set(certificate.inside) <= set(certificate.best)
    assert "With probability 0.9: measuring site" in str(certificate)
    assert certificate.rounds < agent.t == 4000
    assert agent.finished


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 0.0}, "delta is 0.0; it must lie between 0 and 1"),
        ({"delta": 1.5}, "delta is 1.5"),
        ({"epsilon": -0.1}, "epsilon is -0.1; it must be finite and 0 or more"),
        ({"growth": 0.0}, "growth is 0.0; it must be finite and above 0"),
        ({"mean": [0.0, 0.0]}, "the mean does not fit 3 tests"),
        ({"mean": [0.0, math.nan, 0.0]}, "not finite"),
    ],
)
def test_wrong_values_are_refused(make_problem: Callable[..., Problem], options: dict[str, Any], message: str) -> None:
    with pytest.raises(AgentError, match=message):
        Certified(make_problem([1.0, 1.0, 1.0]), **options)
