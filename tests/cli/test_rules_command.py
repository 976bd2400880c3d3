from __future__ import annotations

import csv
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.cli import castings

from proband.policies import Tree


@pytest.fixture
def tree(run) -> Tree:
    castings.write()
    arguments = ("castings.toml", "--data", "castings-records.csv", "--depth", "2", "--out", "policy.json")
    assert run("plan", *arguments).status == 0
    return Tree.load("policy.json")


def test_a_policy_of_a_spreadsheet_treats_its_rows_alike_in_all_forms(run, tree: Tree) -> None:
    """The numbers of the spreadsheet go into the program and the database as they are."""
    problem = tree.problem
    table: list[dict[str, Any]] = [dict(zip(castings.HEADER, row, strict=True)) for row in castings.rows()]
    states = problem.records({name: [row[name] for row in table] for name in castings.HEADER}).outcomes
    wanted = [problem.action_name(a) for a in tree.run(states).actions]

    room: dict[str, Any] = {}
    exec(run("rules", "policy.json", "--as", "python").out, room)
    assert [room["next_action"](row) for row in table] == [("decision", name) for name in wanted]

    expression = run("rules", "policy.json", "--as", "sql").out
    with sqlite3.connect(":memory:") as base:
        columns = ", ".join(f'"{name}"' for name in castings.HEADER)
        base.execute(f"CREATE TABLE past ({columns})")
        base.executemany("INSERT INTO past VALUES (?, ?, ?, ?, ?, ?, ?)", [list(row.values()) for row in table])
        answers = [answer for (answer,) in base.execute(f"SELECT {expression} FROM past")]
    assert answers == [f"decide: {name}" for name in wanted]

    assert run("rules", "policy.json", "--as", "csv", "--out", "rules.csv").out == "written  rules.csv\n"
    rows = list(csv.DictReader(Path("rules.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == sum(1 for node in tree.nodes() if not node.children)
    assert set(rows[0]) >= {"decision", "probability", "value", "cost"}
    told = run("rules", "policy.json").out
    assert told == run("rules", "policy.json", "--as", "text").out
    assert len(told.splitlines()) == 1 + len(rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["policy.json", "--as", "cobol"], "--as is 'cobol'; rules are written as csv, python, sql, text; choose one"),
        (["nope.json"], "nope.json: it cannot be read"),
        (["castings.toml"], "give a policy that proband plan or proband fit wrote (--out)"),
    ],
)
def test_a_mistake_is_answered(run, tree: Tree, arguments: list[str], message: str) -> None:
    result = run("rules", *arguments)
    assert (result.status, result.out) == (2, "")
    assert message in result.err


def test_a_folder_that_is_not_there_is_told(run, tree: Tree) -> None:
    result = run("rules", "policy.json", "--out", "no/such/folder.txt")
    assert result.status == 1
    assert "no/such/folder.txt" in result.err
