from __future__ import annotations

import numpy as np
import pytest

from proband import Gaussian, Problem, Records, Test, plan
from proband.agents import Greedy, LeafCompletion, Thompson
from proband.agents.gaussian import GaussianExploreThenCommit
from proband.agents.stops import Stops
from proband.errors import AgentError
from proband.policies import Completing
from proband.rewards import Entropy


def test_the_rule_by_hand(lab):
    problem, _ = lab.quality_control()
    agent = LeafCompletion(problem)
    agent.begun, agent.length = 1_000, 150
    mass, loss, kappa = np.array([0.5, 0.4, 0.1]), np.array([0.4, 1e-6, 0.02]), np.array([0.2, 0.2, 0.001])
    chances = agent.coins(Stops(None, np.array([0, 1, 3]), mass, loss, kappa, 100, np.ones(3, dtype=bool)))
    # 4000·0.5·0.4·100/0.2 = 400,000, of which the root is 632: more than double; the second does not pay;
    # the third wants sqrt(4000·0.1·0.02·100/0.001) − 100 = 794, again no more than 101 of its 15 visits.
    assert chances.tolist() == [1.0, 0.0, 1.0]
    agent.length = 1_000
    alone = Stops(None, np.array([0]), mass[:1], loss[:1], kappa[:1], 100, np.ones(1, dtype=bool))
    assert agent.coins(alone) == pytest.approx(101 / 500)
    agent.horizon = 1_010
    assert agent.subjects_ahead() == 10


def test_where_it_stops_and_what_that_costs(lab, rng):
    problem, law = lab.single_test(0.3)
    agent = LeafCompletion(problem, subjects=20_000)
    agent.estimator.update(Records(law.sample(rng, 50_000)))
    base = plan(problem, law)
    drawn = [plan(problem, Gaussian([-0.3], [[1.0]]))]
    sets = agent.leaves.stops(base, drawn, agent.estimator.distribution(), agent.rng, 1)
    assert sets.where.tolist() == [0]
    assert sets.mass == pytest.approx(1)
    assert sets.loss == pytest.approx(2 * 0.1179, abs=1e-3)  # deciding "up" where "down" is right: 2·Φ(0.3) − 1
    assert sets.kappa == pytest.approx(0.75 - 0.3821, abs=0.01)  # the price, less the errors that looking avoids


def test_the_floor_falls_with_the_number_of_subjects(lab):
    problem, _ = lab.quality_control()
    agent = LeafCompletion(problem, floor=0.3)
    assert agent.floor_after(1_000) == pytest.approx(0.02)
    assert agent.floor_after(8_000) == pytest.approx(0.01)


def test_every_set_in_which_the_plan_stops_has_a_coin(lab, rng):
    problem, law = lab.quality_control()
    agent = LeafCompletion(problem, seed=1)
    agent.learn(Records(law.sample(rng, 64)))
    policy = agent.policy()
    assert isinstance(policy, Completing)
    assert (policy.completion.probabilities >= agent.lowest).all()
    assert 0b1111 not in policy.completion.masks
    assert agent.commitment == 9


def test_it_needs_a_fraction_of_the_regret_of_explore_then_commit(lab):
    problem, law = lab.quality_control()
    world, horizon = lab.World(problem, law), 2**12
    explored = world.regret(GaussianExploreThenCommit(problem, horizon=horizon, condition_number=1), horizon, seed=1)
    completed = world.regret(LeafCompletion(problem, seed=1, draws=8, subjects=512), horizon, seed=1)
    assert completed < 0.5 * explored


def test_it_leaves_a_wrong_decision_that_greedy_is_stuck_on(lab):
    """The test is never worth its price; after 16 subjects whose mean has the wrong sign, only coins tell."""
    problem, law = lab.single_test(0.2)
    world, horizon = lab.World(problem, law, subjects=500), 2**12
    first = Records(np.tile([[-0.3], [0.1]], (8, 1)) + np.linspace(-1, 1, 16)[:, None])
    regrets = []
    for make in (Greedy, LeafCompletion):
        agent = make(problem, first=16)
        agent.learn(first)
        regrets.append(world.regret(agent, horizon, seed=3))
    assert regrets[0] > 0.9 * horizon * 2 * 0.0793  # for ever wrong: 2·Φ(0.2) − 1 a subject
    assert regrets[1] < 0.5 * regrets[0]


def test_thompson_plays_plans_of_draws_and_greedy_that_of_the_estimate(lab, rng):
    problem, law = lab.quality_control()
    rows = law.sample(rng, 64)
    greedy, thompson, other = (
        Greedy(problem),
        Thompson(problem, seed=1),
        Thompson(problem, seed=2),
    )
    for agent in (greedy, thompson, other):
        agent.learn(Records(rows))
    np.testing.assert_allclose(greedy.policy().distribution.mean, rows.mean(axis=0), rtol=1e-12)
    assert thompson.policy().distribution != other.policy().distribution
    assert thompson.policy().distribution != greedy.policy().distribution


def test_settings_that_make_no_sense(lab):
    problem, _ = lab.quality_control()
    for wrong in ({"draws": 0}, {"subjects": 0}, {"ahead": -1}, {"floor": -0.1}, {"first": 0}, {"growth": 0}):
        with pytest.raises(AgentError):
            LeafCompletion(problem, **wrong)
    with pytest.raises(AgentError, match="Entropy"):
        LeafCompletion(Problem([Test("a", 1.0, outcomes=None)], ["stop"], Entropy()))
