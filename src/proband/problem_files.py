"""Problem files: a problem as TOML, every field checked, every mistake answered by file, key, rule and remedy.

TOML, because outcomes such as yes, no, on and off are read as booleans by YAML. ``docs/problem-files.md``
documents the schema; the same structure, as a dictionary, goes into policy files.
"""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from proband.checking import NUMBER, FieldTypes, check_fields, check_names, mistake
from proband.cutting import cut_names
from proband.errors import ProblemError, ProblemFileError, shown
from proband.files import LARGEST_PROBLEM_FILE, MOST_DOTS, check_nesting, read_text, size
from proband.rewards.base import default_decisions, read_reward
from proband.tables.words import checked_ignored, checked_missing
from proband.texts import check_plain
from proband.vocabulary import DEFAULT_OUTCOMES, Test

SCHEMA = 1

CHOOSE = "choose"
"""Stands for the cuts of a test that are to be chosen from past subjects."""

UNFILLED = "?"
"""Stands in a draft for a price or a utility that somebody has to fill in."""

_FIELDS: FieldTypes = {
    "schema": int,
    "name": str,
    "unit": str,
    "decisions": list,
    "ignore": list,
    "missing": list,
    "tests": list,
    "reward": dict,
}
_TEST_FIELDS: FieldTypes = {
    "name": str,
    "cost": NUMBER,
    "outcomes": list,
    "cuts": (list, str),
    "measured": bool,
    "unit": str,
    "group": str,
    "group_cost": NUMBER,
    "on_arrival": bool,
    "available": bool,
}
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DOTTED = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_DOTS + 1}}}")


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the structure of a problem file."""
    text = read_text(path, ProblemFileError, most=LARGEST_PROBLEM_FILE)
    try:
        return _parsed(text)
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
    _check_filled(source, content)
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
    words = {
        "ignore": _checked(source, "ignore", checked_ignored, content.get("ignore", []), tests),
        "missing": _checked(source, "missing", checked_missing, content.get("missing", []), tests),
    }
    reward = read_reward(source, content["reward"], tests, decisions)
    return {"tests": tests, "decisions": decisions, "reward": reward, **titles, **words}


def test_to_dict(test: Test) -> dict[str, Any]:
    """Return a test as it stands in a problem file, defaults left out."""
    content: dict[str, Any] = {"name": test.name, "cost": test.cost}
    if test.measured:
        content |= {"measured": True, "unit": test.unit}
    if test.cuts is not None:
        content |= {"cuts": list(test.cuts)} | ({"unit": test.unit} if test.unit else {})
    if test.choose_cuts:
        content |= {"cuts": CHOOSE} | ({"unit": test.unit} if test.unit else {})
    elif not test.measured and (test.cuts is None or test.names != cut_names(test.cuts, test.unit)):
        content["outcomes"] = list(test.names)
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
        cuts=None if content.get("cuts") == CHOOSE else content.get("cuts"),
        choose_cuts=content.get("cuts") == CHOOSE,
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
    if entry.get("measured") and "cuts" in entry:
        raise mistake(source, f"{key}.cuts", "a measured test has no cuts, which list outcomes; drop cuts, or measured")
    if isinstance(entry.get("cuts"), str) and entry["cuts"] != CHOOSE:
        raise mistake(
            source,
            f"{key}.cuts",
            f'they are {shown(entry["cuts"])}; they must be a list of numbers, or "{CHOOSE}", which leaves them to '
            "proband fit; write [60, 75]",
        )
    try:
        return test_from_dict(entry)
    except ProblemError as error:
        raise mistake(source, key, str(error)) from error


def _checked(
    source: str,
    key: str,
    check: Callable[[Sequence[str], Sequence[Test]], tuple[str, ...]],
    given: Sequence[str],
    tests: Sequence[Test],
) -> tuple[str, ...]:
    """Return a list of words after a check, whose mistakes name the file and the key."""
    try:
        return check(given, tests)
    except ProblemError as error:
        raise mistake(source, key, str(error)) from error


def _check_filled(source: str, content: Mapping[str, Any]) -> None:
    """Raise if a draft still has prices or utilities to be filled in; all are named at once."""
    tests = [test for test in content["tests"] if isinstance(test, Mapping)]
    keys = ("cost", "group_cost")
    prices = [shown(test.get("name")) for test in tests if any(test.get(key) == UNFILLED for key in keys)]
    entries = content["reward"].get("utilities")
    worth = [
        f"{shown(decision)} when {_condition(entry.get('when'))}"
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, Mapping) and isinstance(entry.get("value"), Mapping)
        for decision, utility in entry["value"].items()
        if utility == UNFILLED
    ]
    named = (("prices", prices), ("utilities", worth))
    parts = [f"the {what} of {_enumerated(names)}" for what, names in named if names]
    if parts:
        raise mistake(
            source,
            "tests" if prices else "reward.utilities",
            f'{" and ".join(parts)} are not filled in; this file is a draft until every "{UNFILLED}" is a number; '
            f'write what a test costs, and what a decision brings, in place of "{UNFILLED}"',
        )


def _condition(when: Any) -> str:
    pairs = when.items() if isinstance(when, Mapping) else ()
    return " and ".join(f"{name} is {shown(outcome)}" for name, outcome in pairs) or "nothing else fits"


def _enumerated(names: Sequence[str], most: int = 10) -> str:
    more = [f"{len(names) - most} more"] if len(names) > most else []
    *first, last = [*names[:most], *more]
    return f"{', '.join(first)} and {last}" if first else last


def _parsed(text: str) -> dict[str, Any]:
    """Return the content of a TOML text; raise ValueError or RecursionError if it is none, or goes too deep.

    The parser keeps every beginning of a dotted key, so that one of 200 kB would take all memory: dots are counted
    before.
    """
    dotted = _DOTTED.search(text)
    if dotted:
        line = text.count("\n", 0, dotted.start()) + 1
        raise ValueError(f"line {line} has a name with more than {MOST_DOTS} dots, the most that is read")
    content = tomllib.loads(text)
    check_nesting(content)
    return content


def toml(content: Mapping[str, Any]) -> str:
    """Return a problem file's content as TOML; lists of tables become [[tests]], [[reward.pieces]] ..."""
    lines = _table("", content)
    return "\n".join(lines) + "\n"


def _table(name: str, content: Mapping[str, Any]) -> list[str]:
    tables = {key: value for key, value in content.items() if isinstance(value, Mapping) and not name}
    lists = {key: value for key, value in content.items() if _holds_tables(value)}
    lines = [f"{key} = {toml_value(value)}" for key, value in content.items() if key not in {*tables, *lists}]
    prefix = f"{name}." if name else ""
    for key, rows in lists.items():
        for row in rows:
            lines += ["", f"[[{prefix}{key}]]", *(f"{field} = {toml_value(value)}" for field, value in row.items())]
    for key, table in tables.items():
        lines += ["", f"[{prefix}{key}]", *_table(prefix + key, table)]
    return lines


def _holds_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def toml_value(value: Any) -> str:
    """Return one value in TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_value(key)} = {toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, _limits(value))) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return "true" if value is True else "false" if value is False else repr(value)


def _limits(values: list[Any]) -> list[Any]:
    """Return a list with infinities for None, which TOML has not: only the limits [low, high] of a piece hold it."""
    return [(math.inf if n else -math.inf) if value is None else value for n, value in enumerate(values)]
