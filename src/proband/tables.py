"""Tables on disk: CSV files whose columns are tests and whose entries are outcome names, or measurements.

An empty entry (or NA, NaN) means that the test was not run. Comma, semicolon and tab separate. A name that a
spreadsheet would take for a formula is written with an apostrophe before it, which is taken away when it is read
(:mod:`proband.texts`).
"""

from __future__ import annotations

import csv
import io
import itertools
import os
from collections import Counter
from collections.abc import Collection, Container, Sequence
from pathlib import Path

import numpy as np

from proband.errors import ProblemError, TableError, shown
from proband.files import read_text
from proband.texts import cell_of, text_of
from proband.vocabulary import FloatArray, Records, Test

PROBABILITY = "probability"
PRICES = ("site", "cost", "group", "group_cost")
"""The columns of a table of prices; the last two where sites share a preparation."""
MISSING = frozenset({"", "na", "nan", "n/a", "null", "none"})


def read_records(path: str | os.PathLike[str], tests: Sequence[Test]) -> Records:
    """Read past subjects: one row each, one column a test.

    An outcome that is called like a mark for missing entries ("none", "na") is read as the outcome.
    """
    rows, _, _ = _read(path, tests, number=None)
    if np.isnan(rows).all():
        raise TableError(f"{path}: every entry is missing; records need at least one outcome; fill the table")
    return Records(rows)


def read_distribution(path: str | os.PathLike[str], tests: Sequence[Test]) -> tuple[FloatArray, FloatArray]:
    """Read a distribution: one column a test, and the column ``probability``; returns support and probabilities."""
    _check_room(path, tests)
    rows, probabilities, lines = _read(path, tests, number=PROBABILITY)
    if np.isnan(rows).any():
        row, i = np.argwhere(np.isnan(rows))[0]
        raise TableError(
            f"{path}: line {lines[row]}, column {tests[i].name!r}: it is empty; a distribution lists complete outcome "
            "vectors; fill it in"
        )
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


def _read(
    path: str | os.PathLike[str], tests: Sequence[Test], number: str | None
) -> tuple[FloatArray, FloatArray, list[int]]:
    """Return outcomes, the column of numbers (empty without one), and the line of each row."""
    wanted = dict.fromkeys([test.name for test in tests] + ([number] if number else []))
    header, body, lines = read_lines(path, wanted)
    _check_header(path, header, wanted)
    columns = dict(zip(header, zip(*body, strict=True), strict=True))
    rows = np.column_stack([_outcomes(path, test, columns[test.name], lines) for test in tests])
    numbers = _numbers(path, number, columns[number], lines, "probability") if number else np.empty(0)
    return rows, numbers, lines


def read_header(path: str | os.PathLike[str]) -> list[str]:
    """Return the names of the columns of a table."""
    [(_, header)] = _rows(path, _text(path), (), most=1)
    return [name.strip() for name in header]


def read_lines(path: str | os.PathLike[str], wanted: Collection[str]) -> tuple[list[str], list[list[str]], list[int]]:
    """Return the header, the other rows, and the line of the file on which each of these ends.

    A delimiter that gives the `wanted` columns is preferred.
    """
    (_, first), *rest = _rows(path, _text(path), wanted)
    header = [_cell(name, wanted) for name in first]
    if not rest:
        raise TableError(f"{path}: it has a header and no rows; a table has one line a subject; add them")
    for line, cells in rest:
        if len(cells) != len(header):
            raise TableError(
                f"{path}: line {line}: it has {len(cells)} entries; the header has {len(header)}; "
                "give each column an entry (empty where a test was not run)"
            )
    return header, [cells for _, cells in rest], [line for line, _ in rest]


def _text(path: str | os.PathLike[str]) -> str:
    text = read_text(path, TableError)
    if not text.strip():
        raise TableError(f"{path}: it is empty; a table has a header and one line a subject; fill it")
    return text


def _rows(
    path: str | os.PathLike[str], text: str, wanted: Collection[str], most: int | None = None
) -> list[tuple[int, list[str]]]:
    """Return line number and cells of the rows that are not blank, cut by the delimiter that fits best."""
    try:
        return _parse(text, max(",;\t", key=lambda mark: _fit(text, mark, wanted)), most)
    except csv.Error as error:
        raise TableError(f"{path}: it cannot be read as a table ({error}); save it as CSV again") from error


def _parse(text: str, delimiter: str, most: int | None = None) -> list[tuple[int, list[str]]]:
    """Return line number and cells of the rows that are not blank; at most `most` of them."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows = ((reader.line_num, cells) for cells in reader if cells)
    return list(itertools.islice(rows, most))


def _fit(text: str, delimiter: str, wanted: Collection[str]) -> tuple[int, int]:
    """Return how well a delimiter cuts the header: known names found, then number of names."""
    [(_, header)] = _parse(text, delimiter, most=1)
    return sum(_cell(name, wanted) in wanted for name in header), len(header)


def _cell(cell: str, known: Container[str]) -> str:
    """Return the known name that a cell stands for, with the blanks around it or without; else the cell, stripped."""
    readings = (text_of(cell), cell, text_of(cell.strip()))
    return next((reading for reading in readings if reading in known), cell.strip())


def _priced_site(path: str | os.PathLike[str], name: str, row: dict[str, str]) -> Test:
    group = row.get("group", "").strip() or None
    try:
        cost = float(row["cost"])
        group_cost = float(row["group_cost"]) if group is not None else None
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


def _check_header(path: str | os.PathLike[str], header: list[str], wanted: Collection[str]) -> None:
    times = Counter(header)
    repeated = sorted(name for name in times if times[name] > 1)
    if repeated:
        raise TableError(
            f"{path}: columns {shown(repeated)} appear more than once; columns must differ; rename or drop one"
        )
    unknown = [name for name in header if name not in wanted]
    missing = [name for name in wanted if name not in times]
    if unknown or missing:
        parts = [f"unknown columns {shown(unknown)}"] * bool(unknown) + [f"missing columns {missing}"] * bool(missing)
        raise TableError(
            f"{path}: {' and '.join(parts)}; the columns must be {list(wanted)}; rename, add (empty where never run) "
            "or drop"
        )


def _written(test: Test, value: float) -> str:
    return repr(value) if test.measured else cell_of(test.names[int(value)])


def _outcomes(path: str | os.PathLike[str], test: Test, cells: Sequence[str], lines: Sequence[int]) -> FloatArray:
    if test.measured:
        known = ["nan" if cell.strip().lower() in MISSING else cell for cell in cells]
        numbers = _numbers(path, test.name, known, lines, "measurement")
        if np.isinf(numbers).any():
            line = lines[int(np.flatnonzero(np.isinf(numbers))[0])]
            raise TableError(f"{path}: line {line}, column {test.name!r}: it is infinite; give a finite measurement")
        return numbers
    numbered = {outcome: float(b) for b, outcome in enumerate(test.names)}
    places: dict[str, float] = {}
    for cell in dict.fromkeys(cells):
        name = _cell(cell, numbered)
        if name not in numbered and name.lower() not in MISSING:
            raise TableError(
                f"{path}: line {lines[cells.index(cell)]}, column {test.name!r}: the outcome {shown(name)} is unknown; "
                f"outcomes are {', '.join(test.names)} (empty when not run); correct the table or the problem"
            )
        places[cell] = numbered.get(name, np.nan)
    return np.array([places[cell] for cell in cells])


def _numbers(
    path: str | os.PathLike[str], name: str, cells: Sequence[str], lines: Sequence[int], what: str
) -> FloatArray:
    numbers = np.empty(len(cells))
    for n, cell in enumerate(cells):
        try:
            numbers[n] = float(cell)
        except ValueError:
            raise TableError(
                f"{path}: line {lines[n]}, column {name!r}: {shown(cell.strip())} is no number; give a {what}"
            ) from None
    return numbers
