from __future__ import annotations

import numpy as np
import pytest

from proband import Problem, Test
from proband.errors import ProblemError
from proband.rewards import Function, Match, Table, Unstated, rowwise
from proband.vocabulary import Pooling

TESTS = [Test("a", outcomes=("0", "1", "2")), Test("b")]
ROWS = np.array([[0.0, 1.0], [2.0, 0.0]])


def test_a_table_looks_up_its_targets_in_their_order() -> None:
    utilities = np.arange(12.0).reshape(2, 3, 2)
    reward = Table(["b", "a"], utilities)
    payoff = reward.payoff(TESTS, ("y", "z"), ROWS)
    assert payoff.tolist() == [utilities[1, 0].tolist(), utilities[0, 2].tolist()]
    assert reward.realised(TESTS, ("y", "z"), ROWS, np.array([1, 0])).tolist() == [7.0, 4.0]
    assert reward.pooling is Pooling.SUM


def test_tables_are_values() -> None:
    table = Table(["a"], [[1, 0], [0, 1], [0, 0]])
    assert table == Table(("a",), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    assert hash(table) == hash(Table(["a"], [[1, 0], [0, 1], [0, 0]]))
    assert table != Table(["b"], [[1, 0], [0, 1], [0, 0]])
    assert table != Table(["a"], [[1, 0], [0, 1], [0, 2]])
    assert table != "table"
    with pytest.raises(ValueError, match="read-only"):
        table.utilities[0, 0] = 5


def test_a_table_keeps_its_own_numbers() -> None:
    utilities = np.zeros((2, 1))
    table = Table(["b"], utilities)
    utilities[0, 0] = 9
    assert table.utilities[0, 0] == 0


@pytest.mark.parametrize(
    ("targets", "utilities", "decisions", "fragments"),
    [
        (["a"], np.zeros((2, 2)), ["y", "z"], ("shape (2, 2)", "must be (3, 2)", "each combination")),
        (["a"], np.zeros((3, 2)), ["y"], ("shape (3, 2)", "1 decisions", "(3, 1)")),
        (["a", "b"], np.zeros((2, 3, 1)), ["y"], ("shape (2, 3, 1)", "must be (3, 2, 1)")),
        (["a"], np.zeros(3), ["y"], ("shape (3,)", "must be (3, 1)")),
        (["a"], 0.0, ["y"], ("shape ()", "must be (3, 1)")),
        (["c"], np.zeros((3, 1)), ["y"], ("targets are ['c']", "different tests of ['a', 'b']", "correct ['c']")),
        (["a", "a"], np.zeros((3, 3, 1)), ["y"], ("targets are ['a', 'a']", "different tests", "correct the list")),
        ([], np.zeros(1), ["y"], ("targets are []", "one or more")),
        (["a"], np.zeros((3, 0)), [], ("decisions are missing", "name one or more")),
    ],
)
def test_every_rule_of_a_table(
    targets: list[str], utilities: object, decisions: list[str], fragments: tuple[str, ...]
) -> None:
    with pytest.raises(ProblemError) as caught:
        Problem(TESTS, decisions, Table(targets, utilities))  # type: ignore[arg-type]
    for fragment in fragments:
        assert fragment in str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_utilities_are_finite(bad: float) -> None:
    with pytest.raises(ProblemError, match="utilities must be finite"):
        Table(["a"], [[bad]])


def test_targets_are_a_list() -> None:
    with pytest.raises(ProblemError, match=r"list of names; write \['a'\]"):
        Table("a", [[1.0]])  # type: ignore[arg-type]


def test_match_pays_for_the_whole_vector_only() -> None:
    reward = Match()
    assert reward.payoff(TESTS, (), ROWS).tolist() == [[1.0], [1.0]]
    assert reward.realised(TESTS, (), ROWS, np.array([1, 5])).tolist() == [1.0, 0.0]
    assert reward.pooling is Pooling.MAXIMUM
    assert reward == Match()


def test_match_names_no_decisions() -> None:
    with pytest.raises(ProblemError, match="leave decisions out"):
        Problem(TESTS, ["y"], Match())


@pytest.mark.parametrize("d", [63, 200, 2000])
def test_match_numbers_vectors_in_64_bits(d: int) -> None:
    Problem([Test(str(i)) for i in range(62)], reward=Match())
    with pytest.raises(ProblemError, match=r"outcome vectors; match numbers at most 2\^62.*fewer target tests"):
        Problem([Test(str(i)) for i in range(d)], reward=Match())


def test_a_function_is_called_once_for_each_decision() -> None:
    calls = []

    def f(x: np.ndarray, y: int) -> np.ndarray:
        calls.append((x.shape, y))
        return x[:, 0] * 10 + y

    reward = Function(f)
    assert reward.payoff(TESTS, ("y", "z"), ROWS).tolist() == [[0.0, 1.0], [20.0, 21.0]]
    assert calls == [((2, 2), 0), ((2, 2), 1)]
    assert reward.realised(TESTS, ("y", "z"), ROWS, np.array([1, 0])).tolist() == [1.0, 20.0]


@pytest.mark.parametrize("returned", [1.0, [1.0], [[1.0], [2.0]], [1.0, 2.0, 3.0]])
def test_a_function_returns_one_number_for_each_row(returned: object) -> None:
    with pytest.raises(ProblemError, match=r"one number for each row; wrap .*rowwise"):
        Function(lambda x, y: returned).payoff(TESTS, ("y",), ROWS)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_function_returns_finite_numbers(bad: float) -> None:
    with pytest.raises(ProblemError, match="for decision 0; rewards must be finite"):
        Function(lambda x, y: np.full(len(x), bad)).payoff(TESTS, ("y",), ROWS)


@pytest.mark.parametrize("reward", [Function(lambda x, y: x[:, 0]), Unstated()])
def test_there_must_be_something_to_decide(reward: Function | Unstated) -> None:
    with pytest.raises(ProblemError, match="decisions are missing"):
        Problem(TESTS, [], reward)


def test_rowwise_serves_a_function_of_one_vector() -> None:
    problem = Problem(TESTS, ["y", "z"], rowwise(lambda x, y: float(x[0] == 2 and y == 1)))
    assert problem.payoff(ROWS).tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert problem.payoff(np.empty((0, 2))).shape == (0, 2)


def test_an_unstated_reward_says_so() -> None:
    problem = Problem(TESTS, ["y"], Unstated())
    with pytest.raises(ProblemError, match="not in the file"):
        problem.payoff(ROWS)
    with pytest.raises(ProblemError, match="not in the file"):
        problem.realised(ROWS, np.array([2, 2]))
