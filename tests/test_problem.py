from __future__ import annotations

import numpy as np
import pytest

from proband import Problem, Test
from proband.errors import ProblemError, StateError, UnknownNameError
from proband.rewards import Match, Table

NAN = float("nan")
A, B = Test("a", 1.0), Test("b", 2.0, outcomes=("x", "y", "z"))
TABLE = Table(["a"], [[1.0], [0.0]])


@pytest.mark.parametrize(
    ("tests", "decisions", "reward", "fragments"),
    [
        ([], ["y"], TABLE, ("the tests are []", "one or more")),
        (["a"], ["y"], TABLE, ("the tests are ['a']", "one or more Test")),
        ([A, B, Test("a")], ["y"], TABLE, ("['a'] appear more than once", "rename them")),
        ([A], "yes", TABLE, ("decisions are 'yes'", "list of names")),
        ([A], ["y", 1], TABLE, ("decisions are ['y', 1]", "non-empty texts")),
        ([A], ["y", " "], TABLE, ("non-empty texts",)),
        ([A], ["y", "y"], TABLE, ("repeat a name", "rename one")),
        ([A], [], TABLE, ("decisions are missing",)),
        ([A], ["y"], None, ("reward is missing", "Table")),
        ([A], ["y"], 5, ("reward is 5", "Table, a Match, or a function")),
    ],
)
def test_every_rule_of_a_problem(
    tests: list[Test], decisions: list[str], reward: Table, fragments: tuple[str, ...]
) -> None:
    with pytest.raises(ProblemError) as caught:
        Problem(tests, decisions, reward)
    for fragment in fragments:
        assert fragment in str(caught.value)


@pytest.mark.parametrize("field", ["name", "unit"])
def test_titles_are_texts(field: str) -> None:
    with pytest.raises(ProblemError, match=f"{field} is 5"):
        Problem([A], ["y"], TABLE, **{field: 5})


def test_decisions_may_come_from_any_iterable() -> None:
    assert Problem([A], (y for y in "y"), TABLE).decisions == ("y",)  # type: ignore[arg-type]


def test_problems_are_values() -> None:
    one, two = (Problem([A, B], ["y"], TABLE, name="n") for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert one != Problem([A, B], ["y"], TABLE, name="m")


def test_sizes() -> None:
    problem = Problem([A, B, Test("c", on_arrival=True), Test("g", available=False)], reward=Match())
    assert (problem.d, problem.size, problem.n_decisions) == (4, 24, 24)
    assert problem.k.tolist() == [2, 3, 2, 2]
    assert problem.operable.tolist() == [0, 1]
    assert problem.context.tolist() == [2]
    assert Problem([A], ["y"], TABLE).n_decisions == 1
    assert Problem([Test(str(i)) for i in range(200)], ["y"], Table(["0"], [[1], [0]])).size == 2**200


def test_costs_follow_groups() -> None:
    problem = Problem(
        [
            Test("a", 3.0, group="blood", group_cost=1.0),
            Test("b", 2.0, group="blood", group_cost=0.5),
            Test("c", 5.0, group="urine", group_cost=4.0),
            Test("gold", 9.0, group="blood", group_cost=0.0, available=False),
            Test("context", on_arrival=True),
        ],
        ["y"],
        Table(["a"], [[1.0], [0.0]]),
    )
    inf = float("inf")
    states = [
        [NAN] * 5,
        [0, NAN, NAN, NAN, 1],
        [NAN, 1, 0, NAN, 1],
        [NAN, NAN, NAN, 1, 1],  # an unavailable test opens no group
    ]
    assert problem.costs(states).tolist() == [
        [3.0, 2.0, 5.0, inf, 0.0],
        [3.0, 0.5, 5.0, inf, 0.0],
        [1.0, 2.0, 5.0, inf, 0.0],
        [3.0, 2.0, 5.0, inf, 0.0],
    ]
    assert problem.peers(0).tolist() == [1]
    assert problem.peers(2).tolist() == []
    assert problem.peers(4).tolist() == []
    assert problem.costs(np.empty((0, 5))).shape == (0, 5)


def test_other_prices_and_fewer_tests() -> None:
    tests = [
        Test("blood", 4.0, group="needle", group_cost=1.0), Test("sugar", 3.0, group="needle", group_cost=2.0),
        Test("age", 0.0, on_arrival=True), Test("ill", available=False),
    ]  # fmt: skip
    problem = Problem(tests, ["y"], Table(["ill"], [[1.0], [0.0]]), ignore=["id"], unit="EUR")
    doubled = problem.priced(2.0, [0])
    assert doubled.costs([NAN, NAN, 0, NAN])[0, :2].tolist() == [8.0, 3.0]
    assert doubled.costs([NAN, 1, 0, NAN])[0, 0] == 2.0
    assert problem.priced(0.0).cost_of_the_rest([NAN, NAN, 0, NAN]) == 0.0
    assert problem.priced(1.0) == problem
    fewer = problem.without([1, 2])
    assert (fewer.operable.tolist(), fewer.context.tolist(), fewer.ignore) == ([0], [], ("id",))
    assert fewer.targets.tolist() == problem.targets.tolist() == [3]


def test_the_cheapest_order_opens_groups_cheaply() -> None:
    problem = Problem(
        [
            Test("alone", 9.0),
            Test("a", 3.0, group="blood", group_cost=1.0),
            Test("context", on_arrival=True),
            Test("c", 5.0, group="urine", group_cost=4.0),
            Test("b", 2.0, group="blood", group_cost=0.5),
        ],
        ["y"],
        Table(["a"], [[1.0], [0.0]]),
    )
    assert problem.cheapest_order.tolist() == [0, 4, 3, 1]
    assert problem.cost_of_the_rest([[NAN] * 5]).tolist() == [9.0 + 2.0 + 5.0 + 1.0]
    assert Problem([A], ["y"], TABLE).cheapest_order.tolist() == [0]


def test_states_hide_what_is_unavailable_and_are_copies() -> None:
    problem = Problem([A, Test("gold", available=False)], ["y"], TABLE)
    given = np.array([[1.0, 1.0]])
    rows = problem.states(given)
    assert np.isnan(rows[0, 1])
    assert given[0, 1] == 1
    with pytest.raises(StateError):
        problem.states([[0, 5]])


def test_names_and_numbers() -> None:
    problem = Problem([A, B], ["go", "stop"], Table(["a"], [[1, 0], [0, 1]]))
    state = problem.state({"b": "z"})
    assert np.isnan(state[0])
    assert state[1] == 2
    assert problem.describe(state) == {"b": "z"}
    assert problem.describe(problem.state()) == {}
    assert problem.test_index("b") == 1
    assert problem.decision_action("stop") == 3
    assert [problem.action_name(a) for a in range(4)] == ["a", "b", "go", "stop"]
    assert problem.action_name(np.int64(3)) == "stop"  # type: ignore[arg-type]


def test_decisions_of_a_match_are_named_by_their_outcomes() -> None:
    problem = Problem([A, B], reward=Match())
    assert problem.action_name(2) == "a=0, b=x"
    assert problem.action_name(2 + 5) == "a=1, b=z"


@pytest.mark.parametrize(
    ("call", "fragments"),
    [
        (lambda p: p.test_index("z"), ("test 'z' does not exist", "a, b")),
        (lambda p: p.decision_action("z"), ("decision 'z' does not exist", "go")),
        (lambda p: p.state({"b": "w"}), ("outcome of test 'b' 'w' does not exist", "x, y, z")),
        (lambda p: p.state({"z": "w"}), ("test 'z' does not exist",)),
        (lambda p: p.state({"a": 1}), ("outcome of test 'a' 1 does not exist",)),
        (lambda p: p.action_name(-1), ("action -1", "0 to 2")),
        (lambda p: p.action_name(3), ("action 3", "0 to 2")),
    ],
)
def test_unknown_names(call: object, fragments: tuple[str, ...]) -> None:
    problem = Problem([A, B], ["go"], TABLE)
    with pytest.raises(UnknownNameError) as caught:
        call(problem)  # type: ignore[operator]
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_a_match_knows_its_actions() -> None:
    problem = Problem([A, B], reward=Match())
    with pytest.raises(UnknownNameError, match="0 to 7"):
        problem.action_name(8)
