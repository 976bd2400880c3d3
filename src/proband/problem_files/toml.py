"""Writing TOML: tables of plain values, and lists of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


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
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return "true" if value is True else "false" if value is False else repr(value)
