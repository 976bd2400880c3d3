from __future__ import annotations

import numpy as np
import pytest

from proband import Problem, Records, Test, plan
from proband.errors import DistributionError
from proband.estimators import Dirichlet, EmpiricalBayes, Likelihood, solve_dual, solve_em
from proband.policies import follow
from proband.rewards import Match
from proband.vocabulary import outcome_rows

nan = np.nan
PRIORS = {"none": Dirichlet(0), "dirichlet": Dirichlet(1), "empirical-bayes": EmpiricalBayes()}


@pytest.mark.parametrize("prior", ["dirichlet", "empirical-bayes"])
@pytest.mark.parametrize("support", ["product", "seen"])
def test_blocks_give_what_all_at_once_gives(prior, support, kit, rng):
    problem = kit.make_problem((2, 3, 2, 2))
    rows = kit.policy_states(problem, rng, 200)
    at_once = Likelihood(problem, prior=PRIORS[prior], support=support)
    blocks = Likelihood(problem, prior=PRIORS[prior], support=support)
    at_once.update(Records(rows))
    for block in np.array_split(rows, 9):
        blocks.update(Records(block))
        blocks.distribution()
    assert np.array_equal(at_once.support, blocks.support)
    np.testing.assert_allclose(blocks.probabilities, at_once.probabilities, atol=1e-9)
    np.testing.assert_allclose(blocks.exposures, at_once.exposures, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("prior", PRIORS)
def test_the_order_of_records_and_tests_does_not_matter(prior, kit, rng):
    problem = kit.make_problem((2, 3, 2))
    rows = kit.policy_states(problem, rng, 150)
    order = [2, 0, 1]
    turned = Problem([problem.tests[i] for i in order], (), Match())
    laws = []
    for p, r in ((problem, rows), (problem, rng.permutation(rows)), (turned, rows[:, order])):
        estimator = Likelihood(p, prior=PRIORS[prior])
        estimator.update(Records(r))
        laws.append(estimator)
    np.testing.assert_allclose(laws[1].probabilities, laws[0].probabilities, atol=1e-8)
    back = [int(np.flatnonzero((laws[2].support == row[order]).all(axis=1))[0]) for row in laws[0].support]
    np.testing.assert_allclose(laws[2].probabilities[back], laws[0].probabilities, atol=1e-8)


def test_complete_records_give_counts_plus_alpha(kit, rng):
    problem = kit.make_problem((2, 2))
    estimator = Likelihood(problem, prior=Dirichlet([1, 2, 3, 4]))
    estimator.update(Records([[0, 0], [0, 0], [1, 1]]))
    np.testing.assert_allclose(estimator.probabilities, np.array([3, 2, 3, 5]) / 13)
    assert estimator.exposures.tolist() == [3, 3, 3, 3]


def test_how_tests_are_related_that_never_run_together_is_not_learned(kit):
    """Both are run on half of the subjects each, and always agree: their marginals are found, their relation is not."""
    estimator = Likelihood(kit.make_problem((2, 2)), prior=Dirichlet(0))
    estimator.update(Records([[0, nan], [1, nan], [nan, 0], [nan, 1]], counts=[30_000, 10_000, 30_000, 10_000]))
    law = estimator.probabilities.reshape(2, 2)
    np.testing.assert_allclose([law[0].sum(), law[:, 0].sum()], 0.75, atol=1e-6)
    assert law[0, 1] > 0.1  # 0 if they were seen together


@pytest.mark.parametrize("prior", ["dirichlet", "empirical-bayes"])
def test_no_records_give_the_prior_mean(prior, kit):
    estimator = Likelihood(kit.make_problem((2, 3)), prior=PRIORS[prior])
    estimator.update(Records(np.empty((0, 2))))
    np.testing.assert_allclose(estimator.probabilities, np.full(6, 1 / 6))
    assert estimator.draws(np.random.default_rng(0), 2).shape == (2, 6)
    estimator.update(Records([[nan, nan]]))
    np.testing.assert_allclose(estimator.probabilities, np.full(6, 1 / 6))


@pytest.mark.parametrize("arguments", [{"prior": Dirichlet(0)}, {"support": "seen"}])
def test_nothing_known_and_no_prior_is_an_error(arguments, kit):
    estimator = Likelihood(kit.make_problem((2, 3)), **arguments)
    with pytest.raises(DistributionError, match="0 subjects"):
        estimator.distribution()


@pytest.mark.parametrize("solver", [solve_dual, solve_em])
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("support", ["product", "seen"])
def test_one_record(solver, prior, support, kit):
    for row in ([0, 2], [1, nan]):
        estimator = Likelihood(kit.make_problem((2, 3)), prior=PRIORS[prior], support=support, solver=solver)
        estimator.update(Records([row]))
        law = estimator.distribution()
        assert law.mass([row])[0] == pytest.approx(1) or prior != "none"
        assert law.mass([row])[0] > (1 / 2 if np.isnan(row).any() else 1 / 6)


def test_outcomes_never_seen_keep_mass_under_a_prior_alone(kit, rng):
    problem = kit.make_problem((2, 3))
    rows = [[0, 0]] * 5 + [[1, nan]] * 5
    for prior, lowest in ((Dirichlet(1), 0.05), (EmpiricalBayes(), 1e-4), (Dirichlet(0), 0.0)):
        estimator = Likelihood(problem, prior=prior)
        estimator.update(Records(rows))
        assert estimator.probabilities.min() >= lowest
    assert estimator.probabilities.tolist() == pytest.approx([0.5, 0, 0, 1 / 6, 1 / 6, 1 / 6])


def test_observations_outside_a_given_support_are_left_out(kit):
    estimator = Likelihood(kit.make_problem((2, 2)), support=[[0, 0], [0, 1], [1, 1]], prior=Dirichlet(0))
    estimator.update(Records([[0, 0], [0, nan], [1, 0], [0, 1], [1, nan]]))
    assert estimator.left_out == 1
    np.testing.assert_allclose(estimator.probabilities, [0.375, 0.375, 0.25])


def test_a_huge_space_is_estimated_over_seen_rows(kit, rng):
    problem = kit.make_problem((3,) * 70)
    kinds = np.floor(rng.random((6, 70)) * 3)
    rows = kinds[rng.integers(0, 6, 300)]
    hidden = kit.hide(rows, rng, 0.9)
    hidden[:30] = rows[:30]
    hidden[-1] = nan
    hidden[-1, 0] = 3 - kinds[:, 0].max() if len(np.unique(kinds[:, 0])) < 3 else nan
    estimator = Likelihood(problem, prior=Dirichlet(0.1))
    estimator.update(Records(hidden))
    law = estimator.distribution()
    assert estimator.left_out == 0
    assert len(law) <= 8
    assert law.probabilities.sum() == pytest.approx(1)


def test_a_test_that_is_never_recorded_stays_uniform(kit):
    problem = Problem([Test("a"), Test("gold", available=False)], (), Match())
    for prior in PRIORS.values():
        estimator = Likelihood(problem, prior=prior)
        estimator.update(Records([[0, nan]] * 3 + [[1, nan]]))
        np.testing.assert_allclose(estimator.distribution().marginal(1), [0.5, 0.5], atol=1e-9)


def test_history_with_a_gold_standard_and_operation_without(kit):
    problem = Problem([Test("a"), Test("gold", available=False)], (), Match())
    estimator = Likelihood(problem, prior=Dirichlet(0))
    estimator.update(Records([[0, 0]] * 3 + [[0, 1]] + [[1, 1]] * 4))
    estimator.update(Records([[0, nan]] * 92))
    np.testing.assert_allclose(estimator.probabilities, np.array([0.96 * 0.75, 0.96 * 0.25, 0, 0.04]), atol=1e-9)


def test_context_alone_moves_its_own_margin(kit):
    problem = Problem([Test("age", on_arrival=True), Test("scan", 0.2)], (), Match())
    estimator = Likelihood(problem, prior=Dirichlet(0))
    estimator.update(Records([[0, 0], [0, 1], [1, 1]] + [[1, nan]] * 7))
    np.testing.assert_allclose(estimator.probabilities, [0.1, 0.1, 0, 0.8], atol=1e-9)


def test_exposures_are_those_of_the_policy(kit):
    """One policy: stop after t0 = 0 with probability 0.8; exposure is 0.2 n there and n elsewhere."""
    rng = np.random.default_rng(3)
    problem = kit.make_problem((2, 2, 2))
    law = kit.random_law(problem, rng, shape=3)
    rows = law.sample(rng, 200_000)
    rows[(rows[:, 0] == 0) & (rng.random(len(rows)) < 0.8), 1:] = nan
    estimator = Likelihood(problem)
    estimator.update(Records(rows))
    np.testing.assert_allclose(estimator.exposures / len(rows), [0.2] * 4 + [1.0] * 4, atol=0.005)


def test_known_exposures_replace_estimated_ones(kit):
    problem = kit.make_problem((2, 2))
    records = Records([[0, 0]] * 3 + [[1, 1]] + [[0, nan]] * 6)
    estimated, known = (Likelihood(problem, prior=EmpiricalBayes()) for _ in range(2))
    for estimator in (estimated, known):
        estimator.update(records)
    known.expose([2, 2, 5, 5])
    known.expose([1, 1, 5, 5])
    assert known.exposures.tolist() == [3, 3, 10, 10]
    assert not np.allclose(known.probabilities, estimated.probabilities)
    with pytest.raises(DistributionError, match="each of the 4 rows"):
        known.expose([1.0])
    with pytest.raises(DistributionError, match="fixed rows"):
        Likelihood(problem, support="seen").expose([1.0])


@pytest.mark.parametrize("prior", PRIORS)
def test_the_likelihood_is_consistent_under_an_adaptive_policy(prior, kit):
    """Records under real plans, missing at random, and the error of the estimate falls with the number of records."""
    rng = np.random.default_rng(11)
    problem = kit.make_problem((2,) * 5, cost=0.12)
    truth = kit.random_law(problem, rng)
    estimator = Likelihood(problem, prior=PRIORS[prior])
    errors = []
    for n in (1_000, 99_000):
        for _ in range(4):
            rows = truth.sample(rng, n // 4)
            seen = follow(problem, plan(problem, kit.random_law(problem, rng)), rows).states
            coin = rng.random(len(rows)) < 0.1
            seen[coin] = rows[coin]
            estimator.update(Records(seen))
        errors.append(np.abs(estimator.probabilities - truth.probabilities).sum())
    assert (np.isnan(estimator.observations.rows).any(axis=1)).mean() > 0.3
    assert errors[1] < 0.2 * errors[0]
    assert errors[1] < 0.04


def test_empirical_bayes_is_nearer_than_dirichlet_when_cells_differ_much(kit):
    rng = np.random.default_rng(5)
    problem = kit.make_problem((2,) * 8)
    rows = outcome_rows(np.arange(256), problem.tests)
    errors = {"dirichlet": 0.0, "empirical-bayes": 0.0}
    for _ in range(5):
        weights = rng.pareto(1.16, 256) + 1
        truth = weights / weights.sum()
        seen = rows[rng.choice(256, 200, p=truth)]
        for prior in errors:
            estimator = Likelihood(problem, prior=PRIORS[prior])
            estimator.update(Records(seen))
            errors[prior] += np.abs(estimator.probabilities - truth).sum()
    assert errors["empirical-bayes"] < 0.8 * errors["dirichlet"]
