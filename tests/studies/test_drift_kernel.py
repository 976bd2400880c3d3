"""The compiled steps of drift agree with plain computations of the same numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from proband.studies.drift.buckets import Bucket, ListedBucket, MeasuredBucket
from proband.studies.drift.kernel import (
    EDGES,
    FADES,
    STARTS,
    absorb,
    between,
    bin_of,
    log_density,
    log_shape,
    most_dense,
    regress,
)
from proband.vocabulary import FloatArray

NOTHING = np.full(3, np.nan)


def bucket_of(outcomes: list[int], k: int) -> ListedBucket:
    bucket = ListedBucket(NOTHING, 0, k)
    for number, x in enumerate(outcomes):
        bucket.add(NOTHING, float(x), number + 1)
    return bucket


def predictives(outcomes: list[int], k: int) -> FloatArray:
    """Probabilities of each outcome by the steady and the fading predictives, shape (n, 1 + G)."""
    found = np.empty((len(outcomes), 1 + len(FADES)))
    for t, x in enumerate(outcomes):
        weights = np.stack([fade ** np.arange(t - 1, -1, -1) for fade in (1.0, *FADES)])
        counts = np.array([weights[:, [o == b for o in outcomes[:t]]].sum(axis=1) for b in range(k)])
        found[t] = (counts[x] + 0.5) / (counts.sum(axis=0) + k / 2)
    return found


def log_evidence(outcomes: list[int], k: int, start: int) -> float:
    """log E from one start: the sum over all moments of a change and all fading predictives, written out."""
    p, n = predictives(outcomes, k), len(outcomes)
    steady = np.log(p[:, 0])
    total = math.sqrt(start / n) * math.exp(steady[start:].sum())
    for moment in range(start, n):
        chance = math.sqrt(start / moment) - math.sqrt(start / (moment + 1))
        for g in range(1, p.shape[1]):
            total += chance / len(FADES) * math.exp(steady[start:moment].sum() + np.log(p[moment:, g]).sum())
    counts = np.bincount(outcomes[start:], minlength=k)
    return math.log(total) - float(sum(c * math.log(c / counts.sum()) for c in counts if c))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_listed_bucket_has_the_evidence_of_the_formula(k: int, rng: np.random.Generator) -> None:
    outcomes = [*rng.integers(0, k, 100).tolist(), *([k - 1] * 50)]
    expected = [log_evidence(outcomes, k, start) if start < len(outcomes) else 0.0 for start in STARTS]
    average = math.log(sum(math.exp(value) for value in expected) / len(STARTS))
    assert bucket_of(outcomes, k).log_e == pytest.approx(average, abs=1e-5)  # nothing returns in the sum above


@pytest.mark.parametrize("chance", [0.02, 0.3, 0.5])
def test_the_evidence_of_a_listed_bucket_is_one_on_average_at_most(chance: float) -> None:
    known, more = [0, 1] * (STARTS[0] // 2), 9
    total, stopped = 0.0, 0.0
    for rest in itertools.product([0, 1], repeat=more):
        paths = [bucket_of([*known, *rest[:n]], 2).log_e for n in (4, more)]
        weight = chance ** sum(rest) * (1 - chance) ** (more - sum(rest))
        total += weight * math.exp(paths[1])
        stopped += weight * math.exp(paths[0] if sum(rest[:4]) >= 3 else paths[1])
    assert total <= 1
    assert stopped <= 1


def test_the_share_of_a_bucket_is_how_often_it_came() -> None:
    rare, frequent = (ListedBucket(NOTHING, 0, 2) for _ in range(2))
    for n in range(1, STARTS[0] + 1):
        assert rare.share == 0
        rare.add(NOTHING, 0.0, 10 * n)
        frequent.add(NOTHING, 0.0, n)
    assert rare.share == pytest.approx(STARTS[0] / (10 * STARTS[0] - 9))
    assert frequent.share == 0.5


def test_a_triangular_factor_is_that_of_least_squares(rng: np.random.Generator) -> None:
    rows = np.column_stack([np.ones(40), rng.normal(5, 2, (40, 2)), rng.normal(size=40)])
    rows[:, 3] += rows[:, 1:3] @ [0.5, -2.0]
    root = np.zeros((4, 4))
    for row in rows:
        absorb(root, row.copy())
    np.testing.assert_allclose(root.T @ root, rows.T @ rows)
    solution, squares, *_ = np.linalg.lstsq(rows[:, :3], rows[:, 3])
    fitted = np.empty(4)
    regress(root, 40.0, fitted)
    np.testing.assert_allclose(fitted[:3], solution)
    assert fitted[3] == pytest.approx(math.sqrt(squares[0] / 37))
    spread = math.sqrt(squares[0] / 40)
    best = np.sum(stats.norm.logpdf(rows[:, 3], rows[:, :3] @ solution, spread))
    assert most_dense(root, 40.0) == pytest.approx(best)


def test_a_likelihood_without_a_bound_is_infinite(rng: np.random.Generator) -> None:
    few, exact = np.zeros((3, 3)), np.zeros((3, 3))
    for _ in range(2):
        absorb(few, np.array([1.0, *rng.normal(size=2)]))
    for x in rng.normal(size=20):
        absorb(exact, np.array([1.0, x, 3 * x - 1]))
    assert most_dense(few, 2.0) == math.inf
    assert most_dense(exact, 20.0) == math.inf


def test_a_column_that_says_nothing_new_gets_no_coefficient() -> None:
    root, fitted = np.zeros((4, 4)), np.full(4, np.nan)
    for x in range(10):
        absorb(root, np.array([1.0, x, 2.0 * x, 5.0 * x]))
    regress(root, 10.0, fitted)
    np.testing.assert_allclose(fitted[:3], [0, 5, 0], atol=1e-12)
    assert 0 < fitted[3] < 1e-6


@pytest.mark.parametrize("heavy", [0.5, 0.01])
def test_the_law_with_heavy_tails_is_a_mixture(heavy: float) -> None:
    def cdf(v: float) -> float:
        return float((1 - heavy) * stats.norm.cdf(v) + heavy * stats.cauchy.cdf(v))

    for low, high in [(-math.inf, -3.0), (-2.0, -1.0), (-0.5, 0.7), (0.0, 1.0), (2.0, 9.0), (4.0, math.inf)]:
        assert between(low, high, heavy) == pytest.approx(cdf(high) - cdf(low))
    for u in (-60.0, -1.0, 0.0, 49.0, 1e120):
        density = (1 - heavy) * stats.norm.pdf(u) + heavy * stats.cauchy.pdf(u)
        assert log_density(u, heavy) == pytest.approx(
            math.log(density) if density else math.log(heavy / math.pi) - 2 * math.log(u)
        )


def test_the_density_within_each_bin_has_the_integral_one() -> None:
    laid = (0.3, 1.4, 0.1, 0.9, 0.05)  # centre and spread of the law, middle and unit of the bins, share of the tails
    edges = [-math.inf, *(0.1 + 0.9 * EDGES), math.inf]
    for b, (low, high) in enumerate(itertools.pairwise(edges)):
        whole, _ = integrate.quad(lambda y: math.exp(log_shape(y, *laid)), low, high)
        assert whole == pytest.approx(1, abs=1e-6)
        inside = high - 0.1 if b == 0 else low + 0.1
        assert bin_of((inside - 0.1) / 0.9) == b


@pytest.mark.parametrize(("late", "shape_decides"), [(1.0, False), (0.1, True)])
def test_a_measured_bucket_counts_the_larger_denominator(
    late: float, shape_decides: bool, rng: np.random.Generator
) -> None:
    """From its definition: θ on the bins, the density within them, and the better one of two explanations."""
    state = np.array([np.nan, np.nan, 0.0])
    known = rng.normal(2, 1, 90)
    y = 1 + known + rng.normal(size=90) * np.where(np.arange(90) < 36, 1, late)
    bucket = MeasuredBucket(state, 0)
    for n in range(90):
        bucket.add(np.array([np.nan, np.nan, known[n]]), y[n], n + 1)
    start = STARTS[0] + 20
    design = np.column_stack([np.ones(90), known])

    def fit(m: int) -> tuple[FloatArray, float]:
        solution, squares, *_ = np.linalg.lstsq(design[:m], y[:m])
        return solution.astype(np.float64), math.sqrt(squares[0] / (m - 2))

    laid, unit = fit(start)
    bins = [bin_of((y[n] - design[n] @ laid) / unit) for n in range(90)]
    shape = 0.0
    for n in range(start, 90):
        solution, spread = fit(n)
        spread *= math.sqrt(1 + 2 / n)
        shape += log_shape(y[n], float(design[n] @ solution), spread, float(design[n] @ laid), unit, 1 / (n + 1))
    squares = np.linalg.lstsq(design[start:], y[start:])[1][0]
    m = 90 - start
    gaussian = -m / 2 * (math.log(2 * math.pi * squares / m) + 1) - shape
    counts = np.bincount(bins[start:])
    listed = sum(c * math.log(c / m) for c in counts if c)
    expected = log_evidence(bins, len(EDGES) + 1, start) + listed - max(gaussian, listed)
    unstarted = len(STARTS) - 1
    assert bucket.log_e == pytest.approx(math.log((math.exp(expected) + unstarted) / len(STARTS)), abs=1e-5)
    assert (gaussian > listed) == shape_decides


@pytest.mark.parametrize("bucket", [ListedBucket(NOTHING, 1, 2), MeasuredBucket(NOTHING, 1)])
def test_both_kinds_are_buckets(bucket: Bucket) -> None:
    assert bucket.first
    assert (bucket.test, bucket.share, bucket.log_e) == (1, 0, 0)
