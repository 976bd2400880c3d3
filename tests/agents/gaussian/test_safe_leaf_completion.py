"""Floor, cap and veto of safe leaf completion for measured outcomes, and the sample that its proof rests on."""

from __future__ import annotations

import numpy as np
import pytest

from proband import Gaussian, Problem, Records, Test, plan
from proband.agents import LeafCompletion, SafeLeafCompletion
from proband.errors import AgentError
from proband.instances import proxied, single_measurement
from proband.policies import Completing, follow

LIGHT = {"draws": 2, "subjects": 256}


def play(agent, law, horizon, *, seed, told, watch=lambda policy, chances, complete: None):
    """Send subjects of a law through an agent, whether it is told their chances or not; `watch` sees every block."""
    rng, t = np.random.default_rng(seed), 0
    problem = agent.problem
    while t < horizon:
        policy, n = agent.policy(), min(agent.commitment, horizon - t)
        rows, coins = law.sample(rng, n), rng.random(n)
        if isinstance(policy, Completing):
            stopped = policy.stopped(rows).states
            whole = ~np.isnan(stopped[:, problem.operable]).any(axis=1)
            chances = np.where(whole, 1.0, policy.completion(stopped))
            states = follow(problem, policy, rows, coins=coins).states
        else:
            chances, states = np.ones(n), follow(problem, policy, rows).states
        complete = ~np.isnan(states[:, problem.operable]).any(axis=1)
        watch(policy, chances, complete)
        agent.learn(Records(states, chances=chances) if told else Records(states))
        t += n


def complete(agent):
    """How many subjects were seen completely."""
    return agent.leaves.complete(agent.estimator)


def worth_measuring_in_doubt():
    """A good proxy, and a measurement cheap enough to be made where the proxy leaves doubt."""
    law = proxied(correlation=0.8).distribution
    problem = proxied().problem
    tests = [problem.tests[0], Test("measurement", 0.15, outcomes=None)]
    return Problem(tests, problem.decisions, problem.reward), law


@pytest.mark.parametrize("ahead", [4.0, 1e9])
@pytest.mark.parametrize("make", [single_measurement, proxied])
def test_floor_and_cap_hold_in_every_block(make, ahead):
    """With `ahead` far too far leaf completion would complete (nearly) everybody; the cap stops it."""
    instance = make()
    agent = SafeLeafCompletion(instance.problem, seed=1, ahead=ahead, floor=0.03, **LIGHT)
    root = (instance.problem.d * (instance.problem.d + 3) / 2) ** (1 / 3)
    beyond, shares = 0, []

    def watch(policy, chances, complete):
        nonlocal beyond
        if isinstance(policy, Completing):
            floor = 2 / 3 * 0.03 * root * agent.t ** (-1 / 3)
            assert (chances >= floor * (1 - 1e-12)).all()
            most = chances[(chances < 1) & (chances > floor * (1 + 1e-12))]
            assert beyond + agent.left * most.max(initial=0.0) <= root * agent.t ** (2 / 3) + 1e-9 or not len(most)
            beyond += int((complete & (chances < 1) & (chances > floor * (1 + 1e-12))).sum())
            shares.append(beyond / (root * agent.t ** (2 / 3)))

    play(agent, instance.distribution, 6_000, seed=3, told=False, watch=watch)
    agent.learn(Records(np.full((1, instance.problem.d), np.nan), counts=[agent.left]))
    assert agent.completed == beyond
    if ahead > 4:
        assert shares[-1] > 0.6
        free = LeafCompletion(instance.problem, seed=1, ahead=ahead, **LIGHT)
        play(free, instance.distribution, 6_000, seed=3, told=False)
        assert complete(free) > 1.3 * complete(agent)


@pytest.mark.parametrize("make", [single_measurement, proxied])
def test_told_or_not_it_is_the_same_agent(make):
    instance = make()
    agents = [SafeLeafCompletion(instance.problem, seed=2, ahead=1e3, floor=0.1, **LIGHT) for _ in range(2)]
    for agent, told in zip(agents, (False, True), strict=True):
        play(agent, instance.distribution, 3_000, seed=4, told=told)
    first, second = agents
    assert first.completed == second.completed > 50
    assert first.reference.distribution() == second.reference.distribution()
    assert first.reference.n == second.reference.n > 64
    assert first.policy().base.value == second.policy().base.value
    assert first.policy().completion.probabilities.tolist() == second.policy().completion.probabilities.tolist()


def test_accepted_subjects_are_a_sample_although_complete_ones_are_not():
    """The plan measures where the proxy is near 0: complete subjects are selected, accepted ones are not."""
    problem, law = worth_measuring_in_doubt()
    complete, accepted = [], []
    for seed in range(24):
        agent = SafeLeafCompletion(problem, seed=seed, first=16, growth=1.0, floor=1.0, **LIGHT)
        play(agent, law, 500, seed=seed, told=bool(seed % 2))
        agent.learn(Records(np.full((1, 2), np.nan), counts=[agent.left]))
        whole, kept = agent.estimator.patterns.complete, agent.reference.patterns.complete
        complete.append([whole.n, whole.scatter[0, 0] + whole.n * whole.mean[0] ** 2])
        second = kept.scatter + kept.n * np.outer(kept.mean, kept.mean)
        accepted.append([kept.n, second[0, 0], second[1, 1], second[0, 1], *(kept.n * kept.mean)])
    n, square = np.sum(complete, axis=0)
    assert square / n < 0.6  # a variance of 1 it is not
    n, *moments = np.sum(accepted, axis=0)
    errors = np.sqrt(np.array([2.0, 2.0, 1 + 0.8**2, 1.0, 1.0]) / n)
    assert n > 24 * 40
    assert (np.abs(np.array(moments) / n - [1.0, 1.0, 0.8, 0.0, 0.0]) < 3.5 * errors).all()


def test_subjects_of_unknown_chance_are_neither_accepted_nor_counted():
    instance = proxied()
    agent = SafeLeafCompletion(instance.problem, first=8, **LIGHT)
    rows = instance.distribution.sample(np.random.default_rng(0), 8)
    agent.learn(Records(rows, chances=[1.0, np.nan, 1.0, 1.0, np.nan, 1.0, 1.0, 1.0]))
    assert (agent.reference.n, complete(agent), agent.completed) == (6, 8, 0)


def selected(law, n, rng):
    """Records of somebody who kept the subjects on whom proxy and measurement disagree."""
    rows = law.sample(rng, n)
    return Records(rows[rows[:, 0] * rows[:, 1] < 0], chances=np.full(int((rows[:, 0] * rows[:, 1] < 0).sum()), np.nan))


def test_a_likelihood_misled_by_selected_records_is_vetoed_in_time(lab):
    """The records say ρ < 0, the truth is 0.4; leaf completion believes them and goes against the proxy."""
    instance = proxied(correlation=0.4)
    problem, law = instance.problem, instance.distribution
    world, horizon, regrets = lab.World(problem, law, subjects=2_000), 2**13, []
    for threshold in (3.0, 1e9):
        agent = SafeLeafCompletion(problem, seed=1, threshold=threshold, floor=0.3, cap=0.0, **LIGHT)
        play(agent, law, 64, seed=5, told=True)
        agent.learn(selected(law, 40_000, np.random.default_rng(6)))
        regrets.append(world.regret(agent, horizon, seed=7))
        assert (agent.vetoes > 2) == (threshold == 3.0)
    assert regrets[1] > 0.9 * horizon * 2 * np.arcsin(0.4) / np.pi
    assert regrets[0] < 0.2 * regrets[1]


def test_a_good_law_is_left_alone_and_a_threshold_of_zero_is_safe(lab):
    problem, law = lab.quality_control()
    world = lab.World(problem, law, subjects=1_000)
    calm, anxious = (SafeLeafCompletion(problem, seed=1, threshold=x, **LIGHT) for x in (3.0, 0.0))
    assert world.regret(calm, 2_000, seed=1) < 60
    assert calm.vetoes == 0
    assert world.regret(anxious, 2_000, seed=1) < 80
    assert anxious.vetoes > 10


def test_where_tests_are_unavailable_floor_and_cap_hold_and_nothing_is_vetoed(lab):
    problem, law = lab.gold_standard()
    agent = SafeLeafCompletion(problem, seed=1, threshold=0.0, **LIGHT)
    agent.learn(Records(law.sample(np.random.default_rng(0), 100)))
    play(agent, law, 400, seed=1, told=False)
    assert (agent.vetoes, agent.reference.n) == (0, 0)
    assert agent.policy().completion.otherwise > 0


def test_a_floor_of_one_accepts_everybody():
    instance = single_measurement()
    agent = SafeLeafCompletion(instance.problem, floor=100.0, **LIGHT)
    play(agent, instance.distribution, 300, seed=1, told=True)
    agent.learn(Records(np.full((1, 1), np.nan), counts=[agent.left]))
    assert agent.reference.n == complete(agent) == 300
    assert agent.completed == 0


def test_too_few_subjects_veto_nothing():
    problem = proxied().problem
    agent = SafeLeafCompletion(problem, first=2, threshold=0.0, **LIGHT)
    agent.learn(Records([[0.0, 1.0], [1.0, 0.0]]))
    assert agent.vetoes == 0
    assert isinstance(agent.policy(), Completing)


def test_the_vetoing_plan_is_that_of_the_accepted_subjects():
    instance = proxied()
    agent = SafeLeafCompletion(instance.problem, seed=1, threshold=0.0, **LIGHT)
    play(agent, instance.distribution, 500, seed=1, told=False)
    policy = agent.policy()
    assert agent.vetoes > 0
    assert isinstance(policy.base.distribution, Gaussian)
    expected = plan(instance.problem, agent.reference.distribution())
    assert policy.base.value == pytest.approx(expected.value, abs=1e-3)
    assert not len(policy.completion.masks)
    assert policy.completion.otherwise > 0


@pytest.mark.parametrize("options", [{"floor": 0.0}, {"threshold": -0.1}, {"cap": -0.1}, {"draws": 0}])
def test_impossible_settings(options):
    with pytest.raises(AgentError, match="correct them"):
        SafeLeafCompletion(single_measurement().problem, **options)
