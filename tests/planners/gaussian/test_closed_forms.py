"""The planner against nested quadrature and closed forms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, special

from proband.piecewise import PiecewiseLinear
from proband.piecewise.line_kernel import expect
from proband.planners.gaussian import Line, solve_line

pytestmark = pytest.mark.filterwarnings("ignore:The occurrence of roundoff")  # quad, asked for its utmost

LIMITS = PiecewiseLinear([-1.0, 1.2], [[-3.0, 1.0, -2.0], [0.0, 0.0, 0.0]], np.zeros((2, 3)))
STEP = PiecewiseLinear([0.0], [[-1.0, 1.0], [0.0, 0.0]], np.zeros((2, 2)))
SCORE = PiecewiseLinear([], [[0.0], [0.1], [-0.3]], [[1.0], [0.0], [-1.5]])
MIXED = PiecewiseLinear(
    [-0.5, 0.8],
    [[0.0, 1.0, -1.0], [0.3, 0.3, 0.9], [0.2, -1.0, 0.0]],
    [[1.0, 0.0, 0.5], [0.0, 0.2, 0.0], [-1.0, 0.0, 0.0]],
)
REWARDS = [LIMITS, STEP, SCORE, MIXED]


class Nested:
    """Values by adaptive quadrature over every outcome in turn."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.envelope, self.out = line.reward.upper_envelope(), np.empty(line.reward.n)
        sets = [mask for mask in range(1 << line.d) if not mask & ~line.operable]
        self.after = {mask: self.condition(mask) for mask in sets}

    def condition(self, mask: int) -> tuple[float, list[float]]:
        """Return the deviation of z and the steps given a set, from the covariance."""
        line = self.line
        known = [i for i in range(line.d) if mask >> i & 1]
        gain = line.covariance[:, known] @ np.linalg.inv(line.covariance[np.ix_(known, known)])
        rest = line.covariance - gain @ line.covariance[known]
        steps = [abs(rest[i] @ line.weights) / rest[i, i] ** 0.5 if not mask >> i & 1 else 0.0 for i in range(line.d)]
        return max(float(line.weights @ rest @ line.weights), 0.0) ** 0.5, steps

    def value(self, mask: int, mean: float, accuracy: float = 1e-7) -> float:
        sd, steps = self.after[mask]
        reward = self.line.reward
        expect(reward.knots, reward.intercepts, reward.slopes, mean, sd, self.out)
        best = max(self.out.tolist())
        for i in range(self.line.d):
            if self.line.operable >> i & 1 and not mask >> i & 1:
                child = mask | 1 << i
                if self.after[child][0] < 1e-7:
                    value = float(self.envelope.expectation(mean, steps[i])[0])
                else:
                    value = mean_of(self.after_step(child, mean, steps[i], accuracy / 100), accuracy)
                best = max(best, value - float(self.line.costs[i]))
        return best

    def after_step(self, mask: int, mean: float, step: float, accuracy: float) -> Callable[[float], float]:
        return lambda e: self.value(mask, mean + step * e, accuracy)


def mean_of(function: Callable[[float], float], accuracy: float = 1e-9) -> float:
    """Return E f(ε), adaptively."""
    return float(
        integrate.quad(
            lambda e: function(e) * math.exp(-e * e / 2) / math.sqrt(2 * math.pi), -7.5, 7.5,
            epsabs=accuracy, epsrel=0, limit=100,
        )[0]
    )  # fmt: skip


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("operable", [0b1, 0b10])
def test_one_test_is_nested_quadrature(reward: PiecewiseLinear, operable: int) -> None:
    line = Line([[1.0, 0.6], [0.6, 1.5]], [0.7, 0.5], 0.2, [0.15, 0.04], reward, operable=operable)
    solution = solve_line(line, tolerance=1e-10)
    for mean in (-1.5, 0.0, 0.2, 1.0):
        assert solution.values([0], [mean])[0] == pytest.approx(Nested(line).value(0, mean, 1e-10), abs=1e-9)


@pytest.mark.parametrize("reward", [LIMITS, pytest.param(MIXED, marks=pytest.mark.slow)])
def test_two_tests_are_nested_quadrature(reward: PiecewiseLinear) -> None:
    covariance = np.array([[1.0, 0.4, 0.1], [0.4, 1.2, -0.3], [0.1, -0.3, 0.3]])
    line = Line(covariance, [0.8, 0.5, 1.0], 0.2, [0.03, 0.05, 0.0], reward, operable=0b011)
    solution = solve_line(line, tolerance=1e-7)
    assert solution.value == pytest.approx(Nested(line).value(0, 0.2), abs=1e-6)


def test_two_tests_that_reveal_z_are_nested_quadrature() -> None:
    line = Line([[1.0, 0.3], [0.3, 0.5]], [0.8, 0.9], -0.1, [0.03, 0.04], LIMITS)
    assert solve_line(line, tolerance=1e-7).value == pytest.approx(Nested(line).value(0, -0.1), abs=1e-6)


@pytest.mark.parametrize("d", [2, 4, 7])
def test_perfectly_correlated_tests_are_the_cheapest_one(d: int) -> None:
    scales = np.linspace(1.0, 3.0, d)
    costs = np.linspace(0.3, 0.11, d)
    line = Line(np.outer(scales, scales), [1.0] + [0.0] * (d - 1), 0.3, costs, STEP)
    perfect = float(STEP.upper_envelope().expectation(0.3, 1.0)[0])
    solution = solve_line(line, tolerance=1e-10)
    assert solution.value == pytest.approx(max(perfect - 0.11, special.ndtr(0.3) * 2 - 1), abs=1e-10)
    assert solution.actions([0], [0.3]).tolist() == [d - 1]
    assert (solution.posterior_sd(1 << np.arange(d)) == 0).all()


def test_independent_tests_of_nothing_are_never_run() -> None:
    line = Line(np.eye(4), [1.0, 0.0, 0.0, 0.0], 0.2, [0.1, 0.0, 0.0, 0.0], LIMITS)
    alone = Line([[1.0]], [1.0], 0.2, [0.1], LIMITS)
    solution = solve_line(line, tolerance=1e-10)
    assert solution.value == pytest.approx(solve_line(alone, tolerance=1e-10).value, abs=1e-10)
    assert set(solution.actions(np.arange(16), np.full(16, 0.2)).tolist()) <= {0, 4, 5}


def test_independent_tests_in_closed_form() -> None:
    """Two independent halves of z: after the first, the second pays where the loss of deciding exceeds its price."""
    line = Line(np.diag([1.0, 1.0]), [0.6, 0.8], 0.1, [0.02, 0.07], STEP)
    solution = solve_line(line, tolerance=1e-10)

    def loss(mean: float, sd: float) -> float:
        u = abs(mean) / sd
        return float(special.ndtr(-u))  # of deciding now: the reward is ±1 or 0, whichever is wrong loses 1

    def follow(first: int) -> float:
        sd, step, price = [(0.8, 0.6, 0.07), (0.6, 0.8, 0.02)][first]
        edge = sd * -special.ndtri(price)  # where the loss of deciding is the price
        ends = [-9.0, (-edge - 0.1) / step, -0.1 / step, (edge - 0.1) / step, 9.0]
        return sum(
            integrate.quad(
                lambda e: min(price, loss(0.1 + step * e, sd)) * np.exp(-e * e / 2) / np.sqrt(2 * np.pi), a, b,
                epsabs=1e-13,
            )[0]
            for a, b in itertools.pairwise(ends)
        )  # fmt: skip

    perfect = float(STEP.upper_envelope().expectation(0.1, 1.0)[0])
    expected = perfect - min(0.02 + follow(0), 0.07 + follow(1), loss(0.1, 1.0))
    assert solution.value == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("d", [1, 3, 6])
def test_at_no_cost_everything_is_revealed(reward: PiecewiseLinear, d: int, rng: np.random.Generator) -> None:
    factors = rng.normal(size=(d, d))
    line = Line(factors @ factors.T, rng.normal(size=d), 0.4, np.zeros(d), reward)
    sd = float(np.linalg.norm(line.weights @ factors))
    perfect = float(reward.upper_envelope().expectation(0.4, sd)[0])
    assert solve_line(line, tolerance=1e-10).value == pytest.approx(perfect, abs=1e-11)


def test_without_a_test_the_best_decision_is_taken() -> None:
    line = Line([[1.0]], [1.0], 0.3, [0.0], MIXED, operable=0)
    solution = solve_line(line)
    rewards = MIXED.expectation(0.3, 1.0)
    assert solution.value == rewards.max()
    assert solution.actions([0], [0.3]).tolist() == [1 + rewards.argmax()]
    nothing = Line(np.zeros((0, 0)), [], 0.3, [], MIXED)
    assert solve_line(nothing).value == MIXED(0.3).max()


def test_a_known_z_needs_no_test() -> None:
    line = Line(np.zeros((2, 2)), [1.0, 2.0], 1.0, [0.0, 0.0], STEP)
    solution = solve_line(line)
    assert solution.value == 1.0
    assert solution.error < 1e-12
    assert solution.actions([0, 0], [1.0, -1.0]).tolist() == [2, 3]
    cancelled = Line([[1.0, 1.0], [1.0, 1.0]], [1.0, -1.0], 1.0, [0.0, 0.0], STEP)
    assert solve_line(cancelled).value == 1.0


def test_one_decision_is_taken_at_once() -> None:
    line = Line(np.eye(2), [1.0, 1.0], 0.0, [0.0, 0.0], PiecewiseLinear([0.0], [[0.0, 5.0]], [[1.0, 0.0]]))
    solution = solve_line(line)
    assert solution.actions([0], [0.0]).tolist() == [2]
    assert solution.value == pytest.approx(line.reward.expectation(0.0, 2**0.5)[0])


def test_what_is_known_on_arrival_is_averaged_over() -> None:
    """With the context known the rest is a problem of its own, met with a random mean."""
    covariance = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.3], [0.2, 0.3, 1.0]])
    line = Line(covariance, [0.5, 1.0, 0.4], 0.1, [0.0, 0.05, 0.02], LIMITS, context=0b001)
    rest = covariance[1:, 1:] - np.outer(covariance[1:, 0], covariance[0, 1:])
    arrived = solve_line(Line(rest, [1.0, 0.4], 0.0, [0.05, 0.02], LIMITS), tolerance=1e-9)
    shift = float(covariance[0] @ line.weights)
    values = lambda e: arrived.values(np.zeros(1), [0.1 + shift * e])[0]  # noqa: E731
    solution = solve_line(line, tolerance=1e-9)
    assert solution.value == pytest.approx(mean_of(values), abs=1e-7)
    assert solution.values([0b001], [0.4]) == pytest.approx(arrived.values([0b00], [0.4]), abs=1e-8)


def test_what_is_unavailable_stays_uncertain() -> None:
    line = Line(np.eye(2), [1.0, 1.0], 0.1, [0.05, 0.0], STEP, operable=0b01)
    solution = solve_line(line, tolerance=1e-10)
    assert solution.posterior_sd([0b00, 0b01]) == pytest.approx([2**0.5, 1.0])
    tested = integrate.quad(
        lambda e: max(0.0, 2 * special.ndtr(0.1 + e) - 1) * np.exp(-e * e / 2) / np.sqrt(2 * np.pi), -0.1, 12,
        epsabs=1e-13,
    )[0]  # fmt: skip
    assert solution.value == pytest.approx(tested - 0.05, abs=1e-10)
