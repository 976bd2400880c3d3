"""The dense planner against an independent recursion, closed forms and examples worked by hand."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable

import numpy as np
import pytest

import proband
from proband import Discrete, Problem, Test, evaluate, plan
from proband.errors import DistributionError, ProblemError, StateError, TooLargeError
from proband.planners.dense_plan import BorrowedPlan
from proband.planners.discrete_plan import DiscretePlan
from proband.policies import DecideNow, FixedSet
from proband.rewards import Match, Table, Unstated
from proband.testing import (
    REWARDS,
    BruteForce,
    check_planner,
    exhaustive_value,
    random_distribution,
    random_problem,
    random_states,
)

NAN = float("nan")
dense = functools.partial(proband.plan, method="dense")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", REWARDS)
def test_dense_is_brute_force(kind: str, seed: int) -> None:
    check_planner(dense, np.random.default_rng([seed, 7]), instances=60, kind=kind, tolerance=1e-12)


@pytest.mark.parametrize("kind", REWARDS)
def test_a_borrowed_plan_says_what_following_it_brings_under_its_own_law(kind: str, rng: np.random.Generator) -> None:
    """Not what it brought under the law that it was made with: values, explanations and trees say the same."""
    for _ in range(20):
        problem = random_problem(rng, kind=kind, max_tests=4)
        law, other = (random_distribution(rng, problem) for _ in range(2))
        lent = dense(problem, other)
        borrowed = BorrowedPlan(lent.layout, law, lent.solution)
        assert borrowed.value == pytest.approx(evaluate(problem, law, borrowed).value, abs=1e-12)
        assert borrowed.value <= dense(problem, law).value + 1e-9
        assert borrowed.tree().root.value == pytest.approx(borrowed.value, abs=1e-12)
        states = problem.states(random_states(rng, problem, 12))
        states = states[~np.isnan(states[:, problem.context]).any(axis=1)]
        states = states[law.mass(states) > 0]
        followed = DiscretePlan._values(borrowed, states, law.mass(states))
        assert borrowed.values(states) == pytest.approx(followed, abs=1e-12)
        for state, value in zip(states, followed, strict=True):
            account = borrowed.explain(state)
            [own] = [each for each in account.alternatives if each.action == account.action]
            assert own.value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("likelier", [0, 1])
@pytest.mark.parametrize("reward", ["table", "match"])
def test_the_lower_bound_of_the_paper(epsilon: float, likelier: int, reward: str) -> None:
    """One test of cost 3/4, reward 1 for the right label: never test, name the likelier label, earn (1 + ε)/2."""
    p = [(1 - epsilon) / 2, (1 - epsilon) / 2]
    p[likelier] = (1 + epsilon) / 2
    tests = [Test("x", 0.75)]
    problem = (
        Problem(tests, reward=Match())
        if reward == "match"
        else Problem(tests, ["0", "1"], Table(["x"], [[1, 0], [0, 1]]))
    )
    best = plan(problem, Discrete([[0], [1]], p))
    assert best.value == pytest.approx((1 + epsilon) / 2, abs=1e-15)
    assert best.act([[NAN]]).tolist() == [1 + likelier if epsilon else 1]
    assert best.explain([NAN]).alternatives[-1].value == pytest.approx(
        min(0.25, (1 - epsilon) / 2) if reward == "table" else 0.25
    )
    if epsilon < 1:
        assert best.values([[0], [1]]) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("states", [2, 5, 16])
def test_the_lower_bound_with_many_states(states: int, rng: np.random.Generator) -> None:
    """A free second test takes many values; given each, the first test leans one way or the other by ε."""
    epsilon = 0.2
    lean = rng.integers(0, 2, size=states)
    rows = [[x, z] for z in range(states) for x in range(2)]
    p = [(1 + epsilon * (1 if x == lean[z] else -1)) / (2 * states) for x, z in rows]
    outcomes = [str(z) for z in range(states)]
    problem = Problem([Test("x", 0.75), Test("z", 0.0, outcomes=outcomes)], ["0", "1"], Table(["x"], [[1, 0], [0, 1]]))
    best = plan(problem, Discrete(rows, p))
    assert best.value == pytest.approx((1 + epsilon) / 2, abs=1e-12)
    known = np.array([[NAN, z] for z in range(states)])
    assert best.act(known).tolist() == (2 + lean).tolist()


def exclusive_or(*tests: Test) -> tuple[Problem, Discrete]:
    """Two fair coins; say whether they agree."""
    problem = Problem(
        tests, ["same", "other"], Table([test.name for test in tests[:2]], [[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    )
    return problem, Discrete.product([[0.5, 0.5]] * len(tests))


def test_a_group_by_hand() -> None:
    """Only both coins help. First a (0.20) then b at its group price (0.10) beats b (0.30) then a (0.05)."""
    problem, law = exclusive_or(Test("a", 0.2, group="g", group_cost=0.05), Test("b", 0.3, group="g", group_cost=0.1))
    best = plan(problem, law)
    assert best.value == pytest.approx(1 - 0.3, abs=1e-15)
    assert best.act([[NAN, NAN], [0, NAN], [NAN, 1], [1, 1], [0, 1]]).tolist() == [0, 1, 0, 2, 3]
    assert best.values([[NAN, NAN], [0, NAN], [NAN, 1]]) == pytest.approx([0.7, 0.9, 0.95])
    assert {other.action: other.value for other in best.explain([NAN, NAN]).alternatives} == pytest.approx(
        {0: 0.7, 1: 0.65, 2: 0.5, 3: 0.5}
    )
    assert best.expected_cost == pytest.approx(0.3)
    assert best.expected_tests == 2


@pytest.mark.parametrize(
    "other",
    [
        Test("b", 0.3, group="other", group_cost=0.1),
        Test("b", 0.3),
    ],
)
def test_no_reduction_across_groups(other: Test) -> None:
    problem, law = exclusive_or(Test("a", 0.15, group="g", group_cost=0.05), other)
    assert plan(problem, law).value == pytest.approx(1 - 0.45)


def test_an_unavailable_test_opens_no_group() -> None:
    problem, law = exclusive_or(
        Test("a", 0.2, group="g", group_cost=0.0),
        Test("b", 0.3, group="h", group_cost=0.0),
        Test("gold", 9.0, group="g", group_cost=0.0, available=False),
    )
    best = plan(problem, law)
    assert best.value == pytest.approx(0.5)
    assert best.act([[NAN, NAN, 1]]).tolist() == [3]


def test_context_by_hand() -> None:
    """Supplier 0 never ships cracks: pass, 1. Supplier 1 ships half: test, 0.5 - 0.1 = 0.4. Together 0.7."""
    problem = Problem(
        [Test("crack", 0.1), Test("supplier", on_arrival=True)],
        ["pass", "fail"],
        Table(["crack"], [[1, 0], [-1, 0]]),
    )
    law = Discrete([[0, 0], [0, 1], [1, 1]], [0.5, 0.25, 0.25])
    best = plan(problem, law)
    assert best.value == pytest.approx(0.7)
    states = [[NAN, NAN], [NAN, 0], [NAN, 1], [0, 1], [1, 1], [0, NAN], [1, NAN]]
    assert best.act(states).tolist() == [1, 2, 0, 2, 3, 1, 1]
    assert best.values(states) == pytest.approx([0.7, 1.0, 0.4, 1.0, 0.0, 1.0, 0.0])
    assert best.expected_cost == pytest.approx(0.05)
    assert best.expected_tests == pytest.approx(0.5)
    assert best.decision_probabilities == pytest.approx({"pass": 0.75, "fail": 0.25})
    why = best.explain([NAN, NAN])
    assert [other.action for other in why.alternatives] == [1]


def test_a_gold_standard_by_hand() -> None:
    """The reward hangs on a test that nobody can run; a test that is right nine times in ten stands in."""
    problem = Problem(
        [Test("gold", 50.0, available=False), Test("quick", 0.1)],
        ["0", "1"],
        Table(["gold"], [[1, 0], [0, 1]]),
    )
    law = Discrete([[0, 0], [0, 1], [1, 0], [1, 1]], [0.45, 0.05, 0.05, 0.45])
    best = plan(problem, law)
    assert best.value == pytest.approx(0.8)
    assert best.act([[NAN, NAN], [NAN, 0], [NAN, 1], [1, 0], [1, NAN]]).tolist() == [1, 2, 3, 2, 1]
    assert best.values([[NAN, 0], [1, 0]]) == pytest.approx([0.9, 0.9])
    assert 0 not in {other.action for other in best.explain([NAN, NAN]).alternatives}


@pytest.mark.parametrize("reward", ["table", "match", "function"])
@pytest.mark.parametrize(
    "tests",
    [
        [Test("a", on_arrival=True)],
        [Test("a", available=False)],
        [Test("a", on_arrival=True), Test("b", available=False), Test("c", on_arrival=True)],
        [Test("a", outcomes=("only",))],
        [Test("a", 1.0, outcomes=("only",)), Test("b", available=False, outcomes=("only",))],
    ],
)
def test_plans_without_a_choice_of_tests(tests: list[Test], reward: str) -> None:
    rewards = {
        "table": Table([tests[-1].name], np.arange(2.0 * tests[-1].k).reshape(-1, 2)),
        "match": Match(),
        "function": lambda x, y: x[:, 0] - y,
    }
    problem = Problem(tests, [] if reward == "match" else ["y", "z"], rewards[reward])
    support = list(itertools.product(*(range(test.k) for test in tests)))
    law = Discrete(support, np.full(len(support), 1 / len(support)))
    best = plan(problem, law)
    assert best.value == pytest.approx(exhaustive_value(problem, law, best), abs=1e-15)
    now = DecideNow(problem, distribution=law)
    assert best.value == pytest.approx(evaluate(problem, law, now).value, abs=1e-12)
    assert best.expected_tests == 0
    assert best.tree().act(law.support).tolist() == best.act(law.support).tolist()
    assert best.act(np.empty((0, problem.d))).shape == (0,)


def test_one_decision_never_needs_a_test() -> None:
    problem = Problem([Test("a", 0.0), Test("b", 0.0)], ["go"], Table(["a"], [[1.0], [-3.0]]))
    best = plan(problem, Discrete.product([[0.5, 0.5]] * 2))
    assert best.value == pytest.approx(-1.0)
    assert best.expected_tests == 0


def test_ties_are_decided_at_once() -> None:
    """A free test that cannot help is not run; a test that just pays for itself is not run either."""
    problem = Problem([Test("a", 0.5)], ["0", "1"], Table(["a"], [[1, 0], [0, 1]]))
    assert plan(problem, Discrete([[0], [1]], [0.5, 0.5])).act([[NAN]]).tolist() == [1]


@pytest.mark.parametrize("kind", ["table", "match"])
def test_impossible_states_get_the_decision_of_their_nearest_neighbours(kind: str) -> None:
    tests = [Test(name, 0.01, outcomes=("0", "1", "2")) for name in "abc"]
    law = Discrete([[0, 0, 0], [0, 1, 1], [1, 1, 2]], [0.5, 0.3, 0.2])
    problem = (
        Problem(tests, reward=Match())
        if kind == "match"
        else Problem(tests, ["zero", "one"], Table(["c"], [[1, 0], [0, 1], [0, 0]]))
    )
    best = plan(problem, law)
    states = np.array([[1, 0, NAN], [2, 1, NAN], [2, 2, 2], [2, NAN, NAN], [0, 0, 1]])
    names = [problem.action_name(a) for a in best.act(states)]
    if kind == "match":
        assert names == ["a=1, b=0, c=0", "a=2, b=1, c=1", "a=2, b=2, c=2", "a=2, b=0, c=0", "a=0, b=0, c=1"]
    else:
        assert names == ["zero", "one", "zero", "zero", "zero"]
        assert best.values(states) == pytest.approx([0.5 / 0.7, 0.6, 0.0, 0.5, 0.5 / 0.8])
    assert np.isfinite(best.values(states)).all()
    for state in states:
        why = best.explain(state)
        assert why.probability == 0
        assert why.action == best.act(state)[0]
        assert why.alternatives[0].loss == 0
        assert all(other.action >= problem.d for other in why.alternatives)


@pytest.mark.parametrize("kind", REWARDS)
def test_impossible_states_are_decided_at_once(kind: str, rng: np.random.Generator) -> None:
    for _ in range(20):
        problem = random_problem(rng, kind=kind)
        best = dense(problem, random_distribution(rng, problem, max_support=3))
        rows = problem.states(random_states(rng, problem, 30))
        rows = rows[(best.distribution.mass(rows) == 0) & ~np.isnan(rows[:, problem.context]).any(axis=1)]
        actions, values = best.decider.decide(rows)
        assert best.act(rows).tolist() == actions.tolist()
        assert best.values(rows).tolist() == values.tolist()
        assert (actions >= problem.d).all()


@pytest.mark.parametrize(
    ("states", "n"),
    [
        (np.empty((0, 2)), 0),
        (np.array([[0, 1], [1, 0]], dtype=np.int8), 2),
        (np.array([[True, False]]), 1),
        (np.asfortranarray(np.full((5, 2), NAN))[::2], 3),
        ([0, None], 1),
        ([-0.0, NAN], 1),
    ],
)
def test_states_of_many_kinds(problem: Problem, law: Discrete, states: object, n: int) -> None:
    best = plan(problem, law)
    assert best.act(states).shape == (n,)  # type: ignore[arg-type]
    assert best.values(states).shape == (n,)  # type: ignore[arg-type]
    assert best.act(states).dtype == np.int64  # type: ignore[arg-type]


@pytest.mark.parametrize("states", [[[0, 7]], [[0.5, 0]], [[np.inf, 0]], [[0, 0, 0]], [[-1, 0]], [["a", "b"]]])
@pytest.mark.parametrize("call", ["act", "values", "explain"])
def test_wrong_states(problem: Problem, law: Discrete, states: list[list[float]], call: str) -> None:
    with pytest.raises(StateError):
        getattr(plan(problem, law), call)(states)


def test_wrong_laws_and_rewards(problem: Problem, law: Discrete) -> None:
    with pytest.raises(DistributionError, match="the distribution has 1 tests and the problem 2"):
        plan(problem, Discrete([[0]], [1.0]))
    with pytest.raises(DistributionError, match="outcome 2 of test 'visual'"):
        plan(problem, Discrete([[2, 0]], [1.0]))
    with pytest.raises(ProblemError, match="not in the file"):
        plan(Problem(problem.tests, problem.decisions, Unstated()), law)
    with pytest.raises(ProblemError, match="rewards must be finite"):
        plan(Problem(problem.tests, problem.decisions, lambda x, y: np.full(len(x), np.nan)), law)


def test_many_decisions_and_many_outcomes() -> None:
    """More actions than a byte can count."""
    outcomes = [str(b) for b in range(300)]
    problem = Problem([Test("a", 0.001, outcomes=outcomes)], outcomes, Table(["a"], np.eye(300)))
    best = plan(problem, Discrete(np.arange(300)[:, None], np.full(300, 1 / 300)))
    assert best.value == pytest.approx(0.999)
    assert best.act([[299], [0], [NAN]]).tolist() == [300, 1, 0]


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_size_of_rewards_does_not_matter(scale: float) -> None:
    problem, law = exclusive_or(Test("a", 0.2 * scale), Test("b", 0.1 * scale))
    scaled = Problem(problem.tests, problem.decisions, Table(["a", "b"], problem.reward.utilities * scale))  # type: ignore[attr-defined]
    assert plan(scaled, law).value == pytest.approx(0.7 * scale, rel=1e-12)


def big_problem(d: int, make: Callable[[int], Test] = lambda i: Test(str(i), 1.0)) -> tuple[Problem, Discrete]:
    problem = Problem([make(i) for i in range(d)], ["y"], Table(["0"], [[1.0], [0.0]]))
    return problem, Discrete(np.zeros((1, d)), [1.0])


@pytest.mark.parametrize("d", [27, 40, 200, 700])
def test_too_large_says_how_large_and_what_to_do(d: int) -> None:
    with pytest.raises(TooLargeError) as caught:
        dense(*big_problem(d))
    message = str(caught.value)
    assert "states" in message
    assert "memory" in message
    assert f"{d} tests" in message
    assert "the limit is" in message
    assert "sparse" in message
    if d == 27:
        assert re.search(r"(10¹³|7,625,597,484,987) states", message)
        assert " TB of memory" in message
    assert isinstance(caught.value, MemoryError)


@pytest.mark.parametrize("d", [60, 2000])
def test_too_much_context(d: int) -> None:
    with pytest.raises(TooLargeError, match=r"memory.*states"):
        dense(*big_problem(d, lambda i: Test(str(i), on_arrival=True)))


def test_a_memory_limit_of_one_s_own(problem: Problem, law: Discrete) -> None:
    with pytest.raises(TooLargeError, match=r"9 states.*the limit is 10 B"):
        dense(problem, law, memory_limit=10)
    assert dense(problem, law, memory_limit=1e6).value == plan(problem, law).value


def test_unavailable_tests_take_no_room() -> None:
    """A sparse law over 200 tests, of which three can be run and two are known on arrival."""
    rng = np.random.default_rng(3)
    tests = [Test(f"t{i}", 0.01) for i in range(3)]
    tests += [Test(f"c{i}", on_arrival=True) for i in range(2)]
    tests += [Test(f"g{i}", available=False) for i in range(195)]
    problem = Problem(tests, ["0", "1"], Table(["g194"], [[1, 0], [0, 1]]))
    law = Discrete.from_weights(rng.integers(0, 2, size=(60, 200)), np.ones(60))
    best = plan(problem, law)
    assert best.value == pytest.approx(exhaustive_value(problem, law, best), abs=1e-12)
    fixed = [FixedSet(problem, names, law) for names in (["t0"], ["t0", "t1"], ["t0", "t1", "t2"])]
    assert all(best.value >= evaluate(problem, law, policy).value - 1e-12 for policy in fixed)


def test_ten_binary_tests_in_two_languages(rng: np.random.Generator) -> None:
    """The paper's experiment: match over ten binary tests, checked by following the plan."""
    problem = Problem([Test(f"t{i}", 0.01) for i in range(10)], reward=Match())
    rows = np.array(list(itertools.product([0, 1], repeat=10)))
    law = Discrete.from_weights(rows, rng.pareto(math.log(5, 4), size=1024))
    best = plan(problem, law)
    assert best.value == pytest.approx(evaluate(problem, law, best).value, abs=1e-12)
    assert best.value >= law.probabilities.max()
    assert best.method == "dense"
    assert best.gap == 0


@pytest.mark.parametrize("reward", ["table", "match"])
def test_levels_large_enough_for_threads(reward: str, rng: np.random.Generator) -> None:
    tests = [Test(f"t{i}", 0.02) for i in range(13)]
    problem = (
        Problem(tests, reward=Match())
        if reward == "match"
        else Problem(tests, ["0", "1"], Table(["t3", "t7"], [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]))
    )
    law = Discrete.from_weights(rng.integers(0, 2, size=(500, 13)), rng.random(500))
    best = dense(problem, law)
    assert best.value == pytest.approx(evaluate(problem, law, best).value, abs=1e-12)
    state = np.full(13, NAN)
    state[:10] = law.support[0, :10]
    few = law.condition(state)
    assert best.values(state)[0] == pytest.approx(BruteForce(problem, few).value(state.tolist()), abs=1e-12)
