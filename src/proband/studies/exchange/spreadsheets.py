"""Spreadsheets: the table of subjects, as CSV, JSON or Parquet, by the ending of the file's name."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from proband.errors import TableError
from proband.studies.exchange.exports import beside
from proband.studies.ledger.chain import as_time
from proband.studies.ledger.ledger import Ledger
from proband.tables import parquet
from proband.texts import cell_of
from proband.vocabulary import IntArray

Rows = list[dict[str, Any]]

COLUMNS = (
    "subject", "number", "status", "decision", "cost", "tests", "deviations", "followed", "arrived", "finished",
    "station", "policy",
)  # fmt: skip
"""What the table of subjects says beside the outcomes; a column that is called like a test gets "study " before it."""


def write_rows(path: str | os.PathLike[str], rows: Rows) -> None:
    """Write a table of subjects; the file appears when it is complete."""
    write = _by_ending(path, {".csv": _write_csv, ".json": _write_json, ".parquet": _write_parquet})
    with beside(path) as scratch:
        write(scratch, rows)


def table_of(ledger: Ledger, which: IntArray) -> Rows:
    """Return one dictionary for each of some subjects, by their rows: outcomes by test, and what became of it."""
    columns, tests = ledger.columns, [test.name for test in ledger.problem.tests]
    titles = [f"study {title}" if title in tests else title for title in COLUMNS]
    ran = (~np.isnan(columns.paid)).sum(axis=1)
    rows = []
    for i, row in zip(which.tolist(), columns.rows[which].tolist(), strict=True):
        outcomes = [None if math.isnan(value) else ledger.stated(j, value) for j, value in enumerate(row)]
        followed = finished = None
        if columns.decided[i]:
            followed, finished = bool(columns.obeyed[i]), as_time(columns.finished_at[i])
        facts = (
            i + 1, ledger.status(i), columns.decisions[i], float(columns.spent[i]), int(ran[i]),
            int(columns.deviations[i]), followed, as_time(columns.arrived_at[i]), finished, columns.holders[i],
            int(columns.policy[i]),
        )  # fmt: skip
        rows.append(dict(zip([titles[0], *tests, *titles[1:]], [columns.names[i], *outcomes, *facts], strict=True)))
    return rows


def _by_ending(path: str | os.PathLike[str], known: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    ending = Path(path).suffix.lower()
    if ending not in known:
        raise TableError(f"{path}: its name ends in {ending!r}; tables end in {' or '.join(known)}; rename it")
    return known[ending]


def _write_csv(path: str | os.PathLike[str], rows: Rows) -> None:
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in [list(rows[0] if rows else []), *(row.values() for row in rows)]:
            writer.writerow([cell_of(value) if isinstance(value, str) else value for value in row])


def _write_json(path: str | os.PathLike[str], rows: Rows) -> None:
    """Write a list of objects, one a line; no number is other than finite."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    Path(path).write_text(f"[\n{lines}\n]\n" if rows else "[]\n", encoding="utf-8")


def _write_parquet(path: str | os.PathLike[str], rows: Rows) -> None:
    writer = parquet.module()
    import pyarrow

    writer.write_table(pyarrow.Table.from_pylist(rows), path)
