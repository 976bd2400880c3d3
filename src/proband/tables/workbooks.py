"""Workbooks of Excel and others (.xlsx): one sheet as a table, without anything but the standard library.

Values are read, formulas are not calculated: what the program that saved the file last found for them is kept beside
them. A number is a date where its format says so. #N/A is a missing entry; the other errors stay, as bad cells.
"""

from __future__ import annotations

import datetime as dt
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from proband.errors import TableError, shown
from proband.files import MOST_SHEET_CELLS
from proband.tables.packages import Package, opened
from proband.tables.sheets import SNIFFED, Cell, Sheet, cell_text, title_note, titles, without_blank_columns

WORKBOOK, RELATIONS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_BUILT_IN_DATES = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
_NO_FORMAT = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_DATE_LETTERS = re.compile(r"[dmyhs]", re.IGNORECASE)
_FIRST_DAY = {False: dt.datetime(1899, 12, 30), True: dt.datetime(1904, 1, 1)}
_LAST_SERIAL = 2_958_465
_LONGEST_FORMULA = 80


class Entry(NamedTuple):
    """A sheet of a workbook: its name, whether people see it, and its part."""

    name: str
    visible: bool
    part: str


@dataclass
class Grid:
    """The cells of a sheet that hold something: by column, the row of each and its value."""

    rows: dict[int, list[int]] = field(default_factory=dict)
    cells: dict[int, list[Cell]] = field(default_factory=dict)
    count: int = 0

    def add(self, row: int, column: int, cell: Cell) -> None:
        """Add a cell."""
        self.rows.setdefault(column, []).append(row)
        self.cells.setdefault(column, []).append(cell)
        self.count += 1


def read_workbook(source: str, content: bytes, sheet: str | None = None) -> Sheet:
    """Read one sheet of a workbook: the named one, or the only one that holds something."""
    with opened(source, content) as package:
        if WORKBOOK not in package.names:
            raise TableError(
                f"{source}: it is a zip archive and no Excel workbook; tables are .xlsx, CSV or Parquet; save it as one"
            )
        book = _Book(source, package)
        return _as_table(source, book.chosen(sheet))


class _Book:
    """What the sheets of a workbook share."""

    def __init__(self, source: str, package: Package) -> None:
        self._source, self._package = source, package
        self._since_1904 = False
        self.entries: list[Entry] = []
        self._read_entries()
        self._texts = _Texts(package).texts if "xl/sharedStrings.xml" in package.names else []
        self._dates = _dates(package) if "xl/styles.xml" in package.names else frozenset()

    def chosen(self, sheet: str | None) -> Grid:
        """Return the cells of the named sheet, or of the only visible one that holds any."""
        names = [entry.name for entry in self.entries]
        if sheet is not None:
            found = next((entry for entry in self.entries if entry.name == sheet), None)
            if found is None:
                raise TableError(f"{self._source}: it has no sheet {sheet!r}; its sheets are {shown(names)}; name one")
            return self._grid(found)
        grids = [(entry.name, self._grid(entry)) for entry in self.entries if entry.visible]
        full = [(name, grid) for name, grid in grids if grid.count]
        if len(full) > 1:
            raise TableError(
                f"{self._source}: it has the sheets {shown([name for name, _ in full])}; a table is one of them; name "
                "it (--sheet NAME, or sheet= in Python)"
            )
        return full[0][1] if full else Grid()

    def _read_entries(self) -> None:
        targets: dict[str, str] = {}
        found: list[tuple[str, bool, str]] = []

        def relation(tag: str, attributes: Mapping[str, str]) -> None:
            if tag == "Relationship":
                targets[attributes.get("Id", "")] = attributes.get("Target", "")

        def entry(tag: str, attributes: Mapping[str, str]) -> None:
            if tag == "workbookPr":
                self._since_1904 = attributes.get("date1904") in ("1", "true")
            if tag == "sheet":
                identity = next((value for key, value in attributes.items() if key.endswith(":id")), "")
                found.append((attributes.get("name", ""), attributes.get("state") in (None, "visible"), identity))

        self._package.parse(RELATIONS, relation)
        self._package.parse(WORKBOOK, entry)
        for name, visible, identity in found:
            part = posixpath.normpath(posixpath.join("xl", targets.get(identity, ""))).lstrip("/")
            if part in self._package.names and "chartsheets" not in part:
                self.entries.append(Entry(name, visible, part))

    def _grid(self, entry: Entry) -> Grid:
        reader = _Cells(self._source, self._texts, self._dates, since_1904=self._since_1904)
        self._package.parse(entry.part, reader.start, reader.end, reader.data)
        return reader.grid


class _Texts:
    """The texts that cells refer to by number; how they are pronounced is left out."""

    def __init__(self, package: Package) -> None:
        self.texts: list[str] = []
        self._parts: list[str] = []
        self._inside = self._spoken = False
        package.parse("xl/sharedStrings.xml", self._start, self._end, self._data)

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._inside = tag == "t" and not self._spoken
        self._spoken = self._spoken or tag == "rPh"

    def _end(self, tag: str) -> None:
        self._inside = False
        if tag == "rPh":
            self._spoken = False
        if tag == "si":
            self.texts.append("".join(self._parts))
            self._parts.clear()

    def _data(self, text: str) -> None:
        if self._inside:
            self._parts.append(text)


class _Cells:
    """Goes through the cells of one sheet."""

    def __init__(self, source: str, texts: Sequence[str], dates: frozenset[int], *, since_1904: bool) -> None:
        self.grid = Grid()
        self._source, self._texts, self._dates, self._first = source, texts, dates, _FIRST_DAY[since_1904]
        self._row = self._column = 0
        self._kind = self._inside = ""
        self._style = 0
        self._parts: dict[str, list[str]] = {"v": [], "f": [], "t": []}
        self._spoken = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Look at the beginning of an element."""
        if tag == "row":
            self._row, self._column = int(attributes.get("r", self._row + 1)), 0
        elif tag == "c":
            self._begin_cell(attributes)
        elif tag in self._parts and not self._spoken:
            self._inside = tag
        self._spoken = self._spoken or tag == "rPh"

    def _begin_cell(self, attributes: Mapping[str, str]) -> None:
        place = _REFERENCE.fullmatch(attributes.get("r", ""))
        if place is not None:
            self._column, self._row = _column_number(place[1]), int(place[2])
        else:
            self._column += 1
        self._kind, self._style = attributes.get("t", "n"), int(attributes.get("s", 0))
        for part in self._parts.values():
            part.clear()

    def data(self, text: str) -> None:
        """Take a piece of text."""
        if self._inside:
            self._parts[self._inside].append(text)

    def end(self, tag: str) -> None:
        """Look at the end of an element."""
        if tag == "rPh":
            self._spoken = False
        elif tag == self._inside:
            self._inside = ""
        elif tag == "c":
            cell = self._cell()
            if cell is not None and cell != "":
                self.grid.add(self._row, self._column, cell)
                if self.grid.count > MOST_SHEET_CELLS:
                    raise _too_large(self._source)

    def _cell(self) -> Cell:
        value, formula, inline = ("".join(self._parts[name]) for name in ("v", "f", "t"))
        if self._kind == "inlineStr":
            return inline
        if not value:
            return f"={formula[:_LONGEST_FORMULA]}" if formula and self._kind != "str" else None
        read = _READERS.get(self._kind)
        return self._number(value) if read is None else read(value, self._texts)

    def _number(self, text: str) -> Cell:
        value = float(text)
        if self._style in self._dates and 0 <= value <= _LAST_SERIAL:
            moment = self._first + dt.timedelta(seconds=round(value * 86400))
            if value < 1:
                return moment.time()
            return moment.date() if value == int(value) else moment
        return int(value) if value == int(value) and abs(value) < 2**53 else value


def _shared(value: str, texts: Sequence[str]) -> Cell:
    return texts[int(value)]


def _moment(value: str, texts: Sequence[str]) -> Cell:
    found = dt.datetime.fromisoformat(value)
    return found.date() if found.time() == dt.time() else found


_READERS = {
    "s": _shared,
    "str": lambda value, texts: value,
    "b": lambda value, texts: value.strip() in ("1", "true"),
    "e": lambda value, texts: value,
    "d": _moment,
}
"""What a cell of each type is; all others are numbers."""


def _as_table(source: str, grid: Grid) -> Sheet:
    """Return a sheet as a table: the first row that holds anything, titles left aside, is the header."""
    used = sorted({row for rows in grid.rows.values() for row in rows})
    if not used:
        raise TableError(f"{source}: it is empty; a table has a header and one row a subject; fill it")
    if len(used) == 1:
        raise TableError(f"{source}: it has a header and no rows; a table has one row a subject; add them")
    if len(used) * len(grid.rows) > MOST_SHEET_CELLS:
        raise _too_large(source)
    index = {row: n for n, row in enumerate(used)}
    columns: list[list[Cell]] = []
    for column in sorted(grid.rows):
        cells: list[Cell] = [None] * len(used)
        for row, cell in zip(grid.rows[column], grid.cells[column], strict=True):
            cells[index[row]] = cell
        columns.append(cells)
    first = titles(list(zip(*(cells[:SNIFFED] for cells in columns), strict=True)))
    header = [cell_text(cells[first]) for cells in columns]
    note = title_note("row", used[:first])
    found = Sheet(source, header, [cells[first + 1 :] for cells in columns], used[first + 1 :], note=note)
    return without_blank_columns(found)


def _too_large(source: str) -> TableError:
    return TableError(
        f"{source}: its sheet has more than {MOST_SHEET_CELLS:,} cells, which is the most that is read of a workbook; "
        "save it as CSV or Parquet"
    )


def _dates(package: Package) -> frozenset[int]:
    """Return the numbers of the cell styles that show a number as a date or a time."""
    own: dict[int, bool] = {}
    formats: list[int] = []
    inside = False

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        nonlocal inside
        if tag == "numFmt":
            code = _NO_FORMAT.sub("", attributes.get("formatCode", "").partition(";")[0])
            own[int(attributes.get("numFmtId", 0))] = bool(_DATE_LETTERS.search(code))
        inside = inside or tag == "cellXfs"
        if tag == "xf" and inside:
            formats.append(int(attributes.get("numFmtId", 0)))

    def end(tag: str) -> None:
        nonlocal inside
        inside = inside and tag != "cellXfs"

    package.parse("xl/styles.xml", start, end)
    return frozenset(n for n, code in enumerate(formats) if own.get(code, code in _BUILT_IN_DATES))


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number
