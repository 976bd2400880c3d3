"""Any table from anywhere: what it is, is told by its content, and by its name only where the content says nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

from proband.errors import TableError
from proband.files import read_bytes, read_stream
from proband.tables.delimited import read_delimited, read_first_line
from proband.tables.frames import is_frame, read_frame
from proband.tables.parquet import read_parquet
from proband.tables.sheets import Sheet
from proband.tables.workbooks import read_workbook

STANDARD_INPUT = "standard input"

Read = Callable[[str, bytes, str | None], Sheet]


class Content(NamedTuple):
    """What a file holds, and how it is called."""

    source: str
    content: bytes


def read_sheet(source: Any, *, wanted: Collection[str] = (), sheet: str | None = None) -> Sheet:
    r"""Read a table: a path, an open binary file, or a frame.

    Parameters
    ----------
    source : path, binary file or frame
    wanted : collection of str, optional
        Names of columns; in a text file the delimiter that gives them is preferred.
    sheet : str, optional
        Which sheet of a workbook.

    Examples
    --------
    >>> import io
    >>> sheet = read_sheet(io.BytesIO(b"sep=;\nid;length\n7;12,5\n"))
    >>> sheet.header, sheet.columns, sheet.places
    (['id', 'length'], [('7',), ('12,5',)], [3])
    """
    if is_frame(source):
        _no_sheets("the frame", sheet)
        return read_frame(source)
    name, content = content_of(source)
    read = _format(content)
    if read is not None:
        return read(name, content, sheet)
    if Path(name).suffix.lower() == ".parquet":
        raise TableError(
            f"{name}: it cannot be read as Parquet (it does not begin like one); save it again, or rename it if it is "
            "a text"
        )
    if Path(name).suffix.lower() == ".toml":
        raise TableError(f"{name}: it is a problem file, and here a table of subjects is needed; give the table")
    _no_sheets(name, sheet)
    return read_delimited(name, content, wanted)


def read_header(source: Any) -> list[str]:
    """Return the names of the columns of a table; of a text no more is read than its beginning."""
    if not is_frame(source) and not hasattr(source, "read"):
        name, content = content_of(source)
        if _format(content) is None:
            return [column.strip() for column in read_first_line(name, content)]
    return [column.strip() for column in read_sheet(source).header]


def content_of(source: Any) -> Content:
    """Return the content of a path or of an open binary file, and how it is called."""
    name = called(source)
    if hasattr(source, "read"):
        return Content(name, read_stream(source, name, TableError))
    if not isinstance(source, str | os.PathLike):
        raise TableError(
            f"the table is a {type(source).__name__}; it must be a path, a binary file, a frame of pandas or polars, "
            "an Arrow table or a dictionary of columns; give one"
        )
    return Content(name, read_bytes(source, TableError))


def called(source: Any) -> str:
    """Return how a table is called: its path, standard input, or what it is."""
    if isinstance(source, str | os.PathLike):
        return str(source)
    name = getattr(source, "name", None)
    if name in ("<stdin>", 0):
        return STANDARD_INPUT
    return name if isinstance(name, str) else "the file" if hasattr(source, "read") else "the table"


def _no_sheets(name: str, sheet: str | None) -> None:
    if sheet is not None:
        raise TableError(f"{name}: it has no sheets, and {sheet!r} is asked for; sheets are in .xlsx; leave it out")


def _parquet(name: str, content: bytes, sheet: str | None) -> Sheet:
    _no_sheets(name, sheet)
    return read_parquet(name, content)


def _refused(what: str, remedy: str) -> Read:
    def refuse(name: str, content: bytes, sheet: str | None) -> Sheet:
        raise TableError(f"{name}: it is {what}; tables are CSV, .xlsx or Parquet; {remedy}")

    return refuse


def _format(content: bytes) -> Read | None:
    """Return how a file is read that is no plain text: by how it begins; a text may begin with any letters."""
    start = content[:64]
    if start.translate(None, _PLAIN) != start[:0]:
        found = next((read for beginning, read in _BINARY.items() if start.startswith(beginning)), None)
        if found is not None:
            return found
    marked = start.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if marked[:1] in (b"{", b"[") and _is_json(content):
        return _refused("JSON", "save the table as CSV")
    return next((read for beginning, read in _MARKED.items() if marked.startswith(beginning)), None)


def _is_json(content: bytes) -> bool:
    """Return whether a text begins with an object, or a list of them: a name of a column may begin like one."""
    try:
        found, _ = json.JSONDecoder().raw_decode(content.decode("utf-8-sig").lstrip())
    except (ValueError, RecursionError):
        return False
    first = found[0] if isinstance(found, list) and found else found
    return isinstance(first, dict) and bool(first)


_PLAIN = bytes(byte for byte in range(256) if byte >= 32 or byte in b"\t\n\r")
_BINARY: dict[bytes, Read] = {
    b"PK\x03\x04": read_workbook,
    b"PK\x05\x06": read_workbook,
    b"PAR1": _parquet,
    b"\xd0\xcf\x11\xe0": _refused(
        "an old .xls workbook, or one with a password", "save it as .xlsx without a password, or as CSV"
    ),
    b"\x1f\x8b": _refused("compressed by gzip", "unpack it first"),
    b"ARROW1": _refused("an Arrow file", "save it as Parquet, or read it in Python and give the table"),
    b"SQLite format 3": _refused("a database", "export the table"),
}
"""How files of each format begin in which bytes are that no text has."""
_MARKED: dict[bytes, Read] = {
    b"%pdf": _refused("a PDF document", "save the table itself"),
    b"<html": _refused("a web page", "open it in a spreadsheet program and save it as .xlsx"),
    b"<table": _refused("a web page", "open it in a spreadsheet program and save it as .xlsx"),
    b"<!doctype": _refused("a web page", "open it in a spreadsheet program and save it as .xlsx"),
    b"<?xml": _refused("an XML file", "open it in a spreadsheet program and save it as .xlsx"),
    b"{\\rtf": _refused("a text of a word processor", "save the table as .xlsx or CSV"),
}
"""How texts begin that are no tables, in small letters."""
