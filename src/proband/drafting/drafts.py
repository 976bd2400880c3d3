"""A draft of a problem file from a table: tests, label, words about tables, prices to be filled in, doubts as comments.

The label is what a decision is about: a column that past subjects have and that is not known in operation. It becomes a
test that is not available, each of its outcomes a decision, and what a decision brings is to be filled in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proband.drafting.columns import Column
from proband.drafting.looking import Seen, look
from proband.drafting.writing import draft_text
from proband.errors import MOST_TOLD, TableError, shown
from proband.numerals import marks_of, number
from proband.quantities import counted
from proband.tables.reading import read_sheet
from proband.tables.sheets import Sheet
from proband.tables.words import folded
from proband.texts import check_plain

MOST_LABELS = 10
_LABEL = re.compile(
    r"(?:^|[^a-zäöüß])(?:label|class|klasse|target|diagnos[ei]s?|befund|outcome|result|ergebnis|verdict|decision|"
    r"truth|gold|quality|qualität|defect|fault|ok|pass|passed|good|accepted|y)(?:$|[^a-zäöüß])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Draft:
    """A drafted problem file.

    Attributes
    ----------
    source : str
        The table.
    rows : int
        How many subjects it has.
    label : Seen
        The column that decisions are about.
    why : str
        Why this one.
    tests, ignored : tuple of Seen
        The other columns.
    missing : tuple of str
        Words that seem to stand for missing entries.
    doubts : tuple of str
        What is to be looked at, beside the doubts about single columns.
    """

    source: str
    rows: int
    label: Seen
    why: str
    tests: tuple[Seen, ...]
    ignored: tuple[Seen, ...]
    missing: tuple[str, ...]
    doubts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The problem file, with comments."""
        return draft_text(self)

    @property
    def all_doubts(self) -> list[str]:
        """Every doubt, with the column that it is about."""
        seen = (*self.tests, self.label, *self.ignored)
        return [*self.doubts, *(f"{column.name}: {doubt}" for column in seen for doubt in column.doubts)]


def draft(source: Any, *, label: str | None = None, sheet: str | None = None) -> Draft:
    """Draft a problem file from a table of past subjects.

    Parameters
    ----------
    source : path, binary file or frame
    label : str, optional
        The column that decisions are about; by default guessed.
    sheet : str, optional
        Which sheet of a workbook.

    Examples
    --------
    >>> table = {"id": range(60), "hardness": [40 + n % 50 for n in range(60)], "good": ["yes", "no", "yes"] * 20}
    >>> found = draft(table)
    >>> found.label.name, [test.cuts for test in found.tests], [column.name for column in found.ignored]
    ('good', [(50.0, 70.0)], ['id'])
    """
    table = read_sheet(source, sheet=sheet)
    columns = _columns(table)
    chosen, why = _label(table, columns, label)
    rest = [column for column in columns if column is not chosen]
    tests = tuple(_with_leak(column, chosen) for column in rest if not column.ignored)
    if not tests:
        why = "; ".join(f"{shown(column.name)}: {column.ignored}" for column in rest[:MOST_TOLD])
        raise table.error(
            f"no column beside the label {chosen.name!r} could be a test ({why}); a problem needs one or "
            "more; add columns"
        )
    missing = _missing(columns)
    labelled, unlabelled = chosen.column.known, len(table) - len(chosen.column.known)
    doubts = _on_header(columns) + _on_label(columns, chosen)
    doubts += [f"no label in {unlabelled:,} of {len(table):,} rows: such rows tell nothing of what to decide"] * bool(
        unlabelled
    )
    if len(labelled) < 10 * len(columns):
        few = f"{counted(len(labelled), 'row')} with a label"
        doubts.append(f"{few}, for {counted(len(tests), 'test')}, are few: a plan will fit them, not what comes")
    if table.note:
        doubts.append(table.note)
    ignored = tuple(column for column in rest if column.ignored)
    return Draft(Path(table.source).name, len(table), chosen, why, tests, ignored, missing, tuple(doubts))


def _on_header(columns: Sequence[Seen]) -> list[str]:
    """Return a doubt where the first row may be a subject: what a column is called is one of its entries."""
    odd = [seen.name for seen in columns if seen.name in seen.column.texts]
    if not odd:
        return []
    return [f"is the first row a header? {shown(odd)} may be entries of a subject; names of columns go there"]


def _on_label(columns: Sequence[Seen], chosen: Seen) -> list[str]:
    """Return a doubt where another column is called like a label, and is none as it never varies."""
    if _LABEL.search(chosen.name):
        return []
    alike = [seen for seen in columns if _LABEL.search(seen.name) and len(seen.column.texts) == 1]
    return [
        f"{seen.name} is called like a label, and {seen.ignored}; nothing can be learned of it: get rows with another"
        for seen in alike
    ]


def _check_shape(table: Sheet, names: Sequence[str]) -> None:
    if len(names) < 2:
        raise table.error(
            f"it has a single column, {shown(names[0] if names else '')}; a problem needs a test and a label; if "
            "another mark than comma, semicolon or tab separates, say so in a first line such as sep=|"
        )
    nameless = [str(n) for n, name in enumerate(names, start=1) if not name]
    if len(nameless) > 1:
        raise table.error(
            f"columns {', '.join(nameless)} have entries and no name; each column needs one, in a single row; "
            "name them, and where a row of merged cells stands above the names, delete it"
        )
    if len(table) == 1:
        raise table.error("it has a single row; nothing can be told from one subject; add more")
    if names and all(_is_number(name) for name in names):
        raise table.error(
            f"its first row is {shown(list(names))}; a table has a header with the names of its columns; add one"
        )


def _is_number(text: str) -> bool:
    try:
        number(text)
    except ValueError:
        return False
    return True


def _columns(table: Sheet) -> list[Seen]:
    names = [" ".join(name.split()) for name in table.header]
    _check_shape(table, names)
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise table.error(f"columns {shown(repeated)} appear more than once; columns must differ; rename or drop one")
    for name in names:
        check_plain(f"{table.source}: the name of a column", name, TableError)
    marks = frozenset[str]().union(
        *(marks_of(cell for cell in cells if isinstance(cell, str)) for cells in table.columns)
    )
    seen = [
        look(Column.of(name, cells, marks if len(marks) == 1 else table.marks))
        for name, cells in zip(names, table.columns, strict=True)
    ]
    named = [column if column.name else replace(column, ignored="it has no name") for column in seen]
    return _without_clashes(named)


def _label(table: Sheet, columns: Sequence[Seen], wanted: str | None) -> tuple[Seen, str]:
    """Return the column that decisions are about, and why this one."""
    if wanted is not None:
        found = next((column for column in columns if column.name == wanted), None)
        if found is None:
            names = [column.name for column in columns]
            raise table.error(f"it has no column {wanted!r} for the label; its columns are {shown(names)}; name one")
        if found.ignored:
            raise table.error(f"the label {wanted!r} cannot be decided about ({found.ignored}); name another column")
        return found, "it was named"
    possible = [column for column in columns if not column.ignored and 2 <= len(column.outcomes) <= MOST_LABELS]
    if not possible:
        raise table.error(
            "no column could be the label, which decisions are about: it has two outcomes or a few more; name it with "
            "--label (label= in Python)"
        )
    named = [column for column in possible if _LABEL.search(column.name)]
    if named:
        return named[-1], "a guess, from its name"
    last = possible[-1]
    return last, "a guess: the last column" if last is columns[-1] else "a guess: the last column with few outcomes"


def _with_leak(column: Seen, label: Seen) -> Seen:
    """Return a column with a doubt if it tells the label exactly: perhaps it was known only afterwards."""
    pairs = {(a, b) for a, b in zip(column.column.cells, label.column.cells, strict=True) if None not in (a, b)}
    told = {a for a, _ in pairs}
    few = len(told) <= len(label.column.texts)
    if column.cuts or not few or len(pairs) > len(told) or len(label.column.known) < 20:
        return column
    doubt = "it tells the label exactly: is it the label under another name, known only afterwards? then ignore it"
    return replace(column, doubts=(*column.doubts, doubt))


def _without_clashes(columns: Sequence[Seen]) -> list[Seen]:
    """Return the columns without those in which a word stands for a missing entry that is an outcome of another one."""
    outcomes = {folded(outcome) for column in columns if not column.ignored for outcome in column.outcomes}
    checked = []
    for column in columns:
        clash = next((word for word in column.missing if folded(word) in outcomes), None)
        if clash is not None and not column.ignored:
            why = f"{shown(clash)} stands in it like a missing entry, and is an outcome of another column"
            checked.append(replace(column, ignored=why, outcomes=(), cuts=()))
        else:
            checked.append(column)
    return checked


def _missing(columns: Sequence[Seen]) -> tuple[str, ...]:
    """Return all words for missing entries, each once."""
    words = (word for column in columns if not column.ignored for word in column.missing)
    return tuple({folded(word): word for word in words}.values())
