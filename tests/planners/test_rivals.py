"""The best fixed set and a cost-blind tree, beside all sets and by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from proband import Discrete, Problem, Records, Test, evaluate, plan
from proband.instances import bolts, gout
from proband.planners import rivals
from proband.planners.rivals import Rules, best_fixed_set, cost_blind_tree, mistake_cost, rivals_of
from proband.planners.validation import cross_validate
from proband.policies import FixedSet, follow
from proband.rewards import Match, Table

FREE = Rules(0.0, 1e9)


def sampled(instance, n: int) -> tuple[Problem, Discrete]:
    rows = instance.distribution.sample(np.random.default_rng(4), n)
    return instance.problem, Discrete.from_records(Records(rows))


@pytest.mark.parametrize(("make", "limits"), [(bolts, {"max_tests": 2}), (bolts, {"budget": 1.0}), (gout, {})])
def test_no_set_is_better(make, limits: dict) -> None:
    """Groups, tests known on arrival and limits included."""
    problem, law = sampled(make(), 60)
    found = best_fixed_set(problem, law, Rules(0.0, 1e9, **limits))
    values = []
    for size in range(limits.get("max_tests", len(problem.operable)) + 1):
        for chosen in itertools.combinations(problem.operable.tolist(), size):
            order = [i for i in problem.cheapest_order if i in chosen]
            if problem.prices.of(order) <= limits.get("budget", np.inf):
                policy = FixedSet(problem, [problem.tests[i].name for i in order], law)
                values.append(evaluate(problem, law, policy).value)
    assert evaluate(problem, law, found).value == pytest.approx(max(values))


def test_leaves_are_charged_and_no_more_of_them_than_subjects() -> None:
    problem, law = sampled(bolts(), 60)
    assert best_fixed_set(problem, law, Rules(1e6, 60)).order == []
    prices, worth = problem.prices.only(problem.operable[:2]), np.array([0.0, 5.0, 0.0, 100.0])
    k = np.array([3, 4])
    assert Rules(1.0, 1000).best_of_all(prices, k, worth) == [0, 1]  # 100 for eleven leaves more
    assert Rules(50.0, 1000).best_of_all(prices, k, worth) == []
    assert Rules(50.0, 2).best_of_all(prices, k, worth) == [0, 1]


def test_sets_of_many_tests_grow_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one test tells all there is, both ways find it."""
    rng = np.random.default_rng(0)
    rows = rng.integers(2, size=(200, 5)).astype(float)
    tests = [Test(f"t{i}", 0.1) for i in range(4)]
    problem = Problem([*tests, Test("bad", available=False)], ["no", "yes"], Table(["bad"], [[1, 0], [0, 1]]))
    rows[:, 4] = rows[:, 2]
    law = Discrete.from_records(Records(rows))
    assert best_fixed_set(problem, law, FREE).order == [2]
    monkeypatch.setattr(rivals, "MOST_LISTED", 3)
    assert best_fixed_set(problem, law, FREE).order == [2]
    assert best_fixed_set(problem, law, Rules(0.0, 1e9, budget=0.05)).order == []


def test_a_blind_tree_is_chosen_without_prices_and_pays_them() -> None:
    """Of two tests that tell the same it does not see that one is dear."""
    tests = [Test("dear", 5.0), Test("cheap", 0.1), Test("bad", available=False)]
    problem = Problem(tests, ["no", "yes"], Table(["bad"], [[1, 0], [0, 1]]))
    law = Discrete([[0, 0, 0], [1, 1, 1]], [0.5, 0.5])
    blind = cost_blind_tree(problem, law, FREE)
    ended = follow(problem, blind, law.support)
    assert ended.costs.tolist() == [5.0, 5.0]
    assert evaluate(problem, law, blind).value == pytest.approx(-4.0)
    assert plan(problem, law).value == pytest.approx(0.9)
    assert follow(problem, cost_blind_tree(problem, law, Rules(1.0, 2)), law.support).costs.tolist() == [0.0, 0.0]


def test_a_mistake_costs_what_decisions_differ_by() -> None:
    assert mistake_cost(np.array([[0.0, 3.0, 6.0], [1.0, 1.0, 1.0]]), np.array([1.0, 2.0])) == pytest.approx(1.5)


def test_plans_stand_beside_four_rivals_that_keep_their_limits() -> None:
    instance = bolts()
    records = Records(instance.distribution.sample(np.random.default_rng(1), 80))

    def validated(**limits):
        make = lambda law: plan(instance.problem, law, **limits)  # noqa: E731
        return cross_validate(instance.problem, records, Discrete.from_records, make, folds=3, **limits).others

    assert list(validated()) == ["everything", "now", "best fixed set", "cost-blind tree"]
    found = validated(max_tests=1)
    assert found["best fixed set"].tests <= 1
    assert 0 < found["cost-blind tree"].tests <= 1
    assert found["cost-blind tree"].cost > 0


def test_a_match_has_no_rivals_but_the_plain_ones() -> None:
    problem = Problem([Test("a", 0.1)], reward=Match())
    assert rivals_of(problem, Discrete([[0], [1]], [0.5, 0.5]), subjects=10) == {}
