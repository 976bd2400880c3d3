"""What a line refuses, and what conditioning finds."""

from __future__ import annotations

import numpy as np
import pytest

from proband.errors import ProblemError, TooLargeError
from proband.piecewise import PiecewiseLinear
from proband.planners.gaussian import Line, solve_line
from proband.planners.gaussian.line.conditioning_kernel import condition_many
from proband.planners.gaussian.line.instance import standardise

STEP = PiecewiseLinear([0.0], [[-1.0, 1.0], [0.0, 0.0]], np.zeros((2, 2)))


def line(**changes: object) -> Line:
    fields: dict[str, object] = {
        "covariance": [[1.0, 0.5], [0.5, 2.0]], "weights": [1.0, 1.0], "mean_z": 0.0, "costs": [0.1, 0.1],
        "reward": STEP,
    }  # fmt: skip
    return Line(**(fields | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"covariance": np.eye(3)}, r"covariance have shape \(3, 3\)"),
        ({"covariance": [[1.0, 2.0], [2.0, 1.0]]}, "positive semi-definite"),
        ({"covariance": [[1.0, 0.5], [0.4, 1.0]]}, "symmetric"),
        ({"covariance": [[-1.0, 0.0], [0.0, 1.0]]}, "positive semi-definite"),
        ({"covariance": [[np.nan, 0.0], [0.0, 1.0]]}, "must be finite"),
        ({"weights": [1.0]}, r"weights have shape \(1,\)"),
        ({"mean_z": np.inf}, "mean_z is inf"),
        ({"costs": [-0.1, 0.1]}, "costs are"),
        ({"costs": [[0.1, 0.1]]}, "one for each test"),
        ({"group_costs": [0.1, np.inf]}, "must be finite"),
        ({"group_costs": [0.1, -1.0]}, "group_costs are"),
        ({"groups": [0]}, r"groups have shape \(1,\)"),
        ({"operable": 0b11, "context": 0b01}, "none is in both"),
        ({"operable": 0b100}, "bits of 2 tests"),
        ({"context": -1}, "bits of 2 tests"),
    ],
)
def test_broken_lines_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        line(**changes)


def test_more_tests_than_bits_are_refused() -> None:
    with pytest.raises(TooLargeError, match="63 tests"):
        Line(np.eye(63), np.ones(63), 0.0, np.ones(63), STEP)


def test_by_default_everything_but_the_context_can_be_run() -> None:
    assert line(context=0b10).tests.tolist() == [0]
    assert line(context=0b10).known.tolist() == [1]
    assert line().tests.tolist() == [0, 1]


@pytest.mark.parametrize("seed", range(20))
def test_deviations_and_steps_are_those_of_the_conditional_covariance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 13))
    factors = rng.normal(size=(d, d)) * 10.0 ** rng.integers(-6, 7, size=(d, 1))
    covariance, weights = factors @ factors.T, rng.normal(size=d)
    instance, units = standardise(Line(covariance, weights, 0.0, np.ones(d), STEP))
    sets = rng.integers(0, 2**d, size=10)
    deviations, steps = condition_many(instance.factors, sets, instance.noise)
    for done, deviation, row in zip(sets.tolist(), deviations, steps, strict=True):
        known = [i for i in range(d) if done >> i & 1]
        free = [i for i in range(d) if not done >> i & 1]
        basis, _ = np.linalg.qr(factors[known].T)
        rest = factors - factors @ basis @ basis.T
        z = weights @ rest
        assert units.unit * deviation == pytest.approx(np.linalg.norm(z), abs=1e-9 * units.unit)
        expected = [abs(rest[i] @ z) / np.linalg.norm(rest[i]) for i in free]
        assert units.unit * row[free] == pytest.approx(expected, abs=1e-8 * units.unit)
        assert (row[known] == 0).all()


def test_what_a_set_reveals_is_known_exactly() -> None:
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(4, 3))  # any three of the four tests tell the fourth
    z = rng.normal(size=4)
    instance, _ = standardise(Line(factors @ factors.T, z, 0.0, np.ones(4), STEP))
    deviations, steps = condition_many(instance.factors, np.arange(16), instance.noise)
    three = np.bitwise_count(np.arange(16)) >= 3
    assert (deviations[three] == 0).all()
    assert (steps[three] == 0).all()
    assert (deviations[~three] > 0.01).all()


def test_a_test_of_no_spread_tells_nothing() -> None:
    constant = Line(np.diag([1.0, 0.0]), [1.0, 5.0], 0.3, [0.1, 0.0], STEP)
    solution = solve_line(constant)
    assert solution.steps(0).tolist() == [1, 0]
    assert solution.posterior_sd([0b10, 0b01]).tolist() == [1, 0]
    assert solution.actions([0], [0.3]).tolist() == [0]


def test_tests_beyond_the_eighth_are_tests_too() -> None:
    """Sets must not be numbered with small integers: bits from the eighth on would be lost."""
    d = 11
    covariance = np.eye(d)
    covariance[8:, 8:] += 0.4
    weights = np.zeros(d)
    weights[8:] = [1.0, -0.5, 0.7]
    costs = np.full(d, 5.0)
    costs[8:] = [0.05, 0.02, 0.03]
    everything = Line(covariance, weights, 0.1, costs, STEP)
    useful = Line(covariance[8:, 8:], weights[8:], 0.1, costs[8:], STEP)
    one, other = solve_line(everything, tolerance=1e-9), solve_line(useful, tolerance=1e-9)
    assert one.value == pytest.approx(other.value, abs=2e-9)
    assert one.actions([0, 1 << 8], [0.1, 0.3]).tolist() == [8 + a for a in other.actions([0, 1], [0.1, 0.3]).tolist()]
