"""What docs/safe-gaussian.md says of near laws, against plain computations of the same numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from proband import Gaussian
from proband.agents.gaussian import apart
from proband.agents.gaussian.reference import free_parameters


def random_law(rng, d, scale):
    root = np.eye(d) + scale * rng.normal(size=(d, d))
    return Gaussian(scale * rng.normal(size=d), root @ root.T)


def chi_square(law):
    """χ²(law | standard normal); the closed form of the page."""
    values, vectors = np.linalg.eigh(law.covariance)
    off, shift = values - 1, vectors.T @ law.mean
    if off.max() >= 1:
        return math.inf
    return math.exp(-0.5 * np.log(1 - off**2).sum() + (shift**2 / (1 - off)).sum()) - 1


def test_units_and_mixtures_of_tests_do_not_matter(rng):
    law, reference = random_law(rng, 4, 0.3), random_law(rng, 4, 0.4)
    mix = np.diag([1e-3, 1.0, 50.0, 1e4]) @ (np.eye(4) + 0.3 * rng.normal(size=(4, 4)))
    moved = [Gaussian(mix @ each.mean + 7.0, mix @ each.covariance @ mix.T) for each in (law, reference)]
    assert apart(*moved) == pytest.approx(apart(law, reference), rel=1e-9)
    assert apart(law, law) == pytest.approx(0, abs=1e-12)


def test_the_divergence_has_the_closed_form_of_the_page(rng):
    law = Gaussian([0.3, -0.2], [[1.2, 0.15], [0.15, 0.9]])
    rows = rng.standard_normal((400_000, 2))
    inverse = np.linalg.inv(law.covariance)
    apart_by = rows - law.mean
    ratio = np.exp(0.5 * (rows**2).sum(axis=1) - 0.5 * np.einsum("ni,ij,nj->n", apart_by, inverse, apart_by))
    ratio /= math.sqrt(np.linalg.det(law.covariance))
    assert chi_square(law) == pytest.approx(float(((ratio - 1) ** 2).mean()), rel=0.02)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_divergence_is_at_most_what_the_distance_says(d, rng):
    """min(1, √χ²) ≤ (7/3)·δ: Lemma 1."""
    standard = Gaussian(np.zeros(d), np.eye(d))
    for scale in np.geomspace(1e-4, 1.0, 200):
        law = random_law(rng, d, scale)
        assert min(1.0, math.sqrt(chi_square(law))) <= 7 / 3 * apart(law, standard)


@pytest.mark.parametrize("offset", [1e-3, 0.1, 0.2, 0.2499])
def test_the_bound_holds_at_the_end_of_its_range(offset):
    """δ = ½ in one coordinate, in the mean and in a variance that is too large."""
    law = Gaussian([0.5 - offset], [[1 + math.sqrt(2) * math.sqrt(0.25 - (0.5 - offset) ** 2)]])
    assert apart(law, Gaussian([0.0], [[1.0]])) == pytest.approx(0.5)
    assert math.sqrt(chi_square(law)) <= 7 / 6


@pytest.mark.parametrize("d", [1, 3])
def test_the_law_of_n_subjects_is_as_far_as_its_number_of_parameters_says(d, rng):
    truth, n = random_law(rng, d, 0.8), 400
    squares = []
    for _ in range(400):
        rows = truth.sample(rng, n)
        squares.append(apart(Gaussian(rows.mean(axis=0), np.cov(rows.T, ddof=0).reshape(d, d)), truth) ** 2)
    assert np.mean(squares) == pytest.approx(free_parameters(d) / n, rel=0.1)


@pytest.mark.parametrize("d", [1, 2, 6])
def test_the_law_of_n_subjects_stays_within_the_width_of_the_page(d, rng):
    """min(δ, 3/7) ≤ 2·√d·(√d + u)/√n but for a probability of 3·exp(−u²/2): Lemma 3."""
    standard, u = Gaussian(np.zeros(d), np.eye(d)), math.sqrt(2 * math.log(3 / 0.05))
    beyond = 0
    for n in np.tile([d + 2, 20, 100, 1000], 50).tolist():
        rows = rng.standard_normal((n, d))
        law = Gaussian(rows.mean(axis=0), np.cov(rows.T, ddof=0).reshape(d, d))
        beyond += min(apart(law, standard), 3 / 7) > 2 * math.sqrt(d) * (math.sqrt(d) + u) / math.sqrt(n)
    assert beyond <= 0.05 * 200


def test_the_plan_of_a_near_law_loses_no_more_than_the_lemma_says():
    """One measurement, the sign to be named: the plan of N(m, s²) names the sign of m."""
    largest = 1 + 0.75
    for epsilon in (0.01, 0.1, 0.5):
        for mean in (-1e-6, -0.05, -0.4):
            distance = apart(Gaussian([mean], [[1.0]]), Gaussian([epsilon], [[1.0]]))
            assert 2 * ndtr(epsilon) - 1 <= 14 / 3 * largest * distance


def test_redundant_tests_and_constants():
    reference = Gaussian([0.0, 0.0, 5.0], [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    same = Gaussian([0.5, 0.5, 5.0], reference.covariance)
    assert apart(same, reference) == pytest.approx(0.5)
    for mean, extra in (([0.5, 0.0, 5.0], 0.0), ([0.0, 0.0, 5.1], 0.0), ([0.0, 0.0, 5.0], 0.1)):
        other = Gaussian(mean, reference.covariance + extra * np.diag([0.0, 1.0, 0.0]))
        assert apart(other, reference) == math.inf


def test_what_counts_as_singular_in_one_law_does_in_the_other():
    nearly = np.array([[1.0, 1.0 - 5e-11], [1.0 - 5e-11, 1.0]])
    reference, other = Gaussian([0.0, 0.0], nearly), Gaussian([0.5, 0.5], nearly)
    assert apart(other, reference) == pytest.approx(0.5, rel=1e-6)
