"""Trees grown by information and improved by rollouts: never above the optimum, never below one test, counted right."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.planners.sparse_cases import instance, policy_value, random_case, reference_value, synth

from proband import Discrete, Plan, Problem, Test, evaluate, plan
from proband.errors import PlanError
from proband.instances import INSTANCES
from proband.planners import choice
from proband.planners.options import Options
from proband.planners.rollout import Enough, GrownTree, RolloutPlan, grow_many, grow_tree, tree_value
from proband.planners.sparse import Limits, SparsePlan, solve_support
from proband.rewards import Match, Table
from proband.testing import random_distribution, random_problem

EVALUATING = ("group", "group_cost", "starts")
"""Options that a tree's value depends on once it is there."""


def sum_case(seed: int):
    """A small random instance with summed stakes, using any mix of the features, and a penalty."""
    for attempt in itertools.count():
        rng = np.random.default_rng((seed, attempt))
        arrays, options = random_case(rng)
        if options.pop("kind") == "sum":
            break
    penalty = float(rng.choice([0.0, 0.0, 1e-4, 0.003, 0.01, 0.03, 0.1])) * float(np.abs(arrays[2]).sum())
    return rng, arrays, options | {"penalty": penalty}


def grown(arrays, options, **more) -> GrownTree:
    codes, weight, stakes, cost = arrays
    return grow_tree(codes, weight, stakes, None, cost, **options, **more)


@pytest.mark.parametrize("seed", range(300))
def test_between_one_test_and_the_optimum(seed: int) -> None:
    _, arrays, options = sum_case(seed)
    best = reference_value(*arrays, **options)
    one = reference_value(*arrays, **(options | {"max_tests": min(options.get("max_tests", 1), 1)}))
    at_once = reference_value(*arrays, **(options | {"max_tests": 0}))
    unpenalised = reference_value(*arrays, **(options | {"penalty": 0.0}))
    for width in (1, 3, 12):
        made = grown(arrays, options, width=width)
        assert at_once - 1e-9 <= one - 1e-9 <= made.penalised <= best + 1e-9
        assert policy_value(made, *arrays, **options) == pytest.approx(made.penalised, abs=1e-9)
        assert policy_value(made, *arrays, **(options | {"penalty": 0.0})) == pytest.approx(made.value, abs=1e-9)
        assert made.values.sum() == pytest.approx(made.value, abs=1e-12)
        assert made.bound >= unpenalised - 1e-9


def test_most_small_ones_are_solved() -> None:
    solved = 0
    for seed in range(300):
        _, arrays, options = sum_case(seed)
        solved += grown(arrays, options).penalised > reference_value(*arrays, **options) - 1e-9
    assert solved >= 280


@pytest.mark.parametrize("seed", range(12))
def test_wider_is_not_worse_and_close_to_the_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes, weight, stakes, cost = instance(*synth(seed, int(rng.integers(30, 80)), 6), float(rng.choice([0.005, 0.02])))
    best = reference_value(codes, weight, stakes, cost)
    made = [grow_tree(codes, weight, stakes, None, cost, width=width).value for width in (1, 3, 6)]
    assert made[0] - 1e-12 <= min(made[1:])
    assert best - 0.01 <= made[2] <= best + 1e-9


def test_rollouts_match_a_search_that_had_time() -> None:
    codes, label = synth(3, 1000, 25)
    arrays = instance(codes, label, 0.01)
    made = grow_tree(arrays[0], arrays[1], arrays[2], arrays[2], arrays[3], penalty=2e-4, width=6)
    searched = solve_support(*arrays, penalty=2e-4, limits=Limits(work=3e8))
    assert made.penalised >= searched.penalised - 0.01
    assert made.penalised <= searched.bound + 1e-9
    warm = solve_support(*arrays, penalty=2e-4, warm=made, limits=Limits(work=1e6))
    assert warm.penalised >= made.penalised - 1e-9


@pytest.mark.parametrize("apart", [False, True])
def test_the_values_of_large_trees_are_counted_right(apart: bool) -> None:
    """Sums of large children are differences: what is left of them must lead nowhere wrong, and values be exact."""
    rng = np.random.default_rng(1)
    n, codes = 1500, rng.integers(0, 4, size=(1500, 12))
    weight = rng.gamma(0.3, size=n) / n + 1e-12
    label = (codes[:, :3].sum(axis=1) + rng.integers(0, 3, size=n)) % 5
    reward = rng.normal(size=(5, 5)) + 10 if apart else np.eye(5)
    stakes, cost = weight[:, None] * reward[label], rng.uniform(0.001, 0.01, size=12)
    options = {"group": np.arange(12) // 3, "group_cost": cost / 2}
    made = grow_tree(codes, weight, stakes, None, cost, **options)
    assert policy_value(made, codes, weight, stakes, cost, **options) == pytest.approx(made.value, abs=1e-9)
    assert made.value > stakes.sum(axis=0).max() + 0.1 * (stakes.max(axis=1).sum() - stakes.sum(axis=0).max())
    assert (made.children[made.node_test >= 0] >= 0).sum(axis=1).min() >= 2  # no test that tells nothing


@pytest.mark.parametrize("seed", range(40))
def test_usage_and_value_are_those_of_its_rows(seed: int) -> None:
    rng, arrays, options = sum_case(seed)
    codes, weight, stakes, cost = arrays
    made = grown(arrays, options)
    used = np.zeros(len(cost))
    for root, rows in zip(made.roots, options.get("starts", [np.arange(len(weight))]), strict=True):
        for r in rows:
            node = int(root)
            while made.node_test[node] >= 0:
                used[made.node_test[node]] += weight[r]
                node = int(made.children[node, codes[r, made.node_test[node]]])
    assert made.usage == pytest.approx(used, abs=1e-12)
    how = {name: options[name] for name in EVALUATING if name in options}
    assert tree_value(made, codes, weight, stakes, cost, **how) == pytest.approx(made.value, abs=1e-9)
    mass = rng.uniform(0, 1, size=weight.size) * (rng.random(weight.size) < 0.8)
    worth = mass[:, None] * stakes
    told = policy_value(made, codes, mass, worth, cost, **how)
    assert tree_value(made, codes, mass, worth, cost, **how) == pytest.approx(told, abs=1e-9)


def test_an_outcome_that_the_tree_does_not_know() -> None:
    tree = grow_tree([[0], [1]], [0.5, 0.5], [[0.5, 0], [0, 0.5]], None, [0.2])
    value = tree_value(tree, [[0], [2]], [0.5, 0.5], [[0.5, 0], [0, 0.5]], [0.2])
    assert value == pytest.approx(0.3)  # paid for, and decided as before


@pytest.mark.parametrize("seed", range(30))
def test_many_at_once_are_those_one_by_one(seed: int) -> None:
    rng, arrays, options = sum_case(seed)
    codes, weight, stakes, cost = arrays
    share = rng.gamma(0.3, size=(4, weight.size)) * (rng.random((4, weight.size)) < 0.9)
    for width in (1, 3):
        one_by_one = [
            grow_tree(codes, weight * w, stakes * w[:, None], None, cost, **options, width=width) for w in share
        ]
        for cores in (1, 2):
            values, usage = grow_many(
                codes, weight * share, stakes * share[:, :, None], None, cost, **options, width=width, cores=cores
            )
            assert values.tolist() == [tree.value for tree in one_by_one]
            assert usage == pytest.approx(np.mean([tree.usage for tree in one_by_one], axis=0), abs=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_the_same_every_time(seed: int) -> None:
    _, arrays, options = sum_case(seed)
    first, second = grown(arrays, options), grown(arrays, options)
    assert (first.value, first.penalised) == (second.value, second.penalised)
    for name in ("roots", "node_test", "node_column", "children", "usage"):
        assert np.array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize("seed", range(40))
def test_many_cells_are_added_up_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _, arrays, options = sum_case(seed)
    over_all = grown(arrays, options, width=4)
    monkeypatch.setattr("proband.planners.rollout.arrays.FEW_CELLS", 0)
    over_shown = grown(arrays, options, width=4)
    assert over_shown.value == over_all.value
    assert over_shown.node_test.tolist() == over_all.node_test.tolist()


@pytest.mark.parametrize("seed", range(40))
def test_tests_that_are_not_allowed_are_as_if_they_were_not_there(seed: int) -> None:
    rng, (codes, weight, stakes, cost), options = sum_case(seed)
    may = rng.random(cost.size) < 0.6
    made = grow_tree(codes, weight, stakes, None, cost, **options, allowed=may)
    assert may[made.node_test[made.node_test >= 0]].all()
    fewer = {name: value[may] if name in ("group", "group_cost") else value for name, value in options.items()}
    if "budget" in options and np.ptp(cost) == 0:  # becomes a number of tests
        return
    without = grow_tree(codes[:, may], weight, stakes, None, cost[may], **fewer)
    assert made.value == pytest.approx(without.value, abs=1e-9)


def test_ideal_decisions_of_hidden_labels_lead_where_stakes_do_not() -> None:
    """Rows whose own best decision is the same may still differ in how sure it is."""
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    chance = np.array([0.95, 0.6, 0.9, 0.05])
    weight = np.full(4, 0.25)
    stakes = weight[:, None] * np.column_stack([chance, 1 - chance])
    made = grow_tree(codes, weight, stakes, stakes, [0.01, 0.01])
    assert made.value == pytest.approx(reference_value(codes, weight, stakes, np.full(2, 0.01)))
    assert made.bound <= 0.25 * (0.95 + 0.6 + 0.9 + 0.95) + 1e-12


def test_a_dear_sure_test_comes_after_cheap_ones() -> None:
    """The label itself tells most for its price; grown by it, a tree would be at its end at once."""
    C, y = synth(5, 800, 12)
    codes = np.column_stack([C, y])
    stakes = np.eye(2)[y] / len(y)
    made = grow_tree(codes, np.full(len(y), 1 / len(y)), stakes, stakes, np.append(np.full(12, 0.01), 0.2), width=1)
    assert made.node_test[made.roots[0]] < 12
    assert (made.node_test == 12).any()
    assert made.value > 0.81


def test_free_tests_no_tests_one_row_and_rows_without_mass() -> None:
    made = grow_tree(np.zeros((3, 0), dtype=int), [1, 1, 1], [[1, 0], [0, 1], [0, 1]], None, [])
    assert (made.value, made.bound, made.node_test.tolist()) == (2.0, 2.0, [-1])
    assert grow_tree([[1, 0]], [0.5], [[0.2, 0.3]], None, [0.1, 0.1]).value == 0.3
    codes, weight, stakes, cost = instance(*synth(1, 120, 10), 0.0)
    assert grow_tree(codes, weight, stakes, None, cost).value == pytest.approx(
        solve_support(codes, weight, stakes, cost).value
    )
    assert grow_tree([[0], [1]], [0, 0], [[0, 0], [0, 0]], None, [0.1]).value == 0.0


def test_a_group_that_is_open_is_cheaper() -> None:
    codes = np.array(list(itertools.product([0, 1], repeat=2)))
    stakes = np.eye(4) / 4
    made = grow_tree(codes, np.full(4, 0.25), stakes, stakes, [0.2, 0.2], group=[7, 7], group_cost=[0.2, 0.05])
    assert made.value == pytest.approx(1 - 0.25)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 0}, "width is 0.*give 1 or more"),
        ({"allowed": [True]}, "allowed"),
        ({"penalty": -1.0}, "penalty is -1"),
        ({"starts": [[0], [0]]}, "start"),
        ({"ideal": [[1, -1], [0, 1]]}, "ideal"),
    ],
)
def test_bad_input_is_named(change: dict, message: str) -> None:
    arguments = {"ideal": None} | change
    with pytest.raises(ValueError, match=message):
        grow_tree([[0, 1], [1, 0]], [1, 1], [[1, 0], [0, 1]], cost=[0.1, 0.1], **arguments)
    with pytest.raises(ValueError, match="weights"):
        grow_many([[0], [1]], [1, 1], [[1, 0], [0, 1]], None, [0.1])


def crossed(seed: int) -> tuple[Problem, Discrete, dict]:
    """A random problem (context, groups, hidden tests) with limits and a penalty."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind=str(rng.choice(["table", "function"])))
    options: dict = {"node_penalty": 0.02} if rng.random() < 0.3 else {}
    if rng.random() < 0.3:
        options["max_tests"] = int(rng.integers(0, problem.d + 1))
    if rng.random() < 0.3:
        options["budget"] = float(rng.uniform(0, 1))
    return problem, random_distribution(rng, problem), options


def made_by(method: str, problem: Problem, law: Discrete, options: dict) -> Plan:
    return plan(problem, law, method=method, **options)


@pytest.mark.parametrize("seed", range(60))
def test_a_plan_is_never_better_than_the_search(seed: int) -> None:
    problem, law, options = crossed(seed)
    made, best = (made_by(method, problem, law, options) for method in ("rollout", "sparse"))
    assert isinstance(made, RolloutPlan)
    assert isinstance(best, SparsePlan)
    assert made.value == pytest.approx(evaluate(problem, law, made).value, abs=1e-12)
    assert made.value == pytest.approx(made.search.value, abs=1e-9)
    assert made.search.penalised <= best.search.penalised + 1e-9
    without = {name: value for name, value in options.items() if name != "node_penalty"}
    assert made.bound >= made_by("sparse", problem, law, without).value - 1e-9
    if "max_tests" in options:
        assert max(made.run(law.support).tests) <= options["max_tests"]
    if "budget" in options:
        assert max(made.run(law.support).costs) <= options["budget"] + 1e-8
    one = {"max_tests": min(options.get("max_tests", 1), 1)}
    alone = made_by("sparse", problem, law, options | one)
    assert isinstance(alone, SparsePlan)
    assert made.search.penalised >= alone.search.penalised - 1e-9


def test_most_small_plans_are_the_best() -> None:
    best = 0
    for seed in range(60):
        problem, law, options = crossed(seed)
        made, search = (made_by(method, problem, law, options) for method in ("rollout", "sparse"))
        assert isinstance(made, RolloutPlan)
        assert isinstance(search, SparsePlan)
        best += made.search.penalised > search.search.penalised - 1e-9
    assert best >= 57


def test_a_match_is_refused_with_what_to_use_instead() -> None:
    problem = Problem([Test("a", 0.1), Test("b", 0.1)], [], Match())
    with pytest.raises(PlanError, match=r'the reward is Match; .*; use method="sparse"'):
        plan(problem, Discrete([[0, 0], [1, 1]], [0.5, 0.5]), method="rollout")


def test_a_search_may_start_from_rollouts() -> None:
    gout = INSTANCES["gout"]()
    earlier = plan(gout.problem, gout.distribution, method="rollout")
    made = plan(gout.problem, gout.distribution, method="sparse", warm=earlier)
    assert made.value >= earlier.value - 1e-12
    with pytest.raises(PlanError, match="the rollout planner knows none"):
        plan(gout.problem, gout.distribution, method="rollout", warm=earlier)


def many(rows: int, tests: int) -> tuple[Problem, Discrete]:
    C, y = synth(0, rows, tests)
    names = [Test(f"t{i}", 0.02) for i in range(tests)]
    problem = Problem([*names, Test("label", 0.25)], ["0", "1"], Table(["label"], np.eye(2)))
    return problem, Discrete.from_weights(np.column_stack([C, y]), np.ones(rows))


def test_rows_alike_in_all_that_can_be_seen_are_one() -> None:
    problem, law = many(300, 4)
    hidden = Problem([*problem.tests[:-1], Test("label", available=False)], problem.decisions, problem.reward)
    made, best = (made_by(method, hidden, law, {}) for method in ("rollout", "sparse"))
    assert made.value == pytest.approx(best.value, abs=1e-9)


def test_rollouts_are_chosen_where_nothing_would_end_a_search() -> None:
    problem, law = many(1200, 40)
    made = plan(problem, law)
    assert made.method == "rollout"
    assert made.explain_choice.startswith("1,200 outcome vectors and 41 tests are more than a search gets through")
    assert plan(problem, law, time_limit=0.2).method == "sparse"
    for options, method in [
        (Options(node_penalty=0.01), "rollout"),
        (Options(max_tests=10), "rollout"),
        (Options(max_tests=2), "sparse"),
        (Options(memory_limit=1e8), "sparse"),
        (Options(warm=made), "sparse"),
    ]:
        assert choice.by_size(problem, law, options)[0] == method
    assert choice.by_size(*many(60, 40), Options())[0] == "sparse"
    match = Problem(problem.tests, [], Match())
    assert choice.by_size(match, law, Options())[0] == "sparse"


@pytest.mark.parametrize("least", [1.0, 4.0, 15.0])
def test_outcomes_rest_on_enough_subjects_or_on_none(least: float) -> None:
    """Rows that stand for no subject, such as those of a model, do not count."""
    for seed in range(20):
        _, (codes, weight, stakes, cost), options = sum_case(seed)
        subjects = np.random.default_rng(seed).integers(0, 6, size=len(codes)).astype(float)
        made = grown((codes, weight, stakes, cost), options, enough=Enough(least, subjects))
        starts = options.get("starts") or [np.arange(len(codes))]
        waiting = [(int(made.roots[number]), np.asarray(rows, dtype=int)) for number, rows in enumerate(starts)]
        while waiting:
            node, here = waiting.pop()
            if made.node_test[node] < 0:
                continue
            shown = np.asarray(codes)[here, made.node_test[node]]
            counts = np.bincount(shown, weights=subjects[here])
            assert ((counts >= least) | (counts == 0)).all()
            assert counts.sum() >= 2 * least
            waiting += [(int(made.children[node, b]), here[shown == b]) for b in np.unique(shown)]
