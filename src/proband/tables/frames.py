"""Tables in memory, by the names of their columns: frames of pandas and polars, Arrow tables, dictionaries of columns.

Nothing is imported for those that know their columns by name and give them as lists. Whatever else offers itself as an
Arrow stream or by the dataframe interchange is read by pyarrow, an extra.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from proband.errors import MissingExtraError, TableError, shown
from proband.tables.sheets import Cell, Sheet

FRAME = "the frame"
"""What a table in memory is called in messages."""


def is_frame(source: Any) -> bool:
    """Return whether something is a table in memory, and no file.

    Its class is asked: a frame that is not computed yet might begin to.
    """
    names = ("columns", "column_names", "__arrow_c_stream__", "__dataframe__")
    return isinstance(source, Mapping) or any(hasattr(type(source), name) for name in names)


def read_frame(source: Any) -> Sheet:
    """Return a table in memory.

    Examples
    --------
    >>> sheet = read_frame({"length": [1, 2.5], "visual": ["ok", None]})
    >>> sheet.header, sheet.columns
    (['length', 'visual'], [[1, 2.5], ['ok', None]])
    """
    for read in (_mapping, _arrow, _by_name):
        found = read(source)
        if found is not None:
            return as_sheet(FRAME, *found)
    return as_sheet(FRAME, *_offered(source))


def as_sheet(source: str, header: Sequence[str], columns: Sequence[Iterable[Any]]) -> Sheet:
    """Return columns of any values as a table; raise if they do not fit together, or there are no rows."""
    for name, column in zip(header, columns, strict=True):
        if isinstance(column, str | bytes) or not isinstance(column, Iterable):
            raise TableError(
                f"{source}: its column {name!r} is {shown(column)}; it needs an entry for every subject; give a list"
            )
    cells = [[as_cell(value) for value in column] for column in columns]
    lengths = {len(column) for column in cells}
    if len(lengths) > 1:
        raise TableError(
            f"{source}: its columns have {min(lengths)} to {max(lengths)} entries; each needs one for every subject; "
            "make them equally long"
        )
    if not lengths or lengths == {0}:
        raise TableError(f"{source}: it has no rows; a table has one row a subject; add them")
    return Sheet(source, list(header), list(cells), range(1, lengths.pop() + 1))


def as_cell(value: Any) -> Cell:
    """Return a value of any library as a plain one; NaN, NaT and NA are missing entries.

    Examples
    --------
    >>> as_cell(np.float64("nan")), as_cell(np.bool_(True)), as_cell(np.datetime64("2024-03-01")), as_cell(b"ok")
    (None, True, datetime.date(2024, 3, 1), 'ok')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, str | bool | int | dt.date | dt.time):
        return value
    if isinstance(value, float | decimal.Decimal):
        return None if math.isnan(value) else float(value)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _mapping(source: Any) -> tuple[list[str], list[Any]] | None:
    return ([str(name) for name in source], list(source.values())) if isinstance(source, Mapping) else None


def _arrow(source: Any) -> tuple[list[str], list[Any]] | None:
    if not hasattr(source, "column_names") or not hasattr(source, "column"):
        return None
    return [str(name) for name in source.column_names], _lists(map(source.column, range(len(source.column_names))))


def _by_name(source: Any) -> tuple[list[str], list[Any]] | None:
    if hasattr(source, "collect") or not hasattr(source, "columns") or not hasattr(source, "__getitem__"):
        return None
    names = list(source.columns)
    if len(set(map(str, names))) < len(names):
        raise TableError(
            f"{FRAME}: its columns are {[str(name) for name in names]}; names must differ; rename or drop one"
        )
    try:
        return [str(name) for name in names], _lists(source[name] for name in names)
    except (TypeError, LookupError):
        return None


def _lists(columns: Iterable[Any]) -> list[Any]:
    """Return columns as lists, by whatever name they offer that; raise TypeError if they do not."""
    lists = []
    for column in columns:
        give = next(
            (getattr(column, name) for name in ("to_pylist", "to_list", "tolist") if hasattr(column, name)), None
        )
        if give is None:
            raise TypeError
        lists.append(give())
    return lists


def _offered(source: Any) -> tuple[list[str], list[Any]]:
    """Return a table that offers itself by a protocol."""
    stream = hasattr(source, "__arrow_c_stream__")
    if not stream and not hasattr(source, "__dataframe__"):
        raise TableError(
            f"{FRAME} is a {type(source).__name__}; a table is a path, a binary file, a frame of pandas or polars, an "
            "Arrow table, or offers itself as an Arrow stream; collect or convert it"
        )
    try:
        import pyarrow
        from pyarrow import interchange
    except ImportError as error:
        raise MissingExtraError(
            f"a {type(source).__name__} is read by pyarrow; install proband[tables], or give a dictionary of columns"
        ) from error
    read: Callable[[Any], Any] = pyarrow.table if stream else interchange.from_dataframe
    try:
        table = read(source)
    except (ValueError, TypeError, NotImplementedError, LookupError) as error:  # pyarrow's are among these
        raise TableError(
            f"{FRAME}: it cannot be read from a {type(source).__name__} ({error}); give a dictionary of columns"
        ) from error
    return [str(name) for name in table.column_names], _lists(table.columns)
