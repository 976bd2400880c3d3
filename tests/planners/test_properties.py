"""What must hold of the best value, whatever the instance."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from proband import Discrete, Problem, Test, evaluate, plan
from proband.policies import DecideNow, FixedSet
from proband.rewards import Function, Match, Table
from proband.testing import perfect_information, random_distribution, random_problem
from proband.vocabulary import Reward

SEEDS = st.integers(0, 2**32 - 1)
SLACK = 1e-11


def instance(seed: int, **options: object) -> tuple[np.random.Generator, Problem, Discrete]:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, **options)  # type: ignore[arg-type]
    return rng, problem, random_distribution(rng, problem)


def with_tests(problem: Problem, tests: list[Test], reward: Reward | None = None) -> Problem:
    return Problem(tests, problem.decisions, reward or problem.reward)


def value(problem: Problem, law: Discrete) -> float:
    return plan(problem, law).value


def close(a: float, b: float) -> bool:
    return abs(a - b) <= SLACK * max(1.0, abs(a))


@given(SEEDS)
def test_a_lower_cost_never_hurts(seed: int) -> None:
    rng, problem, law = instance(seed)
    tests = list(problem.tests)
    i = int(rng.integers(problem.d))
    share = float(rng.choice([0.0, 0.5, rng.random()]))
    reduced = None if tests[i].group_cost is None else tests[i].group_cost * share
    tests[i] = dataclasses.replace(tests[i], cost=tests[i].cost * share, group_cost=reduced)
    assert value(with_tests(problem, tests), law) >= value(problem, law) - SLACK


@given(SEEDS)
def test_a_lower_group_cost_never_hurts(seed: int) -> None:
    rng, problem, law = instance(seed)
    tests = [
        test if test.group_cost is None else dataclasses.replace(test, group_cost=test.group_cost * rng.random())
        for test in problem.tests
    ]
    assert value(with_tests(problem, tests), law) >= value(problem, law) - SLACK


@given(SEEDS)
def test_being_able_to_run_a_test_never_hurts(seed: int) -> None:
    rng, problem, law = instance(seed)
    i = int(rng.integers(problem.d))
    if problem.tests[i].on_arrival:
        return
    tests = list(problem.tests)
    tests[i] = dataclasses.replace(tests[i], available=False)
    without = value(with_tests(problem, tests), law)
    tests[i] = dataclasses.replace(tests[i], available=True)
    assert value(with_tests(problem, tests), law) >= without - SLACK


@given(SEEDS)
def test_one_test_more_never_hurts(seed: int) -> None:
    rng, problem, law = instance(seed, kind="table", max_tests=4)
    more = Test("more", float(rng.exponential(0.2)), outcomes=("0", "1", "2"))
    split = rng.dirichlet(np.ones(3), size=len(law))
    rows = np.column_stack([np.repeat(law.support, 3, axis=0), np.tile(np.arange(3), len(law))])
    joint = Discrete.from_weights(rows, (law.probabilities[:, None] * split).reshape(-1))
    assert value(with_tests(problem, [*problem.tests, more]), joint) >= value(problem, law) - SLACK


@given(SEEDS)
def test_free_knowledge_on_arrival_never_hurts(seed: int) -> None:
    rng, problem, law = instance(seed)
    tests = list(problem.tests)
    i = int(rng.integers(problem.d))
    tests[i] = Test(tests[i].name, outcomes=tests[i].outcomes, on_arrival=True)
    alone = [dataclasses.replace(test, group=None, group_cost=None) for test in problem.tests]
    known = [dataclasses.replace(test, group=None, group_cost=None) for test in tests]
    assert value(with_tests(problem, known), law) >= value(with_tests(problem, alone), law) - SLACK


@given(SEEDS)
def test_adapting_beats_fixed_sets_beat_deciding_now(seed: int) -> None:
    _, problem, law = instance(seed, max_tests=4)
    names = [problem.tests[i].name for i in problem.operable]
    sets = [subset for n in range(len(names) + 1) for subset in itertools.combinations(names, n)]
    fixed = max(evaluate(problem, law, FixedSet(problem, subset, law)).value for subset in sets)
    now = evaluate(problem, law, DecideNow(problem, distribution=law)).value
    best = value(problem, law)
    assert best >= fixed - SLACK
    assert fixed >= now - SLACK
    assert best <= perfect_information(problem, law) + SLACK


@given(SEEDS)
def test_the_names_of_outcomes_do_not_matter(seed: int) -> None:
    rng, problem, law = instance(seed)
    orders = [rng.permutation(k) for k in problem.k]
    support = np.column_stack([order[law.support[:, i].astype(int)] for i, order in enumerate(orders)])
    reward: Reward | Callable[..., np.ndarray] = problem.reward
    if isinstance(reward, Table):
        names = [test.name for test in problem.tests]
        utilities = reward.utilities
        for axis, target in enumerate(reward.targets):
            utilities = np.take(utilities, np.argsort(orders[names.index(target)]), axis=axis)
        reward = Table(reward.targets, utilities)
    elif isinstance(reward, Function):
        back = [np.argsort(order) for order in orders]
        original = reward.function
        reward = Function(
            lambda x, y: original(np.column_stack([back[i][x[:, i].astype(int)] for i in range(x.shape[1])]) * 1.0, y)
        )
    relabelled = Problem(problem.tests, problem.decisions, reward)
    assert close(value(relabelled, Discrete.from_weights(support, law.probabilities)), value(problem, law))


@given(SEEDS)
def test_the_order_of_tests_does_not_matter(seed: int) -> None:
    rng, problem, law = instance(seed)
    order = rng.permutation(problem.d)
    back = np.argsort(order)
    reward = problem.reward
    if isinstance(reward, Function):
        original = reward.function
        reward = Function(lambda x, y: original(x[:, back], y))
    shuffled = with_tests(problem, [problem.tests[i] for i in order], reward)
    assert close(value(shuffled, Discrete.from_weights(law.support[:, order], law.probabilities)), value(problem, law))


@given(SEEDS)
def test_merging_splitting_and_shuffling_rows_change_nothing(seed: int) -> None:
    rng, problem, law = instance(seed)
    share = rng.random(len(law))
    rows = np.vstack([law.support, law.support])
    weights = np.concatenate([law.probabilities * share, law.probabilities * (1 - share)])
    order = rng.permutation(len(rows))
    split = Discrete(rows[order], weights[order])
    assert np.array_equal(split.support, law.support)
    assert np.allclose(split.probabilities, law.probabilities, rtol=0, atol=1e-15)
    assert close(value(problem, split), value(problem, law))


@given(SEEDS)
def test_the_value_scales_and_shifts_with_the_reward(seed: int) -> None:
    rng, problem, law = instance(seed, kind="table")
    factor, shift = float(rng.exponential() + 0.1), float(rng.normal())
    reward = problem.reward
    assert isinstance(reward, Table)
    tests = [
        dataclasses.replace(
            test,
            cost=test.cost * factor,
            group_cost=None if test.group_cost is None else test.group_cost * factor,
        )
        for test in problem.tests
    ]
    other = with_tests(problem, tests, Table(reward.targets, reward.utilities * factor + shift))
    assert close(value(other, law), value(problem, law) * factor + shift)


@given(SEEDS)
def test_a_match_is_a_table_over_all_tests(seed: int) -> None:
    _, problem, law = instance(seed, kind="match", max_tests=3, max_outcomes=3)
    names = [test.name for test in problem.tests]
    vectors = list(itertools.product(*(range(k) for k in problem.k)))
    utilities = np.eye(len(vectors)).reshape(*problem.k, len(vectors))
    table = Problem(problem.tests, [str(x) for x in vectors], Table(names, utilities))
    assert isinstance(problem.reward, Match)
    assert close(value(table, law), value(problem, law))
