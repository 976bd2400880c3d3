from __future__ import annotations

import pytest

from proband import Problem, Test
from proband.errors import ProblemError, TableError
from proband.rewards import Match

TESTS = [Test("visual", 0.1, outcomes=("none", "rusty")), Test("hardness", 1.0, cuts=[60, 75])]


def problem(**more) -> Problem:
    return Problem(TESTS, reward=Match(), **more)


def test_words_for_missing_entries() -> None:
    words = problem(missing=["-", "not done", "-999"])
    table = {"visual": ["none", "-", "NA", "Not Done", "rusty"], "hardness": [-999, "-999.0", "-", 60, "nan"]}
    found = words.records(table).outcomes
    assert [str(x) for x in found.ravel()] == ["0.0", *["nan"] * 6, "1.0", "1.0", "nan"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"missing": ["None"]}, "missing has the word 'None', which is an outcome of test 'visual'.*rename"),
        ({"missing": ["-", "-"]}, "it repeats a word; drop one"),
        ({"missing": "-"}, "missing is '-'; it must be a list of texts"),
        ({"missing": [7]}, r"missing is \[7\]; it must be a list of texts"),
        ({"missing": ["a\x1b"]}, "U.001B"),
        ({"ignore": ["visual"]}, "ignore names 'visual', which is a test.*drop one"),
        ({"ignore": "id"}, "ignore is 'id'; it must be a list of texts"),
        ({"ignore": ["id", "id"]}, "it repeats a word"),
    ],
)
def test_words_that_make_no_sense(given: dict, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        problem(**given)


def test_a_column_that_nobody_knows_is_named_with_the_remedy() -> None:
    table = {"visual": ["rusty"], "hardness": [60], "id": ["a"]}
    with pytest.raises(
        TableError, match=r"unknown columns \['id'\].*name what is no test in the problem's list ignore"
    ):
        problem().records(table)
    assert problem(ignore=["id", "gone"]).records(table).n == 1
