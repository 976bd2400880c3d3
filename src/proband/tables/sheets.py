"""A table as it came: names of columns, cells, and where each row stands in its file; and what a cell may be.

Cells of text files are texts. Workbooks, Parquet and frames bring numbers, dates and truth values of their own, which
stay what they are until a test says how to read them.
"""

from __future__ import annotations

import datetime as dt
import difflib
from collections import Counter
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass

from proband.errors import MOST_TOLD, TableError, shown, told
from proband.numerals import NO_MARKS, written
from proband.texts import text_of

Cell = str | int | float | bool | dt.date | dt.time | None
"""None where nothing stands; a datetime is a date."""

SNIFFED = 50
"""Rows at the beginning that are looked at to find delimiter and header."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table.

    Attributes
    ----------
    source : str
        Where it comes from; begins every message.
    header : list of str
        Names of the columns, as they stand there.
    columns : list of sequences of Cell
        One for each name, all of one length.
    places : sequence of int
        The line (or row) of each row in its file, counted from 1.
    place : str
        What these are called: line or row.
    marks : frozenset of str
        Decimal marks that the format suggests: a comma where semicolons separate.
    note : str
        What had to be guessed, for messages; or empty.
    """

    source: str
    header: list[str]
    columns: list[Sequence[Cell]]
    places: Sequence[int]
    place: str = "row"
    marks: frozenset[str] = NO_MARKS
    note: str = ""

    def __len__(self) -> int:
        return len(self.places)

    def named(self, known: Container[str]) -> list[str]:
        """Return the names of the columns, those that stand for a known one as this is called."""
        return [known_name(name, known) for name in self.header]

    def error(self, text: str) -> TableError:
        """Return an error about the table."""
        return TableError(f"{self.source}: {text}{f' ({self.note})' if self.note else ''}")


class Mistakes:
    """The bad cells of a table, told all at once."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._found: list[tuple[int, int, str, str]] = []

    def add(self, row: int, column: int, name: str, text: str) -> None:
        """Keep a mistake: in which row and column, how that is called, and value, rule and remedy."""
        self._found.append((row, column, name, text))

    def check(self) -> None:
        """Raise if there was one: the first ten, and how many more."""
        if not self._found:
            return
        found = sorted(self._found)
        places, word = self._sheet.places, self._sheet.place
        lines = [f"{word} {places[row]}, column {name!r}: {text}" for row, _, name, text in found[:MOST_TOLD]]
        raise self._sheet.error(told(lines, len(found), "cells cannot be read"))


def titles(rows: Sequence[Sequence[Cell]]) -> int:
    """Return how many rows at the beginning are titles: at most one entry, above a table of three columns or more.

    Examples
    --------
    >>> titles([["Report", "", ""], ["id", "length", "width"], ["7", "1.5", "2.5"]]), titles([["id"], ["7"]])
    (1, 0)
    """
    filled = [sum(cell is not None and cell != "" for cell in row) for row in rows]
    first = next((n for n, count in enumerate(filled) if count > 1), 0)
    return first if max(filled[first:], default=0) > 2 else 0


def title_note(place: str, skipped: Sequence[int]) -> str:
    """Return what is said of titles that were left aside."""
    if not skipped:
        return ""
    which = f"{place} {skipped[0]}" if len(skipped) == 1 else f"{place}s {skipped[0]} to {skipped[-1]}"
    return f"{which} above the header {'was' if len(skipped) == 1 else 'were'} taken for a title"


def known_name(cell: str, known: Container[str]) -> str:
    """Return the known name that a text stands for, whatever blanks are around and in it; else the text, stripped."""
    readings = (text_of(cell), cell, text_of(cell.strip()), " ".join(text_of(cell.strip()).split()))
    return next((reading for reading in readings if reading in known), cell.strip())


def cell_text(cell: Cell) -> str:
    """Return a cell as a text.

    Examples
    --------
    >>> [cell_text(cell) for cell in (1.0, 63.2, True, dt.date(2024, 3, 1), None, "ok")]
    ['1', '63.2', 'true', '2024-03-01', '', 'ok']
    """
    if isinstance(cell, str):
        return cell
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int):
        return str(cell)
    return written(cell) if isinstance(cell, float) else cell.isoformat()


def without_blank_columns(sheet: Sheet) -> Sheet:
    """Return a table without the columns that have neither a name nor an entry."""
    kept = [
        i
        for i, (name, cells) in enumerate(zip(sheet.header, sheet.columns, strict=True))
        if name.strip() or any(cell is not None and cell != "" for cell in cells)
    ]
    header, columns = [sheet.header[i] for i in kept], [sheet.columns[i] for i in kept]
    return Sheet(sheet.source, header, columns, sheet.places, sheet.place, sheet.marks, sheet.note)


def check_header(sheet: Sheet, header: Sequence[str], wanted: Collection[str], ignored: Collection[str] = ()) -> None:
    """Raise unless the columns are the wanted ones, each once, and perhaps ignored ones."""
    times = Counter(name for name in header if name in wanted or name not in ignored)
    repeated = sorted(name for name in times if times[name] > 1)
    if repeated:
        remedy = "name them, and where a row of merged cells stands above the names, delete it"
        raise sheet.error(
            f"columns {shown(repeated)} appear more than once; columns must differ; "
            f"{remedy if '' in repeated else 'rename or drop one'}"
        )
    unknown = [name for name in times if name not in wanted]
    missing = [name for name in wanted if name not in times]
    if unknown or missing:
        parts = [f"unknown columns {shown(unknown)}"] * bool(unknown) + [f"missing columns {missing}"] * bool(missing)
        raise sheet.error(
            f"{' and '.join(parts)}; the columns must be {list(wanted)}; {_meant(unknown, missing)}rename, add (empty "
            "where never run) or drop, or name what is no test in the problem's list ignore"
        )


def _meant(unknown: Sequence[str], missing: Sequence[str]) -> str:
    """Return which of the missing columns the unknown ones may be; and that one has no name."""
    alike = {name.lower(): name for name in reversed(missing)}
    close = {name: difflib.get_close_matches(name.lower(), alike, n=1) for name in unknown}
    meant = ", ".join(f"{alike[found[0]]!r} by {shown(name)}" for name, found in close.items() if found)
    nameless = "'' is a column with entries and without a name; " if "" in unknown else ""
    return nameless + (f"did you mean {meant}? " if meant else "")
