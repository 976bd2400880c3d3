"""Every rule of a problem file is broken once; every good file comes back as it went."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strict_json import strict

from proband import Problem, Test
from proband.errors import ProblemError, ProblemFileError
from proband.instances import INSTANCES
from proband.rewards import REWARDS as KINDS
from proband.rewards import Entropy, Match, Piece, Projection, Score, Table, Unstated
from proband.testing import random_problem
from proband.texts import escaped
from proband.vocabulary import FloatArray

TEST = '[[tests]]\nname = "crack"\ncost = 2.0\noutcomes = ["none", "deep"]'
CHEAP = '[[tests]]\nname = "visual"\ncost = 0.1'
UTILITIES = """utilities = [
    { when = { crack = "none" }, value = { pass = 1, fail = 0 } },
    { when = { crack = "deep" }, value = { pass = -20, fail = 0 } },
]"""
REWARD = f'[reward]\nkind = "table"\ntargets = ["crack"]\n{UTILITIES}'
HEAD = 'schema = 1\ndecisions = ["pass", "fail"]'


def document(head: str = HEAD, tests: str = TEST, reward: str = REWARD) -> str:
    return f"{head}\n{tests}\n{reward}\n"


def _test(line: str, name: str = "crack") -> str:
    outcomes = "" if "outcomes" in line else '\noutcomes = ["none", "deep"]'
    return f'[[tests]]\nname = "{name}"\n{line}{outcomes}'


def table_with(lines: str) -> str:
    return f'[reward]\nkind = "table"\n{lines}'


def utilities_with(entries: str) -> str:
    return table_with(f'targets = ["crack"]\nutilities = [{entries}]')


BIG = "1" + "0" * 400
QUOTED = r'"a\"b" . '

RULES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    # The whole file
    "no TOML": ("schema = ", "", ("not valid TOML", "end of document", "correct that place")),
    "a number of thousands of digits": (
        f"schema = 1{'0' * 5000}",
        "",
        ("not valid TOML", "correct that place"),
    ),
    "too deeply nested": (f"schema = {'[' * 20000}", "", ("not valid TOML", "correct that place")),
    "a key of 200 kB of dots": (f"{'a.' * 100_000}b = 1", "", ("line 1 has a name with more than 64 dots",)),
    "a header of quoted dots": (f"schema = 1\n[{QUOTED * 70}b]", "", ("line 2 has a name with more than 64 dots",)),
    "a number of thousands of hexadecimal digits": (f"schema = 0x{'f' * 9000}", "", ("more than 4300 digits",)),
    "lists in lists": (f"schema = {'[' * 401}{']' * 401}", "", ("not valid TOML",)),
    "a key twice": ("schema = 1\nschema = 1", "", ("not valid TOML",)),
    "unknown field": (
        document(f'{HEAD}\nunits = "EUR"'),
        "units",
        ("no such field", "known are schema", "did you mean 'unit'?"),
    ),
    "unknown field like no other": (document(f"{HEAD}\nzzz = 1"), "zzz", ("no such field", "remove it")),
    # schema, name, unit, decisions
    "schema missing": (document('decisions = ["pass", "fail"]'), "schema", ("missing", "required", "add it")),
    "schema of tomorrow": (
        document('schema = 2\ndecisions = ["pass", "fail"]'),
        "schema",
        ("it is 2", "reads 1", "set schema = 1"),
    ),
    "schema as text": (document(HEAD.replace("schema = 1", 'schema = "1"')), "schema", ("it is '1'", "a whole number")),
    "schema as truth": (
        document(HEAD.replace("schema = 1", "schema = true")),
        "schema",
        ("it is True", "a whole number"),
    ),
    "schema as float": (
        document(HEAD.replace("schema = 1", "schema = 1.0")),
        "schema",
        ("it is 1.0", "a whole number"),
    ),
    "name as number": (document(f"{HEAD}\nname = 5"), "name", ("it is 5", "a text")),
    "unit as number": (document(f"{HEAD}\nunit = 5"), "unit", ("it is 5", "a text")),
    "decisions as text": (document('schema = 1\ndecisions = "pass"'), "decisions", ("it is 'pass'", "a list")),
    "decisions of numbers": (document("schema = 1\ndecisions = [1, 2]"), "decisions", ("[1, 2]", "in quotes")),
    "decisions of lists": (document('schema = 1\ndecisions = [["a"]]'), "decisions", ("in quotes",)),
    "decisions repeat": (
        document('schema = 1\ndecisions = ["pass", "fail", "pass"]'),
        "decisions",
        ("['pass'] appear more than once", "rename them"),
    ),
    "empty decision": (
        document('schema = 1\ndecisions = [""]', TEST, utilities_with('{ value = { "" = 1 } }')),
        "decisions",
        ("a name is empty", "fill it in"),
    ),
    "decisions missing": (
        document("schema = 1", TEST, utilities_with("{ value = { } }")),
        "reward",
        ("decisions are missing", "name one or more"),
    ),
    # tests
    "tests missing": (document(tests=""), "tests", ("missing", "add it")),
    "tests empty": (
        document(f"{HEAD}\ntests = []", "", REWARD),
        "tests",
        ("it is empty", "one or more tests", "add [[tests]]"),
    ),
    "tests as table": (document(tests='[tests]\nname = "crack"'), "tests", ("must be a list",)),
    "tests as numbers": (document(f"{HEAD}\ntests = [1]", ""), "tests[0]", ("it is 1", "write [[tests]]")),
    "tests repeat": (
        document(tests=f"{TEST}\n{TEST}"),
        "tests",
        ("['crack'] appear more than once", "rename them"),
    ),
    "test without name": (document(tests="[[tests]]\ncost = 1"), "tests[0].name", ("missing", "add it")),
    "test with a number for a name": (
        document(tests="[[tests]]\nname = 1\ncost = 1"),
        "tests[0].name",
        ("it is 1", "a text"),
    ),
    "test with an empty name": (document(tests=_test("cost = 1", "")), "tests[0]", ("non-empty text",)),
    "test without cost": (
        document(tests=f"{TEST}\n{_test('', 'visual')}"),
        "tests[1].cost",
        ("test 'visual' has no cost", "add it"),
    ),
    "test with an unknown field": (
        document(tests=_test("price = 1")),
        "tests[0].price",
        ("no such field", "known are name, cost"),
    ),
    "test with a misspelt field": (
        document(tests=_test("cost = 1\nonarrival = true")),
        "tests[0].onarrival",
        ("did you mean 'on_arrival'?",),
    ),
    "cost as text": (document(tests=_test('cost = "1"')), "tests[0].cost", ("it is '1'", "a number")),
    "cost as truth": (document(tests=_test("cost = true")), "tests[0].cost", ("it is True", "a number")),
    "cost as date": (document(tests=_test("cost = 2024-01-01")), "tests[0].cost", ("a number",)),
    "cost negative": (document(tests=_test("cost = -1")), "tests[0]", ("cost is -1", "0 or more")),
    "cost NaN": (document(tests=_test("cost = nan")), "tests[0]", ("cost is nan", "finite")),
    "cost infinite": (document(tests=_test("cost = inf")), "tests[0]", ("cost is inf", "finite")),
    "cost of hundreds of digits": (document(tests=_test(f"cost = {BIG}")), "tests[0]", ("finite",)),
    "outcomes as text": (
        document(tests=_test('cost = 1\noutcomes = "ok"')),
        "tests[0].outcomes",
        ("it is 'ok'", "a list"),
    ),
    "outcomes of truths": (
        document(tests=_test("cost = 1\noutcomes = [true, false]")),
        "tests[0]",
        ("outcomes are [True, False]", "non-empty texts"),
    ),
    "outcomes empty": (document(tests=_test("cost = 1\noutcomes = []")), "tests[0]", ("one or more",)),
    "outcomes repeat": (
        document(tests=_test('cost = 1\noutcomes = ["a", "a"]')),
        "tests[0]",
        ("repeat a name", "rename one"),
    ),
    "outcome empty": (
        document(tests=_test('cost = 1\noutcomes = ["a", ""]')),
        "tests[0]",
        ("non-empty texts",),
    ),
    "group as number": (document(tests=_test("cost = 1\ngroup = 1")), "tests[0].group", ("a text",)),
    "group empty": (
        document(tests=_test('cost = 1\ngroup = ""\ngroup_cost = 0')),
        "tests[0]",
        ("group is ''", "non-empty text"),
    ),
    "group without its cost": (
        document(tests=_test('cost = 1\ngroup = "g"')),
        "tests[0]",
        ("go together", "give both, or neither"),
    ),
    "group_cost without group": (
        document(tests=_test("cost = 1\ngroup_cost = 0.5")),
        "tests[0]",
        ("go together",),
    ),
    "group_cost as text": (
        document(tests=_test('cost = 1\ngroup = "g"\ngroup_cost = "x"')),
        "tests[0].group_cost",
        ("it is 'x'", "a number"),
    ),
    "group_cost above cost": (
        document(tests=_test('cost = 1\ngroup = "g"\ngroup_cost = 2')),
        "tests[0]",
        ("exceeds cost", "swap them"),
    ),
    "group_cost negative": (
        document(tests=_test('cost = 1\ngroup = "g"\ngroup_cost = -2')),
        "tests[0]",
        ("group_cost is -2", "0 or more"),
    ),
    "on_arrival as text": (
        document(tests=_test('on_arrival = "yes"')),
        "tests[0].on_arrival",
        ("it is 'yes'", "true or false"),
    ),
    "available as number": (
        document(tests=_test("cost = 1\navailable = 1")),
        "tests[0].available",
        ("it is 1", "true or false"),
    ),
    "on_arrival and unavailable": (
        document(tests=_test("on_arrival = true\navailable = false")),
        "tests[0]",
        ("on_arrival is true and available is false", "drop one"),
    ),
    "on_arrival with a cost": (
        document(tests=_test("on_arrival = true\ncost = 1")),
        "tests[0]",
        ("known on arrival", "drop cost and group"),
    ),
    "on_arrival with a group": (
        document(tests=_test('on_arrival = true\ngroup = "g"\ngroup_cost = 0')),
        "tests[0]",
        ("known on arrival", "drop cost and group"),
    ),
    # reward
    "reward missing": (document(reward=""), "reward", ("missing", "add it")),
    "reward as text": (document(f'{HEAD}\nreward = "match"', TEST, ""), "reward", ("a table",)),
    "reward with an unknown field": (
        document(reward='[reward]\nkind = "table"\ntarget = ["crack"]'),
        "reward.target",
        ("no such field", "did you mean 'targets'?"),
    ),
    "reward without kind": (document(reward='[reward]\ntargets = ["crack"]'), "reward.kind", ("missing",)),
    "kind as number": (document(reward="[reward]\nkind = 1"), "reward.kind", ("it is 1", "a text")),
    "kind unknown": (
        document(reward='[reward]\nkind = "regret"'),
        "reward.kind",
        ("it is 'regret'", "kinds are table, match, projection, entropy; choose one"),
    ),
    "targets missing": (document(reward=table_with(UTILITIES)), "reward.targets", ("missing or empty", "add it")),
    "targets empty": (
        document(reward=table_with(f"targets = []\n{UTILITIES}")),
        "reward.targets",
        ("missing or empty", "add it"),
    ),
    "targets as text": (
        document(reward=table_with(f'targets = "crack"\n{UTILITIES}')),
        "reward.targets",
        ("it is 'crack'", "a list"),
    ),
    "targets unknown": (
        document(reward=table_with(f'targets = ["crak"]\n{UTILITIES}')),
        "reward.targets",
        ("['crak'] are no tests", "name tests of ['crack']"),
    ),
    "targets of lists": (
        document(reward=table_with(f'targets = [["crack"]]\n{UTILITIES}')),
        "reward.targets",
        ("are no tests", "correct them"),
    ),
    "targets repeat": (
        document(reward=table_with(f'targets = ["crack", "crack"]\n{UTILITIES}')),
        "reward.targets",
        ("['crack'] appear more than once",),
    ),
    "utilities missing": (
        document(reward=table_with('targets = ["crack"]')),
        "reward.utilities",
        ("missing or empty", "add it"),
    ),
    "utilities empty": (document(reward=utilities_with("")), "reward.utilities", ("missing or empty",)),
    "utilities as table": (
        document(reward=table_with('targets = ["crack"]\nutilities = { a = 1 }')),
        "reward.utilities",
        ("a list",),
    ),
    "utility as number": (
        document(reward=utilities_with("1")),
        "reward.utilities[0]",
        ("it is 1", "a table with when and value", "write both"),
    ),
    "utility with an unknown field": (
        document(reward=utilities_with("{ values = { } }")),
        "reward.utilities[0].values",
        ("no such field", "did you mean 'value'?"),
    ),
    "utility without value": (
        document(reward=utilities_with('{ when = { crack = "none" } }')),
        "reward.utilities[0].value",
        ("missing", "add it"),
    ),
    "when as text": (
        document(reward=utilities_with('{ when = "none", value = { pass = 1, fail = 0 } }')),
        "reward.utilities[0].when",
        ("it is 'none'", "a table"),
    ),
    "value as number": (
        document(reward=utilities_with('{ when = { crack = "none" }, value = 1 }')),
        "reward.utilities[0].value",
        ("it is 1", "a table"),
    ),
    "when another test": (
        document(tests=f"{TEST}\n{CHEAP}", reward=utilities_with('{ when = { visual = "0" }, value = { } }')),
        "reward.utilities[0].when.visual",
        ("'visual' is not a target of the reward", "known are crack", "correct it"),
    ),
    "when an unknown outcome": (
        document(reward=utilities_with('{ when = { crack = "wide" }, value = { pass = 1, fail = 0 } }')),
        "reward.utilities[0].when.crack",
        ("it is 'wide'", "outcomes are none, deep", "choose one"),
    ),
    "when a number": (
        document(reward=utilities_with("{ when = { crack = 0 }, value = { pass = 1, fail = 0 } }")),
        "reward.utilities[0].when.crack",
        ("it is 0", "outcomes are none, deep"),
    ),
    "when a list": (
        document(reward=utilities_with('{ when = { crack = ["none"] }, value = { pass = 1, fail = 0 } }')),
        "reward.utilities[0].when.crack",
        ("outcomes are none, deep",),
    ),
    "value of an unknown decision": (
        document(reward=utilities_with("{ value = { pass = 1, fail = 0, keep = 2 } }")),
        "reward.utilities[0].value.keep",
        ("'keep' is not a decision", "known are pass, fail"),
    ),
    "value of a decision missing": (
        document(reward=utilities_with("{ value = { pass = 1 } }")),
        "reward.utilities[0].value.fail",
        ("it is None", "a finite number", "give the utility"),
    ),
    "value as text": (
        document(reward=utilities_with('{ value = { pass = "1", fail = 0 } }')),
        "reward.utilities[0].value.pass",
        ("it is '1'", "a finite number"),
    ),
    "value as truth": (
        document(reward=utilities_with("{ value = { pass = true, fail = 0 } }")),
        "reward.utilities[0].value.pass",
        ("it is True", "a finite number"),
    ),
    "value NaN": (
        document(reward=utilities_with("{ value = { pass = nan, fail = 0 } }")),
        "reward.utilities[0].value.pass",
        ("it is nan", "a finite number"),
    ),
    "value infinite": (
        document(reward=utilities_with("{ value = { pass = 1, fail = -inf } }")),
        "reward.utilities[0].value.fail",
        ("it is -inf", "a finite number"),
    ),
    "value of hundreds of digits": (
        document(reward=utilities_with(f"{{ value = {{ pass = {BIG}, fail = 0 }} }}")),
        "reward.utilities[0].value.pass",
        ("a finite number",),
    ),
    "combination not covered": (
        document(reward=utilities_with('{ when = { crack = "none" }, value = { pass = 1, fail = 0 } }')),
        "reward.utilities",
        ("no entry covers {'crack': 'deep'}", "every combination needs one", "add it"),
    ),
    "match with decisions": (
        document(reward='[reward]\nkind = "match"'),
        "reward",
        ("decisions are ['pass', 'fail']", "leave decisions out"),
    ),
    "match with targets": (
        document("schema = 1", reward='[reward]\nkind = "match"\ntargets = ["crack"]'),
        "reward.targets",
        ("a reward of kind 'match' has no such field", "remove it"),
    ),
    "match with utilities": (
        document("schema = 1", reward='[reward]\nkind = "match"\nutilities = []'),
        "reward.utilities",
        ("a reward of kind 'match' has no such field",),
    ),
    "a table over 41 targets": (
        document(
            tests="\n".join(_test("cost = 1", f"t{n}") for n in range(41)),
            reward=table_with(
                f"targets = {[f't{n}' for n in range(41)]}\nutilities = [{{value = {{pass = 1, fail = 0}}}}]"
            ),
        ),
        "reward.targets",
        ("41 targets and 2 decisions have 4398046511104 combinations", "at most 32 targets and 1,048,576 combinations"),
    ),
    "a table over 70 targets with one outcome each": (
        document(
            tests="\n".join(_test('cost = 1\noutcomes = ["x"]', f"t{n}") for n in range(70)),
            reward=table_with(
                f"targets = {[f't{n}' for n in range(70)]}\nutilities = [{{value = {{pass = 1, fail = 0}}}}]"
            ),
        ),
        "reward.targets",
        ("70 targets and 2 decisions have 2 combinations", "at most 32 targets"),
    ),
    "match over too many vectors": (
        document(
            "schema = 1",
            "\n".join(_test("cost = 1", f"t{i}") for i in range(70)),
            '[reward]\nkind = "match"',
        ),
        "reward",
        ("2^62", "fewer target tests"),
    ),
    "unstated with targets": (
        document(reward='[reward]\nkind = "unstated"\ntargets = ["crack"]'),
        "reward.targets",
        ("a reward of kind 'unstated' has no such field",),
    ),
    "unstated without decisions": (
        document("schema = 1", reward='[reward]\nkind = "unstated"'),
        "reward",
        ("decisions are missing",),
    ),
}


@pytest.mark.parametrize("key", ["when", "value"])
def test_a_dictionary_with_a_list_for_a_table(key: str) -> None:
    entry = {"when": {}, "value": {"y": 1}, key: []}
    content = {
        "schema": 1,
        "decisions": ["y"],
        "tests": [{"name": "a", "cost": 1}],
        "reward": {"kind": "table", "targets": ["a"], "utilities": [entry]},
    }
    with pytest.raises(ProblemFileError, match=rf"reward\.utilities\[0\]\.{key}: it is \[\]"):
        Problem.from_dict(content)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_answered_by_file_key_rule_and_remedy(rule: str, tmp_path: Path) -> None:
    text, key, fragments = RULES[rule]
    path = tmp_path / "problem.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ProblemFileError) as caught:
        Problem.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: {key}: " if key else f"{path}: ")
    for fragment in fragments:
        assert fragment in message
    assert len(message) < 3000
    assert caught.value.mistakes == (message,)


WHOLE = f"""{HEAD}
name = "bolts"
ignore = ["id"]

{TEST}

{CHEAP}
outcomes = ["clean", "rusty"]

{_test("cost = 1.0", "sound")}

{REWARD}
"""
SLIPS = {
    # what stands in the file, what shall stand there, and what is said
    "title": ('name = "bolts"', "name = 5", "name: it is 5"),
    "column": ('ignore = ["id"]', 'ignore = ["id", "id"]', "ignore: ignore is"),
    "cost": ("cost = 2.0", "cost = -2.0", "tests[0]: test 'crack': cost is -2"),
    "field": ("cost = 0.1", "cosst = 0.1", "tests[1].cosst: there is no such field"),
    "outcomes": ('"clean", "rusty"', '"clean", "clean"', "tests[1]: test 'visual': outcomes"),
    "type": ("cost = 1.0", 'cost = "one"', "tests[2].cost: it is 'one'"),
    "target": ('when = { crack = "none" }', 'when = { crak = "none" }', "reward.utilities[0].when.crak: 'crak' is not"),
    "outcome": ('{ crack = "deep" }', '{ crack = "depe" }', "reward.utilities[1].when.crack: it is 'depe'"),
    "utility": ("pass = -20", 'pass = "much"', "reward.utilities[1].value.pass: it is 'much'"),
}  # fmt: skip
MEET = {("field", "outcomes"), ("outcomes", "target"), ("outcomes", "outcome"), ("outcomes", "utility")}
"""Where the first keeps the second from being judged, or the other way round."""


def mistakes_of(*slips: str) -> tuple[str, ...]:
    text = WHOLE
    for slip in slips:
        right, wrong, _ = SLIPS[slip]
        assert text.count(right) == 1, slip
        text = text.replace(right, wrong)
    with pytest.raises(ProblemFileError) as caught:
        Problem.from_dict(tomllib.loads(text), source="here")
    return caught.value.mistakes


@pytest.mark.parametrize("slip", SLIPS)
def test_one_mistake_is_told_as_if_there_were_no_others_and_none_hides_another(slip: str) -> None:
    (own,) = mistakes_of(slip)
    assert own.startswith(f"here: {SLIPS[slip][2]}")
    for other in SLIPS:
        if slip < other and not {(slip, other), (other, slip)} & MEET:
            assert set(mistakes_of(slip, other)) == {own, *mistakes_of(other)}


def test_mistakes_are_told_at_once_the_first_ten_of_them() -> None:
    tests = [{"name": f"t{n}", "cost": -1} for n in range(14)]
    with pytest.raises(ProblemFileError) as several:
        Problem.from_dict({"schema": 1, "tests": tests, "reward": {"kind": "match"}}, source="here")
    lines = str(several.value).split("\n")
    assert lines[0] == "here: 14 mistakes:"
    assert lines[10].startswith("  tests[9]: test 't9': cost is -1; a cost must be finite and 0 or more")
    assert lines[11:] == ["  and 4 more"]
    assert len(several.value.mistakes) == 14


def test_what_follows_from_a_mistake_is_not_told() -> None:
    assert len(mistakes_of("outcomes")) == 1
    assert len(mistakes_of("target", "utility")) == 2
    text = WHOLE.replace("decisions =", "decisons =")
    with pytest.raises(ProblemFileError, match=r"^problem: decisons: there is no such field") as misspelt:
        Problem.from_dict(tomllib.loads(text))
    assert len(misspelt.value.mistakes) == 1
    with pytest.raises(ProblemFileError) as empty:
        Problem.from_dict({})
    assert [text.split(": ")[1] for text in empty.value.mistakes] == ["schema", "tests", "reward"]
    reward = {"kind": "table", "targets": ["a"], "utilities": [{"value": {"y": "?"}}]}
    tests = [{"name": "a", "cost": "?"}, {"name": "b", "cost": "?", "group": "g", "group_cost": 1, "cuts": [2, 1]}]
    content = {"schema": 1, "decisions": ["y"], "tests": tests, "reward": reward}
    with pytest.raises(ProblemFileError) as draft:
        Problem.from_dict(content)
    assert ["are not filled in" in text for text in draft.value.mistakes] == [True, False]
    assert "tests[1]: test 'b': cuts are" in draft.value.mistakes[1]


def test_the_plain_document_is_right(tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    path.write_text(document(), encoding="utf-8")
    problem = Problem.load(path)
    assert problem == Problem(
        [Test("crack", 2.0, outcomes=("none", "deep"))],
        ["pass", "fail"],
        Table(["crack"], [[1, 0], [-20, 0]]),
    )


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ProblemFileError, match=r"nowhere.toml: it cannot be read \(No such file.*check the path"):
        Problem.load(tmp_path / "nowhere.toml")
    with pytest.raises(ProblemFileError, match="cannot be read"):
        Problem.load(tmp_path)


def test_a_file_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    path.write_bytes(document(f'{HEAD}\nname = "Prüfung"').encode("latin-1"))
    with pytest.raises(ProblemFileError, match=r"not UTF-8 text.*save it as UTF-8"):
        Problem.load(path)


def test_a_byte_order_mark_and_windows_lines_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    path.write_bytes(b"\xef\xbb\xbf" + document().replace("\n", "\r\n").encode())
    assert Problem.load(str(path)).decisions == ("pass", "fail")


def test_costs_may_be_left_out_where_nothing_is_run(tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    tests = "\n".join([TEST, _test("on_arrival = true", "age"), _test("available = false", "gold")])
    path.write_text(document(tests=tests), encoding="utf-8")
    problem = Problem.load(path)
    assert [(test.on_arrival, test.available, test.cost) for test in problem.tests[1:]] == [
        (True, True, 0.0),
        (False, False, 0.0),
    ]


def test_the_first_entry_that_covers_a_combination_counts(tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    reward = """[reward]
    kind = "table"
    targets = ["crack", "visual"]
    utilities = [
        { when = { visual = "1", crack = "deep" }, value = { pass = -9, fail = 3 } },
        { when = { crack = "deep" }, value = { pass = -1, fail = 2 } },
        { value = { pass = 1, fail = 0 } },
    ]"""
    path.write_text(document(tests=f"{TEST}\n{CHEAP}", reward=reward), encoding="utf-8")
    loaded = Problem.load(path).reward
    assert isinstance(loaded, Table)
    assert loaded.utilities.tolist() == [[[1, 0], [1, 0]], [[-1, 2], [-9, 3]]]


def test_a_function_stays_in_the_program(tmp_path: Path, problem: Problem) -> None:
    own = Problem(problem.tests, problem.decisions, lambda x, y: x[:, 0])
    with pytest.raises(ProblemError, match="the reward is Function; a file holds no Python function"):
        own.save(tmp_path / "x.toml")
    unstated = Problem(problem.tests, problem.decisions, Unstated())
    unstated.save(tmp_path / "x.toml")
    assert Problem.load(tmp_path / "x.toml") == unstated


class Discounted(Table):
    """A reward of one's own: it overrides what a table pays."""

    def payoff(self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray) -> FloatArray:
        return 0.5 * super().payoff(tests, decisions, rows)


def test_a_reward_of_ones_own_is_not_written_as_its_base_class(problem: Problem) -> None:
    assert isinstance(problem.reward, Table)
    own = Problem(problem.tests, problem.decisions, Discounted(problem.reward.targets, problem.reward.utilities))
    with pytest.raises(ProblemError, match="the reward is Discounted"):
        own.to_dict()
    named = own.to_dict(unstated=True)
    assert named["reward"] == {"kind": "unstated", "of": "Discounted"}
    again = Problem.from_dict(named)
    with pytest.raises(ProblemError, match="the reward was a Discounted of the program"):
        again.payoff(np.zeros((1, problem.d)))


MEASURED = [Test("hardness", 1.0, outcomes=None, unit="HRC"), Test("length", 0.5, outcomes=None)]
LIMITS = [(None, 1.5), (1.5, 2.0), (2.0, None), (None, None), (-math.inf, math.inf)]
PROJECTION = Projection(
    [Score("strength", {"hardness": 30.0}, 5.0, "MPa"), Score("size", {"length": 1.0})],
    [Piece("pass", 1.0, {"strength": limits}, {"size": -0.5}, {"size": 2.0}) for limits in LIMITS],
)
REWARDS = {
    "table": Problem([Test("crack", 1.0)], ["pass", "fail"], Table(["crack"], [[1.0, 0.0], [-20.0, 0.0]])),
    "match": Problem([Test("crack", 1.0), Test("rust", 0.5)], (), Match()),
    "projection": Problem(MEASURED, ["pass", "fail"], PROJECTION, unit="EUR"),
    "entropy": Problem(MEASURED, ["stop"], Entropy(2.5)),
    "unstated": Problem([Test("crack", 1.0)], ["pass"], Unstated("Discounted")),
}


def test_every_kind_of_reward_is_tried() -> None:
    assert set(REWARDS) == {problem.to_dict()["reward"]["kind"] for problem in REWARDS.values()}
    assert {type(problem.reward) for problem in REWARDS.values()} == set(KINDS.values())


@pytest.mark.parametrize("name", [*REWARDS, *INSTANCES])
def test_a_problem_is_json_and_toml_and_the_same_again(name: str, tmp_path: Path) -> None:
    problem = REWARDS[name] if name in REWARDS else INSTANCES[name]().problem
    assert Problem.from_dict(strict(json.dumps(problem.to_dict(), allow_nan=False))) == problem
    problem.save(tmp_path / "problem.toml")
    assert Problem.load(tmp_path / "problem.toml") == problem


def test_a_limit_that_is_not_there_is_null_in_json_and_infinite_in_toml(tmp_path: Path) -> None:
    problem = REWARDS["projection"]
    pieces = problem.to_dict()["reward"]["pieces"]
    assert [piece["when"]["strength"] for piece in pieces[:3]] == [[None, 1.5], [1.5, 2.0], [2.0, None]]
    problem.save(tmp_path / "problem.toml")
    assert '"strength" = [-inf, 1.5]' in (tmp_path / "problem.toml").read_text()


def test_a_structure_with_infinite_limits_is_still_read() -> None:
    content = REWARDS["projection"].to_dict()
    for piece in content["reward"]["pieces"]:
        low, high = piece["when"]["strength"]
        piece["when"]["strength"] = [-math.inf if low is None else low, math.inf if high is None else high]
    written = json.dumps(content)  # as Python writes it: -Infinity
    assert "-Infinity" in written
    assert Problem.from_dict(json.loads(written)) == REWARDS["projection"]


def test_a_source_begins_messages_about_dictionaries() -> None:
    with pytest.raises(ProblemFileError, match=r"^here: schema: "):
        Problem.from_dict({"schema": 2}, source="here")


ODD_NAMES = [
    "größe 大 🔩",
    'say "hi"',
    "it's",
    "back\\slash",
    "dots.and.more",
    "key = value # no comment",
    " leading and trailing ",
    '[brackets] {braces} \'quotes\' """',
    "true",
    "-1",
    "\\u0041",
    "astral \U0010ffff",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_round_trip(name: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.toml"
    problem = Problem(
        [
            Test(name, 1.5, outcomes=(name, name + "2"), group=name, group_cost=0.25),
            Test(name + "2", on_arrival=True),
            Test(name + "3", 1e-9, available=False),
        ],
        [name, name + "!"],
        Table([name, name + "3"], np.arange(8).reshape(2, 2, 2) / 7),
        name=name,
        unit=name,
    )
    problem.save(path)
    assert Problem.load(path) == problem


@pytest.mark.parametrize("mark", ["\\u001B[2J", "\\u009B", "\\n", "\\u202E", "\\u200B", "\\u007F"])
@pytest.mark.parametrize("place", ["bolts", "EUR", "pass", "visual", "rusty", "scale", "MPa", "margin"])
def test_a_name_that_acts_is_refused_with_file_and_place(place: str, mark: str, tmp_path: Path) -> None:
    listed = """
        schema = 1
        name = "bolts"
        unit = "EUR"
        decisions = ["pass", "fail"]
        tests = [{ name = "visual", cost = 1, outcomes = ["clean", "rusty"], group = "scale", group_cost = 0.5 }]
        [reward]
        kind = "table"
        targets = ["visual"]
        utilities = [
            { when = { "visual" = "rusty" }, value = { "pass" = 1, fail = 0 } },
            { value = { "pass" = 0, fail = 1 } },
        ]
    """
    measured = """
        schema = 1
        decisions = ["pass", "fail"]
        tests = [{ name = "strength", cost = 1, measured = true, unit = "MPa" }]
        [reward]
        kind = "projection"
        scores = [{ name = "margin", weights = { strength = 1 } }]
        pieces = [{ decision = "pass", value = 1 }]
    """
    path = tmp_path / "x.toml"
    content = measured if place in ("MPa", "margin") else listed
    path.write_text(content)
    Problem.load(path)
    path.write_text(content.replace(place, place + mark))
    with pytest.raises(ProblemFileError) as caught:
        Problem.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert re.search(r"with the character U\+[0-9A-F]{4};.*leave them out$", str(caught.value))
    assert str(caught.value).isprintable()


PLAIN = st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]), max_size=8).filter(
    lambda text: escaped(text) == text
)
TEXTS = PLAIN.filter(str.strip)
PRICES = st.floats(0, 1e12)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    names = draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True))
    tests = []
    for name in names:
        outcomes = draw(st.lists(TEXTS, min_size=1, max_size=3, unique=True))
        kind = draw(st.integers(0, 3))
        cost = draw(PRICES)
        if kind == 0:
            tests.append(Test(name, outcomes=outcomes, on_arrival=True))
        elif kind == 1:
            tests.append(Test(name, cost, outcomes=outcomes, available=False))
        elif kind == 2:
            tests.append(Test(name, cost, outcomes=outcomes, group=draw(TEXTS), group_cost=cost / 3))
        else:
            tests.append(Test(name, cost, outcomes=outcomes))
    title, unit = draw(PLAIN), draw(TEXTS)
    if draw(st.booleans()):
        return Problem(tests, reward=Match(), name=title, unit=unit)
    decisions = draw(st.lists(TEXTS, min_size=1, max_size=3, unique=True))
    targets = draw(st.lists(st.sampled_from(tests), min_size=1, max_size=3, unique_by=lambda test: test.name))
    shape = (*(test.k for test in targets), len(decisions))
    size = int(np.prod(shape))
    numbers = draw(st.lists(st.floats(-1e300, 1e300), min_size=size, max_size=size))
    reward = Table([test.name for test in targets], np.reshape(numbers, shape))
    return Problem(tests, decisions, reward, name=title, unit=unit)


@given(problems())
def test_any_problem_round_trips(tmp_path_factory: pytest.TempPathFactory, problem: Problem) -> None:
    path = tmp_path_factory.mktemp("problems") / "problem.toml"
    problem.save(path)
    again = Problem.load(path)
    assert again == problem
    assert hash(again) == hash(problem)


@pytest.mark.parametrize("kind", ["table", "match"])
def test_random_problems_round_trip(kind: str, tmp_path: Path, rng: np.random.Generator) -> None:
    for _ in range(20):
        problem = random_problem(rng, kind=kind)
        problem.save(tmp_path / "problem.toml")
        assert Problem.load(tmp_path / "problem.toml") == problem
        assert Problem.from_dict(problem.to_dict()) == problem


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["schema", "tests", "reward", "decisions", "name", "cost", "kind", "targets"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_structure_crashes_the_reader(content: object) -> None:
    for given_content in (content, {"schema": 1, "tests": content, "reward": content}):
        if not isinstance(given_content, dict):
            continue
        try:
            Problem.from_dict(given_content)
        except ProblemFileError:
            continue


def test_dots_within_texts_and_short_keys_are_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    path.write_text(document(HEAD + f'\nname = "{"1." * 60}0 ... {"." * 500}"'), encoding="utf-8")
    assert Problem.load(path).name.startswith("1.1.")


def test_a_problem_that_is_no_table() -> None:
    with pytest.raises(ProblemFileError, match=r"here: it is \[1\]; a problem is a table of fields"):
        Problem.from_dict([1], source="here")  # type: ignore[arg-type]


def test_a_file_that_is_too_large_is_neither_read_nor_written(tmp_path: Path) -> None:
    with (tmp_path / "problem.toml").open("wb") as file:
        file.truncate(2**24 + 1)
    with pytest.raises(ProblemFileError, match="more than 16 MiB"):
        Problem.load(tmp_path / "problem.toml")
    problem = Problem([Test("a", 1.0, outcomes=["x" * 2**23, "y"])], ["pass"], Table(["a"], [[1.0], [0.0]]))
    with pytest.raises(ProblemError, match=r"would have \d+ MiB; at most 16 MiB are read"):
        problem.save(tmp_path / "other.toml")
    assert not (tmp_path / "other.toml").exists()


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_numbers_of_hundreds_of_digits_in_rewards_of_measurements(number: int) -> None:
    with pytest.raises(ProblemError, match="must be finite"):
        Score("s", {"a": number})
    with pytest.raises(ProblemError, match="must be finite"):
        Piece("y", number)
    with pytest.raises(ProblemError, match="give two numbers"):
        Piece("y", 1.0, when={"s": (number, None)})
    with pytest.raises(ProblemError, match="finite and above 0"):
        Entropy(number)
