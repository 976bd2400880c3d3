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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proband.cutting import cut_names
from proband.errors import ProblemError, ProblemFileError
from proband.files import LARGEST_PROBLEM_FILE, MOST_DOTS, check_nesting, read_text, size
from proband.vocabulary import Test

SCHEMA = 1

TABLES = frozenset({".csv", ".tsv", ".xlsx", ".xls", ".parquet"})
"""Endings of tables, which are sometimes given in the place of a problem."""

CHOOSE = "choose"
"""Stands for the cuts of a test that are to be chosen from past subjects."""

UNFILLED = "?"
"""Stands in a draft for a price or a utility that somebody has to fill in."""

_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DOTTED = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_DOTS + 1}}}")


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the structure of a problem file."""
    _check_ending(path)
    text = read_text(path, ProblemFileError, most=LARGEST_PROBLEM_FILE)
    try:
        return _parsed(text)
    except (ValueError, RecursionError) as error:  # the parser's own error, huge numbers, deep nesting
        raise ProblemFileError(f"{path}: it is not valid TOML ({error}); {_remedy(text)}") from error


def _check_ending(path: str | os.PathLike[str]) -> None:
    name = Path(path)
    if name.suffix.lower() in TABLES and name.exists():
        raise ProblemFileError(
            f"{path}: it is a table, and here the problem is needed, which says what tests cost; draft one with "
            f"proband init {name.name}, and give the table as --data"
        )


def _remedy(text: str) -> str:
    if text.lstrip().startswith("{"):
        return (
            "it looks like JSON, such as a policy file, and here the problem is needed; give the problem file; of a "
            "policy file alone proband next, rules and report tell"
        )
    return "correct that place"


def write(path: str | os.PathLike[str], structure: Mapping[str, Any]) -> None:
    """Write a problem file that reads back to the same structure."""
    content = toml(structure).encode()
    if len(content) > LARGEST_PROBLEM_FILE:
        raise ProblemError(
            f"the problem file would have {size(len(content))}; at most {size(LARGEST_PROBLEM_FILE)} are read; use a "
            "reward over fewer target tests"
        )
    Path(path).write_bytes(content)


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
