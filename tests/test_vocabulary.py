from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proband import Records, Test
from proband.errors import ProblemError, StateError, TableError
from proband.vocabulary import as_states, outcome_codes, outcome_rows

NAN = float("nan")

BROKEN_TESTS: list[tuple[dict[str, object], tuple[str, ...]]] = [
    ({"name": ""}, ("name", "non-empty text")),
    ({"name": "  "}, ("name", "non-empty text")),
    ({"name": 5}, ("name", "5", "non-empty text")),
    ({"name": None}, ("name", "None")),
    ({"cost": -1}, ("'t'", "cost is -1", "0 or more", "give the price")),
    ({"cost": NAN}, ("cost is nan", "finite")),
    ({"cost": float("inf")}, ("cost is inf", "finite")),
    ({"cost": "3"}, ("cost is '3'", "must be a number")),
    ({"cost": None}, ("cost is None", "must be a number")),
    ({"cost": True}, ("cost is True", "must be a number")),
    ({"cost": np.bool_(True)}, ("cost is", "must be a number")),
    ({"cost": 1j}, ("cost is 1j", "must be a number")),
    ({"cost": np.complex128(1)}, ("cost is", "must be a number")),
    ({"cost": 10**400}, ("cost is", "finite")),
    ({"outcomes": "ok"}, ("outcomes are 'ok'", "non-empty texts", "list")),
    ({"outcomes": ["ok", 1]}, ("outcomes are", "non-empty texts")),
    ({"outcomes": ["ok", " "]}, ("outcomes are", "non-empty texts")),
    ({"outcomes": []}, ("no outcomes", "one or more", "list them")),
    ({"outcomes": ["a", "b", "a"]}, ("repeat a name", "rename one")),
    ({"cost": 1, "group": "blood"}, ("group is 'blood'", "group_cost is None", "go together", "give both")),
    ({"cost": 1, "group_cost": 0.5}, ("group is None", "group_cost is 0.5", "go together")),
    ({"cost": 1, "group": " ", "group_cost": 0.5}, ("group is ' '", "non-empty text")),
    ({"cost": 1, "group": 3, "group_cost": 0.5}, ("group is 3", "non-empty text")),
    ({"cost": 1, "group": "blood", "group_cost": 2}, ("group_cost 2.0 exceeds cost 1.0", "swap them")),
    ({"cost": 1, "group": "blood", "group_cost": -1}, ("group_cost is -1", "0 or more")),
    ({"cost": 1, "group": "blood", "group_cost": NAN}, ("group_cost is nan", "finite")),
    ({"cost": 1, "group": "blood", "group_cost": "1"}, ("group_cost is '1'", "must be a number")),
    ({"on_arrival": 1}, ("on_arrival is 1", "true or false")),
    ({"available": "yes"}, ("available is 'yes'", "true or false")),
    ({"available": None}, ("available is None", "true or false")),
    ({"on_arrival": True, "available": False}, ("on_arrival", "available", "drop one")),
    ({"on_arrival": True, "cost": 1}, ("on arrival", "cost 1.0", "free", "drop cost")),
    ({"on_arrival": True, "group": "g", "group_cost": 0}, ("on arrival", "group 'g'", "drop cost")),
]


@pytest.mark.parametrize(("fields", "fragments"), BROKEN_TESTS, ids=[str(fields)[:60] for fields, _ in BROKEN_TESTS])
def test_every_rule_of_a_test(fields: dict[str, object], fragments: tuple[str, ...]) -> None:
    with pytest.raises(ProblemError) as caught:
        Test(**{"name": "t", **fields})  # type: ignore[arg-type]
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_a_test_keeps_plain_values() -> None:
    test = Test("t", np.float32(0.5), outcomes=["a", "b"], group="g", group_cost=np.int64(0))  # type: ignore[arg-type]
    assert (test.cost, test.outcomes, test.group_cost, test.k, test.operable) == (0.5, ("a", "b"), 0.0, 2, True)
    assert type(test.cost) is float
    assert type(test.group_cost) is float
    assert hash(test) == hash(Test("t", 0.5, outcomes=("a", "b"), group="g", group_cost=0.0))
    assert not Test("t", on_arrival=True).operable
    assert not Test("t", available=False).operable
    assert Test("t", -0.0).cost == 0


def test_outcomes_may_come_from_any_iterable() -> None:
    assert Test("t", outcomes=(name for name in "ab")).outcomes == ("a", "b")  # type: ignore[arg-type]


def test_records() -> None:
    records = Records([[0, 1], [1, NAN]])
    assert len(records) == 2
    assert records.is_complete.tolist() == [True, False]
    assert records.complete() == Records([[0, 1]])
    assert records == Records(np.array([[0, 1], [1, NAN]]))
    assert records != Records([[0, 1], [1, 1]])
    assert records != "records"
    assert len(Records(np.empty((0, 3))).complete()) == 0


def test_records_do_not_change() -> None:
    rows = np.zeros((2, 2))
    records = Records(rows)
    rows[0, 0] = 7
    assert records.outcomes[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        records.outcomes[0, 0] = 1
    with pytest.raises(TypeError):
        hash(records)


def test_records_count_subjects() -> None:
    records = Records([[0, 1], [1, NAN], [1, 1]], counts=[3, 2, 0])
    assert (records.n, len(records)) == (5, 3)
    assert records.complete() == Records([[0, 1], [1, 1]], counts=[3, 0])
    assert np.array_equal(records.subjects, [[0, 1]] * 3 + [[1, NAN]] * 2, equal_nan=True)
    assert records != Records(records.outcomes)


def test_records_are_joined_with_chances_that_all_tell() -> None:
    first, second = Records([[0, NAN]], [3], [0.5]), Records([[1, 1], [0, 0]], [1, 2], [1, NAN])
    assert Records.joined([first]) == first
    assert Records.joined([first, second]) == Records([[0, NAN], [1, 1], [0, 0]], [3, 1, 2], [0.5, 1, NAN])
    assert Records.joined([Records([[1, 1]]), first]) == Records([[1, 1], [0, NAN]], [1, 3])
    assert Records([[0, 1]]).n == 1
    assert Records(np.empty((0, 2)), counts=[]).n == 0


@pytest.mark.parametrize("counts", [[1], [1, 2, 3], [[1, 2]], [1, -1], 2, [1, 1.5], [1, NAN], [1, np.inf], [1, 1e300]])
def test_every_rule_of_counts(counts: object) -> None:
    with pytest.raises(TableError, match="counts have shape"):
        Records([[0, 1], [1, 1]], counts=counts)  # type: ignore[arg-type]


@pytest.mark.parametrize("outcomes", [[], [0, 1], 3.0, [[[0]]]])
def test_records_have_two_axes(outcomes: object) -> None:
    with pytest.raises(TableError, match=r"\(subjects, tests\)"):
        Records(outcomes)  # type: ignore[arg-type]


TESTS = [Test("length"), Test("weight", outcomes=("a", "b", "c"))]


@pytest.mark.parametrize(
    "states",
    [
        [[0, 3]],
        [[2, 0]],
        [[-1, 0]],
        [[0.5, 0]],
        [[float("inf"), 0]],
        [[-float("inf"), 0]],
        [[1e300, 0]],
        [[NAN, -1e-9]],
        [[0, 2.9999999]],
    ],
)
def test_states_hold_outcomes(states: object) -> None:
    with pytest.raises(StateError, match=r"state 0: test '(length|weight)'.*outcomes are numbered 0 to"):
        as_states(states, TESTS)  # type: ignore[arg-type]


def test_the_wrong_state_is_named() -> None:
    with pytest.raises(StateError, match="state 2: test 'weight' has the value 7"):
        as_states([[0, 0], [1, NAN], [0, 7]], TESTS)


@pytest.mark.parametrize(
    "states", [[], [0], [0, 0, 0], [[0], [0]], np.zeros((2, 2, 2)), 0.0, np.empty((0, 3)), np.empty((2, 0))]
)
def test_states_have_one_entry_a_test(states: object) -> None:
    with pytest.raises(StateError, match=r"one entry for each of the 2 tests.*\(n, 2\)"):
        as_states(states, TESTS)  # type: ignore[arg-type]


@pytest.mark.parametrize("states", [[["x", "y"]], [[0], [0, 1]], [[1j, 0]], {"a": 1}])
def test_states_are_numbers(states: object) -> None:
    with pytest.raises(StateError):
        as_states(states, TESTS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "states",
    [
        [1, 2],
        [[1, 2]],
        np.array([[1, 2]], dtype=np.int8),
        np.array([[1, 2]], dtype=np.uint64),
        np.array([[1.0, 2.0]], dtype=np.float32),
        np.asfortranarray([[1.0, 2.0], [0.0, 0.0]])[::2],
        np.array([[2, 1]])[:, ::-1],
        np.ma.array([[1, 2]]),
    ],
)
def test_states_of_many_kinds(states: object) -> None:
    rows = as_states(states, TESTS)  # type: ignore[arg-type]
    assert rows.dtype == np.float64
    assert rows.tolist() == [[1.0, 2.0]]


def test_odd_but_right_states() -> None:
    assert as_states([[None, -0.0]], TESTS).tolist()[0][1] == 0  # type: ignore[list-item]
    assert as_states([[True, False]], TESTS).tolist() == [[1.0, 0.0]]
    assert as_states(np.empty((0, 2)), TESTS).shape == (0, 2)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.data())
def test_codes_and_rows_are_inverse(k: list[int], data: st.DataObject) -> None:
    tests = [Test(f"t{i}", outcomes=[str(b) for b in range(n)]) for i, n in enumerate(k)]
    size = int(np.prod(k))
    codes = data.draw(st.lists(st.integers(0, size - 1), max_size=5))
    assert outcome_codes(outcome_rows(codes, tests), tests).tolist() == codes


def test_codes_count_up_and_reach_far() -> None:
    tests = [Test(f"t{i}") for i in range(62)]
    assert outcome_codes([np.ones(62)], tests).tolist() == [2**62 - 1]
    assert outcome_rows([2**62 - 1], tests).tolist() == [[1.0] * 62]
    grid = [[a, b] for a in range(2) for b in range(3)]
    assert outcome_codes(grid, TESTS).tolist() == list(range(6))
