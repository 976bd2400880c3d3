"""Reflex rules: a tree for those who have no proband, as a table, a program, a query and sentences; all act alike."""

from __future__ import annotations

from collections.abc import Callable

from proband.policies.rules.program import python
from proband.policies.rules.sentences import sentences
from proband.policies.rules.sql import sql
from proband.policies.rules.table import table
from proband.policies.tree import Tree

FORMATS: dict[str, Callable[[Tree], str]] = {"csv": table, "python": python, "sql": sql, "text": sentences}
"""Formats by name."""

__all__ = ["FORMATS", "python", "sentences", "sql", "table"]
