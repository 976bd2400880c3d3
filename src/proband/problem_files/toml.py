"""TOML: reading it without trust, and writing tables of plain values, and lists of them."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from proband.files import MOST_DOTS, check_nesting

_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DOTTED = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_DOTS + 1}}}")


def parsed(text: str) -> dict[str, Any]:
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
