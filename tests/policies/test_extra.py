"""A part of the tests where a plan stops: what the coin decides, what follows, and how likely it is."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from tests.policies.test_completing import completing

from proband import Discrete, Problem, Test, evaluate, plan
from proband.distributions import totals
from proband.errors import PolicyError
from proband.policies import (
    SUREST,
    AtLeaves,
    ByTests,
    Completing,
    DecideNow,
    Extra,
    branches,
    chances,
    follow,
    has_extra,
)
from proband.rewards import Function, Match, Piece, Projection, Score, Table
from proband.testing import check_policy, random_distribution, random_problem
from proband.vocabulary import NEVER, FloatArray, IntArray, outcome_rows

NAN = float("nan")


def with_extra(problem: Problem, law: Discrete, rng: np.random.Generator) -> Completing:
    """A plan with a random coin in every leaf, and some random extra tests."""
    policy = completing(problem, law, rng)
    tests = rng.permutation(problem.operable)[: rng.integers(1, len(problem.operable) + 1)]
    leaves = np.unique(follow(problem, policy.base, law.support).states, axis=0)
    shares = AtLeaves(leaves, rng.random(len(leaves)), otherwise=float(rng.random())) if rng.random() < 0.5 else None
    extra = Extra(tuple(tests.tolist()), float(rng.random()), shares)
    return Completing(problem, policy.base, policy.completion, law, extra=extra)


@dataclass(frozen=True)
class Case:
    problem: Problem
    law: Discrete
    policy: Completing
    rows: FloatArray


@pytest.fixture(params=range(16))
def case(request: pytest.FixtureRequest) -> Case:
    """Random problems: groups, tests known on arrival and unavailable ones occur among them."""
    rng = np.random.default_rng([7, request.param])
    problem = random_problem(rng)
    while not len(problem.operable):
        problem = random_problem(rng)
    law = random_distribution(rng, problem)
    rows = rng.integers(0, problem.k, size=(60, problem.d)).astype(float)
    return Case(problem, law, with_extra(problem, law, rng), rows)


def thresholds(case: Case) -> tuple[FloatArray, FloatArray]:
    """Below which coins each row is completed, and given any further test."""
    [_, (complete, _), (part, _)] = branches(case.problem, case.policy, case.rows)
    return complete, complete + part


def test_every_coin_leads_into_its_branch(case: Case) -> None:
    """Coins on both sides of every threshold of each row: what is seen, paid and decided is that of one branch."""
    problem, policy, rows = case.problem, case.policy, case.rows
    check_policy(problem, policy, np.random.default_rng(0))
    ways = branches(problem, policy, rows)
    assert sum(chance for chance, _ in ways) == pytest.approx(np.ones(len(rows)), abs=1e-15)
    assert all((chance >= -1e-16).all() for chance, _ in ways)
    complete, either = thresholds(case)
    n = len(rows)
    coins = [np.zeros(n), np.nextafter(complete, 0), complete, (complete + either) / 2, either, np.full(n, SUREST)]
    for given in coins:
        u = np.clip(given, 0, SUREST)
        way = np.where(u < complete, 1, np.where(u < policy_either(case), 2, 0))
        episodes = follow(problem, policy, rows, coins=u)
        for name in ("states", "actions", "tests"):
            told = np.array([getattr(ways[w][1], name)[n] for n, w in enumerate(way)])
            assert np.array_equal(getattr(episodes, name), told, equal_nan=True), name
        assert episodes.costs == pytest.approx([ways[w][1].costs[n] for n, w in enumerate(way)], rel=1e-12)


def policy_either(case: Case) -> FloatArray:
    stopped = case.policy.stopped(case.rows).states
    return case.policy._thresholds(stopped)[1]


def test_the_probabilities_are_the_lengths_of_the_coins_intervals(case: Case) -> None:
    """On a fine grid of coins every row is treated in each way as often as its branch says."""
    grid = (np.arange(2000) + 0.5) / 2000
    ways = branches(case.problem, case.policy, case.rows[:6])
    for n, row in enumerate(case.rows[:6]):
        episodes = follow(case.problem, case.policy, np.tile(row, (2000, 1)), coins=grid)
        seen = np.isnan(episodes.states)
        for known in {way.states[n].tobytes() for _, way in ways}:
            alike = [chance[n] for chance, way in ways if way.states[n].tobytes() == known]
            share = (seen == np.isnan(np.frombuffer(known))).all(axis=1).mean()
            assert share == pytest.approx(sum(alike), abs=2e-3)


def test_acting_is_pure(case: Case) -> None:
    rng = np.random.default_rng(1)
    states = np.where(rng.random(case.rows.shape) < 0.5, case.rows, np.nan)
    coins = rng.random(len(states))
    actions = case.policy.act(states, coins)
    assert np.array_equal(actions, case.policy.act(states, coins))
    assert actions.tolist() == [int(case.policy.act(s, u)[0]) for s, u in zip(states, coins, strict=True)]


def test_the_chance_of_a_finished_subject_is_that_of_its_complete_branch(case: Case) -> None:
    problem, policy, rows = case.problem, case.policy, case.rows
    ways = branches(problem, policy, rows)
    open_leaf = np.isnan(ways[0][1].states[:, problem.operable]).any(axis=1)
    expected = np.where(open_leaf, ways[1][0], 1.0)
    for chance, way in ways:
        happens = chance > 0
        assert np.array_equal(chances(problem, policy, way.states)[happens], expected[happens])
    assert np.array_equal(chances(problem, policy, rows), expected)


def test_the_value_is_the_mean_over_coins(case: Case) -> None:
    problem, law, policy = case.problem, case.law, case.policy
    rng, n = np.random.default_rng(2), 30_000
    rows = law.sample(rng, n)
    episodes = follow(problem, policy, rows, coins=rng.random(n))
    earned = problem.realised(rows, episodes.actions) - episodes.costs
    figures = evaluate(problem, law, policy)
    assert abs(earned.mean() - figures.value) < 4 * earned.std() / np.sqrt(n) + 1e-12
    assert abs(episodes.tests.mean() - figures.tests) < 4 * episodes.tests.std() / np.sqrt(n) + 1e-12


TESTS = [
    Test("age", outcomes=("young", "old"), on_arrival=True),
    Test("needle", 1.0, group="blood", group_cost=0.25),
    Test("sugar", 0.75, group="blood", group_cost=0.5),
    Test("label", 2.0),
    Test("scan", 3.0),
]
REWARD = Table(["label"], [[1.0, 0.0], [-9.0, 0.0]])
PROBLEM = Problem(TESTS, ["home", "ward"], REWARD)
ROWS = outcome_rows(np.arange(PROBLEM.size), PROBLEM.tests)


class Pricks:
    """Run the needle, then send everybody home."""

    def act(self, states: object, coins: object = None) -> IntArray:
        rows = PROBLEM.states(states)  # type: ignore[arg-type]
        return np.where(np.isnan(rows[:, 0]), 0, np.where(np.isnan(rows[:, 1]), 1, PROBLEM.decision_action("home")))


def clinic(tests: tuple[int, ...], chance: float = 0.5, *, q: float = 0.25) -> Completing:
    return Completing(PROBLEM, Pricks(), ByTests(PROBLEM, {}, otherwise=q), extra=Extra(tests, chance))


def test_a_group_that_the_plan_opened_is_paid_once() -> None:
    policy = clinic((2, 3))
    [_, (complete, whole), (part, extra)] = branches(PROBLEM, policy, ROWS)
    assert (set(complete), set(part)) == ({0.25}, {0.5})
    assert extra.costs.tolist() == [1.0 + 0.5 + 2.0] * len(ROWS)
    assert whole.costs.tolist() == [1.0 + 0.5 + 2.0 + 3.0] * len(ROWS)
    assert extra.tests.tolist() == [3] * len(ROWS)
    assert np.isnan(extra.states).tolist() == [[False, False, False, False, True]] * len(ROWS)


def test_a_group_that_the_extra_opens_is_opened_by_the_cheapest() -> None:
    policy = Completing(
        PROBLEM, DecideNow(PROBLEM, "home"), ByTests(PROBLEM, {}, otherwise=0.1), extra=Extra((1, 2), 0.5)
    )
    [_, _, (_, extra)] = branches(PROBLEM, policy, ROWS)
    followed = follow(PROBLEM, policy, ROWS, coins=np.full(len(ROWS), 0.3))
    assert extra.costs.tolist() == followed.costs.tolist() == [0.75 + 0.25] * len(ROWS)


def test_the_label_decides_and_other_tests_do_not() -> None:
    home, ward = (PROBLEM.decision_action(name) for name in PROBLEM.decisions)
    [_, _, (_, label)] = branches(PROBLEM, clinic((3,)), ROWS)
    assert label.actions.tolist() == np.where(ROWS[:, 3] == 0, home, ward).tolist()
    [_, _, (_, scan)] = branches(PROBLEM, clinic((2, 4)), ROWS)
    assert set(scan.actions.tolist()) == {home}


def test_the_extra_tests_are_asked_for_one_by_one() -> None:
    policy, state, coin = clinic((3, 2)), PROBLEM.state({"age": "old"}), 0.6
    asked = []
    while (action := int(policy.act(state, coin)[0])) < PROBLEM.d:
        asked.append(PROBLEM.tests[action].name)
        state[action] = 1
    assert asked == ["needle", "sugar", "label"]
    assert PROBLEM.action_name(action) == "ward"
    assert PROBLEM.action_name(policy.act(state, NEVER)[0]) == "home"


def test_known_early_need_not_be_run_again() -> None:
    policy = clinic((3,))
    state = PROBLEM.state({"age": "old", "needle": "0", "label": "1"})
    assert [PROBLEM.action_name(policy.act(state, u)[0]) for u in (0.2, 0.6, 0.8)] == ["sugar", "ward", "home"]


def test_what_is_known_on_arrival_is_read_first() -> None:
    assert [PROBLEM.action_name(clinic((3,)).act(PROBLEM.state(), u)[0]) for u in (0.0, 0.6)] == ["age", "age"]


def test_extra_tests_that_are_everything_are_completing() -> None:
    policy = clinic((2, 3, 4))
    [(stay, _), (complete, whole), (part, _)] = branches(PROBLEM, policy, ROWS)
    assert (set(stay), set(complete), set(part)) == ({0.25}, {0.75}, {0.0})
    assert np.array_equal(chances(PROBLEM, policy, whole.states), np.full(len(ROWS), 0.75))


def test_nothing_is_added_where_all_of_it_is_known() -> None:
    policy = clinic((1,))
    [(stay, _), (complete, _), (part, _)] = branches(PROBLEM, policy, ROWS)
    assert (set(stay), set(complete), set(part)) == ({0.75}, {0.25}, {0.0})


@pytest.mark.parametrize(("q", "chance", "cut"), [(0.75, 0.5, SUREST - 0.75), (0.3, 1.0, SUREST - 0.3), (1.0, 0.5, 0)])
def test_the_chance_of_the_extra_is_cut(q: float, chance: float, cut: float) -> None:
    policy = clinic((3,), chance, q=q)
    [(_, _), (complete, _), (part, _)] = branches(PROBLEM, policy, ROWS)
    assert (set(complete), part.tolist()) == ({q}, pytest.approx([cut] * len(ROWS), abs=1e-15))
    surest = policy.act(PROBLEM.state({"age": "old", "needle": "0"}), SUREST)[0]
    assert PROBLEM.action_name(surest) == ("home" if q < 1 else "sugar")


def test_without_extra_tests_nothing_changes() -> None:
    rng = np.random.default_rng(3)
    problem = random_problem(rng)
    policy = completing(problem, random_distribution(rng, problem), rng)
    assert not has_extra(policy)
    assert isinstance(policy.completion, AtLeaves)
    assert not policy.partly(policy.completion.leaves).any()


def test_an_unavailable_label_is_never_settled() -> None:
    tests = [Test("a", 0.1), Test("b", 0.1), Test("truth", available=False)]
    problem = Problem(tests, ["y", "z"], Table(["truth"], [[1, 0], [0, 1]]))
    law = Discrete.product([[0.5, 0.5], [0.5, 0.5], [0.9, 0.1]])
    policy = Completing(
        problem, DecideNow(problem, "z"), ByTests(problem, {}, otherwise=0.25), law, extra=Extra((0,), 0.5)
    )
    [_, (_, complete), (_, part)] = branches(problem, policy, law.support)
    assert set(part.actions) == {problem.decision_action("z")}
    assert set(complete.actions) == {problem.decision_action("y")}
    assert np.isnan(part.states[:, 1:]).all()
    with pytest.raises(PolicyError, match=r"extra tests \[2\] cannot be run.*drop"):
        Completing(problem, policy.base, policy.completion, law, extra=Extra((0, 2), 0.5))


@pytest.mark.parametrize(
    ("reward", "decisions", "settled"),
    [
        (Table(["b"], [[1, 0], [0, 1]]), ["y", "z"], [False, True, True]),
        (Match(), [], [False, False, True]),
        (Function(lambda x, y: x[:, 1] * y), ["y", "z"], [False, False, True]),
    ],
)
def test_settled_rewards(reward: Table | Match | Function, decisions: list[str], settled: list[bool]) -> None:
    problem = Problem([Test("a"), Test("b")], decisions, reward)
    assert problem.settled(np.array([[0, NAN], [NAN, 1], [0, 1]])).tolist() == settled


def test_measured_rewards_are_settled_by_the_tests_that_are_weighed() -> None:
    reward = Projection([Score("sum", {"b": 1.0})], [Piece("pass", slope={"sum": 1.0})])
    problem = Problem([Test("a", outcomes=None), Test("b", outcomes=None)], ["pass", "fail"], reward)
    assert problem.settled(np.array([[0.5, NAN], [NAN, -2.0]])).tolist() == [False, True]
    policy = Completing(
        problem, DecideNow(problem, "pass"), ByTests(problem, {}, otherwise=0.1), extra=Extra((1,), 0.5)
    )
    assert policy.act([[NAN, -2.0], [NAN, 2.0]], 0.3).tolist() == [3, 2]


def test_frequencies_in_a_small_law_by_hand() -> None:
    problem = Problem([Test("a", 0.1), Test("b", 0.25), Test("c", 1.0)], ["y", "z"], Table(["b"], [[1, 0], [0, 1]]))
    law = Discrete.product([[0.5, 0.5], [0.75, 0.25], [0.5, 0.5]])
    leaf = np.full((1, 3), NAN)
    policy = Completing(problem, DecideNow(problem, "y"), AtLeaves(leaf, np.array([0.125])), extra=Extra((1,), 0.5))
    figures = evaluate(problem, law, policy)
    assert figures.cost == pytest.approx(0.125 * 1.35 + 0.5 * 0.25)
    assert figures.reward == pytest.approx(0.375 * 0.75 + 0.625)
    assert figures.tests == pytest.approx(0.125 * 3 + 0.5)


@pytest.mark.parametrize(
    ("tests", "chance", "match"), [((), 0.5, "one or more"), ((1, 1), 0.5, "different"), ((1,), 1.5, "from 0 to 1")]
)
def test_impossible_extras(tests: tuple[int, ...], chance: float, match: str) -> None:
    with pytest.raises(PolicyError, match=match):
        Extra(tests, chance)


def test_costs_of_adding_are_those_of_running_one_by_one() -> None:
    rng = np.random.default_rng(5)
    for _, wanted in itertools.product(range(20), (0.3, 1.0)):
        problem = random_problem(rng)
        if not len(problem.operable):
            continue
        states = rng.integers(0, problem.k, size=(30, problem.d)).astype(float)
        states[rng.random(states.shape) < 0.6] = np.nan
        order = rng.permutation(problem.operable)[: max(1, int(wanted * len(problem.operable)))]
        expected = np.zeros(30)
        known = problem.states(states)
        added = problem.prices.adding(~np.isnan(known), order)
        for i in order:
            missing = np.isnan(known[:, i])
            expected += np.where(missing, problem.costs(known)[:, i], 0.0)
            known[missing, i] = 0
        assert added.tolist() == expected.tolist()


def test_plans_serve_as_bases() -> None:
    rng = np.random.default_rng(6)
    law = Discrete.from_weights(ROWS, rng.random(len(ROWS)))
    base = plan(PROBLEM, law)
    policy = Completing(PROBLEM, base, ByTests(PROBLEM, {}, otherwise=0.1), extra=Extra((3,), 0.4))
    ways = branches(PROBLEM, policy, law.support)
    spent = sum(totals(np.zeros(len(ROWS), int), law.probabilities * c * way.costs, 1)[0] for c, way in ways)
    assert evaluate(PROBLEM, law, policy).cost == pytest.approx(spent)
