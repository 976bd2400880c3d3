"""The tidy table: one row for each point, agent, replication and checkpoint.

Columns: ``experiment``, one for each parameter (``horizon`` among them), ``agent``, ``replication``, ``t``, and the
measures, cumulative up to t. It is kept as ``table.csv`` and, with the extra ``tables``, as ``table.parquet``; both
hold the same numbers to the last bit.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proband import tables
from proband.errors import TableError
from proband.experiments.cells import MEASURES, Outcome
from proband.experiments.experiment import Cell, Point, Value

CSV = "table.csv"
PARQUET = "table.parquet"
FIXED = ("experiment", "agent", "replication", "t", *MEASURES)


@dataclass(frozen=True, eq=False)
class TidyTable:
    """Columns of equal length, by name.

    Examples
    --------
    >>> table = TidyTable({"agent": np.array(["a", "b"]), "t": np.array([1, 1])})
    >>> len(table), len(table.where({"agent": "a"})), table.unique("agent")
    (2, 1, ['a', 'b'])
    """

    columns: Mapping[str, NDArray[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters' columns."""
        return [name for name in self.columns if name not in FIXED]

    def unique(self, name: str) -> list[Any]:
        """Return the values of a column, in the order in which they first appear."""
        return list(dict.fromkeys(self[name].tolist()))

    def where(self, wanted: Point) -> TidyTable:
        """Return the rows whose columns have these values."""
        keep = np.ones(len(self), dtype=np.bool_)
        for name, value in wanted.items():
            keep &= self[name] == value
        return TidyTable({name: column[keep] for name, column in self.columns.items()})

    def points(self) -> list[Point]:
        """Return the points, the main one first."""
        rows = zip(*(self[name].tolist() for name in self.parameters), strict=True)
        return [dict(zip(self.parameters, row, strict=True)) for row in dict.fromkeys(rows)]

    def final(self) -> TidyTable:
        """Return the rows at the horizon."""
        keep = self["t"] == self["horizon"]
        return TidyTable({name: column[keep] for name, column in self.columns.items()})


def collect(outcomes: Sequence[tuple[Cell, Outcome]]) -> TidyTable:
    """Return the table of some cells, in their order."""
    lengths = [len(outcome.t) for _, outcome in outcomes]

    def repeated(values: Iterable[Value]) -> NDArray[Any]:
        return np.repeat(_array(list(values)), lengths)

    columns = {"experiment": repeated(cell.experiment for cell, _ in outcomes)}
    for name in outcomes[0][0].point:
        columns[name] = repeated(cell.point[name] for cell, _ in outcomes)
    columns["agent"] = repeated(cell.agent for cell, _ in outcomes)
    columns["replication"] = repeated(cell.replication for cell, _ in outcomes)
    columns["t"] = np.concatenate([outcome.t for _, outcome in outcomes])
    for measure in MEASURES:
        columns[measure] = np.concatenate([outcome.measures[measure] for _, outcome in outcomes])
    return TidyTable(columns)


def write_tables(folder: Path, table: TidyTable) -> list[str]:
    """Write the table as CSV and, where pyarrow is there, as Parquet; return the names of the files."""
    write_csv(
        folder / CSV, list(table.columns), zip(*(column.tolist() for column in table.columns.values()), strict=True)
    )
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        return [CSV]
    temporary = folder / f".{PARQUET}"
    parquet.write_table(pa.table({name: column.tolist() for name, column in table.columns.items()}), temporary)
    temporary.replace(folder / PARQUET)
    return [CSV, PARQUET]


def read_table(folder: Path) -> TidyTable:
    """Read the table of a run."""
    path = folder / CSV
    if not path.exists():
        raise TableError(f"{path}: there is no table; a run writes one; run the experiment first, or name its folder")
    header, lines, _ = tables.read_lines(path, FIXED)
    missing = [name for name in (*FIXED, "horizon") if name not in header]
    if missing or not lines:
        raise TableError(f"{path}: it has {len(lines)} rows and lacks {missing}; it must be a run's table; run again")
    columns = {name: _parsed(column) for name, column in zip(header, zip(*lines, strict=True), strict=True)}
    return TidyTable(columns)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table; floats so that they read back to the last bit."""
    temporary = path.with_name(f".{path.name}")
    with temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    temporary.replace(path)


def _array(values: list[Value]) -> NDArray[Any]:
    """Return a column: texts as soon as one of the values is a text."""
    texts = any(isinstance(value, str) for value in values)
    return np.array([str(value) for value in values] if texts else values)


def _parsed(cells: Sequence[str]) -> NDArray[Any]:
    for kind in (np.int64, np.float64):
        try:
            return np.array(cells).astype(kind)
        except (ValueError, OverflowError):
            continue
    return np.array(cells)
