"""Spreadsheets: past records in, the table of subjects out; CSV or Parquet, by the ending of the file's name."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from proband import tables
from proband.errors import MissingExtraError, ProbandError, TableError, shown
from proband.files import MOST_ENTRIES, read_bytes
from proband.problem import Problem
from proband.studies.exchange.exports import beside
from proband.studies.ledger.chain import as_time
from proband.studies.ledger.ledger import Ledger
from proband.texts import cell_of
from proband.vocabulary import Records

Rows = list[dict[str, Any]]

COLUMNS = (
    "subject", "number", "status", "decision", "cost", "tests", "deviations", "followed", "arrived", "finished",
    "station", "policy",
)  # fmt: skip
"""What the table of subjects says beside the outcomes; a column that is called like a test gets "study " before it."""


def read_past(path: str | os.PathLike[str], problem: Problem) -> Records:
    """Read past subjects: one row each, one column a test, empty where it was not run."""
    records: Records = _by_ending(path, {".csv": _read_csv, ".parquet": _read_parquet})(path, problem)
    return records


def write_rows(path: str | os.PathLike[str], rows: Rows) -> None:
    """Write a table of subjects; the file appears when it is complete."""
    write = _by_ending(path, {".csv": _write_csv, ".parquet": _write_parquet})
    with beside(path) as scratch:
        write(scratch, rows)


def table_of(ledger: Ledger) -> Rows:
    """Return one dictionary for each subject, in order of arrival: outcomes by test, and what became of it."""
    columns, tests = ledger.columns, [test.name for test in ledger.problem.tests]
    titles = [f"study {title}" if title in tests else title for title in COLUMNS]
    ran = (~np.isnan(columns.paid)).sum(axis=1)
    rows = []
    for i, row in enumerate(columns.rows[: len(columns)].tolist()):
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


def _read_csv(path: str | os.PathLike[str], problem: Problem) -> Records:
    return tables.read_records(path, problem.tests)


def _read_parquet(path: str | os.PathLike[str], problem: Problem) -> Records:
    columns = _parquet_columns(path, [test.name for test in problem.tests])
    rows = np.full((len(columns[0]), problem.d), np.nan)
    for j, column in enumerate(columns):
        for n, cell in enumerate(column):
            if cell is not None and cell == cell:  # noqa: PLR0124 (NaN)
                rows[n, j] = _number(path, problem, j, n, cell)
    if not len(rows) or np.isnan(rows).all():
        raise TableError(f"{path}: every entry is missing; records need at least one outcome; fill the table")
    return Records(rows)


def _parquet_columns(path: str | os.PathLike[str], names: list[str]) -> list[list[Any]]:
    """Return the columns of a table by name; how long they are is looked at before they are read."""
    parquet = _parquet()
    try:
        with parquet.ParquetFile(io.BytesIO(read_bytes(path, TableError))) as file:
            entries = file.metadata.num_rows * file.metadata.num_columns
            if entries > MOST_ENTRIES:
                raise TableError(f"{path}: it has {entries:,} entries; at most {MOST_ENTRIES:,} are read; split it")
            found = file.schema_arrow.names
            if sorted(found) != sorted(names):
                raise TableError(
                    f"{path}: its columns are {shown(found)}; they must be {names}; rename, add (empty where never "
                    "run) or drop"
                )
            table = file.read()
            return [table.column(name).to_pylist() for name in names]
    except TableError:
        raise
    except (OSError, ValueError, LookupError, TypeError, NotImplementedError) as error:  # pyarrow's are among these
        raise TableError(f"{path}: it cannot be read as Parquet ({error}); save it again") from error


def _number(path: str | os.PathLike[str], problem: Problem, j: int, n: int, cell: object) -> float:
    given = float(cell) if problem.tests[j].measured and isinstance(cell, int | float) else str(cell)
    try:
        return problem.outcome(j, given)
    except ProbandError as error:
        raise TableError(f"{path}: row {n + 1}, column {problem.tests[j].name!r}: {error}") from error


def _write_csv(path: str | os.PathLike[str], rows: Rows) -> None:
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in [list(rows[0] if rows else []), *(row.values() for row in rows)]:
            writer.writerow([cell_of(value) if isinstance(value, str) else value for value in row])


def _write_parquet(path: str | os.PathLike[str], rows: Rows) -> None:
    parquet = _parquet()
    import pyarrow

    parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def _parquet() -> Any:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("Parquet needs pyarrow; install proband[tables], or use CSV") from error
    return parquet
