"""Reading a solution, and its limits."""

from __future__ import annotations

import numpy as np
import pytest

from proband.errors import PlanError, StateError, TooLargeError
from proband.piecewise import PiecewiseLinear
from proband.planners.gaussian import Line, solve_line
from proband.planners.progress import Progress

LIMITS = PiecewiseLinear([-1.0, 1.0], [[-2.0, 1.0, -2.0], [0.0, 0.0, 0.0]], np.zeros((2, 3)))


def line(d: int = 4, **options: object) -> Line:
    rng = np.random.default_rng(d)
    factors = rng.normal(size=(d, d))
    weights = rng.uniform(0.5, 1.0, size=d)
    weights /= np.linalg.norm(weights @ factors)
    return Line(factors @ factors.T, weights, 0.3, np.full(d, 0.04), LIMITS, **options)  # type: ignore[arg-type]


def test_values_far_away_are_those_of_deciding() -> None:
    solution = solve_line(line())
    means = np.array([-1e12, -1e3, -9.0, 9.0, 1e3, 1e12])
    masks = np.zeros(6, dtype=np.int64)
    assert solution.values(masks, means).tolist() == [0, 0, 0, 0, 0, 0]
    assert solution.actions(masks, means).tolist() == [5] * 6
    sloped = PiecewiseLinear([], [[0.0], [0.0]], [[1.0], [-2.0]])
    slopes = solve_line(Line(np.eye(2), [1.0, 1.0], 0.0, [0.1, 0.1], sloped))
    assert slopes.values([0, 0b01], [-1e6, 1e6]).tolist() == [2e6, 1e6]


def test_of_equally_good_actions_a_decision_comes_first() -> None:
    same = PiecewiseLinear([0.0], [[0.0, 1.0], [0.0, 1.0], [0.5, 0.5]], np.zeros((3, 2)))
    free = solve_line(Line(np.eye(2), [1.0, 0.0], 3.0, [0.5, 0.0], same))
    assert free.actions([0, 0b10, 0b01], [3.0, 3.0, 3.0]).tolist() == [2, 2, 2]  # the free test tells nothing
    twins = Line(np.ones((3, 3)), [0.0, 0.0, 1.0], 0.0, [0.1, 0.1, 0.1], same)
    assert solve_line(twins).actions([0], [0.0]).tolist() == [0]
    exactly = Line([[1.0]], [1.0], 0.0, [0.25], PiecewiseLinear([0.0], [[0.0, 1.0], [0.5, 0.5]], np.zeros((2, 2))))
    assert solve_line(exactly).actions([0], [0.0]).tolist() == [1]  # the test costs what it is worth


def test_the_value_of_every_action() -> None:
    plain = line(context=0b0001, operable=0b0110)
    solution = solve_line(plain)
    found = solution.action_values(0b0011, 0.3)
    assert np.isnan(found[[0, 1, 3]]).all()
    assert np.isfinite(found[[2, 4, 5]]).all()
    assert found[4:] == pytest.approx(LIMITS.expectation(0.3, solution.posterior_sd([0b0011])[0]))
    limited = solve_line(plain, max_tests=1)
    assert np.isnan(limited.action_values(0b0011, 0.3)[:4]).all()
    assert limited.actions([0b0011, 0b0111], [0.3, 0.3]).min() >= 4
    assert limited.values([0b0111], [0.3])[0] == LIMITS.expectation(0.3, solution.posterior_sd([0b0111])[0]).max()


@pytest.mark.parametrize(
    ("masks", "means", "message"),
    [
        ([0b0000], [0.0], "all tests known on arrival"),
        ([0b1001], [0.0], "only tests that can be run"),
        ([1 << 40 | 1], [0.0], "only tests that can be run"),
        ([0b0001], [0.0, 1.0], "one finite mean for each set"),
        ([0b0001], [np.nan], "one finite mean"),
    ],
)
def test_impossible_states_are_refused(masks: list[int], means: list[float], message: str) -> None:
    solution = solve_line(line(context=0b0001, operable=0b0110))
    for read in (solution.values, solution.actions):
        with pytest.raises(StateError, match=message):
            read(masks, means)


@pytest.mark.parametrize("options", [{"tolerance": 0.0}, {"tolerance": np.nan}, {"max_tests": -1}])
def test_impossible_wishes_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(PlanError, match="give"):
        solve_line(line(), **options)  # type: ignore[arg-type]


def test_what_would_not_fit_is_refused_with_numbers() -> None:
    d = 30
    with pytest.raises(TooLargeError, match=r"would need about .*B for 1,073,741,824 sets of 30 tests.*max_tests"):
        solve_line(Line(np.eye(d), np.ones(d), 0.0, np.ones(d), LIMITS))
    with pytest.raises(TooLargeError, match="the limit is 10 kB"):
        solve_line(line(6), memory_limit=1e4)


def test_memory_is_watched_on_the_way() -> None:
    """More panels than expected: many turns close together, at the finest tolerance."""
    dear = line(7)
    needed = solve_line(dear, tolerance=1e-12).nbytes
    with pytest.raises(TooLargeError, match="128 sets"):
        solve_line(dear, tolerance=1e-12, memory_limit=0.6 * needed)
    assert solve_line(dear, tolerance=1e-12, memory_limit=1.2 * needed).nbytes == needed


def test_out_of_time_the_rest_decides_and_the_error_says_so() -> None:
    plain = line(6)
    truth = solve_line(plain)
    stopped = solve_line(plain, time_limit=0.0)
    assert truth.complete
    assert not stopped.complete
    assert stopped.value <= truth.value + truth.error
    assert stopped.value + stopped.error >= truth.value
    assert stopped.value == LIMITS.expectation(0.3, 1.0).max()
    assert solve_line(line(3, operable=0), time_limit=0.0).complete


def test_progress_is_reported() -> None:
    heard: list[Progress] = []
    solution = solve_line(line(7), progress=heard.append)
    assert isinstance(heard[0], Progress)
    assert [h.done for h in heard] == sorted(h.done for h in heard)
    assert (heard[-1].done, heard[-1].total, heard[-1].what) == (128, 128, "sets")
    assert heard[0].value <= solution.value <= heard[0].bound
    assert solution.seconds > 0


def test_the_size_of_a_solution() -> None:
    solution = solve_line(line())
    assert solution.n_nodes == 16 * solution.n_panels > 0
    assert solution.nbytes > 8 * solution.n_nodes


def test_the_same_line_gives_the_same_numbers() -> None:
    one, other = solve_line(line(8)), solve_line(line(8))
    assert one.value == other.value
    assert one.error == other.error
    assert all(
        np.array_equal(np.asarray(a), np.asarray(b))
        for first, second in zip(one.levels, other.levels, strict=True)
        for a, b in zip(first.panels, second.panels, strict=True)
    )
