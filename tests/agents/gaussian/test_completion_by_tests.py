from __future__ import annotations

import numpy as np
import pytest

from proband import plan
from proband.errors import PolicyError
from proband.policies import ByTests, CoinPolicy, Completing, branches, follow
from proband.policies.beliefs import masks_of


def test_coins_fall_by_the_tested_set(lab, rng):
    problem, law = lab.quality_control()
    base = plan(problem, law)
    policy = Completing(problem, base, ByTests(problem, {0b0011: 0.25, 0b0111: 1.0}))
    assert isinstance(policy, CoinPolicy)
    rows = law.sample(rng, 500)
    stopped = follow(problem, base, rows)
    masks = masks_of(stopped.states)
    chances = policy.completion(stopped.states)
    expected = {0b0011: 0.25, 0b0111: 1.0}
    assert [expected.get(mask, 0.0) for mask in masks.tolist()] == chances.tolist()
    assert {0b0011, 0b0111} <= set(masks.tolist())
    [(_, stayed), (_, completed)] = branches(problem, policy, rows)
    assert np.array_equal(stayed.states, stopped.states, equal_nan=True)
    assert np.array_equal(completed.states, rows)
    full = np.array([test.cost for test in problem.tests]).sum()
    np.testing.assert_allclose(completed.costs, full)


def test_a_subject_that_is_being_completed_stays_so_in_every_state_on_the_way(lab, rng):
    problem, law = lab.quality_control()
    base = plan(problem, law)
    policy = Completing(problem, base, ByTests(problem, {0b0011: 0.25, 0b0111: 0.1}))
    rows = law.sample(rng, 400)
    coins = rng.random(400)
    seen = follow(problem, policy, rows, coins=coins).states
    stopped = follow(problem, base, rows).states
    completed = coins < policy.completion(stopped)
    assert 0 < completed.sum() < 400
    assert not np.isnan(seen[completed]).any()
    assert np.array_equal(seen[~completed], stopped[~completed], equal_nan=True)


def test_without_sets_it_is_the_base(lab, rng):
    problem, law = lab.quality_control()
    base = plan(problem, law)
    policy, rows = Completing(problem, base, ByTests(problem, {})), law.sample(rng, 50)
    tossed, plain = follow(problem, policy, rows, coins=np.zeros(50)), follow(problem, base, rows)
    assert np.array_equal(tossed.states, plain.states, equal_nan=True)
    assert np.array_equal(tossed.actions, plain.actions)
    assert np.array_equal(policy.act(plain.states, 0.0), base.act(plain.states))


def test_sets_that_are_not_listed(lab):
    problem, law = lab.quality_control()
    policy = Completing(problem, plan(problem, law), ByTests(problem, {0b1: 0.5}, otherwise=0.125))
    nan = np.nan
    states = [[1.0, nan, nan, nan], [1.0, nan, 2.0, nan], [1.0, 2.0, 3.0, 4.0]]
    assert policy.completion(states).tolist() == [0.5, 0.125, 0.0]


def test_probabilities_are_checked(lab):
    problem, _ = lab.quality_control()
    for wrong in ({"probabilities": {1: 1.5}}, {"probabilities": {}, "otherwise": -0.1}):
        with pytest.raises(PolicyError, match="from 0 to 1"):
            ByTests(problem, **wrong)
