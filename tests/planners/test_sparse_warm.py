"""Starting from a tree: never worse than it, whatever it is, and as exact as ever."""

from __future__ import annotations

import numpy as np
import pytest
from tests.planners.sparse_cases import instance, policy_value, random_case, reference_value, synth

from proband import Discrete, evaluate, plan
from proband.errors import PlanError
from proband.instances import INSTANCES
from proband.planners.sparse import Limits, SparsePlan, Trees, solve_support
from proband.testing import random_distribution, random_problem

AT_ONCE = Limits(work=1)


def random_trees(rng: np.random.Generator, tests: int, starts: int) -> Trees:
    """Trees of any tests, the same one twice included, over one to four outcomes."""
    outcomes, roots, test = int(rng.integers(1, 5)), [], []
    children: list[list[int]] = []
    for _ in range(starts):
        if rng.random() < 0.2:
            roots.append(-1)
            continue
        roots.append(len(test))
        open_places = [(-1, 0)]
        while open_places:
            parent, outcome = open_places.pop()
            if parent >= 0:
                children[parent][outcome] = len(test)
            stop = rng.random() < 0.15 or len(test) > 40
            test.append(-1 if stop else int(rng.integers(tests)))
            children.append([-1] * outcomes)
            if not stop:
                open_places += [(len(test) - 1, b) for b in range(outcomes) if rng.random() < 0.8]
    shape = (len(test), outcomes)
    return Trees(
        roots=np.array(roots),
        node_test=np.array(test, dtype=int),
        children=np.array(children, dtype=int).reshape(shape),
    )


def value_of(
    trees, codes, weight, stakes, cost, *, kind="sum", group_cost=None, group=None, max_tests=None, budget=None,
    starts=None, penalty=0.0,
):  # fmt: skip
    """What trees are worth that stop where they must and where they know nothing, less the penalty of their nodes."""
    group_cost = cost if group_cost is None else group_cost
    group = np.full(cost.size, -1) if group is None else group

    def value(place, rows, done, spent):
        total = stakes[rows]
        stop = float(total.max()) if kind == "max" else float(total.sum(axis=0).max())
        j = int(trees.node_test[place]) if place >= 0 else -1
        if j < 0 or (max_tests is not None and len(done) >= max_tests):
            return stop
        opened = group[j] >= 0 and any(group[k] == group[j] for k in done)
        price = 0.0 if j in done else float(group_cost[j] if opened else cost[j])
        if budget is not None and spent + price > budget + 1e-9 * max(budget, 1.0):
            return stop
        after = 0.0
        for b in np.unique(codes[rows, j]):
            below = int(trees.children[place, b]) if b < trees.children.shape[1] else -1
            after += value(below, rows[codes[rows, j] == b], [*done, j], spent + price)
        return after - price * float(weight[rows].sum()) - penalty

    sets = [np.arange(len(weight))] if starts is None else starts
    return sum(value(int(root), rows, [], 0.0) for root, rows in zip(trees.roots, sets, strict=True))


@pytest.mark.parametrize("seed", range(200))
def test_never_worse_than_the_tree_given(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays, options = random_case(rng)
    options["penalty"] = float(rng.choice([0.0, 0.002, 0.02]))
    trees = random_trees(rng, arrays[3].size, len(options.get("starts", [0])))
    made = solve_support(*arrays, **options, warm=trees, limits=AT_ONCE)
    assert made.penalised >= value_of(trees, *arrays, **options) - 1e-9
    assert policy_value(made, *arrays, **options) == pytest.approx(made.penalised, abs=1e-9)
    assert made.penalised <= made.bound
    best = solve_support(*arrays, **options, warm=trees)
    assert best.status == "optimal"
    assert best.penalised == pytest.approx(reference_value(*arrays, **options), abs=1e-9)
    again = solve_support(*arrays, **options, warm=best, limits=AT_ONCE)
    assert again.penalised == pytest.approx(best.penalised, abs=1e-9)


def test_the_last_plan_is_the_first_of_the_next() -> None:
    outcomes, label = synth(2, 600, 14)
    early, late = instance(outcomes[:300], label[:300], 0.01), instance(outcomes, label, 0.01)
    first = solve_support(*early)
    cold = solve_support(*late, limits=AT_ONCE)
    warm = solve_support(*late, warm=first, limits=AT_ONCE)
    known = value_of(first, *late)
    assert warm.value >= known - 1e-12
    assert warm.value > cold.value
    further = solve_support(*late, warm=warm, limits=Limits(work=1e7))
    assert further.value >= warm.value - 1e-12


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"roots": [0, 0]}, "roots"),
        ({"roots": [7]}, "roots"),
        ({"node_test": [5, -1, -1]}, "run tests below 2"),
        ({"children": [[1, 2]]}, "children"),
        ({"children": [[1, 1], [-1, -1], [-1, -1]]}, "has two"),
        ({"children": [[1, 2], [0, -1], [-1, -1]]}, "before its parent"),
    ],
)
def test_what_is_no_tree_is_refused(change: dict, message: str) -> None:
    parts = {"roots": [0], "node_test": [1, -1, -1], "children": [[1, 2], [-1, -1], [-1, -1]]} | change
    trees = Trees(**{name: np.array(part) for name, part in parts.items()})
    with pytest.raises(ValueError, match=message):
        solve_support([[0, 1], [1, 0]], [1, 1], [[1, 0], [0, 1]], [0.1, 0.1], warm=trees)


@pytest.mark.parametrize("seed", range(25))
def test_a_plan_starts_from_an_earlier_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    law = random_distribution(rng, problem)
    fewer = Discrete.from_weights(law.support[::2], law.probabilities[::2])  # some contexts are new in `law`
    earlier = plan(problem, fewer, method="sparse")
    made = plan(problem, law, warm=earlier)
    assert isinstance(made, SparsePlan)
    assert made.value == pytest.approx(plan(problem, law, method="sparse").value, abs=1e-9)
    at_once = plan(problem, law, warm=made, time_limit=0)
    assert at_once.value == pytest.approx(made.value, abs=1e-9)
    assert plan(problem, law, warm=earlier, time_limit=0).value >= evaluate(problem, law, earlier).value - 1e-9


def test_a_plan_for_other_tests_or_of_another_planner_is_refused() -> None:
    bolts, gout = INSTANCES["bolts"](), INSTANCES["gout"]()
    other = plan(gout.problem, gout.distribution, method="sparse")
    dense = plan(bolts.problem, bolts.distribution, method="dense")
    for warm in (other, dense):
        with pytest.raises(PlanError, match="warm is no sparse plan for the tests of this problem"):
            plan(bolts.problem, bolts.distribution, method="sparse", warm=warm)
    with pytest.raises(PlanError, match="the dense planner knows none"):
        plan(bolts.problem, bolts.distribution, method="dense", warm=other)
