"""What went wrong in earlier attempts must not come back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, special

from proband.compiling import kernel
from proband.piecewise import PiecewiseLinear
from proband.planners.gaussian import Line, LineSolution, solve_line
from proband.planners.gaussian.line.basis_kernel import NODES, N, series, tail_of
from proband.planners.gaussian.line.expectation_kernel import NOT_YET
from proband.planners.gaussian.line.sampling_kernel import describe, expected_losses, off_at_switches
from proband.planners.gaussian.line.solve import settings_for
from proband.planners.gaussian.line.switches_kernel import split_panel
from proband.planners.gaussian.line.tables import Edges, Functions, Level, Pieces, Scratch, Settings
from proband.vocabulary import FloatArray

RIGHT_OR_WRONG = PiecewiseLinear([0.0], [[1.0, 0.0], [0.0, 1.0]], np.zeros((2, 2)))
"""1 for the right sign of z: the loss of deciding now is Φ(−|m|/τ), with a cusp at 0."""


@kernel
def envelope(table: Functions, pieces: Pieces, tie: float) -> int:
    """Find the right ends and winners of the lower envelope of functions, given their values at the nodes."""
    for f in range(table.tails.size):
        describe(table, f, f)
    found: int = split_panel(table, pieces, table.tails.size, tie)
    return found


@kernel
def tail_and_gap(
    level: Level, settings: Settings, edges: Edges, table: Functions, scratch: Scratch, low: float, high: float
) -> tuple[float, float]:
    """Return the tail of the series of a free test, and how far this is off at the switches of its child, set 0."""
    room, means, losses, coefficients = scratch.rows, scratch.rows[8], table.values[0], table.series[0]
    edges.made[0] = NOT_YET
    for j in range(N):
        means[j] = 0.5 * (low + high + (high - low) * NODES[j])
    expected_losses(level, 0, settings, edges, 0, means, N, room, losses)
    series(losses, coefficients)
    return tail_of(coefficients), off_at_switches(level, 0, settings, edges, 0, coefficients, low, high, room)


def pieces_of(*functions: np.polynomial.Polynomial, tie: float = 1e-12) -> list[tuple[float, int]]:
    """Return the right ends and winners of the lower envelope of polynomials on [−1, 1]."""
    table, pieces = Functions.room(len(functions)), Pieces.room(len(functions), 64)
    table.values[:] = [function(NODES) for function in functions]
    found = envelope(table, pieces, tie)
    return list(zip(pieces.ends[:found].tolist(), pieces.winners[:found].tolist(), strict=True))


def parabola(at: float, height: float, bend: float) -> np.polynomial.Polynomial:
    return np.polynomial.Polynomial([height + bend * at**2, -2 * bend * at, bend])


ZERO = np.polynomial.Polynomial([0.0])


@pytest.mark.parametrize("depth", [1e-3, 1e-5, 1e-7, 1e-9])
@pytest.mark.parametrize("at", [-0.9973, -0.5012, 0.0488, 0.31, 0.9991])
def test_an_action_that_wins_only_between_samples_is_found(depth: float, at: float) -> None:
    found = pieces_of(ZERO, parabola(at, -depth, 1.0))
    radius = math.sqrt(depth)
    expected = [(at - radius, 0), (at + radius, 1), (1.0, 0)]
    expected = [(min(end, 1.0), winner) for end, winner in expected if end > -1]
    if at + radius >= 1:
        expected = expected[:-1]
    assert [winner for _, winner in found] == [winner for _, winner in expected]
    assert [end for end, _ in found] == pytest.approx([end for end, _ in expected], abs=1e-6)


@pytest.mark.parametrize("at", [0.0, 0.031, -0.873])
@pytest.mark.parametrize("depth", [1e-2, 1e-4, 1e-7])
def test_an_action_that_wins_only_at_a_switch_of_two_others_is_found(at: float, depth: float) -> None:
    """The smaller one of two lines peaks where they cross, and only there a third is smaller."""
    up = np.polynomial.Polynomial([0.3 - at, 1.0])
    down = np.polynomial.Polynomial([0.3 + at, -1.0])
    found = pieces_of(down, up, np.polynomial.Polynomial([0.3 - depth]))
    assert [winner for _, winner in found] == [1, 2, 0]
    assert [end for end, _ in found] == pytest.approx([at - depth, at + depth, 1.0], abs=1e-9)


def test_three_crossings_in_one_cell_are_found() -> None:
    small = 0.02
    cubic = np.polynomial.Polynomial.fromroots([0.3 - small, 0.3, 0.3 + small])
    found = pieces_of(ZERO, cubic)
    assert [winner for _, winner in found] == [1, 0, 1, 0]
    assert [end for end, _ in found] == pytest.approx([0.3 - small, 0.3, 0.3 + small, 1.0], abs=1e-7)


def test_exact_ties_split_nothing(rng: np.random.Generator) -> None:
    some = np.polynomial.Polynomial(rng.normal(size=9))
    assert pieces_of(some, some, some) == [(1.0, 0)]
    assert pieces_of(some + 1e-15, some, some - 1e-15) == [(1.0, 0)]


def test_exchangeable_tests_make_no_more_panels_than_one_of_them() -> None:
    covariance = np.full((6, 6), 0.3) + 0.7 * np.eye(6)
    line = Line(covariance, np.full(6, 0.4), 0.1, np.full(6, 0.03), RIGHT_OR_WRONG)
    solution = solve_line(line, tolerance=1e-9)
    assert solution.n_panels < 20 * 2**6
    masks = np.arange(2**6)
    actions = solution.actions(masks, np.full(2**6, 0.1))
    first = [min((i for i in range(6) if not mask >> i & 1), default=6) for mask in masks.tolist()]
    tested = actions < 6
    assert tested.any()
    assert actions[tested].tolist() == np.array(first)[tested].tolist()  # of equal tests the first is run


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("margin", [1e-1, 1e-2, 2e-3])
def test_a_test_that_pays_only_at_the_cusp_is_found(tolerance: float, margin: float) -> None:
    """The loss of deciding now peaks at 1/2, where the decision flips: the only place where a dear test pays."""
    line = Line([[1.0]], [1.0], 0.0, [0.5 - margin], RIGHT_OR_WRONG)
    solution = solve_line(line, tolerance=tolerance)
    edge = -special.ndtri(0.5 - margin)
    means = np.array([-1.01, -0.98, -0.5, 0.0, 0.7, 0.99, 1.02]) * edge
    exact = np.maximum(special.ndtr(np.abs(means)), 1 - (0.5 - margin))
    zeros = np.zeros(len(means), dtype=np.int64)
    assert np.abs(solution.values(zeros, means) - exact).max() <= solution.error
    if tolerance <= 1e-6:
        assert solution.actions(zeros, means).tolist() == [1, 0, 0, 0, 0, 0, 2]


def weighed(loss: Callable[[float], float]) -> Callable[[float], float]:
    """Return a loss times the normal density."""
    return lambda e: float(loss(e)) * math.exp(-e * e / 2) / math.sqrt(2 * math.pi)


def small_step(rho: float, costs: tuple[float, float], tolerance: float) -> LineSolution:
    """A test that reveals z, and one that tells next to nothing of it."""
    return solve_line(Line([[1.0, rho], [rho, 1.0]], [1.0, 0.0], 0.0, costs, RIGHT_OR_WRONG), tolerance=tolerance)


@pytest.mark.parametrize("rho", [0.3, 0.05, 1e-2, 1e-3, 1e-5])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_a_small_step_sees_the_switches_of_its_child(rho: float, tolerance: float) -> None:
    """A free weak test is worth something only within a few of its steps from the child's switches and cusp."""
    price, sd = 0.2, math.sqrt(1 - rho**2)
    solution = small_step(rho, (price, 0.0), tolerance)
    edge = -sd * special.ndtri(price)  # where the child switches from deciding to testing

    def after(mean: float) -> float:
        marks = [(k - mean) / rho for k in (-edge, 0.0, edge)]
        ends = [-9.0, *(k for k in marks if abs(k) < 9), 9.0]
        weigh = weighed(lambda e: min(price, special.ndtr(-abs(mean + rho * e) / sd)))
        return sum(integrate.quad(weigh, a, b, epsabs=1e-12)[0] for a, b in itertools.pairwise(ends))

    means = np.concatenate([edge + rho * np.linspace(-4, 4, 9), [0.0, 0.3, -edge, 1.7]])
    exact = np.array([1 - min(price, special.ndtr(-abs(m)), after(m)) for m in means])
    found = solution.values(np.zeros(len(means), dtype=np.int64), means)
    assert np.abs(found - exact).max() <= solution.error


def test_what_hides_between_the_nodes_is_seen_at_the_switches_of_the_child() -> None:
    """A narrow dip of the child's loss and a small step: all nodes of a panel miss it, and its series looks fine."""
    settings = settings_for(1e-7)
    values = np.array([[0.1], [0.05], [0.1]]) * np.ones(16)
    low, high, actions = [-1.0, 1.43, 1.45], [1.43, 1.45, 4.0], np.array([1, 0, 1], dtype=np.int16)
    index = np.zeros(1, dtype=np.int64), np.full(1, 3, dtype=np.int32), np.zeros(1)
    level, edges = Level(*index, np.array(low), np.array(high), values, actions), Edges.room(1)
    edges.steps[0] = 0.003
    tail, gap = tail_and_gap(level, settings, edges, Functions.room(1), Scratch.room(), 0.0, 3.0)
    assert tail < settings.tail
    assert gap > 0.02


def test_a_test_of_no_use_now_may_be_of_use_later() -> None:
    """x1 = z + noise and x2 = noise: the second tells nothing alone, and everything after the first."""
    covariance = np.array([[1.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 1.0]])  # z, z + noise, noise
    line = Line(covariance, [1.0, 0.0, 0.0], 0.1, [9.0, 0.03, 0.04], RIGHT_OR_WRONG, operable=0b110)
    solution = solve_line(line, tolerance=1e-10)
    assert solution.steps(0b000).tolist()[2] == 0
    assert solution.steps(0b010)[2] == pytest.approx(0.5**0.5)
    assert solution.posterior_sd([0b110])[0] == 0
    edge = -(0.5**0.5) * special.ndtri(
        0.04
    )  # beyond it, deciding after the first test loses less than the second costs
    step = 0.5**0.5
    weigh = weighed(lambda e: min(0.04, special.ndtr(-abs(0.1 + step * e) / step)))
    ends = [-9.0, (-edge - 0.1) / step, (edge - 0.1) / step, 9.0]
    mean = sum(integrate.quad(weigh, a, b, epsabs=1e-13)[0] for a, b in itertools.pairwise(ends))
    assert solution.value == pytest.approx(1 - 0.03 - mean, abs=1e-10)
    assert solution.actions([0b000, 0b010], [0.1, 0.1]).tolist() == [1, 2]


def test_a_test_of_no_use_may_open_a_group() -> None:
    """A cheap test that tells nothing makes the dear one of its group affordable; it cannot wait."""
    line = Line(
        np.eye(2), [0.0, 1.0], 0.1, [0.01, 0.6], RIGHT_OR_WRONG, groups=[0, 0], group_costs=[0.005, 0.05]
    )  # fmt: skip
    solution = solve_line(line, tolerance=1e-10)
    assert solution.value == pytest.approx(1 - 0.06, abs=1e-10)
    assert solution.actions([0b00, 0b01], [0.1, 0.1]).tolist() == [0, 1]
    dear = Line(np.eye(2), [0.0, 1.0], 0.1, [0.6, 0.3], RIGHT_OR_WRONG, groups=[0, 0], group_costs=[0.0, 0.05])
    assert solve_line(dear).actions([0], [0.1]).tolist() == [1]


@pytest.mark.parametrize("tests", [1, 3])
def test_what_is_known_on_arrival_opens_no_group(tests: int) -> None:
    costs, reduced = [0.0, *[0.3] * tests], [0.0, *[0.01] * tests]
    line = Line(
        np.eye(tests + 1), np.ones(tests + 1), 0.0, costs, RIGHT_OR_WRONG, groups=[0] * (tests + 1),
        group_costs=reduced, context=0b1,
    )  # fmt: skip
    plain = Line(
        np.eye(tests), np.ones(tests), 0.7, costs[1:], RIGHT_OR_WRONG, groups=[0] * tests, group_costs=reduced[1:]
    )
    found = solve_line(line, tolerance=1e-9).values([1], [0.7])
    assert found == pytest.approx(solve_line(plain, tolerance=1e-9).values([0], [0.7]), abs=2e-9)


@pytest.mark.parametrize("z_scale", [1e-9, 1e-3, 1.0, 1e9])
@pytest.mark.parametrize("reward_scale", [1e-9, 1e-3, 1.0, 1e9])
def test_scales_and_origins_do_not_matter(z_scale: float, reward_scale: float) -> None:
    covariance = np.array([[1.0, 0.3, 0.1], [0.3, 1.0, 0.4], [0.1, 0.4, 1.0]])
    weights, costs = np.array([0.5, 0.6, 0.3]), np.array([0.05, 0.04, 0.03])
    reward = PiecewiseLinear([-0.5, 1.0], [[0.2, 1.0, -1.0], [0.1, 0.1, 0.1]], [[0.5, 0.0, 0.2], [0.0, 0.0, 0.0]])
    plain = solve_line(Line(covariance, weights, 0.2, costs, reward))
    origin = 5.0 * z_scale
    slopes = reward.slopes * reward_scale / z_scale
    moved = PiecewiseLinear(
        reward.knots * z_scale + origin, (reward.intercepts + 7.0) * reward_scale - slopes * origin, slopes
    )
    line = Line(covariance * (1e3 * z_scale) ** 2, weights / 1e3, 0.2 * z_scale + origin, costs * reward_scale, moved)
    solution = solve_line(line)
    assert solution.value / reward_scale - 7 == pytest.approx(plain.value, abs=1e-9)
    assert solution.error / reward_scale == pytest.approx(plain.error, rel=0.05)
    assert solution.n_panels == pytest.approx(plain.n_panels, rel=0.1)
    means = np.linspace(-2, 2, 9)
    masks = np.arange(8)[:, None] + np.zeros(9, dtype=np.int64)
    actions = [
        s.actions(masks.ravel(), m) for s, m in ((plain, _tiled(means)), (solution, _tiled(means * z_scale + origin)))
    ]
    assert (actions[0] == actions[1]).mean() > 0.99  # rounding may move a switch past a mean


def _tiled(means: FloatArray) -> FloatArray:
    return np.tile(means, 8)
