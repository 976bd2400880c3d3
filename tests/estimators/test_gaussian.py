from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from proband import Gaussian, Problem, Records, Test
from proband.errors import DistributionError, StateError, TableError
from proband.estimators.gaussian.em import conditional
from proband.estimators.gaussian.likelihood import GaussianLikelihood, GaussianPlugIn, best_shrinkage
from proband.estimators.gaussian.patterns import Patterns
from proband.rewards import Entropy, Match

nan = np.nan


def measured(d):
    return Problem([Test(f"t{i}", 1.0, outcomes=None) for i in range(d)], ["stop"], Entropy())


def random_law(rng, d):
    loadings = rng.normal(size=(d, d))
    return Gaussian(3 * rng.normal(size=d), loadings @ loadings.T + 0.3 * np.eye(d))


def hide(rows, rng, share=0.3):
    return np.where(rng.random(rows.shape) < share, nan, rows)


def skipping(law, rng, n, complete=0.05):
    """Run test 0; go on only where it is low (then also test 1, and the rest where that is high), or by a coin."""
    rows = law.sample(rng, n)
    low = rows[:, 0] < law.mean[0]
    high = rows[:, 1] > law.mean[1]
    seen = rows.copy()
    seen[~low, 1:] = nan
    seen[low & ~high, 2:] = nan
    coin = rng.random(n) < complete
    seen[coin] = rows[coin]
    return seen


def fitted(rows, **options):
    estimator = GaussianLikelihood(measured(np.shape(rows)[1]), **options)
    estimator.update(Records(rows))
    return estimator


def total_log_density(law, rows):
    total = 0.0
    for row in rows:
        known = ~np.isnan(row)
        if known.any():
            block = law.covariance[np.ix_(known, known)]
            total += multivariate_normal.logpdf(row[known], law.mean[known], block)
    return total


# --- the plug-in ------------------------------------------------------------------------------------------------


def test_the_plug_in_is_the_centred_mean_and_covariance(rng):
    rows = random_law(rng, 3).sample(rng, 50) + 100
    estimator = GaussianPlugIn(measured(3))
    for part in np.split(rows, [7, 30]):
        estimator.update(Records(part))
    law = estimator.distribution()
    np.testing.assert_allclose(law.mean, rows.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(law.covariance, np.cov(rows.T, bias=True), rtol=1e-11)
    assert estimator.log_likelihood() == pytest.approx(total_log_density(law, rows), rel=1e-12)
    assert estimator.n == 50


def test_the_plug_in_leaves_incomplete_rows_out_and_needs_two(rng):
    estimator = GaussianPlugIn(measured(2))
    estimator.update(Records([[1, 2], [nan, 3], [4, nan]]))
    assert (estimator.n, estimator.left_out) == (1, 2)
    with pytest.raises(DistributionError, match="1 of 3 records are complete; a covariance needs two"):
        estimator.distribution()


def test_measured_estimators_refuse_listed_outcomes():
    with pytest.raises(TableError, match="measured"):
        GaussianLikelihood(Problem([Test("a")], (), Match()))


def test_wrong_rows_and_counts_are_refused():
    estimator = GaussianLikelihood(measured(2))
    with pytest.raises(StateError, match="finite"):
        estimator.update_counts([[1.0, np.inf]], None)
    with pytest.raises(TableError, match="counts"):
        estimator.update_counts([[1.0, 2.0]], [-1])
    with pytest.raises(DistributionError, match="shrinkage is 2"):
        GaussianLikelihood(measured(2), shrinkage=2)


# --- statistics ---------------------------------------------------------------------------------------------------


def test_a_batch_gives_the_same_bits_in_any_order_and_counted_in_any_way(rng):
    rows = hide(random_law(rng, 4).sample(rng, 200), rng)
    rows[100:150] = rows[50:100]
    rows[0, 0], rows[1, 0] = 0.0, -0.0
    first, second, counted = (Patterns(measured(4)) for _ in range(3))
    first.add(rows)
    second.add(rows[rng.permutation(200)])
    counted.add(np.vstack([rows[:100], rows[150:], rows[:3]]), [*np.ones(50), *np.full(50, 2), *np.ones(50), 0, 0, 0])
    assert first.n == second.n == counted.n == 200
    for patterns in (second, counted):
        assert len(patterns) == len(first)
        for a, b in zip(first, patterns, strict=True):
            assert a.n == b.n
            assert np.array_equal(a.mean, b.mean)
            assert np.array_equal(a.scatter, b.scatter)


def test_learning_in_parts_agrees_with_learning_at_once(rng):
    rows = skipping(random_law(rng, 3), rng, 400) * [1.0, 1e3, 1e-3] + [0, 1e5, 0]
    whole, parts = fitted(rows), GaussianLikelihood(measured(3))
    for part in np.split(rows, [1, 17, 200]):
        parts.update(Records(part))
        parts.distribution()  # asking in between changes nothing
    np.testing.assert_allclose(parts.distribution().mean, whole.distribution().mean, rtol=1e-9)
    np.testing.assert_allclose(parts.distribution().covariance, whole.distribution().covariance, rtol=1e-6)


def test_how_often_tests_were_seen_together():
    patterns = Patterns(measured(3))
    patterns.add([[1, 2, nan], [1, nan, nan], [nan, 4, 5], [nan, nan, nan]], [2, 3, 1, 7])
    assert patterns.together.tolist() == [[5, 2, 0], [2, 3, 1], [0, 1, 1]]
    assert patterns.n == 13
    assert patterns.complete is None


# --- the likelihood -----------------------------------------------------------------------------------------------


def negative_likelihood(rows):
    """The objective over the mean and a triangular factor, by patterns, written without the library."""
    d = rows.shape[1]
    triangle = np.tril_indices(d)
    known = ~np.isnan(rows)
    groups = [(k, rows[(known == k).all(axis=1)][:, k]) for k in np.unique(known, axis=0) if k.any()]

    def unpack(parameters):
        factor = np.zeros((d, d))
        factor[triangle] = parameters[d:]
        return parameters[:d], factor @ factor.T

    def objective(parameters):
        mean, covariance = unpack(parameters)
        total = 0.0
        for k, group in groups:
            block = covariance[np.ix_(k, k)]
            apart = group - mean[k]
            logs = np.linalg.slogdet(2 * np.pi * block)[1]
            total += 0.5 * (len(group) * logs + (apart @ np.linalg.inv(block) * apart).sum())
        return total

    start = np.concatenate([np.nanmean(rows, axis=0), np.diag(np.nanstd(rows, axis=0))[triangle]])
    return objective, start, unpack


@pytest.mark.parametrize(("d", "source"), [(2, "hidden"), (2, "policy"), (3, "hidden"), (3, "policy")])
def test_em_agrees_with_a_general_maximiser(d, source, rng):
    law = random_law(rng, d)
    rows = hide(law.sample(rng, 40), rng) if source == "hidden" else skipping(law, rng, 60, 0.2)
    estimator = fitted(rows)
    objective, start, unpack = negative_likelihood(rows)
    found = minimize(objective, start, method="BFGS", jac="3-point", options={"gtol": 1e-8, "maxiter": 500})
    mean, covariance = unpack(found.x)
    np.testing.assert_allclose(estimator.distribution().mean, mean, atol=1e-6)
    np.testing.assert_allclose(estimator.distribution().covariance, covariance, atol=1e-6)
    assert estimator.log_likelihood() == pytest.approx(-found.fun, abs=1e-9)


def test_two_tests_in_closed_form(rng):
    """Where only the second is ever missing, its law given the first is the regression of the complete rows."""
    rows = random_law(rng, 2).sample(rng, 80)
    rows[rows[:, 0] > rows[:, 0].mean(), 1] = nan
    law = fitted(rows).distribution()
    complete = rows[~np.isnan(rows[:, 1])]
    slope = np.cov(complete.T, bias=True)[0, 1] / complete[:, 0].var()
    mean, variance = rows[:, 0].mean(), rows[:, 0].var()
    residual = complete[:, 1] - complete[:, 1].mean() - slope * (complete[:, 0] - complete[:, 0].mean())
    np.testing.assert_allclose(law.mean, [mean, complete[:, 1].mean() + slope * (mean - complete[:, 0].mean())])
    expected = [[variance, slope * variance], [slope * variance, residual.var() + slope**2 * variance]]
    np.testing.assert_allclose(law.covariance, expected, rtol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_the_likelihood_never_decreases(seed):
    rng = np.random.default_rng(seed)
    law = random_law(rng, 4)
    rows = skipping(law, rng, 300, 0.02) if seed % 2 else hide(law.sample(rng, 60), rng, 0.5)
    path = fitted(rows).fit().path
    assert len(path) > 2
    assert (np.diff(path) >= -1e-11 * np.abs(path[-1])).all()


def test_the_likelihood_is_the_sum_of_densities(rng):
    rows = hide(random_law(rng, 3).sample(rng, 50), rng)
    estimator = fitted(rows)
    assert estimator.log_likelihood() == pytest.approx(total_log_density(estimator.distribution(), rows), rel=1e-12)


def test_units_do_not_matter(rng):
    rows = skipping(random_law(rng, 3), rng, 200)
    unit, shift = np.array([1e-4, 1.0, 1e5]), np.array([0.0, 1e3, -1e6])
    law, other = fitted(rows).distribution(), fitted(rows * unit + shift).distribution()
    np.testing.assert_allclose(other.mean, law.mean * unit + shift, rtol=1e-8)
    np.testing.assert_allclose(other.covariance, law.covariance * np.outer(unit, unit), rtol=1e-6)


def test_a_policy_that_skips_by_what_it_saw_biases_counting_but_not_the_likelihood(rng):
    """20,000 subjects: complete and available cases are off by many standard errors, EM is not."""
    law = Gaussian([0.0, 0.0, 0.0], [[1, 0.6, 0.5], [0.6, 1, 0.7], [0.5, 0.7, 1]])
    rows = skipping(law, rng, 20_000)
    plug_in = GaussianPlugIn(measured(3))
    plug_in.update(Records(rows))
    complete = plug_in.distribution()
    available = np.nanmean(rows, axis=0)
    standard_error = 1 / np.sqrt((~np.isnan(rows)).sum(axis=0).min())
    assert abs(complete.mean[0]) > 20 * standard_error  # run where the first test was low
    assert abs(complete.mean[2]) > 3 * standard_error
    assert abs(available[1]) > 20 * standard_error
    assert complete.covariance[0, 0] < 0.8
    estimate = fitted(rows).distribution()
    np.testing.assert_allclose(estimate.mean, 0.0, atol=5 * standard_error)
    np.testing.assert_allclose(estimate.covariance, law.covariance, atol=8 * standard_error)


# --- what data do not tell ------------------------------------------------------------------------------------------


def test_nothing_seen_gives_unit_variances():
    law = GaussianLikelihood(measured(2)).distribution()
    assert law == Gaussian([0, 0], np.eye(2))


def test_a_test_seen_once_has_its_mean_and_unit_variance():
    law = fitted([[1.0, 5.0, nan], [3.0, nan, nan], [2.0, nan, nan]]).distribution()
    np.testing.assert_allclose(law.mean, [2.0, 5.0, 0.0])
    np.testing.assert_allclose(law.covariance, np.diag([2 / 3, 1.0, 1.0]), atol=1e-12)


def test_a_test_that_never_varies_has_no_variance(rng):
    rows = np.column_stack([rng.normal(size=30), np.full(30, 0.1)])
    rows[20:, 1] = nan
    estimator = fitted(rows)
    law = estimator.distribution()
    assert law.mean[1] == pytest.approx(0.1, abs=1e-15)
    assert law.covariance[1].tolist() == [0, 0]
    assert law.covariance[0, 0] == pytest.approx(rows[:, 0].var())
    assert np.isfinite(estimator.log_likelihood())


def test_linear_functions_of_other_tests_are_found(rng):
    rows = random_law(rng, 2).sample(rng, 300)
    rows = np.column_stack([rows, rows @ [2.0, -1.0] + 3])
    rows[100:200, 2] = nan
    rows[200:250, 1] = nan
    estimator = fitted(rows)
    law = estimator.distribution()
    assert law.redundant == (2,)
    np.testing.assert_allclose(law.mean[2], law.mean[:2] @ [2.0, -1.0] + 3, rtol=1e-6)
    assert np.isfinite(estimator.log_likelihood())
    assert len(estimator.draws(rng, 3)) == 3


def test_tests_never_seen_together_are_independent_given_the_others(rng):
    law = random_law(rng, 4)
    rows = law.sample(rng, 400)
    rows[:200, 3] = nan
    rows[200:, 0] = nan
    estimator = fitted(rows)
    covariance = estimator.distribution().covariance
    assert covariance[0, 3] == pytest.approx(conditional(covariance, 0, 3)[0, 1], rel=1e-9)
    assert abs(np.linalg.inv(covariance)[0, 3]) < 1e-9 * np.abs(np.linalg.inv(covariance)).max()
    before = total_log_density(estimator.distribution(), rows)
    moved = covariance.copy()
    moved[0, 3] = moved[3, 0] = covariance[0, 3] + 0.02
    assert total_log_density(Gaussian(estimator.distribution().mean, moved), rows) == pytest.approx(before, rel=1e-9)


def test_two_tests_never_seen_together_and_alone_are_uncorrelated(rng):
    rows = np.full((40, 2), nan)
    rows[:20, 0], rows[20:, 1] = rng.normal(size=20), rng.normal(size=20)
    np.testing.assert_allclose(fitted(rows).distribution().covariance[0, 1], 0.0, atol=1e-12)


def test_fewer_rows_than_tests_do_not_crash(rng):
    for n in (1, 2, 3, 5):
        rows = hide(random_law(rng, 6).sample(rng, n), rng, 0.3)
        estimator = fitted(rows)
        assert np.isfinite(estimator.distribution().covariance).all()
        assert np.isfinite(estimator.log_likelihood())
        assert all(np.isfinite(law.covariance).all() for law in estimator.draws(rng, 2))


# --- shrinkage ------------------------------------------------------------------------------------------------------


def test_shrinkage_moves_covariances_towards_zero_and_keeps_variances(rng):
    rows = hide(random_law(rng, 3).sample(rng, 60), rng)
    plain, half, whole = (fitted(rows, shrinkage=rho).distribution() for rho in (None, 0.5, 1))
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(half.covariance[off], plain.covariance[off] / 2)
    np.testing.assert_allclose(np.diagonal(half.covariance), np.diagonal(plain.covariance))
    np.testing.assert_allclose(whole.covariance, np.diag(np.diagonal(plain.covariance)))


def test_automatic_shrinkage_helps_where_rows_are_few_and_vanishes_where_they_are_many(rng):
    d, errors = 10, {"automatic": 0.0, None: 0.0}
    law = Gaussian(np.zeros(d), 0.9 * np.eye(d) + 0.1)
    for _ in range(20):
        rows = law.sample(rng, 15)
        for shrinkage in errors:
            estimate = fitted(rows, shrinkage=shrinkage).distribution()
            errors[shrinkage] += ((estimate.covariance - law.covariance) ** 2).sum()
    assert errors["automatic"] < 0.6 * errors[None]
    assert fitted(law.sample(rng, 20_000), shrinkage="automatic").intensity < 0.02
    assert best_shrinkage(np.eye(2), np.full((2, 2), 5.0)) == 1.0
