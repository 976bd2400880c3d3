"""Expected improvements, against numerical integration and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from proband.agents.entropy.learning.improvement import expected_addition, expected_exchange


@pytest.mark.parametrize("degrees", [3.0, 8.0, 40.0, 2000.0])
@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_adding(degrees: float, scale: float) -> None:
    gains = scale * np.array([-1.5, -0.6, -0.2, -0.02, 0.0]) * min(1.0, 8 / math.sqrt(degrees))
    found = expected_addition(gains, degrees, scale)
    x = np.exp(np.linspace(-25, math.log(degrees) + 1, 400_001))
    for gain, value in zip(gains, found, strict=True):
        bound = degrees * math.exp(2 * gain / scale)
        worth = scale / 2 * np.maximum(np.log(bound / x), 0.0)
        expected = np.trapezoid(worth * stats.chi2.pdf(x, degrees), x)
        assert value == pytest.approx(expected, rel=2e-3, abs=1e-14)


@pytest.mark.parametrize("degrees", [3.0, 8.0, 200.0])
def test_exchanging_is_bounded_closely(degrees: float) -> None:
    gains, scale = np.array([-1.2, -0.5, -0.1, 0.0]), 1.5
    spreads = np.array([0.2, 0.2, 0.05, 0.3])
    found = expected_exchange(gains, spreads, degrees, scale)
    tau = np.sinh(np.linspace(0, 9, 100_001))
    density = stats.t.pdf(tau, degrees)
    for gain, spread, value in zip(gains, spreads, found, strict=True):
        worth = np.maximum(scale * np.arcsinh(spread * tau) + gain, 0.0)
        expected = float(np.trapezoid(worth * density, tau))
        assert expected * (1 - 1e-6) <= value <= 1.6 * expected


def test_exchanges_follow_pitman_and_morgan(rng: np.random.Generator) -> None:
    """The error of a log-ratio of variances, in units of its spread on the sinh scale, is Student's t."""
    n, rounds, rho = 20_000, 12, 0.7
    x, z = rng.standard_normal((2, n, rounds))
    y = rho * x + math.sqrt(1 - rho**2) * z
    xx, yy, xy = (x * x).sum(axis=1), (y * y).sum(axis=1), (x * y).sum(axis=1)
    spread = np.sqrt((1 - xy**2 / (xx * yy)) / (rounds - 1))
    tau = np.sinh(np.log(xx / yy) / 2) / spread
    assert stats.kstest(tau, stats.t(rounds - 1).cdf).pvalue > 1e-3


def test_far_gains_do_not_overflow() -> None:
    assert np.isfinite(expected_addition(np.array([-1e4, 1e4]), 10.0, 1.0)).all()
    assert np.isfinite(expected_exchange(np.array([-1e4, 1e4]), np.array([0.1, 1e-8]), 10.0, 1.0)).all()
