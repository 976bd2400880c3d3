"""Numbers as people write them: decimal points and commas, thousands set apart, units, limits such as "< 5".

A comma or a point with three digits behind it may set thousands apart or begin the decimals. What decides is what else
the column shows: 12,5 is a decimal comma wherever it stands. Where nothing decides, a point is a decimal point, as
everywhere in computing, and a comma is not guessed: 1,234 is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

from proband.errors import shown

NO_MARKS: frozenset[str] = frozenset()

_EXPONENT = r"(?:[eE][+-]?[0-9]{1,4})?"
_FREE = re.compile(rf"[+-]?[0-9]+{_EXPONENT}")
_ONE_MARK = re.compile(rf"[+-]?(?:[0-9]+([.,])[0-9]*|([.,])[0-9]+){_EXPONENT}")
_EITHER = re.compile(r"[+-]?[1-9][0-9]{0,2}([.,])[0-9]{3}")
_GROUPED = re.compile(
    r"[+-]?[0-9]{1,3}(?:(?:,[0-9]{3}){2,}|(?:,[0-9]{3})+(\.)[0-9]+|(?:\.[0-9]{3}){2,}|(?:\.[0-9]{3})+(,)[0-9]+"
    r"|(?:[ '’\u00a0\u2009\u202f][0-9]{3})+(?:([.,])[0-9]+)?)"
)
_LIMIT = re.compile(r"(<=|>=|<|>|≤|≥)\s*(.+)")
_SIGNS = str.maketrans({"−": "-", "–": "-"})
_SIDES = {"<": "<", "≤": "<=", "<=": "<=", ">": ">", "≥": ">=", ">=": ">="}
_BLANKS = re.compile(r"[ '’\u00a0\u2009\u202f]")


class Marks(NamedTuple):
    """Which decimal marks were seen for certain: in the column of a number, and in its whole table."""

    column: frozenset[str] = NO_MARKS
    table: frozenset[str] = NO_MARKS


UNMARKED = Marks()
"""Nothing was seen: a number on its own."""


class Limit(NamedTuple):
    """All numbers on one side of another, which counts (<=, >=) or not (<, >)."""

    side: str
    number: float


def marks_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the decimal marks that texts show for certain.

    Examples
    --------
    >>> sorted(marks_of(["12,5", "1.234"])), sorted(marks_of(["1,234", "7"])), sorted(marks_of(["1,234.5"]))
    ([','], [], ['.'])
    """
    found = set()
    for text in texts:
        plain = _LIMIT.sub(r"\2", text.strip()).translate(_SIGNS)
        match = _GROUPED.fullmatch(plain) or (None if _EITHER.fullmatch(plain) else _ONE_MARK.fullmatch(plain))
        if match is not None:
            found |= {mark for mark in match.groups() if mark}
    return frozenset(found)


def number(text: str, *, unit: str = "", marks: Marks = UNMARKED) -> float:
    """Return the number that a text is, with its unit or without; raise ValueError, with the reason, if it is none.

    Examples
    --------
    >>> number("63.2 HRC", unit="HRC"), number("12,5"), number("1 234,5"), number("-1e3")
    (63.2, 12.5, 1234.5, -1000.0)
    >>> number("1,234")
    Traceback (most recent call last):
    ValueError: '1,234' may mean 1.234 or 1234; write it without a mark for thousands, and with a decimal point
    """
    plain = _without_unit(text.strip(), unit).translate(_SIGNS)
    if _FREE.fullmatch(plain):
        return _finite(text, plain)
    either = _EITHER.fullmatch(plain)
    if either is not None:
        mark = either[1]
        return float(plain.replace(mark, "." if _is_decimal(text, mark, marks) else ""))
    if _ONE_MARK.fullmatch(plain):
        return _finite(text, plain.replace(",", "."))
    grouped = _GROUPED.fullmatch(plain)
    if grouped is not None:
        decimal = next((mark for mark in grouped.groups() if mark), "")
        whole, _, part = plain.rpartition(decimal) if decimal else (plain, "", "0")
        return float(f"{_BLANKS.sub('', whole).replace(',', '').replace('.', '')}.{part}")
    raise ValueError(_why_not(text.strip()))


def limit(text: str, *, unit: str = "", marks: Marks = UNMARKED) -> Limit | None:
    """Return the limit that a text such as "< 5" gives; None if it is no such text.

    Examples
    --------
    >>> limit("≤ 5 mg/l", unit="mg/l"), limit("5")
    (Limit(side='<=', number=5.0), None)
    """
    found = _LIMIT.fullmatch(text.strip())
    return None if found is None else Limit(_SIDES[found[1]], number(found[2], unit=unit, marks=marks))


def written(value: float) -> str:
    """Return a number as it is written in names: whole ones without a point.

    Examples
    --------
    >>> written(60.0), written(0.25), written(-1e20)
    ('60', '0.25', '-1e+20')
    """
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(float(value))


def _without_unit(text: str, unit: str) -> str:
    return text[: -len(unit)].rstrip() if unit and text.endswith(unit) else text


def _is_decimal(text: str, mark: str, marks: Marks) -> bool:
    """Return whether a mark with three digits behind it begins the decimals; raise if nobody can tell."""
    other = "." if mark == "," else ","
    seen = marks.column or marks.table
    if seen == {mark} or (mark == "." and not seen):
        return True
    if marks.column == {other}:
        return False
    whole = text.strip().replace(mark, "")
    raise ValueError(
        f"{shown(text.strip())} may mean {text.strip().replace(',', '.')} or {whole}; write it without a mark for "
        "thousands, and with a decimal point"
    )


def _finite(text: str, plain: str) -> float:
    value = float(plain)
    if math.isinf(value):
        raise ValueError(f"{shown(text.strip())} is too large for a number")
    return value


def _why_not(text: str) -> str:
    if text.startswith("="):
        return f"{shown(text)} is a formula whose value is not in the file; open and save it in a spreadsheet program"
    if text.startswith("#"):
        return f"{shown(text)} is an error of the spreadsheet; correct its formula, or empty the cell"
    return f"{shown(text)} is no number"
