from __future__ import annotations

import numpy as np
import pytest

from proband import Records
from proband.errors import DistributionError
from proband.estimators import Dirichlet, EmpiricalBayes, Likelihood
from proband.estimators.listed import draws as drawing

nan = np.nan


def moments(draws):
    return draws.mean(axis=0), draws.std(axis=0)


@pytest.mark.parametrize("sweeps", [0, 2])
def test_complete_records_give_the_dirichlet_posterior(sweeps, kit, rng):
    problem = kit.make_problem((2, 2))
    estimator = Likelihood(problem, prior=Dirichlet(0.5))
    estimator.update_counts([[0, 0], [0, 1], [1, 1]], [20, 5, 1])
    shape = np.array([20.5, 5.5, 0.5, 1.5])
    mean, sd = moments(estimator.draws(rng, 20_000, sweeps=sweeps))
    expected = shape / shape.sum()
    spread = np.sqrt(expected * (1 - expected) / (shape.sum() + 1))
    np.testing.assert_allclose(mean, expected, atol=4 * spread.max() / np.sqrt(20_000))
    np.testing.assert_allclose(sd, spread, rtol=0.05)


def test_nested_observations_give_the_tree_of_dirichlet_posteriors(kit, rng):
    """A leaf with 10,000 partial and 14 complete observations: within it the spread is that of 14, not of 10,014."""
    problem = kit.make_problem((2, 2, 2))
    estimator = Likelihood(problem)
    estimator.update_counts([[0, nan, nan], [0, 0, 0], [0, 0, 1], [0, 1, nan], [1, 0, 0]], [10_000, 6, 4, 50, 90])
    draws = estimator.draws(rng, 20_000)
    inside = draws[:, 0] / draws[:, :2].sum(axis=1)  # Beta(7, 5)
    assert inside.mean() == pytest.approx(7 / 12, abs=0.004)
    assert inside.std() == pytest.approx(np.sqrt(7 * 5 / 13) / 12, rel=0.05)
    half = draws[:, :2].sum(axis=1) / draws[:, :4].sum(axis=1)  # Beta(12, 52)
    assert half.mean() == pytest.approx(12 / 64, abs=0.003)
    assert half.std() == pytest.approx(np.sqrt(12 * 52 / 65) / 64, rel=0.05)
    leaf = draws[:, :4].sum(axis=1)  # Beta(10_064, 94)
    assert leaf.std() == pytest.approx(np.sqrt(10_064 * 94 / 10_159) / 10_158, rel=0.05)
    mean = draws.mean(axis=0)
    np.testing.assert_allclose(mean, estimator.probabilities, atol=0.004)  # the fixed point is the posterior mean


@pytest.mark.parametrize("prior", [Dirichlet(1), EmpiricalBayes()])
def test_overlapping_observations_agree_with_a_long_gibbs_run(prior, kit, rng):
    problem = kit.make_problem((2, 2, 2))
    rows = kit.hide(kit.random_law(problem, rng, shape=2).sample(rng, 120), rng, 0.35)
    estimator = Likelihood(problem, prior=prior)
    estimator.update(Records(rows))
    estimator.fit()
    law = estimator.probabilities.copy()
    chain = np.empty((20_000, 8))
    drawing.sweep(rng, estimator._cells, estimator._mixture, law, 100)
    for step in range(len(chain)):
        drawing.sweep(rng, estimator._cells, estimator._mixture, law, 3)
        chain[step] = law / law.sum()
    mean, sd = moments(chain)
    for sweeps, off, ratio in ((0, 0.35, 0.25), (5, 0.12, 0.12)):
        drawn, spread = moments(estimator.draws(rng, 4_000, sweeps=sweeps))
        assert np.abs((drawn - mean) / sd).max() < off, (drawn, mean, sd)
        assert np.abs(spread / sd - 1).max() < ratio, (spread, sd)


@pytest.mark.parametrize("prior", [Dirichlet(1), EmpiricalBayes()])
@pytest.mark.parametrize("sweeps", [0, 1])
def test_draws_come_from_the_generator_alone(prior, sweeps, kit, rng):
    problem = kit.make_problem((2, 3, 2))
    estimator = Likelihood(problem, prior=prior)
    estimator.update(Records(kit.policy_states(problem, rng, 100)))
    first, again, other = (estimator.draws(np.random.default_rng(seed), 3, sweeps=sweeps) for seed in (7, 7, 8))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.shape == (3, 12)
    np.testing.assert_allclose(first.sum(axis=1), 1)
    assert (first >= 0).all()


def test_without_a_prior_there_is_no_posterior(kit):
    estimator = Likelihood(kit.make_problem((2, 2)), prior=Dirichlet(0))
    estimator.update(Records([[0, 0]]))
    with pytest.raises(DistributionError, match="proper prior"):
        estimator.draws(np.random.default_rng(0), 1)
