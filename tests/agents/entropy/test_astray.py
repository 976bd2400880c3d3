"""Rounds that did not measure what they were given, perhaps because of what they showed, certify nothing.

The attacks are those of an operator who looks at a reading and breaks the round off, or goes on measuring.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.agents.entropy.conftest import World, problem_of

from proband import Records
from proband.agents.entropy import Certified, Elimination, EntropyExploreThenCommit, SetAgent, Thrifty
from proband.vocabulary import FloatArray

Operator = Callable[[SetAgent, FloatArray], FloatArray]
"""From the agent and complete rows to what is measured of them, as flags."""

RUNS = 10


def alone() -> World:
    """Three unrelated sites; the first one pays, but not if only its readings up to 1.3 counted."""
    return World(np.diag([1.0, 4.0, 1.0]), problem_of([1.36, 0.9, 1.8]))


def substitutes() -> World:
    """Two sites that measure nearly the same, the second one cheaper, and a third."""
    covariance = np.array([[4.0, 3.7, 0.0], [3.7, 4.0, 0.0], [0.0, 0.0, 4.0]])
    return World(covariance, problem_of([1.63, 1.6, 1.6]))


def obedient(agent: SetAgent, rows: FloatArray) -> FloatArray:
    return np.broadcast_to(agent.flags(agent.tested), rows.shape).copy()


def breaks_off(agent: SetAgent, rows: FloatArray) -> FloatArray:
    """Skip the second site when the first one read above 1.3."""
    measured = obedient(agent, rows)
    measured[rows[:, 0] > 1.3, 1] = False
    return measured


def adds(agent: SetAgent, rows: FloatArray) -> FloatArray:
    """Where the first site is measured and reads about nothing, measure all."""
    measured = obedient(agent, rows)
    if 0 in agent.tested:
        measured[np.abs(rows[:, 0]) < 1.0] = True
    return measured


def played(world: World, operator: Operator, seed: int, *, rounds: int, told: bool = False) -> Certified:
    """A certified agent after some rounds; `told` gives it chances, as a study does."""
    rng = np.random.default_rng(seed)
    agent = Certified(world.problem, epsilon=0.0, mean=0)
    while not agent.finished and agent.t < rounds:
        rows = world.rows(rng, min(agent.commitment, rounds - agent.t))
        measured = operator(agent, rows)
        followed = (measured == obedient(agent, rows)).all(axis=1)
        chances = np.where(followed, measured.all(axis=1), np.nan) if told else None
        agent.learn(Records(np.where(measured, rows, np.nan), None, chances))
    return agent


def wrong(agent: Certified, world: World) -> bool:
    best, value = world.best()
    names = [test.name for test in world.problem.tests]
    certificate = agent.certificate()
    inside, outside = ({names.index(n) for n in part} for part in (certificate.inside, certificate.outside))
    off = value - world.reward(agent.best) > certificate.bound + 1e-9
    return bool(off or not inside <= set(best) or outside & set(best))


@pytest.mark.parametrize("told", [False, True], ids=["untold", "told"])
def test_rounds_broken_off_because_of_a_reading_certify_nothing(told: bool) -> None:
    world = alone()
    assert world.best()[0] == (0, 1)
    for seed in range(RUNS):
        agent = played(world, breaks_off, seed, rounds=6000, told=told)
        certificate = agent.certificate()
        assert not wrong(agent, world)
        assert agent.astray > 0
        assert (certificate.inside, certificate.outside, certificate.bound) == ((), (), math.inf)
        assert "did not measure the tests that they were given" in certificate.withdrawn
        assert str(certificate).startswith("Nothing is certified any more. ")
        assert agent.notices[0] == certificate.withdrawn


def test_without_the_withdrawal_something_wrong_would_be_certified() -> None:
    def forgiven(agent: SetAgent, rows: FloatArray) -> FloatArray:
        agent.astray = 0
        return breaks_off(agent, rows)

    for seed in range(RUNS):
        agent = played(alone(), forgiven, seed, rounds=6000)
        agent.astray = 0
        assert wrong(agent, alone())


@pytest.mark.parametrize("told", [False, True], ids=["untold", "told"])
def test_more_measured_because_of_a_reading_certifies_nothing_wrong(told: bool) -> None:
    """The set that is measured instead was given to earlier rounds: untold, what is more is not looked at."""
    world = substitutes()
    assert world.best()[0] == (1, 2)
    for seed in range(RUNS):
        agent = played(world, adds, seed, rounds=5000, told=told)
        assert not wrong(agent, world)
        assert bool(agent.astray) == bool(agent.certificate().withdrawn) == told


@pytest.mark.parametrize("told", [False, True], ids=["untold", "told"])
def test_obedience_keeps_the_certificate(told: bool) -> None:
    for world in (alone(), substitutes()):
        agent = played(world, obedient, 0, rounds=3000, told=told)
        assert (agent.astray, agent.certificate().withdrawn, agent.notices) == (0, "", ())
        assert agent.certificate().inside or agent.certificate().outside


def test_what_is_told_of_obedient_rounds_does_not_matter() -> None:
    told, untold = (played(substitutes(), obedient, 3, rounds=5000, told=told) for told in (True, False))
    assert told.certificate() == untold.certificate()
    assert (told.tested, told.commitment) == (untold.tested, untold.commitment)


def test_rounds_open_across_the_end_of_a_block_are_no_strays() -> None:
    """They met an earlier set: that was fixed before anybody looked."""
    world = substitutes()
    rng = np.random.default_rng(5)
    agent = Certified(world.problem, epsilon=0.0, mean=0)
    late: FloatArray = np.empty((0, 3))
    met = set()
    while not agent.finished and agent.t < 8000:
        met.add(agent.tested)
        begun = world.rows(rng, agent.commitment, agent.tested)
        told = np.vstack([late, begun])[: agent.commitment]
        late = np.vstack([late, begun])[agent.commitment :]
        if not len(late):  # the last three of each block are told in the next one
            late, told = told[-3:], told[:-3]
        agent.learn(Records(told))
    assert len(met) > 2
    assert agent.astray == 0
    assert not wrong(agent, world)


def test_an_earlier_certificate_stays_what_it_was() -> None:
    world = alone()
    rng = np.random.default_rng(0)
    agent = Certified(world.problem, epsilon=0.0, mean=0)
    while not agent.certificate().outside:
        agent.learn(Records(world.rows(rng, agent.commitment, agent.tested)))
    before = agent.certificate()
    agent.learn(Records(world.rows(rng, 1, agent.tested[:1])))
    after = agent.certificate()
    assert before.outside
    assert not before.withdrawn
    assert (after.outside, after.withdrawn != "") == ((), True)
    assert {*after.undecided} == {test.name for test in world.problem.tests}
    assert after.to_dict()["bound"] is None
    assert after.to_dict()["says"] == str(after)


def test_rounds_after_the_end_are_not_learned_from() -> None:
    world = alone()
    agent = played(world, obedient, 1, rounds=10_000)
    assert agent.finished
    said = agent.certificate()
    agent.learn(Records(world.rows(np.random.default_rng(0), 10, [2])))
    assert agent.certificate() == said


def test_gaps_that_do_not_depend_on_readings_may_be_told_as_such() -> None:
    """A broken logger: with a chance that is known nobody went his own way, and rounds with gaps are left out."""
    world = alone()
    rng = np.random.default_rng(2)
    agent = Certified(world.problem, epsilon=0.0, mean=0)
    while not agent.finished and agent.t < 6000:
        rows = world.rows(rng, agent.commitment, agent.tested)
        rows[rng.random(len(rows)) < 0.2, 1] = np.nan
        agent.learn(Records(rows, None, np.zeros(len(rows))))
    assert agent.astray == 0
    assert agent.finished
    assert not wrong(agent, world)


@pytest.mark.parametrize(
    "make",
    [
        lambda problem: Thrifty(problem, horizon=1000),
        lambda problem: Elimination(problem, sigma=4.0),
        lambda problem: EntropyExploreThenCommit(problem, horizon=1000),
        Certified,
    ],
    ids=["thrifty", "elimination", "explore-then-commit", "certified"],
)
def test_every_set_agent_says_that_rounds_went_astray(make: Any) -> None:
    world = alone()
    agent = make(world.problem)
    rows = world.rows(np.random.default_rng(0), 4, [0])
    agent.learn(Records(rows, [2, 1, 0, 1]))
    assert agent.astray == 4
    assert any("4 of 4 rounds did not measure" in notice for notice in agent.notices)
