"""Problem files: a problem as TOML, every field checked, every mistake answered by file, key, rule and remedy.

TOML, because outcomes such as yes, no, on and off are read as booleans by YAML. ``docs/problem-files.md``
documents the schema; the same structure, as a dictionary, goes into policy files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proband.checking import NUMBER, FieldTypes, check_fields, check_names, mistake
from proband.errors import ProblemError, ProblemFileError, shown
from proband.files import LARGEST_PROBLEM_FILE, read_text, size
from proband.problem_files.toml import parsed, toml
from proband.rewards.base import default_decisions, read_reward
from proband.texts import check_plain
from proband.vocabulary import DEFAULT_OUTCOMES, Test

__all__ = ["SCHEMA", "arguments", "read", "test_from_dict", "test_to_dict", "write"]

SCHEMA = 1

_FIELDS: FieldTypes = {"schema": int, "name": str, "unit": str, "decisions": list, "tests": list, "reward": dict}
_TEST_FIELDS: FieldTypes = {
    "name": str,
    "cost": NUMBER,
    "outcomes": list,
    "measured": bool,
    "unit": str,
    "group": str,
    "group_cost": NUMBER,
    "on_arrival": bool,
    "available": bool,
}


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the structure of a problem file."""
    text = read_text(path, ProblemFileError, most=LARGEST_PROBLEM_FILE)
    try:
        return parsed(text)
    except (ValueError, RecursionError) as error:  # the parser's own error, huge numbers, deep nesting
        raise ProblemFileError(f"{path}: it is not valid TOML ({error}); correct that place") from error


def write(path: str | os.PathLike[str], structure: Mapping[str, Any]) -> None:
    """Write a problem file that reads back to the same structure."""
    content = toml(structure).encode()
    if len(content) > LARGEST_PROBLEM_FILE:
        raise ProblemError(
            f"the problem file would have {size(len(content))}; at most {size(LARGEST_PROBLEM_FILE)} are read; use a "
            "reward over fewer target tests"
        )
    Path(path).write_bytes(content)


def arguments(content: Mapping[str, Any], *, source: str) -> dict[str, Any]:
    """Check the structure of a problem file and return the arguments of its Problem; `source` begins every message."""
    if not isinstance(content, Mapping):
        raise ProblemFileError(f"{source}: it is {shown(content)}; a problem is a table of fields; write it so")
    check_fields(source, "", content, _FIELDS, required=("schema", "tests", "reward"))
    if content["schema"] != SCHEMA:
        raise mistake(
            source, "schema", f"it is {content['schema']}; this version reads {SCHEMA}; set schema = {SCHEMA}"
        )
    titles = {key: content.get(key, "") for key in ("name", "unit")}
    for key, text in titles.items():
        check_plain(f"{source}: {key}: it", text, ProblemFileError)
    tests = tuple(_read_test(source, n, entry) for n, entry in enumerate(content["tests"]))
    decisions = tuple(content.get("decisions", default_decisions(content["reward"])))
    if not all(isinstance(y, str) for y in decisions):
        raise mistake(source, "decisions", f"they are {shown(list(decisions))}; each must be a text; put it in quotes")
    if not tests:
        raise mistake(source, "tests", "it is empty; a problem needs one or more tests; add [[tests]]")
    check_names(source, "tests", [test.name for test in tests])
    check_names(source, "decisions", decisions)
    reward = read_reward(source, content["reward"], tests, decisions)
    return {"tests": tests, "decisions": decisions, "reward": reward, **titles}


def test_to_dict(test: Test) -> dict[str, Any]:
    """Return a test as it stands in a problem file, defaults left out."""
    content: dict[str, Any] = {"name": test.name, "cost": test.cost}
    content |= {"measured": True, "unit": test.unit} if test.measured else {"outcomes": list(test.names)}
    if test.group is not None:
        content |= {"group": test.group, "group_cost": test.group_cost}
    if test.on_arrival:
        content["on_arrival"] = True
    if not test.available:
        content["available"] = False
    return content


def test_from_dict(content: Mapping[str, Any]) -> Test:
    """Build a test from the checked fields of a problem file."""
    return Test(
        name=content["name"],
        cost=content.get("cost", 0.0),
        outcomes=None if content.get("measured") else content.get("outcomes", DEFAULT_OUTCOMES),
        group=content.get("group"),
        group_cost=content.get("group_cost"),
        on_arrival=content.get("on_arrival", False),
        available=content.get("available", True),
        unit=content.get("unit", ""),
    )


def _read_test(source: str, n: int, entry: Any) -> Test:
    key = f"tests[{n}]"
    if not isinstance(entry, Mapping):
        raise mistake(source, key, f"it is {shown(entry)}; a test is a table; write [[tests]] and its fields below")
    check_fields(source, key, entry, _TEST_FIELDS, required=("name",))
    if not (entry.get("on_arrival") or entry.get("available") is False) and "cost" not in entry:
        raise mistake(
            source,
            f"{key}.cost",
            f"test {entry['name']!r} has no cost; a test that can be run has one; add it",
        )
    if entry.get("measured") and "outcomes" in entry:
        raise mistake(source, f"{key}.outcomes", "a measured test lists no outcomes; drop outcomes, or measured")
    try:
        return test_from_dict(entry)
    except ProblemError as error:
        raise mistake(source, key, str(error)) from error
