"""Borrowed degrees of freedom, against the model they come from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import polygamma

from proband.agents.entropy.learning.improvement import FEWEST_VARIANCES, MOST_BORROWED, _inverse_trigamma, borrowed


def drawn(rng: np.random.Generator, lent: float, scale: float, degrees: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return variances of n tests from the model, and their estimates."""
    true = lent * scale / rng.chisquare(lent, size=n)
    return true, true * rng.chisquare(degrees, size=n) / degrees


@pytest.mark.parametrize(("lent", "scale"), [(2.0, 1.0), (6.0, 0.01), (12.0, 300.0)])
@pytest.mark.parametrize("degrees", [5.0, 40.0])
def test_the_prior_is_found(rng: np.random.Generator, lent: float, scale: float, degrees: float) -> None:
    _, estimates = drawn(rng, lent, scale, degrees, 20_000)
    found, typical = borrowed(estimates, degrees)
    assert found == pytest.approx(lent, rel=0.1)
    assert typical == pytest.approx(scale, rel=0.05)


def test_what_is_known_is_a_chi_square_of_all_degrees(rng: np.random.Generator) -> None:
    true, estimates = drawn(rng, 6.0, 2.0, 8.0, 20_000)
    lent, typical = borrowed(estimates, 8.0)
    pivots = (8.0 * estimates + lent * typical) / true
    assert stats.kstest(pivots, stats.chi2(8.0 + lent).cdf).statistic < 0.02


def test_no_more_is_borrowed_than_is_safe(rng: np.random.Generator) -> None:
    _, estimates = drawn(rng, 1e6, 1.0, 10.0, 500)
    assert borrowed(estimates, 10.0)[0] == MOST_BORROWED
    assert borrowed(np.ones(20), 10.0) == (MOST_BORROWED, pytest.approx(1.0, rel=0.2))


def test_few_variances_lend_nothing() -> None:
    assert borrowed(np.ones(FEWEST_VARIANCES - 1), 10.0)[0] == 0.0
    assert borrowed(np.empty(0), 10.0)[0] == 0.0


@pytest.mark.parametrize("x", [1e-3, 0.1, 1.0, 10.0])
def test_the_trigamma_function_is_inverted(x: float) -> None:
    assert _inverse_trigamma(float(polygamma(1, x))) == pytest.approx(x, rel=1e-9)
