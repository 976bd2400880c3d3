"""Rules act as the policy does: the generated programs and queries are run, on whole subjects and on partial states."""

from __future__ import annotations

import ast
import csv
import io
import math
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proband import Discrete, Problem, Test, plan
from proband.errors import ProblemError
from proband.planners import evaluate
from proband.policies import Node, Tree
from proband.policies.rules import FORMATS, python, sentences, sql, table
from proband.policies.rules.sql import NO_OUTCOME
from proband.rewards import Match, Table
from proband.testing import random_distribution, random_problem, random_states
from proband.texts import text_of
from proband.vocabulary import FloatArray

HOSTILE = [
    "it's",
    'say "hi"',
    "'; DROP TABLE subjects; --",
    '"""',
    "'''",
    "back\\slash\\",
    "{value!r} %s %(a)s ? :name $1",
    "=1+1",
    "@SUM(A1)",
    "-2+3",
    "a,b;c",
    "None",
    "NULL",
    "def",
    "SELECT",
    "value",
    "known",
    "größe 大 🔩",
    "x, decide fail",
    "is and if",
    " padded ",
    "# comment",
    "-- comment",
    "decision",
]


def told(problem: Problem, row: FloatArray, rng: np.random.Generator) -> dict[str, Any]:
    """Return a state as people know it: names of outcomes, and numbers where these are cut."""
    known = {}
    for test, outcome in zip(problem.tests, row, strict=True):
        if np.isnan(outcome) or not test.available:
            continue
        if test.cuts is None:
            known[test.name] = test.names[int(outcome)]
            continue
        points = (test.cuts[0] - 10, *test.cuts, test.cuts[-1] + 10)
        low, high = points[int(outcome)], points[int(outcome) + 1]
        known[test.name] = low if rng.random() < 0.3 else float(rng.uniform(low, high))
    return known


def program(source: str) -> Callable[[dict[str, Any]], tuple[str, str]]:
    tree = ast.parse(source)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    room: dict[str, Any] = {}
    exec(compile(tree, "rules", "exec"), room)
    return room["next_action"]


def queried(expression: str, names: list[str], subjects: Iterable[dict[str, Any]]) -> list[str]:
    """Return what SQLite makes of the expression, over a table with a column for each test."""
    columns = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    with sqlite3.connect(":memory:") as base:
        base.execute(f"CREATE TABLE subjects (number INTEGER PRIMARY KEY, {columns})")
        marks = ", ".join("?" * len(names))
        rows = [[known.get(name) for name in names] for known in subjects]
        base.executemany(f"INSERT INTO subjects ({columns}) VALUES ({marks})", rows)
        return [answer for (answer,) in base.execute(f"SELECT {expression} FROM subjects ORDER BY number")]


def check_alike(tree: Tree, law: Discrete, rng: np.random.Generator, *, partial: int = 200) -> None:
    """Compare program and query with the policy, action by action."""
    problem = tree.problem
    states = np.vstack([law.support, random_states(rng, problem, partial), np.full((1, problem.d), np.nan)])
    subjects = [told(problem, row, rng) for row in states]
    wanted = [(problem.action_name(a), a < problem.d) for a in tree.act(states)]
    act = program(python(tree))
    assert [act(known) for known in subjects] == [("test" if run else "decision", name) for name, run in wanted]
    answers = queried(sql(tree), [test.name for test in problem.tests], subjects)
    assert answers == [f"{'test' if run else 'decide'}: {name}" for name, run in wanted]


def check_table(tree: Tree, law: Discrete) -> None:
    """Follow whole subjects through the table: each meets one row, and the figures sum up to those of the policy."""
    problem = tree.problem
    header, *rows = [[text_of(cell) for cell in row] for row in csv.reader(io.StringIO(table(tree)))]
    assert len(set(header)) == len(header)
    ended = tree.run(law.support)
    for n, subject in enumerate(law.support):
        known = problem.describe(subject)
        asked = [known[name] for name in header[:-4]]
        met = [row for row in rows if all(cell in ("", name) for cell, name in zip(row[:-4], asked, strict=True))]
        assert len(met) == 1
        assert met[0][-4] == problem.action_name(int(ended.actions[n]))
        assert float(met[0][-1]) == pytest.approx(ended.costs[n])
    p, value, cost = np.array([row[-3:] for row in rows], dtype=float).T
    assert p.sum() == pytest.approx(1)
    figures = evaluate(problem, law, tree)
    assert p @ cost == pytest.approx(figures.cost)
    assert p @ (value - cost) == pytest.approx(figures.value)


def castings(name: str = "hardness") -> tuple[Problem, Discrete]:
    """Numbers that are cut, one of them known on arrival."""
    problem = Problem(
        [
            Test("furnace", on_arrival=True, cuts=[-1450, 1e-7]),
            Test(name, 0.01, cuts=[60, 75.5], unit="HRC", group="bench", group_cost=0.005),
            Test("porosity", 0.02, cuts=[0.5], outcomes=("dense", "porous"), group="bench", group_cost=0.01),
            Test("quality", available=False, outcomes=("good", "bad")),
        ],
        ["ship", "scrap"],
        Table(["quality"], [[1.0, -0.5], [-8.0, -0.5]]),
        unit="EUR",
    )
    rng = np.random.default_rng(5)
    rows = np.indices(problem.k.tolist()).reshape(problem.d, -1).T
    return problem, Discrete.from_weights(rows, rng.exponential(size=len(rows)) ** 2)


@pytest.mark.parametrize("seed", range(30))
def test_random_policies_act_alike(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    law = random_distribution(rng, problem)
    tree = plan(problem, law).tree()
    check_alike(tree, law, rng)
    check_table(tree, law)


@pytest.mark.parametrize("options", [{"method": "sparse"}, {"max_tests": 1}, {"budget": 0.015}, {"method": "myopic"}])
def test_limited_and_searched_plans_of_cut_numbers_act_alike(options: dict[str, Any], tmp_path: Path) -> None:
    problem, law = castings()
    plan(problem, law, **options).tree().save(tmp_path / "policy.json")
    tree = Tree.load(tmp_path / "policy.json")
    check_alike(tree, law, np.random.default_rng(1))
    check_table(tree, law)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_cut_trees_act_alike(depth: int, rng: np.random.Generator) -> None:
    problem, law = castings()
    tree = plan(problem, law).tree(depth=depth)
    check_alike(tree, law, rng)
    check_table(tree, law)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_names(name: str, rng: np.random.Generator) -> None:
    problem = Problem(
        [
            Test(name, 0.01, outcomes=(name, "b" + name, f"'{name}")),
            Test("b" + name, on_arrival=True, outcomes=(name, "NULL!")),
            Test(name + "1", 0.01, cuts=[1, 2], outcomes=("low " + name, "mid", "high"), unit="mm"),
        ],
        [name, "no " + name],
        Table([name, name + "1"], rng.normal(size=(3, 3, 2))),
        name=name,
        unit=name,
    )
    law = Discrete.product([[0.2, 0.5, 0.3], [0.5, 0.5], [0.3, 0.3, 0.4]])
    tree = plan(problem, law).tree()
    assert len(list(tree.nodes())) > 3
    check_alike(tree, law, rng)
    check_table(tree, law)
    leaves = [node for node in tree.nodes() if not node.children]
    assert len(sentences(tree).splitlines()) == len(leaves) + 1


def test_a_line_break_is_no_part_of_a_name() -> None:
    for name in ("a\nb", "a\rb", "a\u2028b", "a\0b"):
        with pytest.raises(ProblemError, match="line breaks"):
            Test(name)
        with pytest.raises(ProblemError, match="line breaks"):
            Test("a", outcomes=(name, "c"))


def test_formulas_are_texts_in_the_table() -> None:
    problem = Problem([Test("=1+1", 0.1, outcomes=("@a", "+b"))], ["=cmd", "ok"], Table(["=1+1"], [[1, 0], [0, 1]]))
    lines = table(plan(problem, Discrete([[0], [1]], [0.5, 0.5])).tree()).splitlines()
    assert lines[0] == "'=1+1,decision,probability,value,cost"
    assert [line.split(",")[:2] for line in lines[1:]] == [["'@a", "'=cmd"], ["'+b", "ok"]]


def test_a_test_may_be_called_as_a_column_of_figures(rng: np.random.Generator) -> None:
    problem = Problem([Test("decision", 0.1), Test("cost", 0.1)], reward=Match())
    law = Discrete.product([[0.5, 0.5]] * 2)
    tree = plan(problem, law).tree()
    assert table(tree).splitlines()[0] == "decision,cost,policy decision,probability,value,policy cost"
    check_alike(tree, law, rng)


def test_what_is_no_outcome_is_told() -> None:
    problem, law = castings()
    tree = plan(problem, law).tree()
    act = program(python(tree))
    assert act({"furnace": None}) == act({"furnace": math.nan}) == act({"elsewhere": 1}) == ("test", "furnace")
    for wrong in ("1450", math.inf, -math.inf):
        with pytest.raises(ValueError, match=r"furnace is .*; it must be a finite number"):
            act({"furnace": wrong})
    listed = Problem([Test("visual", 0.1, outcomes=("ok", "no"))], reward=Match())
    tree = plan(listed, Discrete([[0], [1]], [0.5, 0.5])).tree()
    with pytest.raises(ValueError, match="visual is 'OK'; it must be one of 'ok', 'no'"):
        program(python(tree))({"visual": "OK"})
    assert queried(sql(tree), ["visual"], [{"visual": "OK"}, {"visual": "no"}]) == [NO_OUTCOME, "decide: visual=no"]


def test_numbers_that_a_database_holds_as_text_are_numbers() -> None:
    problem = Problem([Test("hardness", 0.1, cuts=[9, 60])], reward=Match())
    expression = sql(plan(problem, Discrete.product([[0.3, 0.3, 0.4]])).tree())
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE subjects (hardness TEXT)")
        base.executemany("INSERT INTO subjects VALUES (?)", [["8.5"], ["10"], ["100"], [None]])
        answers = [answer for (answer,) in base.execute(f"SELECT {expression} FROM subjects")]
    assert answers == [f"decide: hardness={name}" for name in problem.tests[0].names] + ["test: hardness"]


def test_a_deep_tree_is_no_obstacle() -> None:
    d = 150
    problem = Problem([Test(f"t{i}", 0.0) for i in range(d)], ["no", "yes"], Table([f"t{d - 1}"], [[1, 0], [0, 1]]))
    root = Node(d + 1, 1.0, 0.0)
    for i in reversed(range(d)):
        root = Node(i, 1.0, 0.0, (), (Node(d, 1.0, 0.0), root))
    tree = Tree(problem, root)
    rows = np.tril(np.ones((d + 1, d)), -1)
    check_alike(tree, Discrete.from_weights(rows, np.ones(d + 1)), np.random.default_rng(2), partial=20)
    assert len(sentences(tree).splitlines()) == d + 2


def test_sentences_in_words() -> None:
    problem, law = castings()
    told_of = sentences(plan(problem, law, max_tests=1).tree())
    assert told_of.splitlines()[1].startswith("1. If furnace is < -1450")
    assert "HRC" in told_of
    assert all(line.endswith(" EUR).") for line in told_of.splitlines()[1:])
    assert sentences(plan(problem, law, max_tests=0).tree()).count("decide") == 3
    lone = Problem([Test("a", 5.0)], reward=Match())
    assert sentences(plan(lone, Discrete([[0], [1]], [0.5, 0.5])).tree()) == (
        "1. Decide a=0 (100 % of subjects; tests cost 0; value 0.5)."
    )


def test_every_format_is_called_by_its_name() -> None:
    assert list(FORMATS) == ["csv", "python", "sql", "text"]
