"""Forecasts: what they earn, and that plans by labels are those by decisions."""

from __future__ import annotations

import numpy as np
import pytest

from proband import Discrete, Problem, Test, plan
from proband.errors import ProblemError
from proband.planners import dense
from proband.planners.dense_plan import root_value
from proband.planners.layout import layout_of
from proband.rewards import Table, forecasts
from proband.vocabulary import outcome_rows


def three_tests_and_a_label(k: int) -> list[Test]:
    label = Test("label", 0.0, outcomes=[f"class {y}" for y in range(k)], available=False)
    return [
        Test("a", 0.02),
        Test("b", 0.03, outcomes=("x", "y", "z")),
        Test("c", 0.01, group="g", group_cost=0.0),
        label,
    ]


def law_of(problem: Problem) -> Discrete:
    weights = np.random.default_rng(7).dirichlet(np.full(problem.size, 0.5))
    return Discrete(outcome_rows(np.arange(problem.size), problem.tests), weights)


def entropy_left(problem: Problem, law: Discrete, known: list[int]) -> float:
    """The entropy of the label given some tests, computed from joint and marginal entropies."""
    joint = Discrete.from_weights(law.support[:, [*known, 3]], law.probabilities).entropy()
    return joint - (Discrete.from_weights(law.support[:, known], law.probabilities).entropy() if known else 0.0)


@pytest.mark.parametrize(("k", "steps", "within"), [(2, 64, 0.001), (3, 40, 0.01)])
def test_the_value_is_the_entropy_that_is_left_and_what_was_paid(k: int, steps: int, within: float) -> None:
    tests = three_tests_and_a_label(k)
    problem = Problem(tests, *forecasts("label", tests[3].names, steps=steps))
    law = law_of(problem)
    fixed = max(
        -entropy_left(problem, law, known) - sum(problem.tests[i].cost for i in known)
        for known in ([], [0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2])
    )
    assert plan(problem, law).value > fixed - within  # a policy may do better than any set
    deciding = float(root_value(layout_of(problem), plan(problem, law, method="dense").solution))
    assert deciding == pytest.approx(plan(problem, law, method="sparse").value)


@pytest.mark.parametrize("k", [2, 3])
def test_stakes_by_label_are_those_by_decision(k: int) -> None:
    tests = three_tests_and_a_label(k)
    problem = Problem(tests, *forecasts("label", tests[3].names, steps=12))
    law = law_of(problem)
    layout, codes = layout_of(problem), dense.complete_codes(layout_of(problem), law.support)
    payoff, table = dense.staked(problem, law.support)
    assert payoff.shape[1] == k == dense.stakes_of(problem)
    by_label = dense.solve(layout, codes, law.probabilities, payoff, table)
    by_decision = dense.solve(layout, codes, law.probabilities, problem.payoff(law.support))
    assert by_label.values == pytest.approx(by_decision.values)
    assert (by_label.actions == by_decision.actions).mean() > 0.99  # but for ties of decisions


def test_few_decisions_have_stakes_of_their_own() -> None:
    problem = Problem(three_tests_and_a_label(2), ["no", "yes"], Table(["label"], np.eye(2)))
    assert dense.stakes_of(problem) == 2
    assert not dense.staked(problem, law_of(problem).support)[1].size


def test_states_that_cannot_be_are_marked_by_label_too() -> None:
    tests = three_tests_and_a_label(2)
    problem = Problem(tests, *forecasts("label", tests[3].names))
    law = Discrete([[0, 0, 0, 0], [1, 1, 1, 1]], [0.5, 0.5])
    best = plan(problem, law, method="dense")
    assert best.act([[0, 1, np.nan, np.nan]])[0] >= problem.d
    assert problem.action_name(best.act([[1, np.nan, np.nan, np.nan]])[0]) == "class 1 0.9997"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((["yes"], 4), "1 outcomes"), ((["a", "b"], 0), "steps is 0"), ((list("abcdefgh"), 30), "take fewer steps")],
)
def test_mistakes_are_answered(arguments: tuple[list[str], int], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        forecasts("label", arguments[0], steps=arguments[1])
