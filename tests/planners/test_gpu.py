"""The GPU planner: its computations where there is a GPU, its refusals and its arithmetic everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from proband import Discrete, Problem, Test, evaluate, plan
from proband.errors import MissingExtraError, TooLargeError
from proband.planners import choice, dense_kernel, gpu
from proband.planners.dense import complete_codes, complete_states
from proband.planners.layout import layout_of
from proband.rewards import Table
from proband.testing import check_planner, random_distribution, random_problem
from proband.testing.planners import check_plan
from proband.vocabulary import IntArray, Pooling

needs_gpu = pytest.mark.skipif(not gpu.gpu_present(), reason="no GPU, or no CuPy")


class OnTheProcessor(gpu.GpuPlan):
    """The GPU's plan with its actions in the memory of the processor."""

    def codes(self, numbers: IntArray) -> NDArray[np.uint8]:
        return np.asarray(self.actions[numbers])


def single_precision(problem: Problem, law: Discrete) -> OnTheProcessor:
    """Plan in the arithmetic of the GPU, by the compiled recursion of the dense planner on float32."""
    layout, payoff = layout_of(problem), problem.payoff(law.support)
    columns, maximum = payoff.shape[1], problem.reward.pooling is Pooling.MAXIMUM
    values, actions = np.empty(layout.n_states, dtype=np.float32), np.empty(layout.n_states, dtype=np.uint8)
    buffer = np.empty((1 + columns) * layout.n_states, dtype=np.float32)
    codes = complete_codes(layout, law.support)
    mass, stakes = complete_states(layout, codes, law.probabilities, payoff, buffer)  # type: ignore[arg-type]
    n = layout.level_sizes[layout.m]
    dense_kernel.decide(stakes, mass, values, actions, 0, n, layout.m)
    dense_kernel.solve_sets(
        layout.order[1:], layout.size, layout.offset, layout.k, layout.prices.astype(np.float32), layout.peers,
        maximum, np.zeros((0, 0)), values, actions, 0, mass, stakes, 0, mass, stakes,
    )  # fmt: skip
    value = float(values[layout.offset[0] :].sum(dtype=np.float64))
    return OnTheProcessor(layout, law, value, actions, error=gpu.rounding_error(layout, payoff, "single"))


def test_a_plan_in_single_precision_keeps_the_contract_to_its_own_error() -> None:
    check_planner(single_precision, np.random.default_rng(11), instances=25)


def test_it_would_not_keep_it_without_saying_so() -> None:
    def silent(problem: Problem, law: Discrete) -> OnTheProcessor:
        made = single_precision(problem, law)
        made.error, made.bound = 0.0, made.value
        return made

    with pytest.raises(AssertionError, match=r"instance 1: the plan's value is 1\.88015"):
        check_planner(silent, np.random.default_rng(11), instances=25)


@pytest.mark.parametrize("seed", range(60))
def test_the_error_bounds_the_rounding(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    law = random_distribution(rng, problem)
    exact, single = plan(problem, law, method="dense"), single_precision(problem, law)
    largest = float(np.abs(problem.payoff(law.support)).max())
    assert abs(single.value - exact.value) <= single.error <= 1e-5 * largest
    assert single.bound >= exact.value
    assert evaluate(problem, law, single).value >= exact.value - 2 * single.error


@needs_gpu
@pytest.mark.parametrize("seed", range(60))
def test_gpu_equals_dense(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    law = random_distribution(rng, problem)
    exact = plan(problem, law, method="dense")
    scale = 1 + np.abs(problem.payoff(law.support)).max()
    for precision, least in (("double", 1e-11), ("single", 1e-5)):
        made = gpu.solve_on_gpu(problem, law, precision=precision)
        assert made.error <= least * scale
        assert made.value == pytest.approx(exact.value, abs=made.error + 1e-14 * scale)
        assert evaluate(problem, law, made).value >= exact.value - 2 * made.error - 1e-14 * scale
        check_plan(made, rng)


@pytest.mark.skipif(gpu.gpu_present(), reason="there is a GPU")
def test_without_a_gpu_the_error_names_the_extra() -> None:
    rng = np.random.default_rng(0)
    problem = random_problem(rng)
    with pytest.raises(MissingExtraError, match=r"proband\[gpu\]"):
        plan(problem, random_distribution(rng, problem), device="gpu")


def test_memory_is_known_before_the_start() -> None:
    problem = random_problem(np.random.default_rng(1))
    layout = layout_of(problem)
    single = gpu.needed_gpu_memory(layout, 2, "single")
    assert layout.n_states < single < gpu.needed_gpu_memory(layout, 2, "double")
    assert gpu.needed_gpu_memory(layout, 201, "single") == float("inf")


def binary(tests: int) -> tuple[Problem, Discrete]:
    """A problem of 3^tests states with two subjects."""
    problem = Problem([Test(f"t{i}", 0.1) for i in range(tests)], ["y", "z"], Table(["t0"], [[1.0, 0.0], [0.0, 1.0]]))
    return problem, Discrete(np.array([np.zeros(tests), np.ones(tests)]), [0.5, 0.5])


@pytest.mark.parametrize(
    ("tests", "free", "method"), [(15, 1e9, "dense"), (16, 1e9, "gpu"), (16, 1e7, "dense"), (40, 8e10, "sparse")]
)
def test_a_gpu_is_chosen_where_the_plan_is_worth_it_and_fits(
    tests: int, free: float, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "free_gpu_memory", lambda: free)
    chosen, _ = choice.by_size(*binary(tests), choice.Options(memory_limit=2e9))
    assert chosen == method


def test_what_does_not_fit_is_refused_with_what_to_use_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "free_gpu_memory", lambda: 1e9)
    with pytest.raises(TooLargeError, match=r"31 tests .* 1 GB free; use method=\"sparse\"") as caught:
        gpu._check_size(layout_of(binary(31)[0]), 2, "single")
    assert "precision" not in str(caught.value)
