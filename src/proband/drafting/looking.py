"""What a column of a table seems to be: a test with listed outcomes, a number to be cut, or nothing to test at all."""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from proband.drafting.columns import Column
from proband.drafting.friendly import friendly_cuts
from proband.errors import shown
from proband.numerals import Limit, written
from proband.tables.sheets import cell_text
from proband.tables.words import folded
from proband.texts import escaped
from proband.vocabulary import FloatArray

FEW = 5
"""So many different numbers are listed as outcomes; more are cut."""
MOST_LISTED = 20
"""Different texts that are listed as outcomes."""
LONGEST_OUTCOME = 60
MANY_ROWS = 60
"""From so many numbers on a column is cut into three pieces; below, into two."""
RARE = 5
_SAVE = "open and save the file in a spreadsheet program, which writes what formulas give"

SENTINELS = frozenset({-9.0, -99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0})
"""Numbers that stand for a missing entry in many tables, where they lie far from all others."""

_DATE = re.compile(
    r"(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}"
    r"|[0-9]{1,2}[-. ]{0,2}[A-Za-zäéû]{3,9}[-., ]+[0-9]{2,4}"
    r"|[A-Za-zäéû]{3,9}[-., ]+[0-9]{1,2}(?:st|nd|rd|th)?[-., ]+[0-9]{4})(?:[T ,]+[0-9]{1,2}:[0-9]{2}.*)?"
    r"|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?"
)
_NAMED_DATE = re.compile(r"date|datum|fecha|birthday|timestamp|(?:^|[^a-z])(?:day|tag|dob)(?:$|[^a-z])", re.IGNORECASE)
_SIGN_FIRST = re.compile(r"[€$£¥]\s*[+-]?[0-9][0-9.,' ]*")
_DAYS = (18_264, 73_050)
"""Dates of 1950 to 2099 as spreadsheets count days."""
_LATE_DAYS = (36_526, 54_789)
"""Those of 2000 to 2049."""
_IDENTITY = re.compile(
    r"(?:^|[^a-z])(?:id|ids|uuid|guid|nr|no|num|number|nummer|serial|index|key|code|barcode|patient|subject|case|name|"
    r"part|row|zip|plz|postcode|phone)(?:$|[^a-z])", re.IGNORECASE
)  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """What a column seems to be.

    Attributes
    ----------
    column : Column
    facts : str
        What was seen.
    ignored : str
        Why it is no test; empty for a test.
    outcomes, cuts : tuple
        Of a test: listed outcomes, or where its numbers are cut.
    doubts : tuple of str
        What somebody should look at.
    missing : tuple of str
        Words of this column that are taken for missing entries.
    """

    column: Column
    facts: str
    ignored: str = ""
    outcomes: tuple[str, ...] = ()
    cuts: tuple[float, ...] = ()
    doubts: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name


def look(column: Column) -> Seen:
    """Return what a column seems to be.

    Examples
    --------
    >>> look(Column.of("visual", ["ok", "rusty", "ok", ""] * 9, frozenset())).outcomes
    ('ok', 'rusty')
    >>> look(Column.of("id", list(range(30)), frozenset())).ignored
    'all entries differ: it seems to tell subjects apart'
    """
    n, k = len(column.known), len(column.texts)
    empty = len(column.cells) - n
    facts = f"{n:,} entries, {k:,} different" + (f"; {empty:,} missing" if empty else "")
    words = tuple(column.words)
    if not n:
        return Seen(column, facts, "it is empty")
    if k == 1:
        return Seen(column, facts, f"it never varies: {shown(next(iter(column.texts)))}", missing=words)
    if _dates(column) >= 0.8 * n:
        return Seen(column, facts, "it holds dates or times", missing=words)
    if any(escaped(text) != text for text in column.texts):
        return Seen(column, facts, "its entries have characters that act on a terminal", missing=words)
    if sum(times for text, times in column.texts.items() if text.startswith("=")) > 0.5 * n:
        return Seen(column, facts, "it holds formulas whose values are not in the file", doubts=(_SAVE,), missing=words)
    looks = _look_at_numbers if column.share_of_numbers >= 0.8 else _look_at_texts
    return looks(column, facts, words)


def _dates(column: Column) -> int:
    typed = sum(isinstance(cell, dt.date | dt.time) for cell in column.known)
    spelled = sum(times for text, times in column.texts.items() if _DATE.fullmatch(text) and text not in column.numbers)
    first, last = _DAYS
    days = int(((first <= column.plain_values) & (column.plain_values <= last)).sum())
    written_together = sum(times for text, times in column.texts.items() if _is_day(text))
    return max(typed, spelled, days * (_NAMED_DATE.search(column.name) is not None), written_together)


def _is_day(text: str) -> bool:
    """Return whether a text is a date such as 20240331."""
    try:
        return len(text) == 8 and text.isdigit() and 1900 <= dt.date.fromisoformat(text).year < 2100
    except ValueError:
        return False


def _look_at_numbers(column: Column, facts: str, words: tuple[str, ...]) -> Seen:
    values, doubts = column.values, []
    if _tells_apart(column):
        return Seen(column, facts, "all entries differ: it seems to tell subjects apart", missing=words)
    others = [text for text in column.texts if text not in column.numbers]
    if others:
        times = sum(column.texts[text] for text in others)
        doubts.append(f"rows without a number: {times:,} ({_listed(others)}); these entries are taken for missing ones")
    extreme = [value for value in np.unique(values).tolist() if value in SENTINELS and _is_far(values, value)]
    if extreme:
        doubts.append(
            f"{_listed([written(v) for v in extreme])} lies far from the other numbers: taken for a missing entry"
        )
        values = values[~np.isin(values, extreme)]
    words = (*words, *others, *(written(value) for value in extreme))
    whole = np.unique(values)
    if len(whole) <= FEW and (whole == np.floor(whole)).all() and _spelled_plainly(column, extreme):
        outcomes = tuple(written(value) for value in whole.tolist())
        few = f"{facts}; few numbers, so each is an outcome"
        return Seen(column, few, outcomes=outcomes, doubts=(*doubts, *_rare(column)), missing=words)
    return _cut(column, facts, values, doubts, words)


def _cut(column: Column, facts: str, values: FloatArray, doubts: list[str], words: tuple[str, ...]) -> Seen:
    pieces = 2 if len(values) < MANY_ROWS else 3
    cuts = friendly_cuts(values, min(pieces, len(np.unique(values))))
    limits = {text: value for text, value in column.numbers.items() if isinstance(value, Limit)}
    if limits:
        cuts = _within(cuts, list(limits.values()))
        doubts.append(f"limits such as <5: {sum(column.texts[text] for text in limits):,}; no cut lies beyond them")
    doubts += _other_than_measured(column, values)
    if not cuts:
        return Seen(column, facts, "its numbers leave no room for a cut", doubts=tuple(doubts), missing=words)
    shares = np.diff([0, *np.searchsorted(np.sort(values), cuts, side="left"), len(values)]) / len(values)
    told = ", ".join(f"{100 * share:.0f} %" for share in shares)
    where = "the median" if pieces == 2 else "the thirds"
    plain = column.plain_values[np.isin(column.plain_values, values)]
    spread = f"{facts}; numbers from {written(plain.min())} to {written(plain.max())}" if len(plain) else facts
    how = f"cut near {where}, at round numbers: {told} of the entries"
    return Seen(column, f"{spread}; {how}", cuts=tuple(cuts), doubts=tuple(doubts), missing=words)


def _other_than_measured(column: Column, values: FloatArray) -> list[str]:
    """Return doubts about numbers that may be dates, or names of things."""
    first, last = _LATE_DAYS
    if first <= values.min() and values.max() <= last:
        return ["such numbers may be dates, as spreadsheets count days; if they are, it is no test: move it to ignore"]
    if _IDENTITY.search(column.name) is not None and (values == np.floor(values)).all():
        return [
            "by its name its numbers may stand for things; if they measure nothing, list them as outcomes, or ignore it"
        ]
    return []


def _within(cuts: Sequence[float], limits: Sequence[Limit]) -> list[float]:
    """Return the cuts that lie beyond no limit; where none is left, the largest lower limit."""
    low = max((value.number for value in limits if value.side.startswith("<")), default=-np.inf)
    high = min((value.number for value in limits if value.side.startswith(">")), default=np.inf)
    kept = [cut for cut in cuts if low <= cut <= high]
    return kept or [value for value in (low, high) if np.isfinite(value)][:1]


def _look_at_texts(column: Column, facts: str, words: tuple[str, ...]) -> Seen:
    n, k = len(column.known), len(column.texts)
    long = max(map(len, column.texts))
    if _tells_apart(column):
        return Seen(column, facts, "all entries differ: it seems to tell subjects apart", missing=words)
    if len(column.unsure) > 0.5 * k:
        why = f"nobody can tell whether {shown(column.unsure[0])} has decimals or thousands"
        return Seen(column, facts, why, doubts=("write its numbers without a mark for thousands",), missing=words)
    if sum(times for text, times in column.texts.items() if _SIGN_FIRST.fullmatch(text)) >= 0.8 * n:
        doubt = "write its numbers without the sign before them, or with the unit behind"
        return Seen(column, facts, "a sign stands before its numbers", doubts=(doubt,), missing=words)
    if long > LONGEST_OUTCOME or (k > FEW and n < 2 * k):
        return Seen(column, facts, "it seems to be free text", missing=words)
    if k > MOST_LISTED:
        doubt = f"{k} different entries are too many to list; put some together to make it a test"
        return Seen(column, facts, "it has too many different entries", doubts=(doubt,), missing=words)
    return Seen(
        column, facts, outcomes=tuple(sorted(column.texts, key=str.casefold)), doubts=_rare(column), missing=words
    )


def _tells_apart(column: Column) -> bool:
    """Return whether a column seems to number or name the subjects."""
    n, k = len(column.known), len(column.texts)
    named = _IDENTITY.search(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column.name)) is not None
    if named and k > 0.9 * n and n > 2:
        return True
    if column.share_of_numbers < 0.8:
        return (
            k == n
            and n >= 10
            and max(map(len, column.texts)) <= LONGEST_OUTCOME
            and not any(" " in t for t in column.texts)
        )
    whole = [column.numbers.get(cell_text(cell)) for cell in column.known]
    rising = all(isinstance(a, float) and isinstance(b, float) and b - a == 1 for a, b in itertools.pairwise(whole))
    return rising and n > 2


def _spelled_plainly(column: Column, left_out: Sequence[float]) -> bool:
    """Return whether the reader of listed outcomes knows each entry: 1 and 1.0, but not 01."""
    known = {text: value for text, value in column.numbers.items() if value not in left_out}
    return all(
        isinstance(value, float) and re.sub(r"[.,]0+$", "", text) == written(value) for text, value in known.items()
    )


def _is_far(values: FloatArray, value: float) -> bool:
    others = values[values != value]
    if len(others) == len(values) or len(values) - len(others) < 2 or len(others) < 5:
        return False
    low, high = np.quantile(others, [0.25, 0.75], method="lower").tolist()
    room = 5 * max(high - low, 1e-300)
    return bool(value < min(low - room, others.min()) or value > max(high + room, others.max()))


def _rare(column: Column) -> tuple[str, ...]:
    doubts = []
    rare = [text for text, times in column.texts.items() if times < RARE]
    if rare and len(column.known) >= 10 * RARE:
        doubts.append(f"{_listed(rare)}: in fewer than {RARE} rows; a misspelling, or to be put together with another?")
    folds: dict[str, list[str]] = {}
    for text in column.texts:
        folds.setdefault(text.casefold(), []).append(text)
    doubts += [
        f"{_listed(same)} differ in capitals only; are they one outcome?" for same in folds.values() if len(same) > 1
    ]
    asked = [text for text in column.texts if folded(text) in ("none", "unknown", "other")]
    doubts += [
        f"{shown(text)} is listed as an outcome; if it means that the test was not run, move it to missing"
        for text in asked
    ]
    return tuple(doubts)


def _listed(texts: Sequence[str], most: int = 5) -> str:
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(shown(text) for text in texts[:most]) + more
