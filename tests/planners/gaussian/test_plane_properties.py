"""What holds for every plane: bounds, monotonicity, degenerate cases, limits, and an error estimate that covers."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from proband.errors import PlanError, ProblemError, StateError, TooLargeError
from proband.piecewise import PiecewisePlane
from proband.planners.gaussian.plane import Plane, PlaneSolution, solve_plane
from proband.planners.gaussian.plane.induction import Induction, Rule, Sets
from proband.planners.gaussian.plane.instance import standardise
from proband.planners.progress import Progress

BOTH = PiecewisePlane(([-0.2], [-0.3]), [[[-1.0, -1.0], [-1.0, 1.0]], np.zeros((2, 2))], np.zeros((2, 2, 2, 2)))
COVARIANCE = np.array([[1.0, 0.5, 0.2], [0.5, 1.5, -0.3], [0.2, -0.3, 0.8]])
WEIGHTS = np.array([[0.8, 0.3, -0.2], [-0.2, 0.6, 0.7]])


def plane(**changes: object) -> Plane:
    fields: dict[str, object] = {
        "covariance": COVARIANCE, "weights": WEIGHTS, "mean_z": [0.1, 0.2], "costs": [0.05, 0.03, 0.06], "reward": BOTH,
    }  # fmt: skip
    return Plane(**(fields | changes))  # type: ignore[arg-type]


def prior(problem: Plane) -> np.ndarray:
    return problem.weights @ problem.covariance @ problem.weights.T


def random_covariance(rng: np.random.Generator, d: int) -> np.ndarray:
    """Return a covariance: independent tests, a full one, two common factors, or a singular one."""
    full, factors = rng.normal(size=(d, d)), rng.normal(size=(d, 2))
    kinds = [
        np.diag(rng.uniform(0.3, 2.0, d)),
        full @ full.T,
        factors @ factors.T + np.diag(rng.uniform(0.0, 0.5, d)),
        full[:, : max(d - 1, 1)] @ full[:, : max(d - 1, 1)].T,
    ]
    return kinds[rng.integers(len(kinds))]


def random_reward(rng: np.random.Generator, spread: np.ndarray) -> PiecewisePlane:
    """Return two to four decisions: jumps, slopes, or a single good corner."""
    n, m1, m2 = rng.integers(2, 5), *rng.integers(0, 3, size=2)
    knots = np.sort(rng.normal(size=m1)) * spread[0], np.sort(rng.normal(size=m2)) * spread[1]
    a, b = rng.normal(size=(n, m1 + 1, m2 + 1)), rng.normal(size=(n, m1 + 1, m2 + 1, 2))
    kind = rng.integers(4)
    if kind == 1:
        b = np.zeros_like(b)
    elif kind == 2:
        a, b = rng.integers(-1, 2, size=a.shape), rng.integers(-1, 2, size=b.shape) * (rng.random(b.shape) < 0.3)
    elif kind == 3:
        a, b = np.zeros((2, m1 + 1, m2 + 1)), np.zeros((2, m1 + 1, m2 + 1, 2))
        a[0], a[0, -1, -1] = -rng.uniform(0.5, 5.0), 1.0
    return PiecewisePlane(knots, a, b / spread)


def random_plane(seed: int) -> Plane:
    rng = np.random.default_rng(seed)
    d = int(rng.choice([1, 2, 2, 2, 3]))
    covariance, weights = random_covariance(rng, d), rng.normal(size=(2, d))
    if rng.random() < 0.4:  # scores that are tests
        weights = np.eye(d)[rng.integers(d, size=2)] + (rng.random((2, d)) < 0.2) * weights
    spread = np.sqrt(np.einsum("si,ij,sj->s", weights, covariance, weights)) + 1e-3
    costs = rng.uniform(0.2, 1.0, d) * 10 ** rng.uniform(-2.5, -0.7)
    context = 1 << int(rng.integers(d)) if d > 1 and rng.random() < 0.25 else 0
    if d > 2 and rng.random() < 0.25:  # two tests are known on arrival
        context |= 1 << int(rng.integers(d))
    unavailable = 1 << int(rng.integers(d)) if d > 1 and rng.random() < 0.15 else 0
    return Plane(
        covariance, weights, 0.5 * spread * rng.normal(size=2), costs, random_reward(rng, spread),
        groups=rng.integers(-1, 1, size=d), group_costs=costs * rng.uniform(0.0, 1.0),
        context=context, operable=((1 << d) - 1) & ~context & ~unavailable,
    )  # fmt: skip


def value_on(problem: Plane, width: float) -> float:
    """Return the value on one grid."""
    instance = standardise(problem)
    induction = Induction(Sets.of(instance, len(instance.peers)), Rule(width, 5.5))
    for _ in induction.solve():
        pass
    return float(problem.reward.expected_maximum([problem.mean_z], prior(problem))[0] - induction.loss_on_arrival())


@pytest.mark.parametrize("seed", [*range(10), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 300))])
def test_the_error_covers_the_truth(seed: int) -> None:
    problem = random_plane(seed)
    solution = solve_plane(problem)
    truth = value_on(problem, min(solution.induction.rule.width / 4, 0.125))
    assert abs(solution.value - truth) <= solution.error
    now = problem.reward.expectation([problem.mean_z], prior(problem)).max()
    perfect = problem.reward.expected_maximum([problem.mean_z], prior(problem))[0]
    assert now - solution.error <= solution.value <= perfect + solution.error


def test_the_value_falls_with_costs_and_rises_with_tests() -> None:
    values = [solve_plane(plane(costs=np.full(3, cost))).value for cost in (0.0, 0.02, 0.05, 0.1, 1.0)]
    assert all(a >= b - 1e-4 for a, b in pairwise(values))
    assert values[-1] == pytest.approx(BOTH.expectation([[0.1, 0.2]], prior(plane())).max(), abs=1e-12)
    fewer = [solve_plane(plane(operable=operable)).value for operable in (0b000, 0b001, 0b011, 0b111)]
    assert all(a <= b + 1e-4 for a, b in pairwise(fewer))


def test_limits_on_the_number_of_tests() -> None:
    values = [solve_plane(plane(), max_tests=most).value for most in (0, 1, 2, 3, 9)]
    assert all(a <= b + 1e-4 for a, b in pairwise(values))
    assert values[-1] == values[-2]
    solution = solve_plane(plane(), max_tests=1)
    single = solution.action_values(0, [0.1, 0.2])
    assert solution.value == pytest.approx(np.nanmax(single), abs=1e-12)
    assert np.isnan(solution.action_values(0b001, [0.1, 0.2])[:3]).all()
    assert (solution.actions([0b011, 0b111], [[0.5, 0.5], [-1.0, 0.0]]) == [3, 4]).all()


def test_the_first_test_is_a_line_of_decisions() -> None:
    problem = plane(operable=0b001)
    solution = solve_plane(problem, tolerance=1e-5)
    step, rest = solution.steps(0)[0], solution.posterior_covariance([0b001])[0]
    np.testing.assert_allclose(rest, prior(problem) - np.outer(step, step), atol=1e-12)
    epsilon = np.linspace(-8, 8, 4001)
    weights = np.exp(-(epsilon**2) / 2)
    after = BOTH.expectation(problem.mean_z + np.outer(epsilon, step), rest).max(axis=1)
    assert solution.action_values(0, [0.1, 0.2])[0] == pytest.approx(weights @ after / weights.sum() - 0.05, abs=1e-5)


def test_action_values_explain_values_and_actions() -> None:
    solution = solve_plane(plane(groups=[0, 0, -1], group_costs=[0.01, 0.01, 0.06]))
    rng = np.random.default_rng(2)
    masks, means = rng.integers(0, 8, size=40), rng.normal(size=(40, 2))
    values, actions = solution.values(masks, means), solution.actions(masks, means)
    for mask, mean, value, action in zip(masks, means, values, actions, strict=True):
        table = solution.action_values(int(mask), mean)
        assert table.shape == (5,)
        assert np.isnan(table[:3]).tolist() == [bool(mask >> i & 1) for i in range(3)]
        assert value == pytest.approx(np.nanmax(table), abs=1e-12)
        assert table[action] == pytest.approx(value, abs=1e-8)
    np.testing.assert_allclose(solution.posterior_sd([0]), np.sqrt(np.diag(prior(plane())))[None], rtol=1e-12)
    assert (solution.posterior_sd([0b111]) == 0).all()


def test_a_peer_lowers_the_price() -> None:
    prices = {"costs": [0.2, 0.2, 0.2], "group_costs": [0.01, 0.02, 0.03]}
    cases = [
        ([3, -1, 3], 0b011, 2, 0.03),
        ([3, -1, 3], 0b101, 1, 0.2),
        ([3, 3, 4], 0b110, 0, 0.01),
        ([3, 4, 4], 0b110, 0, 0.2),
    ]
    for groups, mask, last, price in cases:
        solution = solve_plane(plane(groups=groups, **prices))
        perfect = BOTH.expected_maximum([[0.1, 0.2]], solution.posterior_covariance([mask])[0])[0]
        assert solution.action_values(mask, [0.1, 0.2])[last] == pytest.approx(perfect - price, abs=1e-12)


def test_no_test_at_all() -> None:
    nothing, everything = plane(operable=0), plane(operable=0, context=0b111)
    assert solve_plane(nothing).value == pytest.approx(
        BOTH.expectation([nothing.mean_z], prior(nothing)).max(), abs=1e-12
    )
    perfect = BOTH.expected_maximum([nothing.mean_z], prior(nothing))[0]
    assert solve_plane(everything).value == pytest.approx(perfect, abs=1e-12)
    constant = solve_plane(plane(covariance=np.zeros((3, 3))))
    assert constant.value == BOTH([[0.1, 0.2]]).max()
    assert constant.actions([0], [[0.5, 0.5]])[0] == 3


def test_what_is_known_on_arrival_is_averaged() -> None:
    known = plane(context=0b010)
    solution = solve_plane(known)
    free = solve_plane(plane(costs=[0.05, 0.0, 0.06]))
    assert solution.value <= free.value + 1e-3
    rng = np.random.default_rng(4)
    step = COVARIANCE[1] @ WEIGHTS.T / COVARIANCE[1, 1] ** 0.5
    means = known.mean_z + rng.standard_normal((20_000, 1)) * step
    values = solution.values(np.full(20_000, 0b010), means)
    assert solution.value == pytest.approx(values.mean(), abs=3 * values.std() / 20_000**0.5 + solution.error)


def test_a_score_known_on_arrival_jumps_at_its_knot() -> None:
    """The first score is a test known on arrival, the second one is left: a jump of the value at the knot."""
    problem = Plane(np.diag([1.0, 0.5]), np.eye(2), [0.0, 0.1], [0.0, 0.05], BOTH, context=0b01)
    solution = solve_plane(problem)
    bad, good = solution.values([1, 1], [[-0.2 - 1e-9, 0.1], [-0.2, 0.1]])
    assert bad == pytest.approx(0, abs=1e-12)
    assert good > 0.3
    chance = 0.5 * math.erfc(-0.2 / 2**0.5)
    assert solution.value == pytest.approx(chance * good, abs=solution.error)


@pytest.mark.parametrize(
    "weights",
    [
        [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]],  # the second score is a constant
        [[1.0, 0.0, 0.0], [1.0, 1e-7, 0.0]],  # almost the same score
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],  # steps along the axes, and a test that tells of neither
        [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]],  # opposite scores
    ],
)
def test_degenerate_scores(weights: list[list[float]]) -> None:
    problem = plane(weights=weights, covariance=np.diag([1.0, 0.7, 0.4]), mean_z=[0.1, 0.1])
    solution = solve_plane(problem)
    now = BOTH.expectation([[0.1, 0.1]], prior(problem)).max()
    perfect = BOTH.expected_maximum([[0.1, 0.1]], prior(problem))[0]
    assert now <= solution.value + 1e-12
    assert solution.value <= perfect
    assert abs(solution.value - value_on(problem, 0.1)) <= solution.error
    assert solution.actions([0], [[0.1, 0.1]])[0] != 2


def test_almost_known_scores_are_resolved() -> None:
    """A test that leaves a millionth of the first score: nearly the value of one that leaves nothing."""
    exact = Plane(np.diag([1.0, 0.5]), np.eye(2), [0.0, 0.1], [0.05, 0.05], BOTH)
    noisy = Plane(
        [[1.0, 1.0, 0.0], [1.0, 1 + 1e-12, 0.0], [0.0, 0.0, 0.5]], [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [0.0, 0.1],
        [0.0, 0.05, 0.05], BOTH, operable=0b110,
    )  # fmt: skip
    assert solve_plane(noisy).value == pytest.approx(solve_plane(exact).value, abs=1e-3)


def test_a_test_that_tells_nothing_alone_may_help_another() -> None:
    """x_2 is noise that x_1 carries: worthless first, and worth its price afterwards."""
    covariance = np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 2.0], [1.0, 2.0, 3.0]])  # signal, noise, their sum
    problem = Plane(covariance, [[1, 0, 0], [1, 0, 0]], [0.1, 0.1], [0.0, 0.01, 0.02], BOTH, operable=0b110)
    solution = solve_plane(problem)
    assert (solution.steps(0)[1] == 0).all()
    assert (solution.steps(0b100)[1] != 0).all()
    assert solution.value > solve_plane(plane_without(problem, 1)).value + 0.1


def plane_without(problem: Plane, test: int) -> Plane:
    return Plane(
        problem.covariance, problem.weights, problem.mean_z, problem.costs, problem.reward,
        operable=problem.operable & ~(1 << test),
    )  # fmt: skip


def test_units_do_not_matter() -> None:
    scale, units, origin = np.array([1e3, 1e-4, 7.0]), np.array([1e4, 1e-3]), np.array([5.0, -2.0])
    knots = tuple((axis + at) * unit for axis, at, unit in zip(BOTH.knots, origin, units, strict=True))
    reward = PiecewisePlane((knots[0], knots[1]), 1e3 * BOTH.intercepts, BOTH.slopes)
    covariance, weights = COVARIANCE * np.outer(scale, scale), WEIGHTS * units[:, None] / scale
    problem = Plane(covariance, weights, (plane().mean_z + origin) * units, [50.0, 30.0, 60.0], reward)
    assert solve_plane(problem).value == pytest.approx(1e3 * solve_plane(plane()).value, rel=1e-9)


def test_progress_and_time() -> None:
    seen: list[Progress] = []
    solution = solve_plane(plane(), progress=seen.append)
    assert solution.complete
    assert {report.total for report in seen} == {8}
    assert seen[-1].done == 8
    assert seen[-1].value < solution.value < seen[-1].bound
    widths = [report.details["width"] for report in seen]
    assert widths == sorted(widths, reverse=True)
    hurried = solve_plane(plane(), time_limit=0.0)
    assert not hurried.complete
    assert abs(hurried.value - solution.value) <= hurried.error
    assert hurried.nbytes < solution.nbytes


def solution() -> PlaneSolution:
    return solve_plane(plane(context=0b100, operable=0b001))


def test_what_is_refused() -> None:
    with pytest.raises(ProblemError, match=r"weights have shape \(1, 3\); .* \(2, 3\)"):
        plane(weights=[[1.0, 0.0, 0.0]])
    with pytest.raises(ProblemError, match="costs"):
        plane(costs=[-1.0, 0.0, 0.0])
    with pytest.raises(ProblemError, match="semi-definite"):
        plane(covariance=-np.eye(3))
    with pytest.raises(PlanError, match="tolerance is 0"):
        solve_plane(plane(), tolerance=0)
    with pytest.raises(PlanError, match="max_tests is -1"):
        solve_plane(plane(), max_tests=-1)
    with pytest.raises(TooLargeError, match="bin the measurements"):
        solve_plane(Plane(np.eye(15), np.ones((2, 15)), [0.0, 0.0], np.ones(15), BOTH))
    with pytest.raises(TooLargeError, match="800 kB"):
        solve_plane(plane(), memory_limit=1e5)


def test_states_that_are_none_are_refused() -> None:
    found = solution()
    with pytest.raises(StateError, match="known on arrival"):
        found.values([0b001], [[0.0, 0.0]])
    with pytest.raises(StateError, match="can be run"):
        found.actions([0b110], [[0.0, 0.0]])
    with pytest.raises(StateError, match="two finite numbers"):
        found.actions([0b100], [0.0, 0.0])
    with pytest.raises(StateError, match="two finite numbers"):
        found.values([0b100], [[0.0, np.nan]])
