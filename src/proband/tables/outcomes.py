"""From a cell to an outcome of a test, or to the reason why it is none: what is wrong, and the remedy."""

from __future__ import annotations

import datetime as dt
import difflib
import math
import re
from collections.abc import Callable, Sequence

from proband.errors import shown
from proband.numerals import NO_MARKS, UNMARKED, Marks, marks_of, number
from proband.tables.sheets import Cell, cell_text, known_name
from proband.tables.words import MissingWords
from proband.texts import text_of
from proband.vocabulary import Test

Read = Callable[[Cell], float]
"""Returns a cell as a number, NaN where it is missing; raises ValueError with what is wrong and the remedy."""

_TRUTH = {True: ("True", "true", "TRUE", "yes", "1"), False: ("False", "false", "FALSE", "no", "0")}
_WHOLE = re.compile(r"([+-]?[0-9]+)[.,]0+")
_INFINITE = frozenset({"inf", "infinity"})


def marks_in(test: Test, cells: Sequence[Cell]) -> frozenset[str]:
    """Return the decimal marks that the column of a test shows for certain."""
    if not test.measured and test.cuts is None:
        return NO_MARKS
    return marks_of({cell.removesuffix(test.unit) for cell in cells if isinstance(cell, str)})


def outcome_in(test: Test, missing: MissingWords, marks: Marks = UNMARKED) -> Read:
    """Return how the cells of a test's column are read.

    Examples
    --------
    >>> read = outcome_in(Test("hardness", 1.0, cuts=[60, 75]), MissingWords(["-"]))
    >>> read("63.2"), read(80), read("-"), read("< 60")
    (1.0, 2.0, nan, 0.0)
    """
    if test.measured:
        measured = number_in("measurement", marks, unit=test.unit)
        return lambda cell: math.nan if missing.hold(cell) else measured(cell)
    numbered = {outcome: float(b) for b, outcome in enumerate(test.names)}

    def read(cell: Cell) -> float:
        name = next((name for name in _readings(cell, numbered) if name in numbered), None)
        if name is not None:
            return numbered[name]
        if missing.hold(cell):
            return math.nan
        return _unknown(test, cell) if test.cuts is None else _cut(test, cell, marks)

    return read


def number_in(what: str, marks: Marks = UNMARKED, *, unit: str = "") -> Read:
    """Return how cells are read that hold numbers, which are called `what`."""

    def read(cell: Cell) -> float:
        if isinstance(cell, str):
            plain = text_of(cell.strip())
            if plain.lower().lstrip("+-") in _INFINITE:
                raise ValueError(f"it is infinite; give a finite {what}")
            if plain.lower() == "nan":
                return math.nan
            return _number(plain, what, marks, unit)
        return _plain_number(cell, what)

    return read


def _number(text: str, what: str, marks: Marks, unit: str) -> float:
    try:
        return number(text, unit=unit, marks=marks)
    except ValueError as error:
        remedy = "" if ";" in str(error) else f"; give a {what}"
        raise ValueError(f"{error}{remedy}") from error


def _plain_number(cell: Cell, what: str) -> float:
    if isinstance(cell, dt.date | dt.time):
        raise ValueError(
            f"{cell_text(cell)!r} is a date, into which spreadsheets turn numbers such as 3/1; give a {what}, in a "
            "cell that is formatted as a number"
        )
    if cell is None or isinstance(cell, bool):
        raise ValueError(f"{shown(cell_text(cell))} is no number; give a {what}")
    try:
        value = float(cell)
    except OverflowError:
        value = math.inf
    if math.isinf(value):
        raise ValueError(f"it is infinite; give a finite {what}")
    return value


def _readings(cell: Cell, known: dict[str, float]) -> list[str]:
    """Return what a cell may be called: a truth value has several names, and 1.0 is 1."""
    if isinstance(cell, bool):
        return list(_TRUTH[cell])
    text = cell_text(cell)
    whole = _WHOLE.fullmatch(text.strip())
    return [known_name(text, known), *([whole[1]] if whole else [])]


def _cut(test: Test, cell: Cell, marks: Marks) -> float:
    """Return where a number is cut to."""
    if isinstance(cell, str):
        try:
            return test.read(text_of(cell.strip()), marks=marks)
        except ValueError as error:
            remedy = "" if ";" in str(error) else f"; give a number, or one of {', '.join(test.names)}"
            raise ValueError(f"{error}{remedy}") from error
    return test.read(_plain_number(cell, "number"))


def _unknown(test: Test, cell: Cell) -> float:
    text = cell_text(cell).strip()
    if text.startswith("#"):
        raise ValueError(f"{shown(text)} is an error of the spreadsheet; correct its formula, or empty the cell")
    alike = {outcome.lower(): outcome for outcome in reversed(test.names)}
    close = difflib.get_close_matches(text.lower(), alike, n=1)
    hint = f"did you mean {alike[close[0]]!r}? " if close else ""
    if _is_number(cell) and not any(_is_number(outcome) for outcome in test.names):
        hint = "numbers become outcomes by cuts = [..] in the problem file; "
    raise ValueError(
        f"the outcome {shown(text)} is unknown; outcomes are {', '.join(test.names)} (empty when not run); "
        f"{hint}correct the table or the problem"
    )


def _is_number(cell: Cell) -> bool:
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return False
    try:
        return math.isfinite(number(cell) if isinstance(cell, str) else cell)
    except (ValueError, OverflowError):
        return False
