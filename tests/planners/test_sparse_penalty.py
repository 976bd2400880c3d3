"""A penalty of nodes: the best tree by its value less so much for every test node, against a plain recursion."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.planners.sparse_cases import instance, policy_value, random_case, reference_value, synth

from proband import evaluate, plan
from proband.errors import PlanError
from proband.instances import INSTANCES
from proband.planners import Plan
from proband.planners.sparse import Limits, SparsePlan, solve_support
from proband.testing import random_distribution, random_problem


@pytest.mark.parametrize("seed", range(240))
def test_equals_plain_recursion(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    arrays, options = random_case(rng)
    penalty = float(rng.choice([1e-4, 0.003, 0.01, 0.03, 0.1])) * float(np.abs(arrays[2]).sum())
    truth = reference_value(*arrays, **options, penalty=penalty)
    made = solve_support(*arrays, **options, penalty=penalty)
    assert made.status == "optimal"
    assert made.penalised == pytest.approx(truth, abs=1e-9)
    assert truth - 1e-12 <= made.bound <= truth + 1e-7
    assert policy_value(made, *arrays, **options, penalty=penalty) == pytest.approx(made.penalised, abs=1e-9)
    assert policy_value(made, *arrays, **options) == pytest.approx(made.value, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_middle_size_equals_plain_recursion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    C, y = synth(seed, int(rng.integers(30, 80)), 6)
    args = list(instance(C, y, 0.005))
    if seed % 3 == 1:
        args[1] = rng.uniform(0.5, 1.5, size=len(y)) / len(y)
        args[2] = args[2] * rng.uniform(0.5, 1.5, size=args[2].shape)
    options: dict = {"max_tests": 4} if seed % 2 else {}
    if seed % 4 == 2:
        options = {"group": np.arange(C.shape[1]) // 2, "group_cost": args[3] / 3}
    truth = reference_value(*args, **options, penalty=0.008)
    made = solve_support(*args, **options, penalty=0.008)
    assert made.penalised == pytest.approx(truth, abs=1e-9)
    assert made.bound == pytest.approx(truth, abs=1e-7)


@pytest.mark.parametrize("seed", range(30))
def test_more_penalty_not_more_nodes_nor_more_value(seed: int) -> None:
    arrays, options = random_case(np.random.default_rng(seed))
    made = [solve_support(*arrays, **options, penalty=penalty) for penalty in (1e-6, 0.01, 0.05, 0.2)]
    for less, more in itertools.pairwise(made):
        assert more.nodes.sum() <= less.nodes.sum()
        assert more.value <= less.value + 1e-9
        assert more.penalised <= less.penalised + 1e-9


def test_cut_short_it_has_a_valid_interval() -> None:
    args = instance(*synth(2, 200, 12), 0.01)
    best = solve_support(*args, penalty=0.004)
    assert best.status == "optimal"
    for work in (1e4, 1e6, 5e6):
        cut = solve_support(*args, penalty=0.004, limits=Limits(work=work))
        assert cut.penalised <= best.penalised + 1e-12 <= cut.bound + 2e-12
        assert policy_value(cut, *args, penalty=0.004) == pytest.approx(cut.penalised, abs=1e-12)
        assert cut.gap >= 0


def test_a_penalty_must_be_a_number_that_costs() -> None:
    for penalty in (-0.1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"penalty is .*; give such a number"):
            solve_support([[0], [1]], [1, 1], [[1, 0], [0, 1]], [0.1], penalty=penalty)


@pytest.mark.parametrize("seed", range(20))
def test_values_and_bounds_of_each_start_add_up(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays, options = random_case(rng)
    label = rng.integers(0, 3, size=len(arrays[1]))
    starts = [np.flatnonzero(label == k) for k in range(3) if (label == k).any()]
    options["starts"] = starts
    made = solve_support(*arrays, **options, penalty=0.01)
    assert made.values.sum() == pytest.approx(made.value, abs=1e-12)
    assert made.bounds.sum() == pytest.approx(made.bound, abs=1e-7)
    for k, rows in enumerate(starts):
        alone = solve_support(*arrays, **(options | {"starts": [rows]}), penalty=0.01)
        assert made.values[k] - 0.01 * made.nodes[k] == pytest.approx(alone.penalised, abs=1e-9)
        assert made.bounds[k] == pytest.approx(alone.bound, abs=1e-7)


@pytest.mark.parametrize("seed", range(25))
def test_a_plan_with_a_penalty_has_its_true_value(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    law = random_distribution(rng, problem)
    best = plan(problem, law, method="dense")
    made = plan(problem, law, node_penalty=0.02)
    assert isinstance(made, SparsePlan)
    assert made.explain_choice == "a penalty of nodes needs a search over the support"
    assert made.value == pytest.approx(evaluate(problem, law, made).value, abs=1e-12)
    assert made.value == pytest.approx(made.search.value, abs=1e-9)
    assert made.value <= best.value + 1e-9 <= made.bound + 2e-9
    assert made.search.penalised >= best.value - 0.02 * nodes_of(plan(problem, law, method="sparse")) - 1e-9


def nodes_of(made: Plan) -> int:
    assert isinstance(made, SparsePlan)
    return int(made.search.nodes.sum())


@pytest.mark.parametrize("method", ["dense", "gpu", "myopic", "lookahead", "gain"])
def test_other_planners_refuse_a_penalty(method: str) -> None:
    rng = np.random.default_rng(0)
    problem = random_problem(rng)
    law = random_distribution(rng, problem)
    with pytest.raises(PlanError, match=rf'node_penalty is 0.1; the {method} planner .*; use method="sparse"'):
        plan(problem, law, method=method, node_penalty=0.1)
    with pytest.raises(PlanError, match="node_penalty is -1"):
        plan(problem, law, node_penalty=-1)


def test_planners_of_measured_tests_refuse_a_penalty() -> None:
    example = INSTANCES["bolts-measured"]()
    with pytest.raises(PlanError, match="the gaussian planner knows none"):
        plan(example.problem, example.distribution, node_penalty=0.1)
