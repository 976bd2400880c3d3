from __future__ import annotations

import itertools

import numpy as np
import pytest

from proband import Discrete, Problem, Test, evaluate
from proband.errors import PolicyError, StateError, UnknownNameError
from proband.policies import DecideNow, FixedSet, test_everything
from proband.rewards import Match, Table
from proband.testing import check_policy, exhaustive_value, random_distribution, random_problem

NAN = float("nan")


def test_the_kit_on_random_instances(rng: np.random.Generator) -> None:
    for _ in range(40):
        problem = random_problem(rng)
        law = random_distribution(rng, problem)
        names = [problem.tests[i].name for i in problem.operable]
        for policy in (
            test_everything(problem, law),
            FixedSet(problem, rng.permutation(names)[: rng.integers(0, len(names) + 1)].tolist(), law),
            DecideNow(problem, distribution=law),
        ):
            check_policy(problem, policy, rng)
            assert evaluate(problem, law, policy).value == pytest.approx(
                exhaustive_value(problem, law, policy), abs=1e-12
            )


def test_a_fixed_set_keeps_its_order(problem: Problem, law: Discrete) -> None:
    policy = FixedSet(problem, ["ultrasonic", "visual"], law)
    assert policy.act([[NAN, NAN], [NAN, 0], [0, NAN], [0, 0], [0, 1]]).tolist() == [1, 0, 1, 2, 3]
    assert policy.act(np.empty((0, 2))).shape == (0,)
    with pytest.raises(StateError):
        policy.act([[0, 7]])


def test_knowing_everything_needs_no_law(problem: Problem) -> None:
    policy = test_everything(problem)
    assert [problem.action_name(a) for a in policy.act([[0, 0], [1, 1], [NAN, 1]])] == ["pass", "fail", "visual"]
    matched = Problem(problem.tests, reward=Match())
    assert test_everything(matched).act([[1, 0]]).tolist() == [2 + 2]


def test_without_a_law_everything_must_be_known(problem: Problem) -> None:
    with pytest.raises(PolicyError, match=r"\['visual'\] stay unknown.*give a distribution"):
        FixedSet(problem, ["ultrasonic"])
    gold = Problem([Test("a", 1.0), Test("gold", available=False), Test("age", on_arrival=True)], reward=Match())
    with pytest.raises(PolicyError, match=r"\['gold'\] stay unknown"):
        test_everything(gold)


def test_only_tests_that_can_be_run(problem: Problem, law: Discrete) -> None:
    with pytest.raises(UnknownNameError, match="test 'x' does not exist"):
        FixedSet(problem, ["x"], law)
    odd = Problem([Test("gold", available=False), Test("age", on_arrival=True)], reward=Match())
    for name in ("gold", "age"):
        with pytest.raises(PolicyError, match=f"test '{name}' cannot be run"):
            FixedSet(odd, [name], law)


def test_the_context_comes_first() -> None:
    problem = Problem([Test("a", 1.0), Test("age", on_arrival=True)], ["y", "z"], Table(["age"], [[1, 0], [0, 1]]))
    law = Discrete([[0, 0], [1, 1]], [0.5, 0.5])
    assert test_everything(problem).act([[NAN, NAN], [NAN, 1], [0, NAN], [0, 1]]).tolist() == [1, 0, 1, 3]
    assert DecideNow(problem, distribution=law).act([[NAN, NAN], [NAN, 1]]).tolist() == [1, 3]


def test_decide_now(problem: Problem, law: Discrete) -> None:
    assert DecideNow(problem, "fail").act([[NAN, NAN], [0, 0]]).tolist() == [3, 3]
    assert DecideNow(problem, distribution=law).act([[NAN, NAN], [0, NAN], [1, NAN]]).tolist() == [3, 2, 3]
    check_policy(problem, DecideNow(problem, "fail"))
    with pytest.raises(StateError):
        DecideNow(problem, "fail").act([[9, 9]])
    with pytest.raises(UnknownNameError, match="decision 'keep' does not exist"):
        DecideNow(problem, "keep")
    for options in ({}, {"decision": "fail", "distribution": law}):
        with pytest.raises(PolicyError, match="give either"):
            DecideNow(problem, **options)  # type: ignore[arg-type]


def test_group_costs_of_a_fixed_set() -> None:
    problem = Problem(
        [Test(name, 3.0, group="blood", group_cost=1.0) for name in "abc"], ["y"], Table(["a"], [[0.0], [0.0]])
    )
    law = Discrete(list(itertools.product([0, 1], repeat=3)), np.full(8, 1 / 8))
    assert evaluate(problem, law, test_everything(problem)).cost == 5.0
    assert evaluate(problem, law, FixedSet(problem, ["c"], law)).cost == 3.0
