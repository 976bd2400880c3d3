"""Text files: which encoding, which delimiter, which lines.

UTF-8 is tried first, UTF-16 is known by its mark or by its zeros, and what is neither is taken for Windows-1252, of
which Latin-1 is a part. Comma, semicolon and tab separate; a first line ``sep=;``, which Excel writes, says which one.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from collections.abc import Collection
from typing import NamedTuple

from proband.errors import MOST_TOLD, TableError, told
from proband.numerals import NO_MARKS
from proband.tables.sheets import (
    SNIFFED,
    Sheet,
    known_name,
    title_note,
    titles,
    without_blank_columns,
)

DELIMITERS = "\t;,"
_SEPARATOR = re.compile(r'"?sep=(.)"?(?:\r\n|\r|\n|$)', re.IGNORECASE)
_WIDE = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
SNIFFED_BYTES, MOST_ZEROS = 512, 4
"""A file that begins with more zeros is no text; a single one may be a damaged cell, which is told as such."""
GUESSED = "the file is no UTF-8 and was read as Windows-1252; save it as UTF-8 if letters look wrong"

Row = tuple[int, list[str]]
"""The line on which a row ends, and its cells."""


class Text(NamedTuple):
    """The content of a text file, from its header on."""

    source: str
    text: str
    note: str
    delimiter: str | None
    before: int


def decoded(source: str, content: bytes) -> Text:
    """Return the content of a text file; raise if there is none."""
    text, note = _decoded(source, content)
    text = text.removeprefix("\ufeff")
    said = _SEPARATOR.match(text)
    if said is not None:
        text = text[said.end() :]
    if not text.strip():
        raise TableError(f"{source}: it is empty; a table has a header and one line a subject; fill it")
    return Text(source, text, note, said and said[1], int(said is not None))


def read_delimited(source: str, content: bytes, wanted: Collection[str]) -> Sheet:
    """Read a text file; a delimiter that gives the wanted columns is preferred."""
    text = decoded(source, content)
    delimiter, rows = _cut(text, wanted)
    first = titles([cells for _, cells in rows[:SNIFFED]])
    skipped, (_, header), *rest = [line for line, _ in rows[:first]], *rows[first:]
    if not rest:
        raise TableError(f"{source}: it has a header and no rows; a table has one line a subject; add them")
    begins = [line + 1 for line, _ in rows[first:-1]]
    wrong = [(begin, *row) for begin, row in zip(begins, rest, strict=True) if len(row[1]) != len(header)]
    if wrong:
        lines = [_uneven(begin, line, cells, len(header)) for begin, line, cells in wrong[:MOST_TOLD]]
        raise TableError(f"{source}: {told(lines, len(wrong), 'lines cannot be read')}")
    columns = list(zip(*(cells for _, cells in rest), strict=True))
    marks = frozenset({","}) if delimiter == ";" else NO_MARKS
    note = "; ".join(filter(None, (text.note, title_note("line", skipped))))
    sheet = Sheet(source, header, list(columns), [line for line, _ in rest], "line", marks, note)
    return without_blank_columns(sheet)


def _uneven(begin: int, end: int, cells: list[str], width: int) -> str:
    """Return what is said of a row with too many or too few entries; one with line breaks may be many rows."""
    where = f"line {end}" if begin >= end else f"lines {begin} to {end}"
    entries = "1 entry" if len(cells) == 1 else f"{len(cells)} entries"
    remedy = "give each column an entry (empty where a test was not run)"
    if any("\n" in cell or "\r" in cell for cell in cells):
        remedy = "close the quotation mark that is opened there: what follows it was read as one entry"
    return f"{where}: it has {entries}; the header has {width}; {remedy}"


def read_first_line(source: str, content: bytes) -> list[str]:
    """Return the names of the columns."""
    _, rows = _cut(decoded(source, content), (), most=SNIFFED)
    return rows[titles([cells for _, cells in rows])][1]


def _decoded(source: str, content: bytes) -> tuple[str, str]:
    wide = next((name for mark, name in _WIDE.items() if content.startswith(mark)), None) or _zeros(content)
    if not wide and content[:SNIFFED_BYTES].count(0) > MOST_ZEROS:
        raise TableError(
            f"{source}: it is no text (it has bytes that are zero); tables are CSV, .xlsx or Parquet; save it as one "
            "of these, a text as UTF-8"
        )
    try:
        return content.decode(wide or "utf-8-sig"), ""
    except UnicodeDecodeError as cause:
        if wide:
            raise TableError(
                f"{source}: it is damaged UTF-16 text ({cause.reason}); save it again, as UTF-8"
            ) from cause
    try:
        return content.decode("cp1252"), GUESSED
    except UnicodeDecodeError:
        return content.decode("latin-1"), GUESSED.replace("Windows-1252", "Latin-1")


def _zeros(content: bytes) -> str | None:
    """Return which UTF-16 has no mark and many zeros: every other byte of plain letters is one."""
    start = content[: 2 * 1024]
    for name, zeros in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
        if len(zeros) >= 4 and zeros.count(0) > 0.7 * len(zeros) and start.count(0) < 0.6 * len(start):
            return name
    return None


def _cut(text: Text, wanted: Collection[str], most: int | None = None) -> tuple[str, list[Row]]:
    """Return the delimiter that fits best, and the rows that are not blank."""
    try:
        delimiter = text.delimiter or max(DELIMITERS, key=lambda mark: _fit(text.text, mark, wanted))
        return delimiter, [(line + text.before, cells) for line, cells in _parse(text.text, delimiter, most)]
    except (csv.Error, ValueError, TypeError) as error:  # the latter two for a delimiter that cannot be one
        raise TableError(f"{text.source}: it cannot be read as a table ({error}); save it as CSV again") from error


def _parse(text: str, delimiter: str, most: int | None = None) -> list[Row]:
    """Return line number and cells of the rows that are not blank; at most `most` of them."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows = ((reader.line_num, cells) for cells in reader if cells)
    return list(itertools.islice(rows, most))


def _fit(text: str, delimiter: str, wanted: Collection[str]) -> tuple[int, int, int, int]:
    """Return how well a delimiter fits: known names found, rows of one length, how rare it is elsewhere, names."""
    rows = _parse(text, delimiter, most=SNIFFED)
    (_, header), *rest = rows[titles([cells for _, cells in rows]) :]
    found = sum(known_name(name, wanted) in wanted for name in header)
    even = int(len(header) > 1 and bool(rest) and all(len(cells) == len(header) for _, cells in rest))
    return found, even, -DELIMITERS.index(delimiter) * even, len(header)
