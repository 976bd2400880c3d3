"""Tables by name: records of past subjects, laws, and prices; their columns are tests, their entries outcomes.

An empty entry (or NA, NaN) means that the test was not run. A name that a spreadsheet would take for a formula is
written with an apostrophe before it, which is taken away when it is read (:mod:`proband.texts`). Every bad cell of a
table is found before one error tells of them.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from proband import numerals
from proband.errors import ProblemError, TableError, shown
from proband.numerals import Marks
from proband.tables.outcomes import marks_in, number_in, outcome_in
from proband.tables.reading import read_sheet
from proband.tables.sheets import Cell, Mistakes, Sheet, cell_text, check_header
from proband.tables.words import MissingWords
from proband.texts import cell_of
from proband.vocabulary import FloatArray, Records, Test

PROBABILITY = "probability"
PRICES = ("site", "cost", "group", "group_cost")
"""The columns of a table of prices; the last two where sites share a preparation."""


class Found(NamedTuple):
    """Outcomes (n, d), the column of numbers (empty without one), and the table that they come from."""

    rows: FloatArray
    numbers: FloatArray
    sheet: Sheet


def read_records(
    source: Any,
    tests: Sequence[Test],
    *,
    ignore: Collection[str] = (),
    missing: Sequence[str] = (),
    sheet: str | None = None,
) -> Records:
    """Read past subjects: one row each, one column a test.

    An outcome that is called like a mark for missing entries ("none", "na") is read as the outcome.

    Parameters
    ----------
    source : path, binary file or frame
    tests : sequence of Test
    ignore : collection of str, optional
        Columns that are left aside.
    missing : sequence of str, optional
        Words that stand where a test was not run, beside those of :data:`~proband.tables.words.MISSING`.
    sheet : str, optional
        Which sheet of a workbook.
    """
    found = _read(source, tests, None, ignore=ignore, missing=missing, sheet=sheet)
    if np.isnan(found.rows).all():
        raise found.sheet.error("every entry is missing; records need at least one outcome; fill the table")
    return Records(found.rows, tests=tests)


def read_names(
    source: Any,
    tests: Sequence[Test],
    *,
    ignore: Collection[str] = (),
    sheet: str | None = None,
    column: str | None = None,
) -> list[str]:
    """Return how the rows of a table are called: where each stands in its file, and what a column says of it.

    Parameters
    ----------
    source, tests, ignore, sheet
        As for :func:`read_records`; a file that can be read only once is read.
    column : str, optional
        Whose entries name subjects; by default the first ignored one whose entries all differ, if there is one.
    """
    wanted = [test.name for test in tests]
    table = read_sheet(source, wanted=[*wanted, *ignore], sheet=sheet)
    header = table.named({*wanted, *ignore})
    kept = _filled(table) if len(header) > len(wanted) else len(table)
    if column is not None and column not in header:
        raise table.error(f"there is no column {column!r} to name subjects by; columns are {header}; name one of these")
    cells = [""] * kept
    for name, entries in zip(header, table.columns, strict=True):
        given = [cell_text(cell).strip() for cell in entries[:kept]]
        telling = name in ignore and len(set(given)) == kept and all(given)
        if name == column or (column is None and telling):
            cells = given
            break
    return [
        f"{table.place} {n}" + f" ({cell})" * bool(cell) for n, cell in zip(table.places[:kept], cells, strict=True)
    ]


def read_distribution(
    source: Any, tests: Sequence[Test], *, ignore: Collection[str] = ()
) -> tuple[FloatArray, FloatArray]:
    """Read a distribution: one column a test, and the column ``probability``; returns support and probabilities."""
    _check_room(source, tests)
    rows, probabilities, sheet = _read(source, tests, PROBABILITY, ignore=ignore)
    mistakes = Mistakes(sheet)
    for row, i in np.argwhere(np.isnan(rows)).tolist():
        mistakes.add(row, i, tests[i].name, "it is empty; a distribution lists complete outcome vectors; fill it in")
    mistakes.check()
    return rows, probabilities


def read_prices(path: str | os.PathLike[str], names: Sequence[str]) -> list[Test]:
    """Read what the sites of a network cost, a row each; returns them as measured tests, in the order of `names`."""
    if not Path(path).exists():
        raise TableError(f"{path}: it cannot be read (no number, and no such file); give a number, or a CSV of prices")
    header, body, _ = read_lines(path, PRICES)
    if not {"site", "cost"} <= set(header):
        raise TableError(f"{path}: its columns are {shown(header)}; it needs site and cost; add them")
    rows = [dict(zip(header, cells, strict=True)) for cells in body]
    by_site = {row["site"].strip(): row for row in rows}
    missing = [name for name in names if name not in by_site]
    unknown = [name for name in by_site if name not in names]
    if missing or unknown:
        raise TableError(
            f"{path}: it has no cost for {missing} and costs of unknown {shown(unknown)}; every site needs one; "
            "correct it"
        )
    return [_priced_site(path, name, by_site[name]) for name in names]


def write_table(
    path: str | os.PathLike[str],
    tests: Sequence[Test],
    rows: FloatArray,
    probabilities: FloatArray | None = None,
) -> None:
    """Write outcome vectors by name, with the column ``probability`` if given."""
    if probabilities is not None:
        _check_room(path, tests)
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([cell_of(test.name) for test in tests] + ([] if probabilities is None else [PROBABILITY]))
        for n, row in enumerate(rows):
            names = ["" if np.isnan(x) else _written(test, float(x)) for test, x in zip(tests, row, strict=True)]
            writer.writerow(names + ([] if probabilities is None else [repr(float(probabilities[n]))]))


def read_lines(source: Any, wanted: Collection[str]) -> tuple[list[str], list[list[str]], list[int]]:
    """Return the header, the other rows as texts, and the line of the file on which each of these ends.

    A delimiter that gives the `wanted` columns is preferred.
    """
    sheet = read_sheet(source, wanted=wanted)
    body = [[cell_text(cell) for cell in cells] for cells in zip(*sheet.columns, strict=True)]
    return sheet.named(wanted), body, list(sheet.places)


def _read(
    source: Any,
    tests: Sequence[Test],
    number: str | None,
    *,
    ignore: Collection[str] = (),
    missing: Sequence[str] = (),
    sheet: str | None = None,
) -> Found:
    """Return outcomes and the column of numbers; raise for all bad cells at once."""
    wanted = dict.fromkeys([test.name for test in tests] + ([number] if number else []))
    table = read_sheet(source, wanted=[*wanted, *ignore], sheet=sheet)
    header = table.named({*wanted, *ignore})
    check_header(table, header, wanted, ignore)
    place = {name: n for n, name in enumerate(header)}
    kept = _filled(table) if len(header) > len(wanted) else len(table)
    columns = {name: table.columns[place[name]][:kept] for name in wanted}
    seen = {test.name: marks_in(test, columns[test.name]) for test in tests}
    marks = frozenset[str]().union(*seen.values()) or table.marks
    words, mistakes, rows = MissingWords(missing), Mistakes(table), np.empty((kept, len(tests)))
    for i, test in enumerate(tests):
        read = outcome_in(test, words, Marks(seen[test.name], marks))
        rows[:, i] = _column(columns[test.name], read, mistakes, place[test.name], test.name)
    numbers = np.empty(0)
    if number:
        read = number_in("probability", Marks(table=table.marks))
        numbers = _column(columns[number], read, mistakes, place[number], number)
    mistakes.check()
    return Found(rows, numbers, table)


def _filled(sheet: Sheet) -> int:
    """Return how many rows there are without those at the end in which nothing stands at all."""
    blank = [all(cell is None or cell == "" for cell in cells) for cells in zip(*sheet.columns, strict=True)]
    return len(blank) - next((n for n, empty in enumerate(reversed(blank)) if not empty), 0)


def _column(
    cells: Sequence[Cell], read: Callable[[Cell], float], mistakes: Mistakes, column: int, name: str
) -> FloatArray:
    """Return the numbers of a column; each different cell is read once."""
    kinds = [(cell.__class__, cell) for cell in cells]  # True is 1 to a dictionary, and another cell
    values: dict[tuple[type, Cell], float] = {}
    wrong: dict[tuple[type, Cell], str] = {}
    for kind in dict.fromkeys(kinds):
        try:
            values[kind] = read(kind[1])
        except ValueError as error:
            values[kind], wrong[kind] = np.nan, str(error)
    if wrong:
        for row, kind in enumerate(kinds):
            if kind in wrong:
                mistakes.add(row, column, name, wrong[kind])
    return np.array([values[kind] for kind in kinds], dtype=np.float64)


def _priced_site(path: str | os.PathLike[str], name: str, row: dict[str, str]) -> Test:
    group = row.get("group", "").strip() or None
    try:
        cost = numerals.number(row["cost"])
        group_cost = numerals.number(row["group_cost"]) if group is not None else None
    except (ValueError, KeyError) as error:
        raise TableError(f"{path}: the prices of {name!r} are no numbers ({error}); correct them") from error
    try:
        return Test(name, cost, outcomes=None, group=group, group_cost=group_cost)
    except ProblemError as error:
        raise TableError(f"{path}: {error}") from error


def _check_room(path: str | os.PathLike[str], tests: Sequence[Test]) -> None:
    if any(test.name == PROBABILITY for test in tests):
        raise TableError(
            f"{path}: a test is called {PROBABILITY!r}; in a distribution this is the column of numbers; "
            "rename the test"
        )


def _written(test: Test, value: float) -> str:
    return repr(value) if test.measured else cell_of(test.names[int(value)])
