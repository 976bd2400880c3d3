"""What must hold of the best value, whatever the instance."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proband.planners.gaussian import Line, solve_line

SEEDS = st.integers(0, 2**32 - 1)
TOLERANCE = 1e-8
Draw = Callable[..., Line]
fixed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def changed(line: Line, **changes: Any) -> Line:
    fields = {
        name: getattr(line, name)
        for name in (
            "covariance",
            "weights",
            "mean_z",
            "costs",
            "reward",
            "groups",
            "group_costs",
            "operable",
            "context",
        )
    }
    return Line(**(fields | changes))


def value(line: Line, **options: Any) -> float:
    return solve_line(line, tolerance=TOLERANCE, **options).value


@fixed
@given(SEEDS)
def test_a_lower_cost_never_hurts(draw_line: Draw, seed: int) -> None:
    rng = np.random.default_rng(seed)
    line = draw_line(rng)
    cheaper = np.where(rng.random(line.d) < 0.5, rng.random(line.d), 1.0)
    lower = changed(line, costs=line.costs * cheaper, group_costs=line.group_costs * cheaper)
    assert value(lower) >= value(line) - 2 * TOLERANCE
    reduced = changed(line, group_costs=line.group_costs * rng.random(line.d))
    assert value(reduced) >= value(line) - 2 * TOLERANCE


@fixed
@given(SEEDS)
def test_a_further_test_never_hurts(draw_line: Draw, seed: int) -> None:
    line = draw_line(np.random.default_rng(seed))
    for i in line.tests:
        fewer = changed(line, operable=line.operable & ~(1 << int(i)))
        assert value(line) >= value(fewer) - 2 * TOLERANCE
    for most in range(len(line.tests)):
        assert value(line, max_tests=most + 1) >= value(line, max_tests=most) - 2 * TOLERANCE


@fixed
@given(SEEDS)
def test_the_value_is_between_deciding_now_and_perfect_information(draw_line: Draw, seed: int) -> None:
    rng = np.random.default_rng(seed)
    line = draw_line(rng)
    solution = solve_line(line, tolerance=TOLERANCE)
    sd = float(line.weights @ line.covariance @ line.weights) ** 0.5
    assert solution.value >= line.reward.expectation(line.mean_z, sd).max() - TOLERANCE
    assert solution.value <= line.reward.upper_envelope().expectation(line.mean_z, sd)[0] + TOLERANCE
    masks = np.array([line.context | sum(1 << int(i) for i in line.tests if rng.random() < 0.5) for _ in range(40)])
    means = line.mean_z + 4 * sd * rng.normal(size=40)
    values, sds = solution.values(masks, means), solution.posterior_sd(masks)
    assert (values >= line.reward.expectation(means, sds).max(axis=1) - TOLERANCE).all()
    assert (values <= line.reward.upper_envelope().expectation(means, sds)[:, 0] + TOLERANCE).all()


@fixed
@given(SEEDS)
def test_the_value_is_at_least_that_of_the_best_fixed_set(draw_line: Draw, seed: int) -> None:
    """A set chosen beforehand brings E max_y E[g_y | set] minus its price: one step of the whole set at once."""
    line = draw_line(np.random.default_rng(seed), d=4)
    solution = solve_line(line, tolerance=TOLERANCE)
    e = np.linspace(-8.5, 8.5, 8001)
    density = np.exp(-e * e / 2) / np.exp(-e * e / 2).sum()
    for size in range(1, len(line.tests) + 1):
        for chosen in itertools.combinations(line.tests.tolist(), size):
            left = float(solution.posterior_sd([line.context | sum(1 << i for i in chosen)])[0])
            step = max(solution.units.sd**2 - left**2, 0.0) ** 0.5
            if left == 0:
                brought = float(line.reward.upper_envelope().expectation(line.mean_z, step)[0])
            else:
                brought = float(line.reward.expectation(line.mean_z + step * e, left).max(axis=1) @ density)
            price = min(total_price(line, order) for order in itertools.permutations(chosen))
            assert solution.value >= brought - price - 1e-5 * solution.units.scale


def total_price(line: Line, order: tuple[int, ...]) -> float:
    total, opened = 0.0, set()
    for i in order:
        group = int(line.groups[i])
        total += float(line.group_costs[i] if group in opened else line.costs[i])
        if group >= 0:
            opened.add(group)
    return total
