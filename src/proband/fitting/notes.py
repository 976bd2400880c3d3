"""What is to be known of a table before a plan made from it is believed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from proband.problem import Problem
from proband.vocabulary import FloatArray

if TYPE_CHECKING:
    from proband.fitting.grid import Grid


MOST_NAMED = 5
"""Outcomes that are named one by one."""

FEW = 10
"""Rows with a label, below which little is known of what goes with it."""


def notes_on(problem: Problem, grid: Grid, rows: FloatArray) -> list[str]:
    """Return sentences about rows (n, d) of outcomes."""
    return notes_on_columns(problem, rows) + _on_labels(problem, grid, rows) + _on_gaps(problem, grid, rows)


def notes_on_columns(problem: Problem, rows: FloatArray) -> list[str]:
    """Return sentences about the columns of rows (n, d), and about their number: whatever learns from them."""
    notes = [note for i in range(problem.d) for note in _on_test(problem, rows, i)]
    blank = int(np.isnan(rows).all(axis=1).sum())
    if blank:
        which = "1 row has" if blank == 1 else f"{blank:,} rows have"
        notes.append(
            f"{which} no entry at all, and each counts as a subject of whom nothing is known; if these are empty lines "
            "of the table, delete them"
        )
    told = problem.d if problem.measured else int(sum(problem.k))
    if len(rows) < told:
        what = "tests" if problem.measured else "outcomes in all"
        given = "is 1 row" if len(rows) == 1 else f"are {len(rows):,} rows"
        notes.append(
            f"there {given} and {told:,} {what}: far too few to tell what goes with what; get more rows, or drop tests"
        )
    return notes


def _on_test(problem: Problem, rows: FloatArray, i: int) -> list[str]:
    test, seen = problem.tests[i], rows[~np.isnan(rows[:, i]), i]
    if not len(seen):
        return [f"{test.name} was never run: the column is empty, and nothing is known of what it shows; leave it out"]
    if test.measured:
        return [] if (seen != seen[0]).any() else [_constant(test.name, f"{seen[0]:g}")]
    counts = np.bincount(seen.astype(np.int64), minlength=test.k)
    never = [name for name, count in zip(test.names, counts, strict=True) if not count]
    if (counts > 0).sum() == 1 and test.k > 1:
        only = test.names[int(counts.argmax())]
        return [_one_label(test.name, only, never) if i in problem.targets else _constant(test.name, only)]
    return [f"{test.name} never showed {_named(never)}: what happens then is guessed"] if never else []


def _named(outcomes: Sequence[str]) -> str:
    more = len(outcomes) - MOST_NAMED
    return ", ".join(outcomes[:MOST_NAMED]) + f" and {more} more" * (more > 0)


def _one_label(name: str, only: str, others: Sequence[str]) -> str:
    return (
        f"{name} is {only} in every row that has it: nothing tells who is {_named(others)}, and values take it that "
        "nobody is; get rows of such subjects"
    )


def _constant(name: str, only: str) -> str:
    return f"{name} is {only} in every row that has it: a constant column tells nothing"


def _on_labels(problem: Problem, grid: Grid, rows: FloatArray) -> list[str]:
    """Return sentences about labels that few subjects have."""
    notes = []
    for i in grid.targets.tolist():
        test, seen = problem.tests[i], rows[~np.isnan(rows[:, i]), i].astype(np.int64)
        counts = np.bincount(seen, minlength=test.k).tolist()
        notes += [
            f"{test.name} is {name} in {count} of {len(seen)} rows only: hardly anything is known of who is, and "
            "values that hang on it may be far off; get more such rows"
            for name, count in zip(test.names, counts, strict=True)
            if 0 < count < min(FEW, len(seen) / test.k)
        ]
    return notes


def _on_gaps(problem: Problem, grid: Grid, rows: FloatArray) -> list[str]:
    notes = []
    names = ", ".join(problem.tests[i].name for i in grid.targets)
    unlabelled = int(np.isnan(rows[:, grid.targets]).any(axis=1).sum())
    if unlabelled:
        notes.append(
            f"{unlabelled} of {len(rows)} rows have no {names}: they tell what tests show, and are weighted by what "
            "the model thinks of them"
        )
    gaps = np.isnan(rows[:, grid.visible]).any(axis=1) & ~np.isnan(rows[:, grid.targets]).any(axis=1)
    if gaps.any():
        notes.append(
            f"{int(gaps.sum())} of {len(rows)} rows lack an entry: they are completed as the model thinks likely, each "
            "with the weight of one row; right if tests were skipped because of what was known, not because of what "
            "was not written down"
        )
    return notes
