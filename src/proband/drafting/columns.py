"""A column of a table: its entries without blanks around them, what is missing, its numbers, and their unit."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from proband.numerals import Limit, Marks, limit, marks_of, number
from proband.tables.sheets import Cell, cell_text
from proband.tables.words import MissingWords, folded
from proband.texts import text_of
from proband.vocabulary import FloatArray

MAYBE_MISSING = frozenset(
    {"-", "--", "—", "–", "?", "??", ".", "...", "n.a.", "n. a.", "n.d.", "k.a.", "k. a.", "not done", "not measured",
     "not tested", "missing", "(missing)", "(null)", "#na"}
)  # fmt: skip
"""Words, in small letters, that seem to stand for a missing entry wherever they are found."""
_NUMBER_AND_UNIT = re.compile(r"[+\-−]?[0-9][0-9.,' ]*?\s*([^\s0-9.,'/:-][^0-9]{0,11})")
_CODE = re.compile(r"0[0-9]+")
_EITHER = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
_UNIT = re.compile(r".*\S\s*(?:\[([^\[\]]{1,20})\]|\(([^()]{1,20})\))\s*")


@dataclass(frozen=True)
class Column:
    """A column of a table: its name and cells, without blanks around texts; None where an entry is missing.

    `marks` are decimal marks of the whole table; `words` are those for missing entries that were found in it.
    """

    name: str
    cells: tuple[Cell, ...]
    marks: frozenset[str] = frozenset()
    words: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, name: str, cells: Sequence[Cell], marks: frozenset[str]) -> Column:
        """Return a column in which all that seems to be missing is."""
        words: Counter[str] = Counter()
        built_in, kept = MissingWords(), []
        for cell in cells:
            known: Cell = " ".join(text_of(cell.strip()).split()) if isinstance(cell, str) else cell
            if isinstance(known, str) and folded(known) in MAYBE_MISSING:
                words[known] += 1
                known = None
            elif built_in.hold(known) and folded(str(known)) != "none":
                known = None
            kept.append(known)
        return cls(name, tuple(kept), marks, words)

    @cached_property
    def known(self) -> list[Cell]:
        """The entries that are not missing."""
        return [cell for cell in self.cells if cell is not None]

    @cached_property
    def texts(self) -> Counter[str]:
        """How often each different entry stands there, as a text."""
        return Counter(map(cell_text, self.known))

    @cached_property
    def numbers(self) -> dict[str, float | Limit]:
        """The different entries that are numbers, or limits such as "<5"; none where most are codes such as 007."""
        if sum(times for text, times in self.texts.items() if _CODE.fullmatch(text)) > 0.5 * len(self.known):
            return {}
        marks = Marks(marks_of(self.texts_without_unit), self.marks)
        found: dict[str, float | Limit] = {}
        for cell in dict.fromkeys(cell for cell in self.known if not isinstance(cell, bool | dt.date | dt.time)):
            try:
                plain = cell if not isinstance(cell, str) else limit(cell, unit=self.unit, marks=marks)
                value = number(str(cell), unit=self.unit, marks=marks) if plain is None else plain
            except ValueError:
                continue
            if isinstance(value, Limit) or math.isfinite(value):
                found[cell_text(cell)] = value if isinstance(value, Limit) else float(value)
        return found

    @cached_property
    def unit(self) -> str:
        """The unit that the name of the column tells, "Length [mm]" or "Length (mm)", or that follows its numbers."""
        match = _UNIT.fullmatch(self.name)
        if match is not None:
            return (match[1] or match[2]).strip()
        ends = Counter[str]()
        for text, times in self.texts.items():
            end = _NUMBER_AND_UNIT.fullmatch(text)
            ends[end[1] if end else ""] += times
        [(unit, times)] = ends.most_common(1) or [("", 0)]
        return unit if times >= 0.8 * len(self.known) else ""

    @property
    def texts_without_unit(self) -> list[str]:
        """The different entries that are texts, without the unit."""
        return [cell.removesuffix(self.unit).strip() for cell in dict.fromkeys(self.known) if isinstance(cell, str)]

    @property
    def unsure(self) -> list[str]:
        """The entries that may be one of two numbers: 1,234."""
        return [text for text in self.texts_without_unit if _EITHER.fullmatch(text) and text not in self.numbers]

    @cached_property
    def plain_values(self) -> FloatArray:
        """The numbers of the column, without limits, shape (n,)."""
        return self._repeated({text: value for text, value in self.numbers.items() if isinstance(value, float)})

    @cached_property
    def values(self) -> FloatArray:
        """The numbers of the column, shape (n,); a limit counts as the next number on its side."""
        sides = {"<": -np.inf, ">": np.inf}
        limits = {
            text: float(np.nextafter(value.number, sides[value.side])) if value.side in sides else value.number
            for text, value in self.numbers.items()
            if isinstance(value, Limit)
        }
        return np.concatenate([self.plain_values, self._repeated(limits)])

    def _repeated(self, numbers: dict[str, float]) -> FloatArray:
        times = [self.texts[text] for text in numbers]
        return np.repeat(np.array(list(numbers.values()), dtype=np.float64), times)

    @property
    def share_of_numbers(self) -> float:
        """The share of entries that are numbers or limits."""
        return sum(self.texts[text] for text in self.numbers) / max(1, len(self.known))
