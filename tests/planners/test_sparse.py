"""The search over the support: equal to a plain recursion, to the dense planner, and honest when stopped."""

from __future__ import annotations

import numpy as np
import pytest
from tests.planners.sparse_cases import instance, policy_value, random_case, reference_value, synth

from proband import Discrete, Problem, Test, evaluate, plan
from proband.errors import PlanError
from proband.planners.sparse import Limits, SparsePlan, solve_support
from proband.rewards import Match, Table
from proband.testing import random_distribution, random_problem


@pytest.mark.parametrize("seed", range(160))
def test_equals_plain_recursion(seed: int) -> None:
    arrays, options = random_case(np.random.default_rng(seed))
    truth = reference_value(*arrays, **options)
    made = solve_support(*arrays, **options)
    assert made.status == "optimal"
    assert made.value == pytest.approx(truth, abs=1e-9)
    assert truth - 1e-12 <= made.bound <= truth + 1e-7
    assert policy_value(made, *arrays, **options) == pytest.approx(made.value, abs=1e-9)


@pytest.mark.parametrize("seed", range(120))
def test_equals_dense(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    law = random_distribution(rng, problem)
    dense, sparse = plan(problem, law, method="dense"), plan(problem, law, method="sparse")
    assert isinstance(sparse, SparsePlan)
    assert sparse.search.status == "optimal"
    assert sparse.gap == 0
    assert sparse.value == pytest.approx(dense.value, abs=1e-9)
    assert evaluate(problem, law, sparse).value == pytest.approx(dense.value, abs=1e-9)


def noisy_problem(n: int = 400, d: int = 16) -> tuple[Problem, Discrete]:
    """Correlated binary tests and a hidden, noisy label that only history has."""
    outcomes, label = synth(3, n, d)
    tests = [*(Test(f"t{i}", 0.02) for i in range(d)), Test("label", available=False)]
    rows = np.column_stack([outcomes, label])
    return Problem(tests, ["0", "1"], Table(["label"], np.eye(2))), Discrete.from_weights(rows, np.ones(n))


def test_stopped_by_time_a_plan_has_a_valid_bound() -> None:
    problem, law = noisy_problem()
    seen = []
    made = plan(problem, law, method="sparse", time_limit=1.0, progress=seen.append)
    assert made.value == pytest.approx(evaluate(problem, law, made).value, abs=1e-12)
    assert made.value <= made.bound
    assert seen
    assert plan(problem, law, method="gain").value <= made.bound


def test_stopped_by_memory_a_plan_has_a_valid_bound() -> None:
    problem, law = noisy_problem()
    made = plan(problem, law, method="sparse", memory_limit=3e6)
    assert isinstance(made, SparsePlan)
    assert made.search.status == "memory"
    assert made.value < made.bound


def test_interrupted_a_plan_has_a_valid_bound() -> None:
    problem, law = noisy_problem()

    def interrupt(standing: object) -> None:
        raise KeyboardInterrupt

    made = plan(problem, law, method="sparse", progress=interrupt)
    assert isinstance(made, SparsePlan)
    assert made.search.status == "interrupted"
    assert made.value < made.bound


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_at_most_so_many_tests(most: int) -> None:
    problem, law = noisy_problem(200, 8)
    made = plan(problem, law, max_tests=most)
    assert made.method == "sparse"
    assert max(sum(1 for _ in path) for path in paths(made.tree().root)) <= most
    assert made.value <= plan(problem, law, max_tests=most + 1).value + 1e-12
    assert plan(problem, law, max_tests=8).value == pytest.approx(plan(problem, law, method="dense").value, abs=1e-9)


def paths(node, done=()):
    if not node.children:
        yield done
    for child in node.children:
        yield from paths(child, (*done, node.action))


def test_a_budget_for_each_subject() -> None:
    problem, law = noisy_problem(200, 8)
    made = plan(problem, law, budget=0.05)
    assert max(0.02 * len(path) for path in paths(made.tree().root)) <= 0.05
    assert made.value == pytest.approx(plan(problem, law, max_tests=2).value, abs=1e-12)


@pytest.mark.parametrize("pooled", ["sum", "max"])
def test_rows_alike_in_all_that_can_be_seen_are_one(pooled: str) -> None:
    rng = np.random.default_rng(4)
    seen = np.unique(rng.integers(0, 2, size=(60, 7)), axis=0)
    n, share = len(seen), rng.dirichlet(np.ones(3), size=60)[: len(seen)]
    tests = [Test("known", on_arrival=True), *(Test(f"t{i}", 0.02) for i in range(6))]
    tests.append(Test("label", outcomes=["0", "1", "2"], available=False))
    rows = np.column_stack([np.repeat(seen, 3, axis=0), np.tile(np.arange(3), n)])
    law = Discrete.from_weights(rows, share.reshape(-1))
    reward = Table(["label"], np.eye(3)) if pooled == "sum" else Match()
    problem = Problem(tests, ["a", "b", "c"] if pooled == "sum" else [], reward)
    made = plan(problem, law, method="sparse")
    assert isinstance(made, SparsePlan)
    assert len(law) == 3 * n
    assert made.search.rows == n
    assert made.value == pytest.approx(plan(problem, law, method="dense").value, abs=1e-9)
    if pooled == "sum":  # a soft label is one row with the stakes that its labels have together
        one = solve_support(
            seen[:, 1:],
            np.full(n, 1 / n),
            share / n,
            np.full(6, 0.02),
            starts=[np.flatnonzero(seen[:, 0] == known) for known in (0, 1)],
        )
        assert one.value == pytest.approx(made.value, abs=1e-9)


def test_many_tests_choose_the_search() -> None:
    problem, law = noisy_problem(60, 40)
    made = plan(problem, law, time_limit=5)
    assert made.method == "sparse"
    assert "would not fit" in made.explain_choice
    assert made.explain(problem.state()).alternatives


def grouped(groups: int, members: int) -> tuple[Problem, Discrete]:
    tests = [Test(f"{g}.{j}", 0.1, group=f"g{g}", group_cost=0.05) for g in range(groups) for j in range(members)]
    rows = np.random.default_rng(0).integers(0, 2, size=(30, len(tests))).astype(np.float64)
    reward = Table(["0.0"], [[1.0, 0.0], [0.0, 1.0]])
    return Problem(tests, ["y", "z"], reward), Discrete.from_weights(rows, np.ones(30))


def test_more_groups_than_it_can_tell_apart_are_refused_with_a_remedy() -> None:
    problem, law = grouped(64, 2)
    with pytest.raises(PlanError, match=r'64 groups .* 63 at most .* use method="lookahead"'):
        plan(problem, law)
    assert plan(problem, law, method="lookahead").value == pytest.approx(0.9)
    assert plan(*grouped(63, 2), time_limit=1.0).value == pytest.approx(0.9)
    assert plan(*grouped(64, 1)).value == pytest.approx(0.9)  # alone in its group, a test has one price


@pytest.mark.parametrize("seed", range(16))
def test_middle_size_equals_plain_recursion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    C, y = synth(seed, int(rng.integers(30, 80)), int(rng.integers(6, 8)))
    args = list(instance(C, y, float(rng.choice([0.005, 0.02, 0.05]))))
    if seed % 4 == 1:
        args[1] = rng.uniform(0.5, 1.5, size=len(y)) / len(y)
        args[2] = args[2] * rng.uniform(0.5, 1.5, size=args[2].shape)
    options: dict = {"max_tests": int(rng.integers(2, 6))} if seed % 2 else {}
    if seed % 4 == 2:
        options = {"group": np.arange(C.shape[1]) // 2, "group_cost": args[3] / 3}
    truth = reference_value(*args, **options)
    plan = solve_support(*args, **options)
    assert plan.status == "optimal"
    assert plan.value == pytest.approx(truth, abs=1e-9)
    assert truth - 1e-12 <= plan.bound <= truth + 1e-7
    assert policy_value(plan, *args, **options) == pytest.approx(plan.value, abs=1e-9)


def test_every_limit_leaves_a_valid_interval() -> None:
    args = instance(*synth(2, 200, 12), 0.02)
    best = solve_support(*args)
    assert best.status == "optimal"
    quick = {"slice_work": 1e5}
    cases = [
        ("time", Limits(seconds=0.02, **quick)),
        ("nodes", Limits(states=200, **quick)),
        ("memory", Limits(memory=3e6, **quick)),
    ]
    for status, limits in cases:
        plan = solve_support(*args, limits=limits)
        assert plan.status == status
        assert plan.value <= best.value + 1e-12 <= plan.bound + 2e-12
        assert policy_value(plan, *args) == pytest.approx(plan.value, abs=1e-12)


def test_progress_narrows_and_may_stop_the_search() -> None:
    args = instance(*synth(2, 200, 12), 0.02)
    seen = []

    def watch(progress):
        seen.append(progress)
        return len(seen) < 5

    plan = solve_support(*args, progress=watch, limits=Limits(slice_work=1e5))
    assert plan.status == "interrupted"
    assert len(seen) == 5
    bounds = [p.bound for p in seen]
    assert bounds == sorted(bounds, reverse=True)
    assert all(p.value <= p.bound for p in seen)
    assert plan.value >= seen[-1].value - 1e-12


def test_keyboard_interrupt_returns_the_incumbent() -> None:
    def interrupt(progress):
        raise KeyboardInterrupt

    plan = solve_support(*instance(*synth(2, 200, 12), 0.02), progress=interrupt, limits=Limits(slice_work=1e5))
    assert plan.status == "interrupted"
    assert plan.value < plan.bound


def test_no_tests_one_row_and_free_tests() -> None:
    plan = solve_support(np.zeros((3, 0), dtype=int), [1, 1, 1], [[1, 0], [0, 1], [0, 1]], [])
    assert (plan.status, plan.value) == ("optimal", 2.0)
    plan = solve_support([[1, 0]], [0.5], [[0.2, 0.3]], [0.1, 0.1])
    assert (plan.value, plan.node_test.tolist()) == (0.3, [-1])
    plan = solve_support(*instance(*synth(1, 120, 10), 0.0))
    assert plan.status == "optimal"
    assert plan.bound == pytest.approx(plan.value, abs=1e-8)


def test_a_cheap_opener_may_pay_although_it_tells_nothing() -> None:
    codes = [[0, 0], [0, 1]]
    plan = solve_support(codes, [0.5, 0.5], [[0.5, 0], [0, 0.5]], [0.05, 1.0], group=[0, 0], group_cost=[0.05, 0.1])
    assert plan.value == pytest.approx(0.85)
    assert plan.node_test.tolist()[:2] == [0, 1]


def test_rows_of_different_start_sets_stay_apart() -> None:
    codes, stakes = [[0], [0], [1], [1]], [[1, 0], [0, 1], [1, 0], [0, 1]]
    apart = solve_support(codes, [1] * 4, stakes, [0.1], starts=[[0, 2], [1, 3]])
    assert (apart.value, apart.roots.size) == (4.0, 2)
    assert solve_support(codes, [1] * 4, stakes, [0.1]).value == 2.0


@pytest.mark.parametrize(
    ("change", "message"), [({"kind": "mean"}, "kind"), ({"group": [0]}, "group"), ({"starts": [[0], [0]]}, "start")]
)
def test_bad_input_is_named(change: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solve_support([[0, 1], [1, 0]], [1, 1], [[1, 0], [0, 1]], [0.1, 0.1], **change)
