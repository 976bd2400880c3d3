"""Tables on disk: CSV files whose columns are tests and whose entries are outcome names.

An empty entry (or NA, NaN) means that the test was not run. Comma, semicolon and tab separate.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from proband.errors import TableError
from proband.vocabulary import FloatArray, Records, Test

MISSING = frozenset({"", "na", "nan", "n/a", "null", "none"})


def read_records(path: str | os.PathLike[str], tests: Sequence[Test]) -> Records:
    """Read past subjects: one row each, one column a test.

    An outcome that is called like a mark for missing entries ("none", "na") is read as the outcome.
    """
    rows, _ = _read(path, tests, number=None)
    if np.isnan(rows).all():
        raise TableError(f"{path}: every entry is missing; records need at least one outcome; fill the table")
    return Records(rows)


def read_distribution(path: str | os.PathLike[str], tests: Sequence[Test]) -> tuple[FloatArray, FloatArray]:
    """Read a distribution: one column a test, and the column ``probability``; returns support and probabilities."""
    rows, probabilities = _read(path, tests, number="probability")
    if np.isnan(rows).any():
        row, i = np.argwhere(np.isnan(rows))[0]
        raise TableError(
            f"{path}: line {row + 2}, column {tests[i].name!r}: it is empty; a distribution lists complete outcome "
            "vectors; fill it in"
        )
    return rows, probabilities


def write_table(
    path: str | os.PathLike[str],
    tests: Sequence[Test],
    rows: FloatArray,
    probabilities: FloatArray | None = None,
) -> None:
    """Write outcome vectors by name, with the column ``probability`` if given."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([test.name for test in tests] + ([] if probabilities is None else ["probability"]))
        for n, row in enumerate(rows):
            names = ["" if np.isnan(x) else test.outcomes[int(x)] for test, x in zip(tests, row, strict=True)]
            writer.writerow(names + ([] if probabilities is None else [repr(float(probabilities[n]))]))


def _read(path: str | os.PathLike[str], tests: Sequence[Test], number: str | None) -> tuple[FloatArray, FloatArray]:
    header, lines = _lines(path)
    wanted = [test.name for test in tests] + ([number] if number else [])
    _check_header(path, header, wanted)
    columns = list(zip(*lines, strict=True))
    rows = np.column_stack([_outcomes(path, test, columns[header.index(test.name)]) for test in tests])
    numbers = _numbers(path, number, columns[header.index(number)]) if number else np.empty(0)
    return rows, numbers


def _lines(path: str | os.PathLike[str]) -> tuple[list[str], list[list[str]]]:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise TableError(f"{path}: it cannot be read ({error.strerror}); check the path") from error
    except UnicodeDecodeError as error:
        raise TableError(f"{path}: it is not UTF-8 text ({error.reason}); save it as UTF-8") from error
    if not text.strip():
        raise TableError(f"{path}: it is empty; a table has a header and one line a subject; fill it")
    first = text.lstrip().splitlines()[0]
    delimiter = max(",;\t", key=first.count)
    lines = [[cell.strip() for cell in line] for line in csv.reader(text.splitlines(), delimiter=delimiter)]
    header, body = lines[0], [line for line in lines[1:] if line]
    if not body:
        raise TableError(f"{path}: it has a header and no rows; a table has one line a subject; add them")
    for n, line in enumerate(lines[1:], start=2):
        if line and len(line) != len(header):
            raise TableError(
                f"{path}: line {n}: it has {len(line)} entries; the header has {len(header)}; "
                "give each column an entry (empty where a test was not run)"
            )
    return header, body


def _check_header(path: str | os.PathLike[str], header: list[str], wanted: list[str]) -> None:
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise TableError(f"{path}: columns {repeated} appear more than once; columns must differ; rename or drop one")
    unknown = [name for name in header if name not in wanted]
    missing = [name for name in wanted if name not in header]
    if unknown or missing:
        parts = [f"unknown columns {unknown}"] * bool(unknown) + [f"missing columns {missing}"] * bool(missing)
        raise TableError(
            f"{path}: {' and '.join(parts)}; the columns must be {wanted}; rename, add (empty where never run) or drop"
        )


def _outcomes(path: str | os.PathLike[str], test: Test, cells: Sequence[str]) -> FloatArray:
    numbers: dict[str, float] = {outcome: float(b) for b, outcome in enumerate(test.outcomes)}
    for cell in set(cells) - set(numbers):
        if cell.lower() not in MISSING:
            raise TableError(
                f"{path}: line {cells.index(cell) + 2}, column {test.name!r}: the outcome {cell!r} is unknown; "
                f"outcomes are {', '.join(test.outcomes)} (empty when not run); correct the table or the problem"
            )
        numbers[cell] = np.nan
    return np.array([numbers[cell] for cell in cells])


def _numbers(path: str | os.PathLike[str], name: str, cells: Sequence[str]) -> FloatArray:
    numbers = np.empty(len(cells))
    for n, cell in enumerate(cells):
        try:
            numbers[n] = float(cell)
        except ValueError:
            raise TableError(
                f"{path}: line {n + 2}, column {name!r}: {cell!r} is no number; give a probability"
            ) from None
    return numbers
