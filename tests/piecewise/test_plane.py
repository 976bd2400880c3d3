"""Functions that are affine on rectangles: their expectations against quadrature, closed forms and each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special

from proband.errors import ProblemError
from proband.piecewise import PiecewiseLinear, PiecewisePlane
from proband.piecewise.plane_kernel import bivariate_normal, owens_t
from proband.vocabulary import FloatArray

GOOD = PiecewisePlane(([0.0], [0.0]), [[[-1.0, -1.0], [-1.0, 1.0]], np.zeros((2, 2))], np.zeros((2, 2, 2, 2)))
BETTER = PiecewisePlane(([], []), np.zeros((3, 1, 1)), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])[:, None, None])


def random_plane(rng: np.random.Generator, *, whole: bool) -> PiecewisePlane:
    """Return random functions; with whole numbers many of them are equal along knots, lines and corners."""
    n, m1, m2 = rng.integers(1, 5), *rng.integers(0, 3, size=2)
    shape = (n, m1 + 1, m2 + 1)
    if not whole:
        knots = np.sort(rng.normal(size=m1)), np.sort(rng.normal(size=m2))
        return PiecewisePlane(knots, rng.normal(size=shape), rng.normal(size=(*shape, 2)))
    places = np.arange(-2, 3) * rng.choice([1.0, 0.1, 0.3])
    knots = np.sort(rng.choice(places, m1, replace=False)), np.sort(rng.choice(places, m2, replace=False))
    scale = abs(places[0]) / 2
    return PiecewisePlane(knots, scale * rng.integers(-2, 3, size=shape), rng.integers(-1, 2, size=(*shape, 2)))


def by_quadrature(plane: PiecewisePlane, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return all expectations and that of the maximum: one variable in closed form, the other by quadrature."""
    spread, slope = covariance[0, 0] ** 0.5, covariance[0, 1] / covariance[0, 0]
    rest = (covariance[1, 1] - slope * covariance[0, 1]) ** 0.5

    def inner(z: float) -> FloatArray:
        cell = np.searchsorted(plane.knots[0], z, side="right")
        a, b = plane.intercepts[:, cell] + plane.slopes[:, cell, :, 0] * z, plane.slopes[:, cell, :, 1]
        cut = PiecewiseLinear(plane.knots[1], a, b)
        at = mean[1] + slope * (z - mean[0])
        density = np.exp(-(((z - mean[0]) / spread) ** 2) / 2) / np.sqrt(2 * np.pi) / spread
        return density * np.append(cut.expectation(at, rest), cut.upper_envelope().expectation(at, rest))

    ends = np.array([-8.5, -3.0, -1.0, 1.0, 3.0, 8.5]) * spread + mean[0]
    ends = np.unique([*ends, *plane.knots[0]])
    parts = [integrate.quad_vec(inner, a, b, epsabs=1e-11, epsrel=0, limit=400)[0] for a, b in itertools.pairwise(ends)]
    return np.sum(parts, axis=0)


def test_owens_t_is_that_of_scipy() -> None:
    rng = np.random.default_rng(1)
    h, k = np.abs(rng.normal(size=(2, 2000))) * 10 ** rng.uniform(-4, 1, size=(2, 2000))
    found = np.array([owens_t(a, b) for a, b in zip(h, k, strict=True)])
    np.testing.assert_allclose(found, special.owens_t(h, k / h), rtol=0, atol=1e-15)


@pytest.mark.parametrize("rho", [-0.9999999, -0.8, -0.1, 0.0, 0.3, 0.95, 0.99999])
def test_the_bivariate_normal_is_its_integral(rho: float) -> None:
    rest = (1 - rho**2) ** 0.5
    for h, k in itertools.product([-3.0, -0.4, 0.0, 1.0], [-1.5, 0.0, 0.2, 2.5]):

        def density(x: float, k: float = k) -> float:
            return float(np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * special.ndtr((k - rho * x) / rest))

        edge = k / rho if rho else 0.0
        near = edge + rest * np.array([-40, -8, -2, 0, 2, 8, 40])
        ends = np.unique([-9.0, h, *near[(near > -9) & (near < h)]])
        parts = [integrate.quad(density, a, b, epsabs=1e-15, epsrel=1e-13)[0] for a, b in itertools.pairwise(ends)]
        assert bivariate_normal(h, k, rho) == pytest.approx(sum(parts), abs=1e-13)


def test_the_bivariate_normal_at_the_edge_of_correlation() -> None:
    assert bivariate_normal(0.3, 0.8, 1.0) == pytest.approx(special.ndtr(0.3), abs=1e-15)
    assert bivariate_normal(0.3, 0.8, -1.0) == pytest.approx(special.ndtr(0.3) - special.ndtr(-0.8), abs=1e-15)
    assert bivariate_normal(0.0, 0.0, -0.5) == pytest.approx(1 / 6, abs=1e-14)


@pytest.mark.parametrize("seed", range(12))
def test_expectations_are_integrals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = seed % 3 > 0
    plane, root = random_plane(rng, whole=whole), rng.normal(size=(2, 2))
    mean = rng.integers(-2, 3, size=2) * 0.5 if whole else rng.normal(size=2)
    covariance = root @ root.T + 0.05 * np.eye(2)
    expected = by_quadrature(plane, mean, covariance)
    np.testing.assert_allclose(plane.expectation([mean], covariance)[0], expected[:-1], atol=1e-9)
    np.testing.assert_allclose(plane.expected_maximum([mean], covariance)[0], expected[-1], atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_singular_covariances_are_limits(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    plane, mean = random_plane(rng, whole=seed % 2 > 0), rng.normal(size=2)
    step = rng.normal(size=2)
    line, nearly = np.outer(step, step), np.outer(step, step) + 1e-14 * np.eye(2)
    np.testing.assert_allclose(plane.expectation([mean], line), plane.expectation([mean], nearly), atol=1e-5)
    np.testing.assert_allclose(plane.expected_maximum([mean], line), plane.expected_maximum([mean], nearly), atol=1e-5)
    np.testing.assert_allclose(plane.expectation([mean], np.zeros((2, 2))), plane([mean]), atol=1e-14)
    np.testing.assert_allclose(plane.expected_maximum([mean], np.zeros((2, 2))), plane([mean]).max(axis=1), atol=1e-14)


@pytest.mark.parametrize("seed", range(10))
def test_a_line_in_the_plane_is_a_function_of_one_variable(seed: int) -> None:
    rng = np.random.default_rng(200 + seed)
    plane, mean = random_plane(rng, whole=seed % 2 > 0), rng.normal(size=2)
    for step in ([0.7, 0.0], [0.0, -0.4], [1.0, 1.0], rng.normal(size=2)):
        ends = np.concatenate([(k - m) / s for k, m, s in zip(plane.knots, mean, step, strict=True) if s != 0])
        knots = np.unique(ends)
        inside = (
            np.concatenate([[knots[0] - 1], (knots[1:] + knots[:-1]) / 2, [knots[-1] + 1]]) if len(knots) else [0.0]
        )
        points = mean + np.outer(inside, step)
        cells = [np.searchsorted(axis, x, side="right") for axis, x in zip(plane.knots, points.T, strict=True)]
        slopes = plane.slopes[:, cells[0], cells[1]]
        along = PiecewiseLinear(knots, plane.intercepts[:, cells[0], cells[1]] + slopes @ mean, slopes @ np.array(step))
        covariance = np.outer(step, step)
        np.testing.assert_allclose(plane.expectation([mean], covariance)[0], along.expectation(0.0, 1.0), atol=1e-13)
        best = along.upper_envelope().expectation(0.0, 1.0)
        np.testing.assert_allclose(plane.expected_maximum([mean], covariance), best, atol=1e-13)


def test_equal_scores_meet_a_corner() -> None:
    assert GOOD.expectation([[0.0, 0.0]], np.ones((2, 2)))[0, 0] == pytest.approx(0.0, abs=1e-15)
    assert GOOD.expected_maximum([[0.0, 0.0]], np.ones((2, 2)))[0] == pytest.approx(0.5, abs=1e-15)
    assert GOOD.expected_maximum([[0.0, 0.0]], [[1.0, -1.0], [-1.0, 1.0]])[0] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("rho", [-0.7, 0.0, 0.5])
def test_closed_forms(rho: float) -> None:
    covariance = np.array([[1.0, rho], [rho, 1.0]])
    quadrant = 0.25 + np.arcsin(rho) / (2 * np.pi)
    assert GOOD.expected_maximum([[0.0, 0.0]], covariance)[0] == pytest.approx(quadrant, abs=1e-14)
    better = PiecewisePlane(([], []), np.zeros((2, 1, 1)), np.array([[1.0, 0.0], [0.0, 1.0]])[:, None, None])
    known = ((1 - rho) / np.pi) ** 0.5  # E max of two standard normals
    assert better.expected_maximum([[0.0, 0.0]], covariance)[0] == pytest.approx(known, abs=1e-14)


def test_means_and_knots_far_out_bring_nothing_wrong() -> None:
    covariance = np.array([[1e-6, 4e-7], [4e-7, 1e-6]])
    far = np.array([[1e6, 1e6], [-1e6, 1e6], [0.0, -1e6]])
    np.testing.assert_array_equal(GOOD.expectation(far, covariance), GOOD(far))
    assert BETTER.expected_maximum([[3e5, 1e5]], covariance)[0] == pytest.approx(3e5, rel=1e-15)


def test_equal_functions_change_nothing() -> None:
    covariance, mean = [[1.0, 0.3], [0.3, 0.5]], [[0.1, -0.2]]
    twice = PiecewisePlane(BETTER.knots, np.repeat(BETTER.intercepts, 2, axis=0), np.repeat(BETTER.slopes, 2, axis=0))
    assert twice.expected_maximum(mean, covariance) == pytest.approx(
        BETTER.expected_maximum(mean, covariance), abs=1e-14
    )
    middle = np.concatenate([BETTER.slopes, [(BETTER.slopes[0] + BETTER.slopes[1]) / 2]])  # crosses where they cross
    three = PiecewisePlane(BETTER.knots, np.zeros((4, 1, 1)), middle)
    assert three.expected_maximum(mean, covariance) == pytest.approx(
        BETTER.expected_maximum(mean, covariance), abs=1e-14
    )


@given(st.integers(0, 10_000))
def test_probabilities_add_up_and_weigh_the_functions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    plane, root = random_plane(rng, whole=bool(seed % 2)), rng.normal(size=(2, 2))
    root[:, 1] *= seed % 3 > 0
    mean, covariance = rng.normal(size=(1, 2)), root @ root.T
    chances = plane.branch_probabilities(mean, covariance)
    assert chances.sum() == pytest.approx(1, abs=1e-13)
    flat = PiecewisePlane(plane.knots, plane.intercepts, np.zeros_like(plane.slopes))
    expected = np.einsum("kij,nij->kn", chances, plane.intercepts)
    np.testing.assert_allclose(flat.expectation(mean, covariance), expected, atol=1e-12)
    best = flat.expected_maximum(mean, covariance)
    np.testing.assert_allclose(best, np.einsum("kij,ij->k", chances, plane.intercepts.max(axis=0)), atol=1e-12)


@given(st.integers(0, 10_000))
def test_perfect_information_is_a_martingale_and_the_best(seed: int) -> None:
    rng = np.random.default_rng(seed)
    plane, root, step = random_plane(rng, whole=bool(seed % 2)), rng.normal(size=(2, 2)), rng.normal(size=2)
    mean, rest = rng.normal(size=2), root @ root.T
    epsilon, weights = special.roots_hermitenorm(60)
    after = mean + np.outer(epsilon, step)
    before = plane.expected_maximum([mean], rest + np.outer(step, step))
    assert before >= plane.expectation([mean], rest + np.outer(step, step)).max() - 1e-12
    assert weights @ plane.expected_maximum(after, rest) / weights.sum() == pytest.approx(before, abs=0.02)


def test_values_and_the_span() -> None:
    plane = PiecewisePlane(([0.0, 1.0], [2.0]), np.arange(12.0).reshape(2, 3, 2), np.ones((2, 3, 2, 2)))
    np.testing.assert_array_equal(plane([[0.0, 2.0], [-1.0, 1.0], [1.0, 5.0]]), [[5, 11], [0, 6], [11, 17]])
    assert plane.span == 14.0 - 2.0
    assert BETTER.span == 1.0
    assert PiecewisePlane(([], []), [[[1.0]], [[4.0]]], np.zeros((2, 1, 1, 2))).span == 3.0


def test_rescaling_is_a_change_of_units() -> None:
    rng = np.random.default_rng(8)
    plane, u = random_plane(rng, whole=False), rng.normal(size=(5, 2))
    moved = plane.rescaled([0.3, -2.0], [0.1, 7.0])
    np.testing.assert_allclose(moved(u), plane([0.3, -2.0] + u * [0.1, 7.0]), atol=1e-12)
    narrow = PiecewisePlane(([1.0, np.nextafter(1.0, 2.0)], []), np.zeros((1, 3, 1)), np.zeros((1, 3, 1, 2)))
    assert len(narrow.rescaled([1e3, 0.0], [1e3, 1.0]).knots[0]) == 1


def test_equality_is_that_of_the_numbers() -> None:
    same = PiecewisePlane(GOOD.knots, GOOD.intercepts, GOOD.slopes)
    assert same == GOOD
    assert hash(same) == hash(GOOD)
    assert GOOD != BETTER
    assert GOOD != 3


@pytest.mark.parametrize(
    ("knots", "intercepts", "slopes", "message"),
    [
        (([0.0],), np.zeros((1, 2, 1)), np.zeros((1, 2, 1, 2)), "two"),
        (([0.0, 0.0], []), np.zeros((1, 3, 1)), np.zeros((1, 3, 1, 2)), "increase strictly"),
        (([0.0], [0.0]), np.zeros((1, 2, 1)), np.zeros((1, 2, 1, 2)), "reshape"),
        (([], []), np.zeros((0, 1, 1)), np.zeros((0, 1, 1, 2)), "reshape"),
        (([], []), np.full((1, 1, 1), np.nan), np.zeros((1, 1, 1, 2)), "finite"),
    ],
)
def test_what_is_refused(knots: object, intercepts: FloatArray, slopes: FloatArray, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        PiecewisePlane(knots, intercepts, slopes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "covariance", [np.eye(3), [[1.0, 2.0], [2.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]], [[1.0, 0.5], [0.0, 1.0]]]
)
def test_covariances_that_are_none_are_refused(covariance: object) -> None:
    with pytest.raises(ProblemError, match="positive semi-definite"):
        GOOD.expectation([[0.0, 0.0]], covariance)  # type: ignore[arg-type]
    with pytest.raises(ProblemError, match=r"\(k, 2\)"):
        GOOD.expectation([0.0, 0.0], np.eye(2))
