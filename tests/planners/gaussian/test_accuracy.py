"""The reported error covers the truth, and the truth is that of independent methods."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from proband.piecewise import PiecewiseLinear
from proband.planners.gaussian import Line, LineSolution, solve_line
from proband.vocabulary import FloatArray, IntArray

FINE = 1e-10
INSTANCES = 200


def states_of(rng: np.random.Generator, line: Line, n: int) -> tuple[IntArray, FloatArray]:
    """Draw tested sets, and means as they may occur and far beyond."""
    masks = np.array([line.context | sum(1 << int(i) for i in line.tests if rng.random() < 0.4) for _ in range(n)])
    sd = float(line.weights @ line.covariance @ line.weights) ** 0.5
    return masks, line.mean_z + sd * rng.normal(size=n) * rng.choice([1.0, 3.0, 30.0], size=n)


@pytest.mark.parametrize("batch", range(10))
def test_the_reported_error_covers_the_truth(
    batch: int, draw_line: Callable[..., Line], oracle: Callable[..., float]
) -> None:
    """One to six tests, jumps, groups, context, unavailable tests, singular covariances: 200 instances in all."""
    for seed in range(batch, INSTANCES, 10):
        rng = np.random.default_rng([seed, 5])
        line = draw_line(rng)
        truth = solve_line(line, tolerance=FINE)
        scale = truth.units.scale
        assert truth.error <= FINE
        coarse, fine = oracle(line, 1001), oracle(line, 2001)
        assert abs(truth.value - fine) < 3 * abs(fine - coarse) + 1e-3 * scale
        masks, means = states_of(rng, line, 20)
        for tolerance in (1e-2, 1e-4, 1e-6):
            solution = solve_line(line, tolerance=tolerance)
            assert solution.error <= tolerance
            assert abs(solution.value - truth.value) <= solution.error + FINE
            assert (np.abs(solution.values(masks, means) - truth.values(masks, means)) <= solution.error + FINE).all()


@pytest.mark.parametrize("seed", range(6))
def test_values_are_those_of_a_fine_grid(
    seed: int, draw_line: Callable[..., Line], oracle: Callable[..., float]
) -> None:
    line = draw_line(np.random.default_rng([seed, 8]), d=4)
    solution = solve_line(line)
    errors = [abs(solution.value - oracle(line, points)) for points in (1001, 4001, 16001)]
    assert errors[-1] < 2e-5 * solution.units.scale
    assert errors[-1] <= max(errors[0] / 4, 1e-7 * solution.units.scale)  # it converges to the same number


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_a_limit_on_the_number_of_tests(
    most: int, draw_line: Callable[..., Line], oracle: Callable[..., float]
) -> None:
    for seed in range(4):
        line = draw_line(np.random.default_rng([seed, 9]), d=5)
        solution = solve_line(line, max_tests=most)
        assert solution.value == pytest.approx(oracle(line, 4001, max_tests=most), abs=1e-4 * solution.units.scale)


@pytest.mark.parametrize("seed", range(8))
def test_the_value_of_a_state_is_that_of_its_best_action(seed: int, draw_line: Callable[..., Line]) -> None:
    rng = np.random.default_rng([seed, 6])
    line = draw_line(rng)
    solution = solve_line(line, tolerance=FINE)
    masks, means = states_of(rng, line, 60)
    values, actions = solution.values(masks, means), solution.actions(masks, means)
    for mask, mean, value, action in zip(masks.tolist(), means, values, actions, strict=True):
        scores = solution.action_values(mask, mean)
        allowed = [i for i in line.tests.tolist() if not mask >> i & 1]
        possible = [*allowed, *range(line.d, line.d + line.reward.n)]
        assert np.flatnonzero(~np.isnan(scores)).tolist() == possible
        assert np.nanmax(scores) == pytest.approx(value, abs=3 * FINE + 1e-13 * abs(value))
        assert scores[action] == pytest.approx(value, abs=3 * FINE + 1e-13 * abs(value))


def follow(line: Line, act: Callable[[IntArray, FloatArray], IntArray], x: FloatArray) -> FloatArray:
    """Take subjects with outcomes x (of prior mean 0) through a policy; returns what each brings."""
    n, rows = len(x), np.arange(len(x))
    masks = np.full(n, line.context)
    means, paid, going = np.full(n, line.mean_z), np.zeros(n), np.ones(n, dtype=np.bool_)
    brought = np.full(n, np.nan)
    while going.any():
        for mask in np.unique(masks[going]):
            known, here = [i for i in range(line.d) if mask >> i & 1], rows[going & (masks == mask)]
            gain = np.linalg.pinv(line.covariance[np.ix_(known, known)], hermitian=True) @ line.covariance[known]
            means[here] = line.mean_z + x[np.ix_(here, known)] @ gain @ line.weights
        actions = np.full(n, -1)
        actions[going] = act(masks[going], means[going])
        decided = going & (actions >= line.d)
        rewards = line.reward(line.mean_z + x[decided] @ line.weights)
        brought[decided] = np.take_along_axis(rewards, actions[decided, None] - line.d, 1)[:, 0]
        going &= ~decided
        for i in range(line.d):
            running = going & (actions == i)
            peers = sum(1 << int(j) for j in line.tests if j != i and line.groups[j] == line.groups[i] >= 0)
            paid[running] += np.where(masks[running] & peers, line.group_costs[i], line.costs[i])
            masks[running] |= 1 << i
    return brought - paid


def subjects(rng: np.random.Generator, line: Line, n: int) -> FloatArray:
    shares, directions = np.linalg.eigh(line.covariance)
    return np.asarray(rng.normal(size=(n, line.d)) @ (directions * np.sqrt(np.maximum(shares, 0))).T)


@pytest.mark.parametrize("seed", range(5))
def test_simulated_subjects_bring_the_value(seed: int, draw_line: Callable[..., Line]) -> None:
    rng = np.random.default_rng([seed, 21])
    line = draw_line(rng, d=5)
    solution = solve_line(line)
    brought = follow(line, solution.actions, subjects(rng, line, 60_000))
    assert abs(brought.mean() - solution.value) < 3 * brought.std() / len(brought) ** 0.5 + 1e-9


class MonteCarlo:
    """A dynamic program whose every expectation is a mean over random draws, on a grid of means."""

    def __init__(self, rng: np.random.Generator, solution: LineSolution, draws: int, points: int) -> None:
        line = solution.line
        self.solution, self.line = solution, line
        sd = float(line.weights @ line.covariance @ line.weights) ** 0.5
        self.grid = line.mean_z + sd * np.linspace(-5, 5, points)
        self.tests: dict[int, FloatArray] = {}
        self.values: dict[int, FloatArray] = {}
        masks = np.arange(1 << line.d)
        for mask in sorted(masks.tolist(), key=int.bit_count, reverse=True):
            deviation = float(solution.posterior_sd([mask])[0])
            scores = np.full((line.d + 1, points), -np.inf)
            scores[-1] = line.reward.expectation(self.grid, deviation).max(axis=1)
            for i in range(line.d):
                if not mask >> i & 1:
                    after = self.grid[:, None] + solution.steps(mask)[i] * rng.normal(size=(points, draws))
                    scores[i] = np.interp(after, self.grid, self.values[mask | 1 << i]).mean(axis=1) - line.costs[i]
            self.tests[mask], self.values[mask] = scores, scores.max(axis=0)

    def act(self, masks: IntArray, means: FloatArray) -> IntArray:
        actions = np.empty(len(masks), dtype=np.int64)
        for mask in np.unique(masks).tolist():
            here = masks == mask
            scores = np.array([np.interp(means[here], self.grid, row) for row in self.tests[mask]])
            deviation = float(self.solution.posterior_sd([mask])[0])
            decisions = self.line.d + self.line.reward.expectation(means[here], deviation).argmax(axis=1)
            best = scores.argmax(axis=0)
            actions[here] = np.where(best == self.line.d, decisions, best)
        return actions


def test_four_tests_are_a_monte_carlo_dynamic_program(rng: np.random.Generator) -> None:
    """Maximising over noise is too hopeful, and the policy found that way is too bad: the value lies between."""
    factors = rng.normal(size=(4, 4))
    covariance = factors @ factors.T + 0.2 * np.eye(4)
    weights = np.array([1.0, 0.5, -0.7, 0.4])
    weights /= (weights @ covariance @ weights) ** 0.5
    reward = PiecewiseLinear([-0.8, 0.9], [[-2.0, 1.0, -1.5], [0.0, 0.0, 0.0]], np.zeros((2, 3)))
    line = Line(covariance, weights, 0.2, [0.05, 0.04, 0.06, 0.03], reward)
    solution = solve_line(line)
    programs = [MonteCarlo(rng, solution, draws=1500, points=121) for _ in range(6)]
    hopeful = np.array([np.interp(0.2, program.grid, program.values[0]) for program in programs])
    brought = follow(line, programs[0].act, subjects(rng, line, 150_000))
    error = hopeful.std(ddof=1) / len(hopeful) ** 0.5, brought.std() / len(brought) ** 0.5
    assert brought.mean() - 3 * error[1] <= solution.value <= hopeful.mean() + 3 * error[0]
    assert hopeful.mean() - brought.mean() < 0.02
