"""The kit must pass what is right and catch what is wrong."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import proband
from proband import Discrete, Problem, Test
from proband.errors import PolicyError
from proband.planners import DiscretePlan
from proband.policies import DecideNow, FixedSet, test_everything
from proband.rewards import Function, Match, Table
from proband.testing import (
    REWARDS,
    BruteForce,
    check_distribution,
    check_planner,
    check_policy,
    exhaustive_value,
    perfect_information,
    random_distribution,
    random_problem,
    random_states,
)

NAN = float("nan")
ARRIVAL = Problem(
    [Test("a", 0.1), Test("b", 0.1), Test("gold", available=False), Test("age", on_arrival=True)],
    ["y", "z"],
    Table(["gold"], [[1, 0], [0, 1]]),
)


class Mutant:
    """A policy that spoils the actions of a right one."""

    def __init__(self, spoil: Callable[[np.ndarray, np.ndarray], Any]) -> None:
        self.spoil = spoil
        self.calls = 0
        law = Discrete(list(itertools.product([0, 1], repeat=4)), np.full(16, 1 / 16))
        self.right = test_everything(ARRIVAL, law)

    def act(self, states: Any, coins: Any = None) -> Any:
        self.calls += 1
        rows = np.asarray(states)
        actions = self.right.act(rows)
        try:
            return self.spoil(rows, actions)
        except TypeError:
            return self.spoil(rows, actions, self.calls)  # type: ignore[call-arg]


def write_into(rows: np.ndarray, actions: np.ndarray) -> np.ndarray:
    if rows.flags.writeable and rows.size:
        rows[0, 0] = 1.0
    return actions


MUTANTS: dict[str, tuple[Callable[..., Any], str]] = {
    "one action too many": (lambda rows, actions: np.append(actions, 4), "it must give one action for each"),
    "a column": (lambda rows, actions: actions[:, None], "it must give one action for each"),
    "floats": (lambda rows, actions: actions * 1.0, "they must be integers"),
    "nothing for nobody": (lambda rows, actions: actions if len(rows) else np.zeros(1, dtype=int), "for no states"),
    "a decision that does not exist": (lambda rows, actions: np.where(actions == 4, 9, actions), "does not exist"),
    "a negative action": (lambda rows, actions: actions - 5, "does not exist"),
    "an unavailable test": (lambda rows, actions: np.where(actions == 0, 2, actions), "which is unavailable"),
    "a known test": (lambda rows, actions: np.zeros_like(actions), "which is already known"),
    "a memory": (lambda rows, actions, calls: np.where(actions >= 4, 4 + (calls > 2), actions), "the second time"),
    "a look at the neighbours": (
        lambda rows, actions: np.where(actions >= 4, 4 + (np.arange(len(rows)) % 2), actions),
        "depends on the other states of its batch",
    ),
    "a look at the size of the batch": (
        lambda rows, actions: np.where(actions >= 4, 4 + (len(rows) == 1), actions),
        "alone got",
    ),
    "a look at the layout": (
        lambda rows, actions: np.where(actions >= 4, 4 + int(rows.flags.f_contiguous and len(rows) > 1), actions),
        "memory layout",
    ),
    "a peek at the gold standard": (
        lambda rows, actions: np.where((actions >= 4) & (rows[:, 2] == 1), 5, np.where(actions >= 4, 4, actions)),
        "unavailable test shows",
    ),
    "changed states": (write_into, "changed the states"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_policies_are_caught(name: str) -> None:
    spoil, message = MUTANTS[name]
    with pytest.raises(AssertionError, match=message):
        check_policy(ARRIVAL, Mutant(spoil))


def test_right_policies_pass() -> None:
    check_policy(ARRIVAL, Mutant(lambda rows, actions: actions))
    check_policy(ARRIVAL, Mutant(lambda rows, actions: actions), np.random.default_rng(1), rows=[[0, 1, 0, 1]])


def test_a_policy_must_be_one_that_can_be_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **options: object) -> None:
        raise PolicyError("out of order")

    monkeypatch.setattr("proband.testing.policies.follow", broken)
    with pytest.raises(AssertionError, match="cannot be followed: out of order"):
        check_policy(ARRIVAL, DecideNow(ARRIVAL, "y"))


def test_what_is_no_policy() -> None:
    with pytest.raises(AssertionError, match="is no Policy"):
        check_policy(ARRIVAL, object())  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match=r"they must be \(n, 4\)"):
        check_policy(ARRIVAL, DecideNow(ARRIVAL, "y"), rows=[[0]])
    with pytest.raises(AssertionError, match="is complete"):
        check_policy(ARRIVAL, DecideNow(ARRIVAL, "y"), rows=[[0, 0, 0, NAN]])


class Law(Discrete):
    """A law to be spoilt by replacing its methods."""


def spoilt(**methods: Any) -> Law:
    law = Law([[0, 0], [0, 1], [1, 1]], [0.5, 0.2, 0.3])
    for name, method in methods.items():
        setattr(law, name, method)
    return law


GOOD = Discrete([[0, 0], [0, 1], [1, 1]], [0.5, 0.2, 0.3])
WRONG_LAWS: dict[str, tuple[Callable[[], Any], str]] = {
    "no law": (object, "is no Distribution"),
    "a wrong shape": (lambda: spoilt(sample=lambda rng, n: np.zeros((n, 3))), "it must be"),
    "integers": (lambda: spoilt(sample=lambda rng, n: np.zeros((n, 2), dtype=int)), "rows of float64"),
    "gaps": (lambda: spoilt(sample=lambda rng, n: np.full((n, 2), NAN)), "complete"),
    "another generator": (lambda: spoilt(sample=lambda rng, n: GOOD.sample(np.random.default_rng(), n)), "seed"),
    "one for nobody": (lambda: spoilt(sample=lambda rng, n: GOOD.sample(rng, max(n, 1))), r"sample\(rng, 0\)"),
    "no condition": (lambda: spoilt(condition=lambda state: Discrete([[0, 0]], [1.0])), "conditioning on nothing"),
    "a condition that is not kept": (lambda: spoilt(condition=lambda state: GOOD), "known entries"),
    "negative entropy": (lambda: spoilt(entropy=lambda: -1.0), "the entropy is -1"),
    "wrong masses": (lambda: spoilt(mass=lambda states: np.full(len(np.atleast_2d(states)), 0.5)), "mass"),
    "unnormalised": (lambda: spoilt(probabilities=np.array([0.5, 0.2, 0.2])), "sum to"),
    "a writable support": (lambda: spoilt(support=GOOD.support.copy()), "can be written to"),
    "a probability of zero": (lambda: spoilt(probabilities=np.array([0.5, 0.5, 0.0])), "probability zero"),
    "a fair coin that is not": (lambda: spoilt(sample=lambda rng, n: np.tile([1.0, 1.0], (n, 1))), "frequencies"),
}


@pytest.mark.parametrize("name", WRONG_LAWS)
def test_wrong_laws_are_caught(name: str) -> None:
    make, message = WRONG_LAWS[name]
    with pytest.raises(AssertionError, match=message):
        check_distribution(make(), np.random.default_rng(0))


def test_an_impossible_condition_must_be_refused() -> None:
    def condition(state: Any) -> Discrete:
        return GOOD.condition(state) if GOOD.mass(state)[0] > 0 else GOOD

    with pytest.raises(AssertionError, match="must raise DistributionError"):
        check_distribution(spoilt(condition=condition), np.random.default_rng(0))


def worse(plan: DiscretePlan, **changes: float) -> DiscretePlan:
    for name, change in changes.items():
        setattr(plan, name, getattr(plan, name) + change)
    return plan


class Following(DiscretePlan):
    """A plan that follows a fixed policy and says what it is worth."""

    method = "following"

    def __init__(self, problem: Problem, distribution: Discrete, policy: Any, bound: float) -> None:
        super().__init__(problem, distribution)
        self.policy = policy
        self.value = exhaustive_value(problem, distribution, policy)
        self.bound = bound

    def act(self, states: Any, coins: Any = None) -> Any:
        return self.policy.act(states)


def deciding_now(problem: Problem, distribution: Discrete) -> DiscretePlan:
    policy = DecideNow(problem, distribution=distribution)
    return Following(problem, distribution, policy, perfect_information(problem, distribution))


def test_a_planner_that_is_not_exact_may_say_so() -> None:
    check_planner(deciding_now, instances=10, exact=False)
    with pytest.raises(AssertionError, match=r"instance \d+: .*brute force(.|\n)*support"):
        check_planner(deciding_now, instances=20)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"value": 1e-6}, "the plan's value is"),
        ({"value": -1e-6}, "the plan's value is"),
        ({"bound": -1e-6}, "bound"),
        ({"bound": 1e-6}, "the plan's bound is"),
    ],
)
def test_plans_that_lie_about_their_value_are_caught(changes: dict[str, float], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_planner(lambda problem, law: worse(proband.plan(problem, law), **changes), instances=2)


def test_a_plan_with_wrong_values_inside_is_caught() -> None:
    def planner(problem: Problem, law: Discrete) -> DiscretePlan:
        made = proband.plan(problem, law)
        original = made.values
        made.values = lambda states: original(states) * 1.001 + 1e-4  # type: ignore[method-assign]
        return made

    with pytest.raises(AssertionError, match="in the state"):
        check_planner(planner, instances=5)


def test_random_problems_reach_every_corner(rng: np.random.Generator) -> None:
    problems = [random_problem(rng) for _ in range(400)]
    assert {problem.d for problem in problems} == {1, 2, 3, 4, 5}
    tests = [test for problem in problems for test in problem.tests]
    assert {test.k for test in tests} == {1, 2, 3, 4}
    assert {type(problem.reward) for problem in problems} == {Table, Match, Function}
    assert {len(p.reward.targets) for p in problems if isinstance(p.reward, Table)} == {1, 2, 3}
    assert {problem.n_decisions for problem in problems if problem.decisions} == {1, 2, 3, 4}
    assert any(test.cost == 0 and test.operable for test in tests)
    assert any(test.group is not None and not test.available for test in tests)
    assert any(test.group_cost == 0 < test.cost for test in tests)
    assert any(len(problem.context) > 1 for problem in problems)
    assert any(not len(problem.operable) for problem in problems)
    assert any(len(problem.operable) == 5 for problem in problems)
    laws = [random_distribution(rng, problem) for problem in problems]
    assert any(len(law) == 1 < problem.size for problem, law in zip(problems, laws, strict=True))
    assert any(len(law) == problem.size > 100 for problem, law in zip(problems, laws, strict=True))
    assert any(100 < len(law) < problem.size for problem, law in zip(problems, laws, strict=True))
    for problem, law in zip(problems, laws, strict=True):
        law.check(problem)
        assert problem.states(random_states(rng, problem, 3)).shape == (3, problem.d)


def test_random_problems_of_one_s_own_wish(rng: np.random.Generator) -> None:
    for kind in REWARDS:
        problem = random_problem(rng, kind=kind, tests=7, max_outcomes=2)
        assert problem.d == 7
        assert problem.k.max() <= 2
        assert len(random_distribution(rng, problem, max_support=4)) <= 4
    with pytest.raises(KeyError):
        random_problem(rng, kind="entropy")
    again = [random_problem(np.random.default_rng(5), kind="table") for _ in range(2)]
    assert again[0] == again[1]


def test_brute_force_by_hand() -> None:
    """One test of cost 0.1 tells a fair coin: decide now 0.5, test 0.9."""
    problem = Problem([Test("coin", 0.1), Test("gold", available=False)], ["0", "1"], Table(["coin"], [[1, 0], [0, 1]]))
    law = Discrete.product([[0.5, 0.5]] * 2)
    brute_force = BruteForce(problem, law)
    assert brute_force.action_values() == pytest.approx({0: 0.9, 2: 0.5, 3: 0.5})
    assert brute_force.action_values([1, NAN]) == {2: 0.0, 3: 1.0}
    assert brute_force.action_values([1, 1]) == {2: 0.0, 3: 1.0}  # what gold shows is not known
    assert sorted(brute_force.states(), key=str) == [(0, None), (1, None), (None, None)]
    with pytest.raises(ValueError, match="probability zero"):
        BruteForce(problem, Discrete([[0, 0]], [1.0])).value([1, None])


def test_brute_force_sums_by_hand() -> None:
    problem = Problem(
        [Test(name, 0.2, group="g", group_cost=0.1) for name in "ab"], ["0", "1"], Table(["a"], [[1, 0], [0, 3]])
    )
    law = Discrete.product([[0.5, 0.5]] * 2)
    assert exhaustive_value(problem, law, test_everything(problem)) == pytest.approx(2 - 0.3)
    assert exhaustive_value(problem, law, FixedSet(problem, ["b"], law)) == pytest.approx(1.5 - 0.2)
    assert perfect_information(problem, law) == 2.0
    assert perfect_information(Problem(problem.tests, reward=Match()), law) == 1.0


def test_a_policy_that_never_decides() -> None:
    problem = Problem([Test("a", 0.1)], ["y"], Table(["a"], [[1.0], [0.0]]))

    class Restless:
        def act(self, states: Any, coins: Any = None) -> Any:
            return np.zeros(len(states), dtype=int)

    with pytest.raises(AssertionError, match="did not decide"):
        exhaustive_value(problem, Discrete([[0]], [1.0]), Restless())
