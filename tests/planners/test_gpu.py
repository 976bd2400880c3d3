"""The GPU planner; its computations are tested where there is a GPU, its refusals everywhere."""

import numpy as np
import pytest

from proband import evaluate, plan
from proband.errors import MissingExtraError
from proband.planners import gpu
from proband.planners.layout import layout_of
from proband.testing import random_distribution, random_problem

needs_gpu = pytest.mark.skipif(not gpu.gpu_present(), reason="no GPU, or no CuPy")


@needs_gpu
@pytest.mark.parametrize("seed", range(60))
def test_gpu_equals_dense(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    law = random_distribution(rng, problem)
    exact = plan(problem, law, method="dense")
    double = gpu.solve_on_gpu(problem, law, precision="double")
    single = gpu.solve_on_gpu(problem, law, precision="single")
    scale = 1 + np.abs(problem.payoff(law.support)).max()
    assert double.value == pytest.approx(exact.value, abs=1e-11 * scale)
    assert single.value == pytest.approx(exact.value, abs=1e-5 * scale)
    assert evaluate(problem, law, double).value == pytest.approx(exact.value, abs=1e-11 * scale)
    assert evaluate(problem, law, single).value >= exact.value - 1e-5 * scale


@pytest.mark.skipif(gpu.gpu_present(), reason="there is a GPU")
def test_without_a_gpu_the_error_names_the_extra():
    rng = np.random.default_rng(0)
    problem = random_problem(rng)
    with pytest.raises(MissingExtraError, match=r"proband\[gpu\]"):
        plan(problem, random_distribution(rng, problem), device="gpu")


def test_memory_is_known_before_the_start():
    problem = random_problem(np.random.default_rng(1))
    layout = layout_of(problem)
    single = gpu.needed_gpu_memory(layout, 2, "single")
    assert layout.n_states < single < gpu.needed_gpu_memory(layout, 2, "double")
