"""Problem files: a problem as TOML, every field checked, every mistake answered by file, key, rule and remedy.

TOML, because outcomes such as yes, no, on and off are read as booleans by YAML. ``docs/problem-files.md``
documents the schema; the same structure, as a dictionary, goes into policy files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proband.errors import ProblemError, ProblemFileError, shown
from proband.files import LARGEST_PROBLEM_FILE, read_text, size
from proband.problem_files.checking import NUMBER, Kinds, check_fields, check_names, mistake
from proband.problem_files.rewards import read_reward, reward_to_dict
from proband.problem_files.toml import parsed, toml
from proband.rewards.entropy import STOP
from proband.texts import check_plain
from proband.vocabulary import DEFAULT_OUTCOMES, Reward, Test

__all__ = ["SCHEMA", "Fields", "from_dict", "read", "test_from_dict", "test_to_dict", "to_dict", "write"]

SCHEMA = 1

_FIELDS: Kinds = {"schema": int, "name": str, "unit": str, "decisions": list, "tests": list, "reward": dict}
_TEST_FIELDS: Kinds = {
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


@dataclass(frozen=True)
class Fields:
    """What a problem file says."""

    tests: tuple[Test, ...]
    decisions: tuple[str, ...]
    reward: Reward
    name: str = ""
    unit: str = ""


def read(path: str | os.PathLike[str]) -> Fields:
    """Read a problem file."""
    text = read_text(path, ProblemFileError, most=LARGEST_PROBLEM_FILE)
    try:
        content = parsed(text)
    except (ValueError, RecursionError) as error:  # the parser's own error, huge numbers, deep nesting
        raise ProblemFileError(f"{path}: it is not valid TOML ({error}); correct that place") from error
    return from_dict(content, source=str(path))


def write(path: str | os.PathLike[str], fields: Fields) -> None:
    """Write a problem file that reads back to equal fields."""
    content = toml(to_dict(fields)).encode()
    if len(content) > LARGEST_PROBLEM_FILE:
        raise ProblemError(
            f"the problem file would have {size(len(content))}; at most {size(LARGEST_PROBLEM_FILE)} are read; use a "
            "reward over fewer target tests"
        )
    Path(path).write_bytes(content)


def from_dict(content: Mapping[str, Any], *, source: str = "problem") -> Fields:
    """Check the structure of a problem file and build its parts; `source` begins every message."""
    if not isinstance(content, Mapping):
        raise ProblemFileError(f"{source}: it is {shown(content)}; a problem is a table of fields; write it so")
    check_fields(source, "", content, _FIELDS, required=("schema", "tests", "reward"))
    if content["schema"] != SCHEMA:
        raise mistake(
            source, "schema", f"it is {content['schema']}; this version reads {SCHEMA}; set schema = {SCHEMA}"
        )
    for key in ("name", "unit"):
        check_plain(f"{source}: {key}: it", content.get(key, ""), ProblemFileError)
    tests = tuple(_read_test(source, n, entry) for n, entry in enumerate(content["tests"]))
    decisions = tuple(content.get("decisions", (STOP,) if content["reward"].get("kind") == "entropy" else ()))
    if not all(isinstance(y, str) for y in decisions):
        raise mistake(source, "decisions", f"they are {shown(list(decisions))}; each must be a text; put it in quotes")
    if not tests:
        raise mistake(source, "tests", "it is empty; a problem needs one or more tests; add [[tests]]")
    check_names(source, "tests", [test.name for test in tests])
    check_names(source, "decisions", decisions)
    reward = read_reward(source, content["reward"], tests, decisions)
    return Fields(tests, decisions, reward, name=content.get("name", ""), unit=content.get("unit", ""))


def to_dict(fields: Fields, *, unstated: bool = False) -> dict[str, Any]:
    """Return the structure of a problem file; the inverse of :func:`from_dict`.

    With `unstated`, a reward that no file can hold is named; otherwise it raises.
    """
    content: dict[str, Any] = {"schema": SCHEMA, "name": fields.name, "unit": fields.unit}
    if fields.decisions:
        content["decisions"] = list(fields.decisions)
    content["tests"] = [test_to_dict(test) for test in fields.tests]
    content["reward"] = reward_to_dict(fields.reward, fields.tests, fields.decisions, unstated=unstated)
    return content


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
