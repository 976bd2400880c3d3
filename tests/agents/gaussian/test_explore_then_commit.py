from __future__ import annotations

import math

import numpy as np
import pytest

from proband import Gaussian, Records, plan
from proband.agents import FOREVER, Doubling
from proband.agents.estimates import suited_tolerance
from proband.agents.gaussian import (
    GaussianExploreThenCommit,
    correlation_condition_number,
    gaussian_exploration_length,
)
from proband.errors import AgentError
from proband.planners.gaussian.plan import GaussianPlan
from proband.policies import FixedSet


@pytest.mark.parametrize(
    ("sigma", "horizon", "expected"),
    [(1, 8, 4), (1, 27, 9), (2, 8, 8), (2, 1000, 400), (1.5, 10**6, 22_500), (1e300, 7, 7), (math.inf, 7, 7)],
)
def test_the_length_is_exact_and_at_most_the_horizon(sigma, horizon, expected):
    assert gaussian_exploration_length(sigma, horizon) == expected


def test_the_length_is_the_floor_for_many_horizons():
    for horizon in range(1, 400):
        n = gaussian_exploration_length(1.25, horizon)
        assert n == horizon or n**3 <= 1.25**6 * horizon**2 < (n + 1) ** 3


def test_a_given_condition_number_explores_at_once(lab, rng):
    problem, law = lab.quality_control()
    agent = GaussianExploreThenCommit(problem, horizon=1000, condition_number=2)
    assert agent.exploration == agent.commitment == 400
    assert isinstance(agent.policy(), FixedSet)
    rows = law.sample(rng, 400)
    agent.learn(Records(rows[:399]))
    assert agent.commitment == 1
    agent.learn(Records(rows[399:]))
    assert agent.commitment == FOREVER
    committed = agent.policy()
    assert isinstance(committed, GaussianPlan)
    np.testing.assert_allclose(committed.distribution.covariance, np.cov(rows.T, bias=True), rtol=1e-12)
    assert committed.error <= suited_tolerance(problem, 400)
    agent.learn(Records(law.sample(rng, 500)))
    assert agent.policy() is committed


def test_the_pilot_is_what_any_condition_number_needs_and_tells_the_rest(lab, rng):
    problem, law = lab.quality_control()
    agent = GaussianExploreThenCommit(problem, horizon=8_000)
    assert agent.exploration == agent.pilot == 400
    rows = law.sample(rng, 400)
    agent.learn(Records(rows))
    sigma = np.linalg.cond(np.corrcoef(rows.T))
    assert agent.condition_number == pytest.approx(sigma)
    assert 1.8 < sigma < 4.5  # 2.71 in truth
    assert agent.exploration == min(gaussian_exploration_length(agent.condition_number, 8_000), 4_000)
    assert agent.exploration > 400
    assert isinstance(agent.policy(), FixedSet)


def test_an_estimated_length_is_capped_at_half_of_the_horizon(rng, lab):
    problem, _ = lab.quality_control()
    redundant = np.full((4, 4), 0.999) + 0.001 * np.eye(4)
    agent = GaussianExploreThenCommit(problem, horizon=1_000)
    agent.learn(Records(Gaussian(np.zeros(4), redundant).sample(rng, 100)))
    assert agent.condition_number > 1_000
    assert agent.exploration == 500
    short = GaussianExploreThenCommit(problem, horizon=8)
    short.learn(Records(rng.normal(size=(4, 4))))
    assert short.condition_number == math.inf
    assert short.exploration == 4


def test_units_and_redundant_tests_do_not_change_the_condition_number():
    base = np.array([[1.0, 0.5], [0.5, 1.0]])
    unit = np.array([1e-3, 1e4])
    assert correlation_condition_number(Gaussian([0, 0], base)) == pytest.approx(3)
    assert correlation_condition_number(Gaussian([0, 0], base * np.outer(unit, unit))) == pytest.approx(3)
    copied = Gaussian([0, 0, 0], [[1, 0.5, 2], [0.5, 1, 1], [2, 1, 4]])
    assert correlation_condition_number(copied) == pytest.approx(3)
    assert correlation_condition_number(Gaussian([1.0], [[0.0]])) == 1


def test_history_and_incomplete_subjects(lab, rng):
    problem, law = lab.quality_control()
    agent = GaussianExploreThenCommit(problem, horizon=100, explore=50)
    gaps = law.sample(rng, 20)
    gaps[:, 2] = np.nan
    agent.learn(Records(gaps))
    assert agent.commitment == 50
    agent.learn(Records(law.sample(rng, 30)))
    assert agent.commitment == 20


def test_unavailable_tests_are_learned_from_history(lab, rng):
    problem, law = lab.gold_standard()
    agent = GaussianExploreThenCommit(problem, horizon=1_000, explore=200)
    agent.learn(Records(law.sample(rng, 150)))
    assert agent.commitment == 50
    assert problem.action_name(agent.policy().act([[2.0, np.nan]])[0]) == "treat"
    assert problem.action_name(agent.policy().act([[-3.0, np.nan]])[0]) == "wait"
    agent.learn(Records(problem.states(law.sample(rng, 50))))
    truth = plan(problem, law)
    assert agent.policy().value == pytest.approx(truth.value, abs=0.1)


def test_more_subjects_than_expected_and_hardly_any(lab, rng):
    problem, law = lab.quality_control()
    agent = GaussianExploreThenCommit(problem, horizon=1)
    agent.learn(Records(law.sample(rng, 1)))
    assert agent.commitment == FOREVER
    assert agent.policy().act(np.full((1, 4), np.nan)).shape == (1,)


def test_doubling_around_it(lab, rng):
    problem, law = lab.quality_control()
    agent = Doubling(lambda horizon: GaussianExploreThenCommit(problem, horizon=horizon, condition_number=1), keep=True)
    for _ in range(60):
        agent.learn(Records(law.sample(rng, 1)))
    assert agent.batch == 32
    assert agent.agent.law().covariance.shape == (4, 4)


def test_settings_that_make_no_sense(lab):
    problem, _ = lab.quality_control()
    for wrong in ({"horizon": 0}, {"horizon": 5, "pilot": 0}, {"horizon": 5, "explore": -1}, {"horizon": 2.5}):
        with pytest.raises(AgentError, match="whole number"):
            GaussianExploreThenCommit(problem, **wrong)
    with pytest.raises(AgentError, match=r"condition_number is 0\.5"):
        GaussianExploreThenCommit(problem, horizon=5, condition_number=0.5)


def test_regret_grows_no_faster_than_the_theorem_says(lab):
    """With σ = 2.71 given: the slope between T = 2^12 and T = 2^18 is at most 2/3, up to the noise of three streams."""
    problem, law = lab.quality_control()
    world = lab.World(problem, law)
    horizons = 2 ** np.arange(12, 19, 2)
    regrets = [
        np.mean(
            [
                world.regret(
                    GaussianExploreThenCommit(problem, horizon=int(horizon), condition_number=law.condition_number),
                    int(horizon),
                    seed=seed,
                )
                for seed in range(3)
            ]
        )
        for horizon in horizons
    ]
    slope = np.polyfit(np.log(horizons), np.log(regrets), 1)[0]
    assert 0.5 < slope <= 2 / 3 + 0.05
