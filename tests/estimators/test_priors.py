from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import gammaln

from proband.errors import DistributionError
from proband.estimators import Dirichlet, EmpiricalBayes
from proband.estimators.listed import priors
from proband.estimators.listed.priors import mixture_weights


@pytest.mark.parametrize("alpha", [-1.0, np.nan, [[1.0]]])
def test_wrong_pseudo_counts_are_named(alpha):
    with pytest.raises(DistributionError, match="alpha"):
        Dirichlet(alpha)


def test_pseudo_counts_fit_the_support():
    with pytest.raises(DistributionError, match="2 entries and the support 3 rows"):
        Dirichlet([1.0, 2.0]).mixture(np.zeros(3), np.zeros(3))


@pytest.mark.parametrize("arguments", [{"shape": 0.0}, {"components": 0}, {"smallest": 2.0}, {"pseudo": 0.0}])
def test_wrong_settings_of_empirical_bayes_are_named(arguments):
    with pytest.raises(DistributionError, match="empirical Bayes"):
        EmpiricalBayes(**arguments)


def test_weights_maximise_the_marginal_likelihood(rng):
    likelihood = rng.gamma(0.5, size=(200, 4))

    def value(z):
        w = np.exp(z - z.max())
        w /= w.sum()
        return -(np.log(likelihood @ w).sum() + 1.0 * np.log(w).sum())

    best = minimize(value, np.zeros(4), method="BFGS", options={"gtol": 1e-5}).x
    w = np.exp(best) / np.exp(best).sum()
    np.testing.assert_allclose(mixture_weights(likelihood, 1.0), w, atol=1e-5)


def test_terms_are_the_posterior_mean_of_the_mixture(rng):
    counts, exposures = rng.poisson(2.0, 50).astype(float), rng.uniform(0, 30, 50)
    mixture = EmpiricalBayes(components=5).mixture(counts, exposures)
    mass, rate = mixture.terms(counts, exposures, 30.0)
    for x in range(50):
        logs = [
            np.log(w) + np.log(b) - (1 + counts[x]) * np.log(b + exposures[x]) + gammaln(1 + counts[x])
            for w, b in zip(mixture.weights, mixture.rates, strict=True)
        ]
        shares = np.exp(np.array(logs) - max(logs))
        expected = (shares / shares.sum()) @ ((1 + counts[x]) / (mixture.rates + exposures[x]))
        assert mass[x] / (rate[x] - (30.0 - exposures[x])) == pytest.approx(expected)


def test_a_drawn_component_follows_its_responsibility():
    counts, exposures = np.array([0.0, 5.0]), np.array([10.0, 10.0])
    mixture = EmpiricalBayes(components=3, smallest=0.1).mixture(counts, exposures)
    shares = mixture.responsibilities(counts, exposures)
    rng = np.random.default_rng(0)
    drawn = np.array([mixture.draw_rates(rng, shares.cumsum(axis=1)[:, :-1]) for _ in range(4000)])
    found = (drawn[:, :, None] == mixture.rates).mean(axis=0)
    np.testing.assert_allclose(found, shares, atol=0.03)


def test_cells_that_are_alike_are_fitted_as_one(rng, monkeypatch):
    counts = rng.poisson(0.3, size=500).astype(float)
    exposures = rng.choice([3.0, 40.0, 40.5], size=500)
    one_by_one = EmpiricalBayes().mixture(counts, exposures)
    monkeypatch.setattr(priors, "MANY_CELLS", 100)
    together = EmpiricalBayes().mixture(counts, exposures)
    np.testing.assert_allclose(together.weights, one_by_one.weights, rtol=1e-9)
    assert len(together.shape) == 500
