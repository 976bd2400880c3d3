from __future__ import annotations

import numpy as np
import pytest

from proband import Discrete, Problem, Records, Test
from proband.errors import DistributionError
from proband.estimators import (
    ESTIMATORS,
    BiasedAvailableCases,
    BiasedPooledCompleteCases,
    CompleteCases,
    Dirichlet,
    Estimator,
    Likelihood,
)
from proband.rewards import Match

nan = np.nan


def mar_records(rng, n):
    """Test b only where a = 1, c only where b = 1: complete rows are those with a = b = 1."""
    truth = Discrete([[0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]], [0.3, 0.2, 0.1, 0.1, 0.1, 0.2])
    rows = truth.sample(rng, n)
    full = rng.random(n) < 0.1
    rows[(rows[:, 0] == 0) & ~full, 1:] = nan
    rows[(rows[:, 1] == 0) & ~full, 2] = nan
    return truth, Records(rows)


def test_naive_estimates_are_biased_and_the_likelihood_is_not():
    rng = np.random.default_rng(1)
    problem = Problem([Test("a"), Test("b"), Test("c")], (), Match())
    n, runs = 2_000, 30
    sums = {}
    for _ in range(runs):
        truth, records = mar_records(rng, n)
        for kind in (Likelihood, BiasedPooledCompleteCases, BiasedAvailableCases):
            estimator = kind(problem, prior=Dirichlet(0)) if kind is Likelihood else kind(problem)
            estimator.update(records)
            sums.setdefault(kind, []).append(estimator.distribution().mass(truth.support))
    # P(a = 0, b = 1): 0.2; about 10 % of 400 subjects show it completely, so the standard error is about 0.011
    errors = {kind: np.mean(values, axis=0) - truth.probabilities for kind, values in sums.items()}
    widths = np.std(sums[Likelihood], axis=0) / np.sqrt(runs)
    assert (np.abs(errors[Likelihood]) < 4 * widths + 1e-12).all()
    assert np.abs(errors[BiasedPooledCompleteCases]).max() > 0.15
    assert np.abs(errors[BiasedAvailableCases]).max() > 0.05


def test_more_records_do_not_help_the_naive_ones():
    rng = np.random.default_rng(2)
    problem = Problem([Test("a"), Test("b"), Test("c")], (), Match())
    truth, records = mar_records(rng, 400_000)
    distances = {}
    for name, make in ESTIMATORS.items():
        estimator = make(problem)
        estimator.update(records)
        law = estimator.distribution()
        cells = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)
        distances[name] = np.abs(law.mass(cells) - truth.mass(cells)).sum()
    for name in ("maximum-likelihood", "dirichlet", "empirical-bayes"):
        assert distances[name] < 0.02
    for name in ("biased-available-cases", "biased-pooled-complete-cases", "complete-cases"):
        assert distances[name] > 0.1


def test_complete_cases_are_the_empirical_law(kit, rng):
    problem = kit.make_problem((2, 3))
    rows = kit.random_law(problem, rng).sample(rng, 50)
    estimator = CompleteCases(problem)
    for block in np.array_split(rows, 3):
        estimator.update(Records(block))
    expected = Discrete.from_records(Records(rows))
    assert np.array_equal(estimator.distribution().support, expected.support)
    np.testing.assert_allclose(estimator.distribution().probabilities, expected.probabilities)


@pytest.mark.parametrize(
    ("support", "expected"),
    [
        (None, {(0, 0): 3, (0, 1): 1, (1, 0): 1, (1, 1): 2}),
        ("product", {(0, 0): 3, (0, 1): 1, (1, 0): 1, (1, 1): 2}),
        ("seen", {(0, 0): 3, (1, 1): 2}),
        ([[0, 0], [0, 1], [1, 1]], {(0, 0): 3, (0, 1): 1, (1, 1): 2}),
    ],
)
def test_add_alpha_over_a_support(support, expected, kit):
    estimator = CompleteCases(kit.make_problem((2, 2)), alpha=1, support=support)
    estimator.update(Records([[0, 0], [0, 0], [1, 1], [1, nan]]))
    law = estimator.distribution()
    found = {tuple(row.astype(int).tolist()): p for row, p in zip(law.support, law.probabilities, strict=True)}
    assert found == pytest.approx({x: n / sum(expected.values()) for x, n in expected.items()})


def test_complete_cases_name_what_is_missing(kit):
    problem = kit.make_problem((2, 2))
    with pytest.raises(DistributionError, match="none of 0 records"):
        CompleteCases(problem).distribution()
    with pytest.raises(DistributionError, match="there is none to add"):
        CompleteCases(problem, alpha=1, support="seen").distribution()
    with pytest.raises(DistributionError, match="alpha"):
        CompleteCases(problem, alpha=-1)
    with pytest.raises(DistributionError, match="alpha"):
        BiasedAvailableCases(problem, alpha=nan)
    with pytest.raises(DistributionError, match="no subject"):
        BiasedAvailableCases(problem).distribution()
    outside = CompleteCases(problem, alpha=1, support=[[0, 0]])
    outside.update(Records([[1, 1]]))
    with pytest.raises(DistributionError, match="outside"):
        outside.distribution()


def test_available_cases_follow_their_formula(kit, rng):
    problem = kit.make_problem((2, 3, 2))
    rows = kit.hide(kit.random_law(problem, rng).sample(rng, 40), rng)
    rows[0] = nan
    estimator = BiasedAvailableCases(problem)
    estimator.update(Records(rows))
    m = [np.array([(rows[:, i] == b).sum() for b in range(k)]) for i, k in enumerate(problem.k)]
    m = [counts / counts.sum() for counts in m]
    law = estimator.distribution()
    for x, p in zip(law.support, law.probabilities, strict=True):
        agree = ((rows == x) | np.isnan(rows)).all(axis=1)
        factor = np.prod([np.where(np.isnan(rows[:, i]), m[i][int(x[i])], 1.0) for i in range(3)], axis=0)
        assert p == pytest.approx((agree * factor).mean())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_keeps_the_contract(name, kit, rng):
    problem = kit.make_problem((2, 3, 2))
    records = Records(kit.policy_states(problem, rng, 100))
    estimator, again = ESTIMATORS[name](problem), ESTIMATORS[name](problem)
    assert isinstance(estimator, Estimator)
    estimator.update(records)
    distinct, counts = estimator.observations.rows, estimator.observations.counts
    again.update_counts(distinct[::-1], counts[::-1])
    law, other = estimator.distribution(), again.distribution()
    assert law is estimator.distribution()
    law.check(problem)
    assert np.array_equal(law.support, other.support)
    np.testing.assert_allclose(law.probabilities, other.probabilities, atol=1e-9)
    estimator.update(Records(np.empty((0, 3))))
    np.testing.assert_allclose(estimator.distribution().probabilities, law.probabilities, atol=1e-9)
