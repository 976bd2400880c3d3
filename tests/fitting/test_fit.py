"""From rows to a plan and its value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import proband
from proband import Problem, Records, Test
from proband.errors import PlanError
from proband.fitting.call import treat
from proband.fitting.recipe import Recipe
from proband.fitting.smoothed import Limits
from proband.instances import INSTANCES, bolts, gout
from proband.rewards import Match, Table

BOLTS = bolts()


def some(n: int = 250, seed: int = 1) -> Records:
    return Records(BOLTS.distribution.sample(np.random.default_rng(seed), n))


def test_what_the_plan_believes_is_what_its_law_says() -> None:
    found = proband.fit(BOLTS.problem, some(), validate=False)
    assert found.tree.root.value == pytest.approx(found.plan.value)
    assert proband.evaluate(found.problem, found.law, found.plan).value == pytest.approx(found.plan.value)
    assert found.tree.root.probability == pytest.approx(1)


def test_plan_and_tree_decide_alike_where_a_law_is_thinned() -> None:
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 10, size=(500, 5)).astype(float)
    rows[:, 4] = (rows[:, :2].sum(axis=1) + rng.integers(0, 4, 500)) // 3 % 10
    tests = [Test(f"test {i}", 0.02, outcomes=[str(k) for k in range(10)]) for i in range(4)]
    utilities = np.column_stack([np.arange(10) < 4, np.arange(10) >= 4]).astype(float)
    problem = Problem(
        [*tests, Test("label", 0.2, outcomes=[str(k) for k in range(10)])], ["low", "high"], Table(["label"], utilities)
    )
    found = proband.fit(problem, Records(rows), method="dense", strength=0.1, validate=False)
    np.testing.assert_array_equal(found.tree.run(rows).actions, found.plan.run(rows).actions)
    assert found.tree.root.value == pytest.approx(found.plan.value, abs=1e-12)


def test_the_in_sample_value_is_that_of_the_rows() -> None:
    records = some()
    found = proband.fit(BOLTS.problem, records, validate=False)
    ended = found.tree.run(records.outcomes)
    values = BOLTS.problem.realised(records.outcomes, ended.actions) - ended.costs
    assert found.in_sample == pytest.approx(values.mean())
    assert found.validation is None


def test_leaves_hold_all_rows_and_all_mass() -> None:
    found = proband.fit(BOLTS.problem, some(), validate=False)
    assert sum(leaf.count for leaf in found.leaves) == pytest.approx(250)
    assert sum(leaf.share for leaf in found.leaves) == pytest.approx(1)
    for leaf in found.leaves:
        assert sum(chance.probability for chance in leaf.outcomes.values()) == pytest.approx(1)
        assert all(chance.low <= chance.probability <= chance.high for chance in leaf.outcomes.values())


def test_the_validation_stands_beside_four_rivals() -> None:
    found = proband.fit(BOLTS.problem, some(), folds=3)
    assert found.validation is not None
    assert list(found.validation.others) == ["everything", "now", "best fixed set", "cost-blind tree"]
    assert found.validation.others["everything"].tests == len(BOLTS.problem.operable)
    assert found.validation.others["now"].cost == 0


def test_limits_are_kept() -> None:
    rows = some().outcomes
    few = proband.fit(BOLTS.problem, Records(rows), max_tests=1, strength=0, validate=False)
    assert few.tree.run(rows).tests.max() == 1
    cheap = proband.fit(BOLTS.problem, Records(rows), budget=1.0, strength=0, validate=False)
    assert cheap.tree.run(rows).costs.max() <= 1.0
    none = proband.fit(BOLTS.problem, Records(rows), strength=np.inf, validate=False)
    assert none.tree.run(rows).tests.max() == 0


@pytest.mark.parametrize("method", ["dense", "rollout", "sparse"])
def test_arrival_groups_and_hidden_labels(method: str) -> None:
    instance = gout()
    rows = instance.distribution.sample(np.random.default_rng(2), 300)
    rows[:40, 3] = np.nan
    found = proband.fit(instance.problem, Records(rows), method=method, validate=False)
    assert found.plan.act(found.problem.state())[0] < found.problem.d or not len(found.problem.context)
    assert any("40 of 300 rows lack an entry" in note for note in found.notes)
    assert found.tree.root.value == pytest.approx(found.plan.value)


def test_again_takes_other_prices_and_other_rows() -> None:
    found = proband.fit(BOLTS.problem, some(), validate=False)
    dear = Problem(
        [proband.Test(t.name, 100.0, outcomes=t.names) for t in BOLTS.problem.tests],
        BOLTS.problem.decisions,
        BOLTS.problem.reward,
    )
    assert found.again(dear).tree.run(some().outcomes).tests.max() == 0
    assert found.again(records=some(50)).records.n == 50


@pytest.mark.parametrize("given", [{"min_leaf": 0}, {"max_tests": -1}, {"method": "gaussian"}, {"folds": 2}])
def test_options_that_make_no_sense_are_refused(given: dict) -> None:
    with pytest.raises(PlanError, match=next(iter(given))):
        proband.fit(BOLTS.problem, some(), **given)


def test_a_law_is_of_use_when_nothing_is_known_but_what_the_tree_does_not_ask() -> None:
    from proband.planners.continuing import continue_from

    found = proband.fit(BOLTS.problem, some(), validate=False)
    asked = {node.action for node in found.tree.nodes() if node.children}
    other = next(int(i) for i in BOLTS.problem.operable if i not in asked)
    state = BOLTS.problem.state()
    state[other] = 0.0
    assert np.isfinite(continue_from(found.tree, state).value)


@pytest.mark.parametrize("name", ["paper-entropy", "bolts-measured"])
def test_what_cannot_be_fitted_is_refused_with_the_remedy(name: str) -> None:
    with pytest.raises(PlanError, match="a fit needs a table of utilities"):
        proband.fit(INSTANCES[name]().problem, Records(np.zeros((3, 3))))


def test_where_no_mistake_costs_anything_nothing_is_tested() -> None:
    tests = [Test("colour", 0.1), Test("label", 1.0)]
    rows = np.random.default_rng(0).integers(2, size=(60, 2)).astype(float)
    found = proband.fit(Problem(tests, ["keep", "drop"], Table(["label"], [[1, 1], [1, 1]])), Records(rows))
    assert (found.in_sample, found.plan.expected_cost) == (1.0, 0.0)
    assert found.validation is not None


def test_a_match_is_refused() -> None:
    with pytest.raises(PlanError, match="the reward is Match; a fit needs a table"):
        proband.fit(Problem([Test("a", 1.0)], reward=Match()), Records([[0.0]]))


def test_too_many_labels_are_refused() -> None:
    label = Test("label", outcomes=[str(n) for n in range(65)], available=False)
    problem = Problem([Test("a", 1.0), label], ["yes", "no"], Table(["label"], np.zeros((65, 2))))
    with pytest.raises(PlanError, match="the targets have 65 outcomes together"):
        proband.fit(problem, Records([[0.0, 0.0]]))


def test_other_prices_need_nothing_learned_anew() -> None:
    """A fit again at other prices is the fit that is made from the rows at these prices."""
    records = some(120, 5)
    found = proband.fit(BOLTS.problem, records, strength=0.3, validate=False)
    dear = [replace(test, cost=3 * test.cost, group=None, group_cost=None) for test in BOLTS.problem.tests]
    for problem in (replace(BOLTS.problem, tests=tuple(dear)), BOLTS.problem):
        again, anew = found.again(problem=problem), proband.fit(problem, records, strength=0.3, validate=False)
        assert again.tree == anew.tree
        assert again.in_sample == anew.in_sample
        assert (again.law.probabilities == anew.law.probabilities).all()


@pytest.mark.parametrize("method", ["dense", "rollout"])
def test_what_became_of_those_left_out_is_not_known_to_the_plan_that_treats_them(method: str) -> None:
    """Cuts, models, strength and rivals: with other labels of theirs, subjects left out are treated alike."""
    rng = np.random.default_rng(4)
    number, mark = rng.normal(50, 10, 240).round(1), rng.integers(0, 2, 240)
    bad = (number + 8 * mark + rng.normal(0, 4, 240) > 56).astype(float)
    tests = [Test("number", 0.3, choose_cuts=True), Test("mark", 0.1), Test("bad", available=False)]
    problem = Problem(tests, ["ship", "scrap"], Table(["bad"], [[2.0, -1.0], [-8.0, -1.0]]))
    rows = np.column_stack([number, mark, bad]).astype(float)
    rows[:20, 1] = np.nan
    others = np.arange(160, 240)
    changed = rows.copy()
    changed[others, 2] = 1 - changed[others, 2]
    recipe = Recipe(problem, method, None, Limits(None, None, 1))
    [first], [second] = (treat(recipe, each, np.arange(160), [others]) for each in (rows, changed))
    assert list(first) == list(second)
    for name, (_, cost, tests_run) in first.items():
        np.testing.assert_array_equal(cost, second[name][1])
        np.testing.assert_array_equal(tests_run, second[name][2])
    assert (first["plan"][0] != second["plan"][0]).any()
