from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import invgamma, kstest, t

from proband import Gaussian, Problem, Records, Test
from proband.estimators.gaussian.draws import MOST_SWEEPS, missing_information, sweeps_needed
from proband.estimators.gaussian.likelihood import GaussianLikelihood
from proband.rewards import Entropy

nan = np.nan


def fitted(rows, counts=None):
    d = np.shape(rows)[1]
    problem = Problem([Test(f"t{i}", 1.0, outcomes=None) for i in range(d)], ["stop"], Entropy())
    estimator = GaussianLikelihood(problem)
    estimator.update(Records(rows, counts))
    return estimator


def skipped(rng, law, n, complete=0.1):
    """Test 1 is run where test 0 is low, test 2 where test 1 is high; a coin completes."""
    rows = law.sample(rng, n)
    seen = rows.copy()
    low, high = rows[:, 0] < 0.2, rows[:, 1] > 0
    seen[~low, 1:] = nan
    seen[low & ~high, 2:] = nan
    coin = rng.random(n) < complete
    seen[coin] = rows[coin]
    return seen


def functionals(laws):
    """A mean, a variance, a covariance and a regression coefficient of each law, shape (laws, 4)."""
    mean, s = np.array([law.mean for law in laws]), np.array([law.covariance for law in laws])
    slope = (s[:, 0, 2] * s[:, 1, 1] - s[:, 1, 2] * s[:, 0, 1]) / (s[:, 0, 0] * s[:, 1, 1] - s[:, 0, 1] ** 2)
    return np.column_stack([mean[:, 2], s[:, 2, 2], s[:, 0, 2], slope])


LAW = Gaussian([0.0, 0.3, -0.2], [[1.0, 0.5, 0.4], [0.5, 1.0, 0.6], [0.4, 0.6, 1.0]])


def test_complete_rows_give_the_normal_inverse_wishart_posterior(rng):
    n, d = 12, 3
    rows = 10 * LAW.sample(rng, n)
    estimator = fitted(rows)
    assert sweeps_needed(estimator.standardised(), estimator.fit()) == 1
    draws = estimator.draws(rng, 4_000)
    scale = np.var(rows, axis=0) * (n + 1)  # diag(Σ̂) + S
    degrees = n + d - d + 1
    for i in range(d):
        variances = [law.covariance[i, i] for law in draws]
        assert kstest(variances, invgamma(degrees / 2, scale=scale[i] / 2).cdf).pvalue > 1e-3
        means = [law.mean[i] for law in draws]
        spread = np.sqrt(scale[i] / (n * degrees))
        assert kstest(means, t(degrees, loc=rows[:, i].mean(), scale=spread).cdf).pvalue > 1e-3


def imputing_rows(rng, rows, start, prior, sweeps, keep):
    """Data augmentation row by row, with plain numpy: the yardstick."""
    n, d = rows.shape
    law, kept = start, []
    for sweep in range(sweeps):
        full = law.conditioned_means(rows)
        for missing in np.unique(np.isnan(rows), axis=0):
            here = (np.isnan(rows) == missing).all(axis=1)
            residual = law.posterior(~missing)[1][np.ix_(missing, missing)]
            noise = rng.normal(size=(here.sum(), missing.sum())) @ np.linalg.cholesky(residual).T
            full[np.ix_(here, missing)] += noise
        mean, scatter = full.mean(axis=0), np.cov(full.T, bias=True) * n + np.diag(prior)
        factor = np.linalg.cholesky(np.linalg.inv(scatter))
        inner = rng.normal(size=(d + n, d)) @ factor.T
        covariance = np.linalg.inv(inner.T @ inner)
        law = Gaussian(mean + np.linalg.cholesky(covariance / n) @ rng.normal(size=d), covariance)
        if sweep >= sweeps - keep:
            kept.append(law)
    return functionals(kept)


def test_augmenting_statistics_agrees_with_augmenting_rows(rng):
    rows = skipped(rng, LAW, 40, complete=0.4)
    estimator = fitted(rows)
    estimate = estimator.distribution()
    drawn = functionals(estimator.draws(rng, 2_000, sweeps=60))
    plain = imputing_rows(rng, rows, estimate, np.diagonal(estimate.covariance), 1_600, 1_500)
    error = plain.std(axis=0) / np.sqrt(60)  # the plain chain is correlated
    np.testing.assert_array_less(np.abs(drawn.mean(axis=0) - plain.mean(axis=0)), 4 * error)
    np.testing.assert_allclose(drawn.std(axis=0), plain.std(axis=0), rtol=0.25)


@pytest.mark.parametrize("kind", ["complete", "skipped"])
def test_intervals_cover_the_truth_as_often_as_they_say(kind, rng):
    """80 % intervals of four functionals over 160 data sets; a coverage is off by 0.032 in one standard error."""
    covered, repetitions = np.zeros(4), 160
    for _ in range(repetitions):
        rows = LAW.sample(rng, 60) if kind == "complete" else skipped(rng, LAW, 200)
        drawn = functionals(fitted(rows).draws(rng, 79))
        low, high = np.sort(drawn, axis=0)[[7, 71]]
        [truth] = functionals([LAW])
        covered += (low <= truth) & (truth <= high)
    np.testing.assert_allclose(covered / repetitions, 0.8, atol=0.1)


def test_the_default_number_of_sweeps_forgets_the_estimate(rng):
    estimator = fitted(skipped(rng, LAW, 2_000, complete=0.03))
    rate = missing_information(estimator.standardised(), estimator.fit())
    assert 0.7 < rate < 1
    few, default, many = (functionals(estimator.draws(rng, 400, sweeps=sweeps)) for sweeps in (1, None, 500))
    assert (few.std(axis=0) < 0.8 * many.std(axis=0)).any()
    np.testing.assert_allclose(default.std(axis=0), many.std(axis=0), rtol=0.25)


def test_the_rate_of_a_plain_missing_share_is_that_share(rng):
    """Means of independent halves: EM for a single test missing in a quarter of the rows forgets at the rate 1/4."""
    rows = np.column_stack([rng.normal(size=4_000), rng.normal(size=4_000)])
    rows[:1_000, 1] = nan
    estimator = fitted(rows)
    assert missing_information(estimator.standardised(), estimator.fit()) == pytest.approx(0.25, abs=0.03)


def test_draws_are_the_same_for_the_same_seed_and_differ_from_each_other(rng):
    estimator = fitted(skipped(rng, LAW, 100))
    first, again = (estimator.draws(np.random.default_rng(3), 5) for _ in range(2))
    assert first == again
    assert first[0] != first[1]


def test_pairs_never_seen_together_keep_their_prior_spread(rng):
    rows = LAW.sample(rng, 2_000)
    rows[:1_000, 2] = nan
    rows[1_000:, 0] = nan
    estimator = fitted(rows)
    draws = estimator.draws(rng, 300)
    partial = []
    for law in draws:
        precision = np.linalg.inv(law.covariance)
        partial.append(-precision[0, 2] / np.sqrt(precision[0, 0] * precision[2, 2]))
    assert np.std(partial) > 0.35  # density ∝ (1 − r²)^(1/2) has the standard deviation 1/2
    assert np.std([law.covariance[0, 1] for law in draws]) < 0.1  # what was seen together is known


def test_tests_that_never_vary_or_were_not_seen_stay_as_estimated(rng):
    rows = np.column_stack([rng.normal(size=30), np.full(30, 7.0), np.full(30, nan)])
    for law in fitted(rows).draws(rng, 3):
        assert law.mean[1:].tolist() == [7.0, 0.0]
        assert np.diagonal(law.covariance)[1:].tolist() == [0.0, 1.0]
    assert fitted(rows[:, 1:]).draws(rng, 2)[0] == fitted(rows[:, 1:]).distribution()


def test_rare_complete_rows_ask_for_many_sweeps_but_not_for_ever(rng):
    rows = LAW.sample(rng, 5_000)
    rows[3:, 2] = nan
    estimator = fitted(rows)
    assert sweeps_needed(estimator.standardised(), estimator.fit()) == MOST_SWEEPS
    assert len(estimator.draws(rng, 2)) == 2
