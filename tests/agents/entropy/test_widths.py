"""Widths: closed forms against SciPy, and their coverage by simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import special, stats

from proband.agents.entropy.certificates.widths import (
    Event,
    Looks,
    log_chi_square_above,
    log_chi_square_below,
    log_rivals,
    pair_widths,
    widths_around,
)


def test_quantiles_are_those_of_chi_square() -> None:
    for degrees in (1, 7, 300):
        for alpha in (0.3, 1e-3, 1e-9):
            assert math.exp(log_chi_square_above(degrees, math.log(alpha))) == pytest.approx(
                stats.chi2.isf(alpha, degrees)
            )
            assert math.exp(log_chi_square_below(degrees, math.log(alpha))) == pytest.approx(
                stats.chi2.ppf(alpha, degrees)
            )
    assert log_chi_square_above(0, -1.0) == math.inf
    assert log_chi_square_below(0, -1.0) == -math.inf


def test_the_shares_of_looks_and_of_rivals_sum_to_one_at_most() -> None:
    looks = Looks(10, 0.1)
    assert sum(math.exp(looks.log_share(j)) for j in range(10**5)) == pytest.approx(1, abs=1e-3)
    for d in (1, 5, 15, 124):
        k = np.arange(1.0, d + 1)
        assert special.binom(d, k) @ np.exp(-log_rivals(d, k)) == pytest.approx(d / (d + 1))
    assert log_rivals(5, np.array([6.0])) == np.inf


def test_looks_grow_and_are_found_again() -> None:
    looks = Looks(12, 0.1)
    counts = [looks.count(j) for j in range(60)]
    assert counts[0] == 12
    assert all(b == max(a + 1, math.ceil(1.1 * a)) for a, b in itertools.pairwise(counts))
    for n in range(12, 500):
        j = looks.floor(n)
        assert looks.count(j) <= n < looks.count(j + 1) == looks.after(n)
    assert looks.floor(11) == -1
    assert looks.after(3) == 12


def cumulant(degrees: list[int], s: float) -> float:
    """Return log E exp(s·P) by integrating the densities of log χ²."""
    total = 0.0
    for nu in degrees:
        y = math.log(nu + 2 * s) + np.linspace(-20, 5, 20_001)
        total += special.logsumexp(s * y + y + stats.chi2.logpdf(np.exp(y), nu)) + math.log(y[1] - y[0])
    return total


def test_chernoff_widths_are_the_minimum_over_orders() -> None:
    low, high, common, log_inverse = 30, 33, 4, 6.0
    widths = pair_widths(low, high, common, np.full((4, 4), log_inverse), unit=30)
    orders = np.arange(1, 24) / 2
    for a, b in ((2, 0), (0, 3), (2, 1), (1, 1)):
        below, above = [low - common - j for j in range(a)], [high - common - j for j in range(b)]
        best = min(
            (log_inverse + cumulant(below, -s) + cumulant(above, s)) / s for s in orders if s < (low - common - a) / 2
        )
        assert best - 1e-8 <= widths[a, b] - (a - b) * math.log(30) <= best + 0.01


def test_too_few_rounds_give_no_width() -> None:
    widths = pair_widths(5, 5, 4, np.full((3, 3), 2.0), unit=5)
    assert np.isinf(widths[2, 0])
    assert widths[0, 0] == 0
    assert np.isinf(pair_widths(4, 4, 4, np.full((2, 2), 2.0), unit=5)[1, 0])


def test_widths_around_a_set_are_those_of_pairs() -> None:
    event = Event(12, 60, 66, 63, math.log(1e-3))
    apart = np.arange(4.0)[:, None] + np.arange(5.0)
    around = event.around(6, apart)
    for b in range(5):
        assert around[:, b] == pytest.approx(event.pairs(6 - b, 3, 4)[:, b])
    assert widths_around(60, 60, 3, np.full((2, 2), 5.0), unit=60).shape == (2, 2)


def pivots(rng: np.random.Generator, low: int, high: int, sizes: tuple[int, int, int], n: int) -> np.ndarray:
    """Draw P_B − P_A: A on the first `low` of `high` rounds of correlated measurements, B on all of them."""
    common, a, b = sizes
    k = common + a + b
    factor = rng.random((k, k)) + 0.3 * np.eye(k)
    covariance = factor @ factor.T
    rows = rng.standard_normal((n, high, k)) @ factor.T
    both = list(range(common))
    total = np.zeros(n)
    for rounds, tests, sign in ((low, range(common, common + a), -1), (high, range(common + a, k), 1)):
        for members, weight in (([*both, *tests], sign), (both, -sign)):
            part = rows[:, :rounds][:, :, members]
            scatters = np.einsum("nri,nrj->nij", part, part)
            total += weight * (
                np.linalg.slogdet(scatters)[1] - np.linalg.slogdet(covariance[np.ix_(members, members)])[1]
            )
    return total


PAIRS = [(0, 1, 0), (2, 1, 0), (2, 0, 1), (1, 1, 1), (2, 2, 1), (1, 1, 2), (0, 2, 2)]


@pytest.mark.parametrize("rounds", [8, 32, 128])
@pytest.mark.parametrize("sizes", PAIRS, ids=str)
def test_pivots_are_covered(rounds: int, sizes: tuple[int, int, int], rng: np.random.Generator) -> None:
    n, alpha = 4000, 0.05
    common, a, b = sizes
    widths = pair_widths(rounds, rounds, common, np.full((a + 1, b + 1), -math.log(alpha)), unit=1.0)
    missed = float((pivots(rng, rounds, rounds, sizes, n) > widths[a, b]).mean())
    slack = 4 * math.sqrt(alpha / n)
    assert missed <= alpha + slack
    if a + b == 1:
        assert missed >= alpha - slack


@pytest.mark.parametrize("sizes", [(1, 1, 0), (1, 0, 1), (1, 1, 1), (2, 2, 1)], ids=str)
def test_pivots_are_covered_between_looks(sizes: tuple[int, int, int], rng: np.random.Generator) -> None:
    common, a, b = sizes
    widths = pair_widths(20, 24, common, np.full((a + 1, b + 1), math.log(20)), unit=1.0)
    assert float((pivots(rng, 20, 24, sizes, 4000) > widths[a, b]).mean()) <= 0.05 + 4 * math.sqrt(0.05 / 4000)


def test_the_exchange_width_is_exact_without_correlation_and_conservative_with_it(rng: np.random.Generator) -> None:
    n, rounds, alpha = 40_000, 16, 0.05
    width = pair_widths(rounds, rounds, 0, np.full((2, 2), -math.log(alpha)), unit=1.0)[1, 1]
    missed = []
    for rho in (0.0, 0.5, 0.9):
        x, z = rng.standard_normal((2, n, rounds))
        y = rho * x + math.sqrt(1 - rho**2) * z
        missed.append(float((np.log((x**2).sum(axis=1) / (y**2).sum(axis=1)) > width).mean()))
    assert missed[0] == pytest.approx(alpha, abs=4 * math.sqrt(alpha / n))
    assert missed[0] > missed[1] > missed[2]


def test_the_product_bound_on_the_difference(rng: np.random.Generator) -> None:
    for sizes in ((0, 1, 2), (1, 2, 2)):
        drawn = pivots(rng, 30, 30, sizes, 20_000)
        for s in (0.5, 1.0, 2.0):
            right = cumulant([30 - sizes[0] - j for j in range(sizes[1])], -s)
            right += cumulant([30 - sizes[0] - j for j in range(sizes[2])], s)
            values = np.exp(s * drawn)
            assert math.log(values.mean() - 4 * values.std() / math.sqrt(len(values))) <= right


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [8, 32, 128])
@pytest.mark.parametrize("sizes", [*PAIRS, (3, 3, 1), (0, 4, 3), (4, 1, 1)], ids=str)
def test_pivots_are_covered_far_out(rounds: int, sizes: tuple[int, int, int]) -> None:
    rng, alpha, n, batches = np.random.default_rng(sum(sizes) + rounds), 0.001, 20_000, 20
    common, a, b = sizes
    if common + a + b >= rounds:
        pytest.skip("too few rounds")
    widths = pair_widths(rounds, rounds, common, np.full((a + 1, b + 1), -math.log(alpha)), unit=1.0)
    size = max(1, n // 10)
    missed = sum(
        int((pivots(rng, rounds, rounds, sizes, size) > widths[a, b]).sum()) for _ in range(batches * n // size)
    )
    total = batches * n
    assert missed <= alpha * total + 4 * math.sqrt(alpha * total)
