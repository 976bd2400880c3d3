"""A draft as a problem file: TOML with comments, in which nothing from the table can act."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from proband.cutting import cut_names
from proband.drafting.looking import Seen
from proband.problem_files import SCHEMA, UNFILLED, toml_value
from proband.texts import escaped

if TYPE_CHECKING:
    from proband.drafting.drafts import Draft

_WIDTH = 118
_CHOOSE = '# cuts = "choose"  # in place of these: proband fit chooses them, again in each fold of its validation'
_HEAD = f"""\
Fill in every "{UNFILLED}": what each test costs, and what each decision brings for each outcome of the label.
A test that is known when the subject arrives has on_arrival = true in place of its cost. Tests that share a
preparation, such as one blood sample, have group = "..." and group_cost = ... beside the cost.
Then: proband fit FILE --data TABLE. All fields: docs/problem-files.md."""


def draft_text(draft: Draft) -> str:
    """Return a draft as a problem file."""
    label = draft.label
    outcomes, why = outcomes_of(label), f"The label ({draft.why}): only past subjects have it."
    lines = [
        *_comment(f"A draft by proband init from {draft.source}: {draft.rows:,} rows.", *_HEAD.splitlines()),
        *_comment(*(f"DOUBT: {doubt}" for doubt in draft.doubts)),
        f"schema = {SCHEMA}",
        f"name = {toml_value(draft.source.rpartition('.')[0] or draft.source)}",
        'unit = ""  # of all costs and utilities, such as "EUR" or "minutes"',
        f"decisions = {toml_value(list(outcomes))}  # what is decided: to take the subject for one of these",
        "",
        *_ignored(draft.ignored),
        *_missing(draft.missing),
    ]
    for test in draft.tests:
        lines += ["", *_test(test), f'cost = "{UNFILLED}"']
    lines += ["", *_test(label, why, label=True), "available = false"]
    lines += ["", "[reward]", 'kind = "table"', f"targets = {toml_value([label.name])}"]
    lines += ["", *_comment("What each decision brings to a subject whose label is this one; a mistake is negative.")]
    for outcome in outcomes:
        value = ", ".join(f'{toml_value(decision)} = "{UNFILLED}"' for decision in outcomes)
        when = f"{{ {toml_value(label.name)} = {toml_value(outcome)} }}"
        lines += ["[[reward.utilities]]", f"when = {when}", f"value = {{ {value} }}", ""]
    return "\n".join(lines[:-1]) + "\n"


def outcomes_of(seen: Seen) -> tuple[str, ...]:
    """Return the outcomes of a test, listed or cut."""
    return cut_names(seen.cuts, seen.column.unit) if seen.cuts else seen.outcomes


def _test(seen: Seen, *more: str, label: bool = False) -> list[str]:
    doubts = (f"DOUBT: {doubt}" for doubt in seen.doubts)
    lines = ["[[tests]]", f"name = {toml_value(seen.name)}", *_comment(*more, seen.facts, *doubts)]
    if not seen.cuts:
        return [*lines, f"outcomes = {toml_value(list(seen.outcomes))}"]
    lines.append(f"cuts = {toml_value(list(seen.cuts))}  # outcomes: {escaped(', '.join(outcomes_of(seen)))}")
    if not label:
        lines.append(_CHOOSE)  # what is good is not chosen by rows
    return [*lines, f"unit = {toml_value(seen.column.unit)}"] if seen.column.unit else lines


def _ignored(columns: Sequence[Seen]) -> list[str]:
    if not columns:
        return ["ignore = []  # columns of tables that are no tests"]
    lines = _comment("Columns that are no tests:")
    for column in columns:
        lines += _comment(f"  {column.name or '(no name)'}: {column.ignored} ({column.facts})")
        lines += _comment(*(f"  DOUBT: {doubt}" for doubt in column.doubts))
    return [*lines, f"ignore = {toml_value([column.name for column in columns])}"]


def _missing(words: Sequence[str]) -> list[str]:
    said = "beside an empty cell, NA, NaN, N/A, null and none"
    return [f"missing = {toml_value(list(words))}  # words for tests that were not run, {said}"]


def _comment(*sentences: str) -> list[str]:
    """Return sentences as comments; a long one on several lines."""
    return [f"# {line}" for sentence in sentences for line in _lines(escaped(sentence))]


def _lines(sentence: str) -> Iterable[str]:
    lead = sentence[: len(sentence) - len(sentence.lstrip())]
    return textwrap.wrap(
        sentence, _WIDTH, subsequent_indent=f"{lead}  ", break_long_words=False, break_on_hyphens=False,
        drop_whitespace=True, initial_indent="",
    )  # fmt: skip
