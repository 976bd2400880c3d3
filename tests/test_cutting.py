from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proband import Problem, Test
from proband.cutting import stated_limits
from proband.errors import ProblemError, ProblemFileError, StateError, UnknownNameError
from proband.numerals import number, written
from proband.rewards import Entropy, Match, Table

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(FINITE, min_size=1, max_size=6, unique=True), FINITE, st.sampled_from(["", "mm", "mg/l", "%"]))
def test_a_number_lies_within_the_limits_of_its_outcome(cuts: list[float], value: float, unit: str) -> None:
    test = Test("a", 1.0, cuts=sorted(cuts), unit=unit)
    outcome = test.names[int(test.read(value))]
    low, high = stated_limits(outcome, unit) or (math.nan, math.nan)
    assert low <= value < high
    assert test.read(f"{value!r} {unit}") == test.read(value) == test.read(outcome)


@given(FINITE)
def test_numbers_read_as_they_are_written(value: float) -> None:
    assert number(written(value)) == value
    assert number(repr(value)) == value


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cuts": [75, 60]}, "each larger than the one before; sort them"),
        ({"cuts": [60, 60]}, "drop repeated ones"),
        ({"cuts": []}, "1 to 1,000 finite numbers"),
        ({"cuts": [math.inf]}, "finite numbers"),
        ({"cuts": [10**400]}, "finite numbers"),
        ({"cuts": ["60"]}, "a cut is '60'; it must be a number; write it without quotes"),
        ({"cuts": 60}, "cuts are 60; they must be a list of numbers"),
        ({"cuts": [60], "outcomes": None}, "it is measured and has cuts.*drop one of the two"),
        ({"cuts": [60], "outcomes": ["a", "b", "c"]}, "1 cuts and 3 outcomes; there is one outcome more"),
        ({"cuts": [60], "outcomes": [">= 60", "< 60"]}, "outcome number 1 is called '>= 60', but by the cuts"),
        ({"cuts": [65, 75], "outcomes": ["< 60", "60 to 75", ">= 75"]}, "number 1 is called '< 60'"),
        ({"cuts": [0.5], "outcomes": ["1", "0"]}, "number 1 is called '1', but by the cuts .* it is '< 0.5'"),
        ({"unit": "mm"}, "belongs to a measured test, or to one whose numbers are cut"),
    ],
)
def test_cuts_that_make_no_sense(fields: dict, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Test("a", 1.0, **fields)


def test_outcomes_of_cuts_may_have_names() -> None:
    test = Test("bmi", 1.0, cuts=[18.5, 25], outcomes=["low", "normal", "high"], unit="kg/m²")
    assert [test.read(given) for given in (18.4, 18.5, "25", "24,9 kg/m²", "normal")] == [0, 1, 2, 1, 1]
    assert replace(test, cost=2.0).names == test.names
    assert Test("binary", cuts=[0.5], outcomes=["0", "1"]).read("1") == 1


def problem() -> Problem:
    tests = [
        Test("hardness", 1.0, cuts=[60, 75], unit="HRC"),
        Test("bmi", 1.0, cuts=[18.5], outcomes=["low", "normal"], group="nurse", group_cost=0.5),
        Test("age", on_arrival=True, cuts=[50]),
        Test("crack", available=False, outcomes=["none", "deep"]),
    ]
    reward = Table(["crack"], [[1.0, 0.0], [-20.0, 0.0]])
    return Problem(tests, ["pass", "fail"], reward, ignore=["", "id"], missing=["-", "n.d."])


def test_cuts_and_words_survive_files(tmp_path) -> None:
    problem().save(tmp_path / "a.toml")
    text = (tmp_path / "a.toml").read_text()
    assert 'cuts = [60.0, 75.0]\nunit = "HRC"\n' in text
    assert 'ignore = ["", "id"]\nmissing = ["-", "n.d."]' in text
    assert "60 to 75" not in text
    again = Problem.load(tmp_path / "a.toml")
    assert again == problem()
    assert again.tests[1].names == ("low", "normal")
    assert (again.ignore, again.missing) == (("", "id"), ("-", "n.d."))
    plain = Problem([Test("a", 1.0)], reward=Match())
    assert not {"ignore", "missing"} & set(plain.to_dict())
    assert "cuts" not in plain.to_dict()["tests"][0]


def test_numbers_become_outcomes_in_states() -> None:
    known = {"hardness": "63,2 HRC", "bmi": 18.5, "age": "49"}
    assert problem().describe(problem().state(known)) == {"hardness": "60 to 75 HRC", "bmi": "normal", "age": "< 50"}
    assert np.array_equal(problem().state({"hardness": 63.2}), [1, np.nan, np.nan, np.nan], equal_nan=True)
    with pytest.raises(UnknownNameError, match=r"'soft' is no number.*give a number of HRC, or one of < 60 HRC, 60 to"):
        problem().state({"hardness": "soft"})
    with pytest.raises(UnknownNameError, match=r"'1,234' may mean 1.234 or 1234"):
        problem().state({"hardness": "1,234"})
    with pytest.raises(StateError, match="finite number"):
        problem().state({"hardness": math.nan})
    with pytest.raises(UnknownNameError, match="outcome of test 'crack' 'deeper' does not exist; choose one of none"):
        problem().state({"crack": "deeper"})


DRAFT = {
    "schema": 1,
    "decisions": ["pass", "fail"],
    "tests": [
        {"name": "hardness", "cost": "?", "cuts": [60]},
        {"name": "visual", "cost": "?"},
        {"name": "x-ray", "cost": 3.0, "group": "rig", "group_cost": "?"},
        {"name": "crack", "available": False, "outcomes": ["none", "deep"]},
    ],
    "reward": {
        "kind": "table",
        "targets": ["crack"],
        "utilities": [
            {"when": {"crack": "deep"}, "value": {"pass": "?", "fail": 0}},
            {"value": {"pass": 1, "fail": "?"}},
        ],
    },
}


def test_a_draft_is_refused_until_all_is_filled_in() -> None:
    with pytest.raises(ProblemFileError) as caught:
        Problem.from_dict(DRAFT, source="draft.toml")
    assert str(caught.value) == (
        "draft.toml: tests: the prices of 'hardness', 'visual' and 'x-ray' and the utilities of 'pass' when crack is "
        "'deep' and 'fail' when nothing else fits are not filled in; this file is a draft until every \"?\" is a "
        'number; write what a test costs, and what a decision brings, in place of "?"'
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tests": [{"name": "a", "cost": 1, "cuts": [1], "measured": True}]}, r"tests\[0\].cuts: a measured test has"),
        (
            {"tests": [{"name": "a", "cost": 1, "cuts": "1"}]},
            r"tests\[0\].cuts: they are '1'; they must be a list of numbers",
        ),
        ({"tests": [{"name": "a", "cost": 1, "cuts": [2, 1]}]}, r"tests\[0\]: .*sort them"),
        ({"ignore": ["a"]}, "f.toml: ignore: ignore names 'a', which is a test"),
        ({"missing": ["1"]}, "f.toml: missing: missing has the word '1', which is an outcome"),
        ({"missing": "-"}, "f.toml: missing: it is '-'; it must be a list"),
    ],
)
def test_mistakes_in_files_name_the_key(change: dict, message: str) -> None:
    content = {"schema": 1, "tests": [{"name": "a", "cost": 1}], "reward": {"kind": "match"}, **change}
    with pytest.raises(ProblemFileError, match=message):
        Problem.from_dict(content, source="f.toml")


def test_scores_and_sets_have_no_cuts_and_measure_numbers() -> None:
    cut = Test("a", 1.0, cuts=[1.0])
    with pytest.raises(ProblemError, match=r"the tests \['a'\] list outcomes and the others are measured.*cuts = "):
        Problem([cut, Test("b", 1.0, outcomes=None)], ["stop"], Entropy())
    with pytest.raises(ProblemError, match="measured"):
        Problem([cut], ["stop"], Entropy())
    sites = Problem([Test("a", 1.0, outcomes=None)], ["stop"], Entropy(), ignore=["id"], missing=["-"])
    assert sites.records({"id": [1, 2, 3], "a": ["1,5", "-", 2.5]}).outcomes[::2].ravel().tolist() == [1.5, 2.5]
    assert Problem.from_dict(sites.to_dict()) == sites
