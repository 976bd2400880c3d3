"""Words about tables that a problem brings along: which columns are ignored, and what stands for a missing entry."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from proband.errors import ProblemError, shown
from proband.numerals import number, written
from proband.tables.sheets import Cell, cell_text
from proband.texts import check_plain
from proband.vocabulary import Test

MISSING = frozenset({"", "na", "nan", "n/a", "null", "none", "#n/a"})
"""What always stands for a missing entry, in small letters, unless a test has an outcome of that name."""


class MissingWords:
    """What stands in a table where a test was not run.

    A word that is a number stands for that number, however it is written.

    Examples
    --------
    >>> words = MissingWords(["-", "-999"])
    >>> [words.hold(cell) for cell in (None, " NA ", "-", "-999.0", -999, 0, "ok")]
    [True, True, True, True, True, False, False]
    """

    def __init__(self, words: Sequence[str] = ()) -> None:
        self.words = tuple(words)

    @cached_property
    def _texts(self) -> frozenset[str]:
        return MISSING | {folded(word) for word in self.words}

    @cached_property
    def _numbers(self) -> frozenset[float]:
        return frozenset(value for word in self.words if (value := _number(word)) is not None)

    def hold(self, cell: Cell) -> bool:
        """Return whether a cell is a missing entry."""
        if cell is None or folded(cell_text(cell)) in self._texts:
            return True
        return isinstance(cell, str) and bool(self._numbers) and _number(cell) in self._numbers


def folded(word: str) -> str:
    """Return a word as it is compared: without blanks around it, in small letters."""
    return word.strip().lower()


def checked_ignored(names: Sequence[str], tests: Sequence[Test]) -> tuple[str, ...]:
    """Return the names of ignored columns: texts, none of them a test's; an empty one is a column without a name."""
    given = _texts("ignore", names, 'columns such as ["id", "date"]')
    known = {test.name for test in tests}
    for name in given:
        if name in known:
            raise ProblemError(f"ignore names {name!r}, which is a test; a column is a test or ignored; drop one")
    return given


def checked_missing(words: Sequence[str], tests: Sequence[Test]) -> tuple[str, ...]:
    """Return words for missing entries: texts, none of them an outcome."""
    given = _texts("missing", words, 'words such as ["-", "not done"]')
    folds = {folded(word): word for word in given}
    for test in tests:
        for outcome in test.outcomes or ():
            if folded(outcome) in folds:
                raise ProblemError(
                    f"missing has the word {folds[folded(outcome)]!r}, which is an outcome of test {test.name!r}; a "
                    "word means one of the two; rename the outcome, or drop the word"
                )
    return given


def _texts(key: str, given: Any, example: str) -> tuple[str, ...]:
    if isinstance(given, str) or not all(isinstance(word, str) for word in given):
        raise ProblemError(f"{key} is {shown(given)}; it must be a list of texts; write {example}")
    for word in given:
        check_plain(f"{key}: a word", word, ProblemError)
    if len(set(given)) < len(given):
        raise ProblemError(f"{key} is {shown(list(given))}; it repeats a word; drop one")
    return tuple(given)


def _number(word: str) -> float | None:
    try:
        return float(written(number(word)))
    except (ValueError, OverflowError):
        return None
