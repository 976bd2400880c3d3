"""Piecewise-linear functions against quadrature, closed forms and plain maxima."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, special, stats

from proband.errors import ProblemError
from proband.piecewise import PiecewiseLinear


def draw(rng: np.random.Generator, *, n: int, knots: int) -> PiecewiseLinear:
    return PiecewiseLinear(
        np.sort(rng.normal(size=knots)), rng.normal(size=(n, knots + 1)), rng.normal(size=(n, knots + 1))
    )


def by_quadrature(functions: PiecewiseLinear, mean: float, sd: float, y: int) -> float:
    ends = [mean - 12 * sd, *np.clip(functions.knots, mean - 12 * sd, mean + 12 * sd), mean + 12 * sd]
    density = stats.norm(mean, sd).pdf
    parts = [
        integrate.quad(lambda z: functions(z)[0, y] * density(z), a, b, epsabs=1e-13)[0]
        for a, b in itertools.pairwise(ends)
        if b > a
    ]
    return float(sum(parts))


def test_values_at_knots_are_those_of_the_piece_on_the_right() -> None:
    functions = PiecewiseLinear([0.0, 2.0], [[1.0, 5.0, -1.0]], [[0.0, 1.0, 0.0]])
    assert functions([-0.1, 0.0, 1.0, 2.0, 3.0])[:, 0].tolist() == [1, 5, 6, -1, -1]
    assert functions(2.0).shape == (1, 1)


@pytest.mark.parametrize("knots", [0, 1, 4])
def test_expectations_are_those_of_quadrature(knots: int, rng: np.random.Generator) -> None:
    functions = draw(rng, n=3, knots=knots)
    for mean, sd in [(0.0, 1.0), (-2.0, 0.3), (1.0, 5.0), (0.4, 1e-3)]:
        found = functions.expectation(mean, sd)
        for y in range(3):
            assert found[y] == pytest.approx(by_quadrature(functions, mean, sd, y), abs=1e-10)


def test_means_and_deviations_are_broadcast(rng: np.random.Generator) -> None:
    functions = draw(rng, n=2, knots=3)
    means, sds = rng.normal(size=(4, 1)), rng.uniform(size=(1, 5))
    found = functions.expectation(means, sds)
    assert found.shape == (4, 5, 2)
    assert functions.branch_probabilities(means, sds).shape == (4, 5, 4)
    assert found[2, 3].tolist() == functions.expectation(means[2, 0], sds[0, 3]).tolist()


@pytest.mark.parametrize("mean", [-1.0, 0.0, 0.5, 1.0])
def test_without_spread_the_expectation_is_the_function_exactly(mean: float, rng: np.random.Generator) -> None:
    functions = PiecewiseLinear([0.0, 1.0], rng.normal(size=(2, 3)), rng.normal(size=(2, 3)))
    assert functions.expectation(mean, 0.0).tolist() == functions(mean)[0].tolist()
    assert functions.branch_probabilities(mean, 0.0)[np.searchsorted([0.0, 1.0], mean, side="right")] == 1


def test_far_tails_keep_their_relative_accuracy() -> None:
    above = PiecewiseLinear([0.0], [[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]])
    for u in (8.0, 20.0, 35.0):
        probability, shortfall = above.expectation(-u, 1.0)
        assert probability == pytest.approx(special.ndtr(-u), rel=1e-13)
        expected, _ = integrate.quad(lambda e, u=u: (e - u) * math.exp((u * u - e * e) / 2), u, u + 10, epsabs=0)
        assert shortfall == pytest.approx(expected * stats.norm.pdf(u), rel=1e-10)
        assert above.branch_probabilities(-u, 1.0)[1] == pytest.approx(special.ndtr(-u), rel=1e-13)
        assert above.branch_probabilities(u, 1.0)[0] == pytest.approx(special.ndtr(-u), rel=1e-13)


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e9, 1e150])
def test_any_scale_of_z_gives_the_same_numbers(scale: float, rng: np.random.Generator) -> None:
    functions = draw(rng, n=2, knots=3)
    scaled = PiecewiseLinear(functions.knots * scale, functions.intercepts, functions.slopes / scale)
    assert scaled.expectation(0.3 * scale, 1.1 * scale) == pytest.approx(functions.expectation(0.3, 1.1), rel=1e-12)
    assert scaled.rescaled(0.0, scale).expectation(0.3, 1.1) == pytest.approx(functions.expectation(0.3, 1.1))


def test_a_vanishing_deviation_overflows_nothing() -> None:
    functions = PiecewiseLinear([1.0], [[0.0, 1.0]], [[0.0, 0.0]])
    assert functions.expectation([0.0, 1e300], [1e-320, 1e-300])[:, 0].tolist() == [0.0, 1.0]


def test_probabilities_of_the_pieces(rng: np.random.Generator) -> None:
    functions = draw(rng, n=1, knots=4)
    found = functions.branch_probabilities(0.2, 0.7)
    assert found == pytest.approx(np.diff(stats.norm(0.2, 0.7).cdf([-np.inf, *functions.knots, np.inf])), abs=1e-15)
    assert found.sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("seed", range(30))
def test_the_upper_envelope_is_the_maximum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    functions = draw(rng, n=int(rng.integers(1, 6)), knots=int(rng.integers(0, 4)))
    if seed % 3 == 0:  # with repeated functions
        functions = PiecewiseLinear(
            functions.knots, functions.intercepts[[0, *range(functions.n)]], functions.slopes[[0, *range(functions.n)]]
        )
    envelope, (cut, largest) = functions.upper_envelope(), functions.cut_at_crossings()
    points = np.concatenate([rng.normal(scale=3, size=400), functions.knots, envelope.knots])
    assert envelope.n == 1
    assert envelope(points)[:, 0] == pytest.approx(functions(points).max(axis=1), abs=1e-12)
    assert cut(points) == pytest.approx(functions(points), abs=1e-13)
    assert set(functions.knots) <= set(envelope.knots)
    inside = rng.normal(scale=3, size=400)
    winners = largest[np.searchsorted(cut.knots, inside, side="right")]
    assert np.take_along_axis(functions(inside), winners[:, None], 1)[:, 0] == pytest.approx(
        functions(inside).max(axis=1), abs=1e-12
    )


def test_lines_that_cross_in_one_point_add_one_knot() -> None:
    bundle = PiecewiseLinear([], [[0.0], [0.0], [0.0]], [[-1.0], [0.0], [1.0]])
    cut, largest = bundle.cut_at_crossings()
    assert cut.knots.tolist() == [0.0]
    assert largest.tolist() == [0, 2]


def test_of_equal_functions_the_first_is_the_largest() -> None:
    _, largest = PiecewiseLinear([0.0], np.ones((3, 2)), np.zeros((3, 2))).cut_at_crossings()
    assert largest.tolist() == [0, 0]


def test_pieces_that_vanish_in_new_units_are_left_out() -> None:
    narrow = PiecewiseLinear([1e-9, 2e-9, 1.0], [[0.0, 7.0, 1.0, 2.0]], np.zeros((1, 4)))
    far = narrow.rescaled(-1e9, 1.0)
    assert len(far.knots) == 2
    assert far([1e9 - 1, 1e9 + 0.5, 1e9 + 2])[:, 0].tolist() == [0, 1, 2]


def test_the_span_is_a_scale_of_the_functions() -> None:
    assert PiecewiseLinear([0.0], [[-20.0, 1.0], [0.0, 0.0]], np.zeros((2, 2))).span == 21
    assert PiecewiseLinear([], [[0.0], [3.0]], np.zeros((2, 1))).span == 3
    assert PiecewiseLinear([], [[0.0], [0.0]], [[-2.0], [1.0]]).span == 2
    assert PiecewiseLinear([], [[5.0]], [[0.0]]).span == 0


def test_equal_functions_are_equal(rng: np.random.Generator) -> None:
    functions = draw(rng, n=2, knots=2)
    same = PiecewiseLinear(functions.knots, functions.intercepts, functions.slopes)
    assert functions == same
    assert hash(functions) == hash(same)
    assert functions != PiecewiseLinear(functions.knots, functions.intercepts, functions.slopes + 1)
    assert functions != 1


@pytest.mark.parametrize(
    ("knots", "intercepts", "slopes", "message"),
    [
        ([1.0, 1.0], [[0, 0, 0]], [[0, 0, 0]], "increase strictly"),
        ([2.0, 1.0], [[0, 0, 0]], [[0, 0, 0]], "increase strictly"),
        ([[1.0]], [[0, 0]], [[0, 0]], "increase strictly"),
        ([1.0], [[0, 0, 0]], [[0, 0, 0]], r"both must be \(functions, 2\)"),
        ([1.0], [[0, 0]], [[0, 0], [0, 0]], "give one number for each function and piece"),
        ([1.0], np.zeros((0, 2)), np.zeros((0, 2)), "give one number"),
        ([1.0], [0, 0], [0, 0], "give one number"),
        ([np.nan], [[0, 0]], [[0, 0]], "knots are"),
        ([1.0], [[0, np.inf]], [[0, 0]], "intercepts are"),
        ([1.0], [[0, 0]], [[0, np.nan]], "slopes are"),
    ],
)
def test_broken_functions_are_refused(knots: object, intercepts: object, slopes: object, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        PiecewiseLinear(knots, intercepts, slopes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("mean", "sd"), [(np.nan, 1.0), (0.0, -1.0), (0.0, np.inf)])
def test_broken_beliefs_are_refused(mean: float, sd: float) -> None:
    functions = PiecewiseLinear([], [[1.0]], [[0.0]])
    with pytest.raises(ProblemError, match="sd 0 or more"):
        functions.expectation(mean, sd)
    with pytest.raises(ProblemError, match="sd 0 or more"):
        functions.branch_probabilities(mean, sd)
