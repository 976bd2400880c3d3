"""Coins: acting with them is the same as the branches, and happens as often as the policy tells."""

from __future__ import annotations

import numpy as np
import pytest

from proband import Discrete, Problem, Test, evaluate, plan
from proband.errors import PolicyError
from proband.policies import (
    SUREST,
    AtLeaves,
    ByTests,
    CoinPolicy,
    Completing,
    DecideNow,
    branches,
    chances,
    follow,
    test_everything,
)
from proband.rewards import Match, Table
from proband.testing import check_policy, random_distribution, random_problem
from proband.vocabulary import NEVER, outcome_rows

NAN = float("nan")


def completing(problem: Problem, law: Discrete, rng: np.random.Generator) -> Completing:
    """The plan of a law, with a random coin in every leaf over the whole product space."""
    base = plan(problem, law)
    rows = outcome_rows(np.arange(problem.size), problem.tests)
    states = follow(problem, base, rows).states
    leaves = np.unique(np.nan_to_num(states, nan=-1), axis=0)
    leaves = np.where(leaves < 0, np.nan, leaves)
    return Completing(problem, base, AtLeaves(leaves, rng.random(len(leaves))), law)


@pytest.mark.parametrize("seed", range(12))
def test_acting_with_coins_is_what_the_branches_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    policy = completing(problem, random_distribution(rng, problem), rng)
    assert isinstance(policy, CoinPolicy)
    check_policy(problem, policy, rng)
    rows = rng.integers(0, problem.k, size=(200, problem.d)).astype(float)
    coins = rng.random(200)
    [(stay, stopped), (fall, completed)] = branches(problem, policy, rows)
    assert stay + fall == pytest.approx(np.ones(200))
    episodes = follow(problem, policy, rows, coins=coins)
    fell = coins < fall
    assert np.array_equal(episodes.states, np.where(fell[:, None], completed.states, stopped.states), equal_nan=True)
    assert np.array_equal(episodes.actions, np.where(fell, completed.actions, stopped.actions))
    assert np.array_equal(episodes.tests, np.where(fell, completed.tests, stopped.tests))
    assert episodes.costs == pytest.approx(np.where(fell, completed.costs, stopped.costs))


@pytest.mark.parametrize("seed", range(4))
def test_the_same_subject_asked_twice_gets_the_same_answer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    policy = completing(problem, random_distribution(rng, problem), rng)
    rows = rng.integers(0, problem.k, size=(50, problem.d)).astype(float)
    rows[rng.random(rows.shape) < 0.5] = np.nan
    coins = rng.random(50)
    actions = policy.act(rows, coins)
    assert np.array_equal(actions, policy.act(rows, coins))
    alone = [policy.act(rows[[n]], coins[[n]])[0] for n in range(50)]
    assert actions.tolist() == alone


@pytest.fixture
def by_hand() -> tuple[Problem, Discrete, Completing]:
    """Two tests; the base looks at the first one only, and is completed with 0.3 after a 0, with 0 after a 1."""
    problem = Problem([Test("a", 0.1), Test("b", 0.25)], (), Match())
    law = Discrete([[0, 0], [0, 1], [1, 0], [1, 1]], [0.4, 0.2, 0.3, 0.1])

    class First:
        def act(self, states: object, coins: object = None) -> np.ndarray:
            rows = problem.states(states)  # type: ignore[arg-type]
            return np.where(np.isnan(rows[:, 0]), 0, np.where(rows[:, 0] == 0, 2, 4))

    return (
        problem,
        law,
        Completing(problem, First(), AtLeaves(np.array([[0.0, NAN], [1.0, NAN]]), np.array([0.3, 0.0]))),
    )


def test_the_value_of_a_mixture_by_hand(by_hand: tuple[Problem, Discrete, Completing]) -> None:
    problem, law, policy = by_hand
    figures = evaluate(problem, law, policy)
    # after a 0 (0.6): 0.7 stop and name (0, 0), right with 0.4; 0.3 complete, right always; after a 1 name (1, 0)
    assert figures.reward == pytest.approx(0.7 * 0.4 + 0.3 * 0.6 + 0.3)
    assert figures.cost == pytest.approx(0.1 + 0.6 * 0.3 * 0.25)
    assert figures.tests == pytest.approx(1 + 0.6 * 0.3)
    assert figures.value == pytest.approx(figures.reward - figures.cost)
    assert figures.decisions == pytest.approx(
        {"a=0, b=0": 0.4 + 0.7 * 0.2, "a=1, b=0": 0.4, "a=0, b=1": 0.3 * 0.2, "a=1, b=1": 0.0}
    )


def test_the_value_of_a_mixture_is_the_mixture_of_values() -> None:
    """With one probability for every leaf a coin policy is a lottery between its base and testing everything."""
    rng = np.random.default_rng(5)
    problem = Problem([Test(f"t{i}", 0.1 * (i + 1)) for i in range(3)], (), Match())
    law = Discrete.from_weights(outcome_rows(np.arange(8), problem.tests), rng.random(8))
    policy = completing(problem, law, rng)
    q = 0.37
    even = Completing(problem, policy.base, AtLeaves(leaves := policy.completion.leaves, np.full(len(leaves), q)))
    base, everything = (evaluate(problem, law, p).value for p in (policy.base, test_everything(problem)))
    assert evaluate(problem, law, even).value == pytest.approx((1 - q) * base + q * everything)


def test_subjects_are_completed_as_often_as_told(by_hand: tuple[Problem, Discrete, Completing]) -> None:
    problem, law, policy = by_hand
    rng = np.random.default_rng(11)
    rows, n = law.sample(rng, 40_000), 40_000
    episodes = follow(problem, policy, rows, coins=rng.random(n))
    complete = ~np.isnan(episodes.states).any(axis=1)
    zero = rows[:, 0] == 0
    assert not complete[~zero].any()
    share = complete[zero].mean()
    assert abs(share - 0.3) < 3 * np.sqrt(0.3 * 0.7 / zero.sum())
    value = problem.realised(rows, episodes.actions) - episodes.costs
    assert abs(value.mean() - evaluate(problem, law, policy).value) < 3 * value.std() / np.sqrt(n)


def test_probabilities_belong_to_their_leaves(by_hand: tuple[Problem, Discrete, Completing]) -> None:
    _, _, policy = by_hand
    assert policy.completion([[1, NAN], [0, NAN], [NAN, NAN], [0, 1]]).tolist() == [0.0, 0.3, 0.0, 0.0]
    assert policy.act([[0, NAN]], [0.29]).tolist() == [1]
    assert policy.act([[0, NAN]], [0.31]).tolist() == [2]
    assert policy.act([[0, 1]], [0.29]).tolist() == [3]
    assert policy.act([[0, NAN]], NEVER).tolist() == [2]
    assert policy.act([[NAN, NAN]], [0.0]).tolist() == [0]


def test_no_leaves_no_coins(by_hand: tuple[Problem, Discrete, Completing]) -> None:
    problem, law, policy = by_hand
    never = Completing(problem, policy.base, AtLeaves(np.empty((0, 2)), np.empty(0)))
    assert never.completion([[0, NAN]]).tolist() == [0.0]
    assert evaluate(problem, law, never).value == pytest.approx(evaluate(problem, law, policy.base).value)


def test_a_policy_without_coins_has_one_branch(problem: Problem, law: Discrete) -> None:
    [(chance, episodes)] = branches(problem, test_everything(problem), law.support)
    assert chance.tolist() == [1.0] * 4
    assert not np.isnan(episodes.states).any()


def test_groups_are_paid_once_when_completing() -> None:
    tests = [Test("a", 1.0, group="blood", group_cost=0.4), Test("b", 1.0, group="blood", group_cost=0.4)]
    problem = Problem(tests, ["y"], Table(["a"], [[1.0], [0.0]]))

    class First:
        def act(self, states: object, coins: object = None) -> np.ndarray:
            return np.where(np.isnan(problem.states(states)[:, 0]), 0, 2)  # type: ignore[arg-type]

    policy = Completing(problem, First(), AtLeaves(np.array([[0.0, NAN], [1.0, NAN]]), np.ones(2)))
    [_, (chance, completed)] = branches(problem, policy, np.array([[0.0, 1.0]]))
    assert (chance.tolist(), completed.costs.tolist()) == ([1.0], [1.4])


def test_forgotten_coins_are_refused(by_hand: tuple[Problem, Discrete, Completing]) -> None:
    """Without its coin a policy would look as if it never explored."""
    problem, law, policy = by_hand
    for forgetful in (lambda: policy.act([[0, NAN]]), lambda: follow(problem, policy, law.support)):
        with pytest.raises(PolicyError, match=r"tosses one for each subject.*draw a number"):
            forgetful()
    assert follow(problem, policy, law.support, coins=np.full(4, NEVER)).tests.tolist() == [1, 1, 1, 1]
    assert follow(problem, policy, law.support, coins=np.zeros(4)).tests.tolist() == [2, 2, 1, 1]


@pytest.mark.parametrize("coins", [[0.1], [-0.1, 0.5], [0.5, 1.1], [NAN, 0.5], [[0.1, 0.2]]])
def test_coins_that_are_none(by_hand: tuple[Problem, Discrete, Completing], coins: list[object]) -> None:
    with pytest.raises(PolicyError, match="one number in"):
        by_hand[2].act([[0, NAN], [1, NAN]], coins)


def test_every_policy_takes_coins_and_may_ignore_them(problem: Problem, law: Discrete) -> None:
    best = plan(problem, law)
    for policy in (test_everything(problem), DecideNow(problem, "pass"), best, best.tree()):
        for coin in (0.0, 0.5, NEVER):
            assert np.array_equal(policy.act(law.support, coin), policy.act(law.support))
            tossed = follow(problem, policy, law.support, coins=np.full(len(law), coin))
            assert np.array_equal(tossed.actions, follow(problem, policy, law.support).actions)


def test_the_chances_of_subjects_that_met_a_policy(by_hand: tuple[Problem, Discrete, Completing]) -> None:
    problem, _, policy = by_hand
    ended = np.array([[0, NAN], [0, 1], [1, NAN], [1, 1]])
    assert chances(problem, policy, ended).tolist() == [0.3, 0.3, 0.0, 0.0]  # no coin completes after a 1
    assert chances(problem, test_everything(problem), ended).tolist() == [0.0, 1.0, 0.0, 1.0]


def test_without_the_context_no_chance_is_known() -> None:
    problem = Problem([Test("a", 0.1), Test("age", on_arrival=True)], ["y", "z"], Table(["age"], [[1, 0], [0, 1]]))
    law = Discrete.product([[0.5, 0.5]] * 2)
    for policy in (test_everything(problem), completing(problem, law, np.random.default_rng(0))):
        assert np.isnan(chances(problem, policy, np.array([[0.0, NAN], [NAN, 1.0]]))).tolist() == [True, False]


def test_with_many_tests_one_probability_serves_all_sets() -> None:
    problem = Problem([Test(f"t{i}") for i in range(80)], ["y", "z"], Table(["t0"], [[1, 0], [0, 1]]))
    states = np.zeros((2, 80))
    states[0, 70] = NAN
    assert ByTests(problem, {}, otherwise=0.25)(states).tolist() == [0.25, 0.0]
    with pytest.raises(PolicyError, match=r"80 tests.*at most 62.*otherwise"):
        ByTests(problem, {1: 0.5})


def test_the_surest_coin_is_below_one() -> None:
    assert SUREST == np.nextafter(1, 0) < NEVER
