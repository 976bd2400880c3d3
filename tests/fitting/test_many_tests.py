"""Fits with more states than can be listed, and how long they take (pytest -m slow -s)."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proband
from proband import Problem, Records, Test
from proband.errors import PlanError
from proband.fitting.wide import treated
from proband.policies import Tree
from proband.policies.rules import python
from proband.rewards import Table


def problem_and_rows(d: int, n: int, seed: int = 0) -> tuple[Problem, np.ndarray]:
    """Return tests whose outcomes depend on one of eight hidden kinds, as the label does, and subjects."""
    rng = np.random.default_rng(seed)
    kinds, share = 8, rng.dirichlet(np.full(8, 3.0))
    chances = [rng.dirichlet(np.ones(2 if i % 2 else 3), size=kinds) for i in range(d)]
    bad = np.array([0.05, 0.1, 0.8, 0.3, 0.02, 0.6, 0.15, 0.1])
    kind = rng.choice(kinds, p=share, size=n)
    coins = rng.random((n, d))
    outcomes = [(coins[:, [i]] >= np.cumsum(chances[i][kind], axis=1)[:, :-1]).sum(axis=1) for i in range(d)]
    names = [[str(b) for b in range(chances[i].shape[1])] for i in range(d)]
    tests = [Test(f"t{i}", cost, outcomes=names[i]) for i, cost in enumerate(rng.uniform(0.02, 0.2, d).tolist())]
    reward = Table(["bad"], [[2.0, -1.0], [-10.0, -1.0]])
    problem = Problem([*tests, Test("bad", available=False)], ["ship", "scrap"], reward)
    return problem, np.column_stack([*outcomes, rng.random(n) < bad[kind]]).astype(float)


def test_twenty_tests_are_planned_on_rows() -> None:
    problem, rows = problem_and_rows(20, 300)
    rows[:60, 4] = np.nan
    found = proband.fit(problem, Records(rows), max_tests=3, strength=0.3, folds=3)
    how = "a tree grown by rollouts on the rows and on 2,000 that the model draws; all 20 tests take part"
    assert found.plan.explain_choice == how
    assert found.validation is not None
    assert found.validation.others["everything"].tests == 20
    assert found.validation.others["cost-blind tree"].cost > 0
    assert found.tree.run(np.nan_to_num(rows)).tests.max() <= 3
    assert found.tree.root.value == pytest.approx(found.plan.value)
    assert sum(leaf.count for leaf in found.leaves) == pytest.approx(300)


@pytest.mark.parametrize("strength", [0.3, float("inf")])
@pytest.mark.parametrize("most", [None, 3])
def test_plan_tree_file_and_validation_decide_alike(most: int | None, strength: float, tmp_path: Path) -> None:
    problem, rows = problem_and_rows(40, 400)
    found = proband.fit(problem, Records(rows), strength=strength, max_tests=most, validate=False)
    found.tree.save(tmp_path / "policy.json")
    policies = [found.plan, found.tree, found.plan.tree(), Tree.load(tmp_path / "policy.json")]
    for policy in policies:
        np.testing.assert_array_equal(policy.run(rows).actions, found.plan.run(rows).actions)
        assert proband.evaluate(problem, found.law, policy).value == pytest.approx(found.plan.value, abs=1e-12)
    assert found.tree.root.value == pytest.approx(found.plan.value, abs=1e-12)
    room: dict[str, Any] = {}
    exec(python(found.tree), room)
    ended = found.plan.run(rows)
    decisions = [("decision", problem.action_name(action)) for action in ended.actions.tolist()]
    assert [room["next_action"](problem.describe(state)) for state in ended.states] == decisions
    brought = found.made.brought(rows)
    np.testing.assert_allclose(brought["plan"].value, treated(problem, found.tree, rows).value)
    if strength == float("inf"):
        np.testing.assert_array_equal(brought["plan"].value, brought["now"].value)


def test_plan_and_tree_decide_alike_on_outcomes_that_nobody_showed() -> None:
    problem, rows = problem_and_rows(20, 100)
    found = proband.fit(problem, Records(rows), strength=0, validate=False)
    anybody = np.random.default_rng(1).integers(0, problem.k, size=(5000, problem.d)).astype(float)
    assert min(node.probability for node in found.tree.nodes()) == 0
    np.testing.assert_array_equal(found.tree.run(anybody).actions, found.plan.run(anybody).actions)


def test_the_tree_of_a_search_decides_as_its_plan_does() -> None:
    problem, rows = problem_and_rows(12, 200)
    found = proband.fit(problem, Records(rows), method="sparse", strength=0.1, time_limit=0.5, validate=False)
    np.testing.assert_array_equal(found.tree.run(rows).actions, found.plan.run(rows).actions)
    assert found.tree.root.value == pytest.approx(found.plan.value, abs=1e-12)


@pytest.mark.parametrize("least", [20, 40])
def test_each_outcome_of_a_test_rests_on_enough_subjects_or_on_none(least: int) -> None:
    problem, rows = problem_and_rows(20, 400)
    rows[:40, 3] = np.nan
    free = proband.fit(problem, Records(rows), strength=0, validate=False)
    found = proband.fit(problem, Records(rows), strength=0, min_leaf=least, validate=False)
    assert min(leaf.count for leaf in free.leaves) < least
    assert len(found.leaves) > 2
    assert all(leaf.count >= least - 1e-6 or leaf.count < 0.5 for leaf in found.leaves)


def test_a_search_knows_no_least_number_of_subjects() -> None:
    problem, rows = problem_and_rows(4, 60)
    with pytest.raises(PlanError, match="min_leaf is 5, and a search over rows knows no such limit; leave min_leaf"):
        proband.fit(problem, Records(rows), method="sparse", min_leaf=5, validate=False)


@pytest.mark.slow
def test_forty_tests_and_five_thousand_rows_take_less_than_four_minutes_of_a_core() -> None:
    problem, rows = problem_and_rows(40, 5000)
    began, wall = time.process_time(), time.perf_counter()
    found = proband.fit(problem, Records(rows), jobs=2)
    spent = time.process_time() - began
    sys.stdout.write(f"{spent:.0f} s of processor time, {time.perf_counter() - wall:.0f} s on the clock\n")
    assert found.validation is not None
    assert spent < 240  # two minutes of two cores
