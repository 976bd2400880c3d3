"""The planner for two scores against nested quadrature, closed forms, the planner for one score, and simulation."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate

from proband.piecewise import PiecewiseLinear, PiecewisePlane
from proband.planners.gaussian import Line, solve_line
from proband.planners.gaussian.plane import Plane, PlaneSolution, solve_plane
from proband.vocabulary import FloatArray

BOTH = PiecewisePlane(([-0.2], [-0.3]), [[[-1.0, -1.0], [-1.0, 1.0]], np.zeros((2, 2))], np.zeros((2, 2, 2, 2)))
BETTER = PiecewisePlane(([], []), np.zeros((3, 1, 1)), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])[:, None, None])
MIXED = PiecewisePlane(
    ([-0.5, 0.8], [0.1]),
    [[[0.0, 1.0], [1.0, -0.5], [0.2, 0.4]], [[0.3, 0.3], [0.3, 0.9], [0.1, 0.0]]],
    [[[[0.5, 0.0], [0.0, 0.0]], [[0.0, 0.3], [0.0, 0.0]], [[0.0, 0.0], [0.2, 0.1]]], np.zeros((3, 2, 2))],
)
COVARIANCE = np.array([[1.0, 0.5, 0.2], [0.5, 1.5, -0.3], [0.2, -0.3, 0.8]])
WEIGHTS = np.array([[0.8, 0.3, -0.2], [-0.2, 0.6, 0.7]])


def plane(reward: PiecewisePlane = BOTH, **changes: object) -> Plane:
    fields: dict[str, object] = {
        "covariance": COVARIANCE, "weights": WEIGHTS, "mean_z": [0.1, 0.2], "costs": [0.05, 0.03, 0.06],
        "reward": reward,
    }  # fmt: skip
    return Plane(**(fields | changes))  # type: ignore[arg-type]


def posterior(problem: Plane, mask: int) -> tuple[FloatArray, FloatArray]:
    """Return the covariance of z and the steps of all tests given a set, by pseudo-inverse."""
    known = [i for i in range(problem.d) if mask >> i & 1]
    own = problem.covariance[np.ix_(known, known)]
    gain = problem.covariance[:, known] @ np.linalg.pinv(own, rcond=1e-11, hermitian=True)
    rest = problem.covariance - gain @ problem.covariance[known]
    left = np.diag(rest) > 1e-9
    steps = np.where(left[:, None], rest @ problem.weights.T / np.sqrt(np.where(left, np.diag(rest), 1.0))[:, None], 0)
    covariance = problem.weights @ rest @ problem.weights.T
    return np.where(np.abs(covariance) > 1e-12, covariance, 0.0), steps


def nested(problem: Plane, mask: int, mean: FloatArray) -> float:
    """Return the value of a state by quadrature over every outcome in turn, adaptive but for the last one."""
    covariance, steps = posterior(problem, mask)
    best = float(problem.reward.expectation([mean], covariance).max())
    left = [int(i) for i in problem.tests if not mask >> i & 1]
    for i in left:
        child = mask | 1 << i
        rest = posterior(problem, child)[0]
        if not rest.any():
            value = float(problem.reward.expected_maximum([mean], covariance)[0])
        elif len(left) == 1:
            epsilon = np.linspace(-8.0, 8.0, 3201)
            weights = np.exp(-(epsilon**2) / 2)
            rewards = problem.reward.expectation(mean + np.outer(epsilon, steps[i]), rest).max(axis=1)
            value = float(weights @ rewards / weights.sum())
        else:
            value = mean_of(
                lambda e, c=child, s=steps[i]: nested(problem, c, mean + s * e), cuts(problem, mean, steps[i])
            )
        best = max(best, value - float(problem.costs[i]))
    return best


def cuts(problem: Plane, mean: FloatArray, step: FloatArray) -> list[float]:
    """Return where a line meets knots: after a test that reveals a score, the value jumps there."""
    pairs = zip(problem.reward.knots, mean, step, strict=True)
    return [(knot - m) / s for axis, m, s in pairs for knot in axis if abs(s) > 1e-9]


def mean_of(function: Callable[[float], float], breaks: list[float]) -> float:
    def density(e: float) -> float:
        return function(e) * float(np.exp(-e * e / 2) / np.sqrt(2 * np.pi))

    ends = np.unique([-8.0, -2.0, 0.0, 2.0, 8.0, *(at for at in breaks if abs(at) < 8)])
    parts = [integrate.quad(density, a, b, epsabs=1e-6, epsrel=0)[0] for a, b in itertools.pairwise(ends)]
    return float(sum(parts))


@pytest.mark.parametrize("reward", [BOTH, BETTER, MIXED])
@pytest.mark.parametrize("operable", [0b1, 0b10, 0b100])
def test_one_test_is_quadrature(reward: PiecewisePlane, operable: int) -> None:
    problem = plane(reward, operable=operable, mean_z=[-0.1, 0.0])
    solution = solve_plane(problem, tolerance=3e-5)
    assert solution.value == pytest.approx(nested(problem, 0, problem.mean_z), abs=3e-5)


@pytest.mark.parametrize("reward", [BOTH, BETTER, MIXED])
def test_two_tests_are_nested_quadrature(reward: PiecewisePlane) -> None:
    problem = Plane([[1.0, 0.4], [0.4, 0.7]], [[0.9, 0.3], [-0.2, 1.0]], [0.1, 0.15], [0.05, 0.04], reward)
    solution = solve_plane(problem, tolerance=1e-4)
    expected = nested(problem, 0, problem.mean_z)
    assert solution.complete
    assert solution.error <= 1e-4
    assert solution.value == pytest.approx(expected, abs=max(solution.error, 1e-6))


def test_two_tests_that_leave_something_unknown_are_nested_quadrature() -> None:
    problem = plane(BOTH, operable=0b101)
    solution = solve_plane(problem, tolerance=1e-4)
    assert solution.value == pytest.approx(nested(problem, 0, problem.mean_z), abs=1e-4)


def test_scores_that_are_tests_are_nested_quadrature() -> None:
    problem = Plane([[1.0, 0.4], [0.4, 0.7]], np.eye(2), [0.1, 0.0], [0.05, 0.04], BOTH)
    solution = solve_plane(problem, tolerance=1e-4)
    assert solution.value == pytest.approx(nested(problem, 0, problem.mean_z), abs=1e-4)


def by_brute_force(problem: Plane, mask: int, means: FloatArray) -> FloatArray:
    """Return values of states (k, 2) after a set by sums over evenly spaced outcomes, all in turn: shape (k,)."""
    covariance, steps = posterior(problem, mask)
    best = problem.reward.expectation(means, covariance).max(axis=1)
    epsilon = np.linspace(-6.0, 6.0, 181)
    weights = np.exp(-(epsilon**2) / 2) / np.exp(-(epsilon**2) / 2).sum()
    for i in problem.tests:
        child = mask | 1 << int(i)
        if child == mask:
            continue
        if posterior(problem, child)[0].any():
            after = (means[:, None] + epsilon[:, None] * steps[i]).reshape(-1, 2)
            values = by_brute_force(problem, child, after).reshape(len(means), -1) @ weights
        else:
            values = problem.reward.expected_maximum(means, covariance)
        best = np.maximum(best, values - problem.costs[i])
    return np.asarray(best)


@pytest.mark.parametrize("reward", [BOTH, MIXED])
def test_three_tests_are_brute_force(reward: PiecewisePlane) -> None:
    problem = plane(reward)
    solution = solve_plane(problem)
    assert solution.value == pytest.approx(by_brute_force(problem, 0, problem.mean_z[None])[0], abs=2e-4)
    means = problem.mean_z + np.outer(np.linspace(-2.5, 2.5, 8), posterior(problem, 0)[1][1])
    found = solution.values(np.full(8, 0b010), means)
    np.testing.assert_allclose(found, by_brute_force(problem, 0b010, means), atol=1e-3)


def on_first(reward: PiecewiseLinear) -> PiecewisePlane:
    """Return the reward of one score as one of two, the second of which does not count."""
    slopes = np.stack([reward.slopes, np.zeros_like(reward.slopes)], axis=-1)[:, :, None]
    return PiecewisePlane((reward.knots, []), reward.intercepts[:, :, None], slopes)


LIMITS = PiecewiseLinear([-1.0, 0.7], [[-3.0, 1.0, -2.0], [0.0, 0.0, 0.0]], [[0.0, 0.2, 0.0], [0.0, 0.0, 0.0]])


def test_a_second_score_that_does_not_count_changes_nothing() -> None:
    line = Line(COVARIANCE, WEIGHTS[0], 0.1, [0.05, 0.03, 0.06], LIMITS)
    solution = solve_plane(plane(on_first(LIMITS)), tolerance=1e-3)
    assert solution.value == pytest.approx(solve_line(line).value, abs=solution.error)


@pytest.mark.parametrize("factor", [1.0, -2.0])
def test_two_scores_that_are_one_are_the_planner_for_one(factor: float) -> None:
    line = Line(COVARIANCE, WEIGHTS[0], 0.1, [0.05, 0.03, 0.06], LIMITS)
    half = PiecewisePlane(
        (LIMITS.knots, []), LIMITS.intercepts[:, :, None],
        np.stack([LIMITS.slopes / 2, LIMITS.slopes / 2 / factor], axis=-1)[:, :, None],
    )  # fmt: skip
    same = plane(half, weights=[WEIGHTS[0], factor * WEIGHTS[0]], mean_z=[0.1, factor * 0.1])
    solution = solve_plane(same, tolerance=1e-3)
    assert solution.value == pytest.approx(solve_line(line).value, abs=solution.error)


def test_limits_on_equal_scores_are_limits_on_one() -> None:
    line = Line(
        COVARIANCE, WEIGHTS[0], 0.1, [0.05, 0.03, 0.06], PiecewiseLinear([-0.2], [[-1, 1], [0, 0]], np.zeros((2, 2)))
    )
    corner = PiecewisePlane(([-0.2], [-0.2]), BOTH.intercepts, BOTH.slopes)
    solution = solve_plane(plane(corner, weights=WEIGHTS[[0, 0]], mean_z=[0.1, 0.1]), tolerance=1e-3)
    assert solution.value == pytest.approx(solve_line(line).value, abs=solution.error)


def test_independent_scores_with_decisions_of_their_own_add_up() -> None:
    """Decisions are pairs, rewards are sums, and no test tells of both scores: two problems side by side."""
    steps = [PiecewiseLinear([k], [[-1.0, 0.5], [0.0, 0.0]], np.zeros((2, 2))) for k in (-0.1, 0.3)]
    intercepts = [a[:, None] + b for a in steps[0].intercepts for b in steps[1].intercepts]
    reward = PiecewisePlane((steps[0].knots, steps[1].knots), intercepts, np.zeros((4, 2, 2, 2)))
    covariance = np.kron(np.eye(2), [[1.0, 0.3], [0.3, 0.6]])
    weights, costs = np.array([[0.8, 0.4, 0.0, 0.0], [0.0, 0.0, 0.5, 1.0]]), [0.04, 0.02, 0.05, 0.03]
    lines = [
        Line(covariance[s, s], weights[k, s], m, costs[s], steps[k])
        for k, (s, m) in enumerate([(slice(0, 2), 0.1), (slice(2, 4), 0.0)])
    ]
    solution = solve_plane(Plane(covariance, weights, [0.1, 0.0], costs, reward), tolerance=2e-3)
    assert solution.value == pytest.approx(sum(solve_line(line).value for line in lines), abs=solution.error)


@pytest.mark.parametrize("reward", [BOTH, BETTER, MIXED])
def test_free_tests_that_reveal_everything_are_perfect_information(reward: PiecewisePlane) -> None:
    problem = plane(reward, costs=np.zeros(3))
    prior = WEIGHTS @ COVARIANCE @ WEIGHTS.T
    solution = solve_plane(problem)
    assert solution.value == pytest.approx(reward.expected_maximum([problem.mean_z], prior)[0], abs=solution.error)


def test_free_tests_are_all_run() -> None:
    problem = plane(BOTH, costs=np.zeros(3), operable=0b011)
    rest, _ = posterior(problem, 0b011)
    root = np.linalg.cholesky(WEIGHTS @ COVARIANCE @ WEIGHTS.T - rest + 1e-12 * np.eye(2))
    x = np.linspace(-7.0, 7.0, 281)
    weights = np.exp(-(x**2) / 2) / np.exp(-(x**2) / 2).sum()
    points = problem.mean_z + np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2) @ root.T
    expected = np.outer(weights, weights).ravel() @ BOTH.expectation(points, rest).max(axis=1)
    solution = solve_plane(problem)
    assert solution.value == pytest.approx(expected, abs=1e-3)


def simulate(solution: PlaneSolution, n: int) -> tuple[float, float]:
    """Return mean and standard error of what n subjects bring under the policy; the mean of x is 0."""
    problem, rng = solution.plane, np.random.default_rng(3)
    x = rng.multivariate_normal(np.zeros(problem.d), problem.covariance, n, method="svd")
    masks, earned = np.full(n, problem.context), np.zeros(n)
    running = np.ones(n, dtype=np.bool_)
    payoff = problem.reward(problem.mean_z + x @ problem.weights.T)
    while running.any():
        means = np.empty((n, 2))
        for mask in np.unique(masks[running]):
            known = [i for i in range(problem.d) if mask >> i & 1]
            own = problem.covariance[np.ix_(known, known)]
            gain = problem.weights @ problem.covariance[:, known] @ np.linalg.pinv(own, rcond=1e-11, hermitian=True)
            here = running & (masks == mask)
            means[here] = problem.mean_z + x[np.ix_(here, known)] @ gain.T
        actions = solution.actions(masks[running], means[running])
        rows = np.flatnonzero(running)
        decided = actions >= problem.d
        earned[rows[decided]] += payoff[rows[decided], actions[decided] - problem.d]
        for row, test in zip(rows[~decided], actions[~decided], strict=True):
            group = problem.groups[test]
            peers = [j for j in problem.tests if j != test and group >= 0 and problem.groups[j] == group]
            opened = any(masks[row] >> j & 1 for j in peers)
            earned[row] -= problem.group_costs[test] if opened else problem.costs[test]
            masks[row] |= 1 << int(test)
        running[rows[decided]] = False
    return float(earned.mean()), float(earned.std() / n**0.5)


@pytest.mark.parametrize(
    "problem",
    [
        plane(BOTH),
        plane(MIXED, context=0b010),
        plane(BETTER, groups=[0, -1, 0], group_costs=[0.01, 0.03, 0.02]),
        plane(BOTH, operable=0b101),
        plane(BOTH, weights=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.5]]),
    ],
)
def test_simulation_agrees_with_the_value(problem: Plane) -> None:
    solution = solve_plane(problem)
    mean, spread = simulate(solution, 20_000)
    assert solution.value == pytest.approx(mean, abs=3 * spread + solution.error)
