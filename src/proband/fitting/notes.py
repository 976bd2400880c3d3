"""What is to be known of a table before a plan made from it is believed."""

from __future__ import annotations

import numpy as np

from proband.fitting.grid import Grid
from proband.problem import Problem
from proband.vocabulary import FloatArray


def notes_on(problem: Problem, grid: Grid, rows: FloatArray) -> list[str]:
    """Return sentences about rows (n, d) of outcomes."""
    notes = [note for i in range(problem.d) for note in _on_test(problem, rows, i)]
    outcomes = int(sum(problem.k))
    if len(rows) < outcomes:
        notes.append(
            f"there are {len(rows)} rows and {outcomes} outcomes in all: far too few to tell what goes with what; get "
            "more rows, or drop tests"
        )
    return notes + _on_gaps(problem, grid, rows)


def _on_test(problem: Problem, rows: FloatArray, i: int) -> list[str]:
    test, seen = problem.tests[i], rows[~np.isnan(rows[:, i]), i]
    if not len(seen):
        return [f"{test.name} was never run: the column is empty, and nothing is known of what it shows; leave it out"]
    counts = np.bincount(seen.astype(np.int64), minlength=test.k)
    if (counts > 0).sum() == 1 and test.k > 1:
        only = test.names[int(counts.argmax())]
        return [f"{test.name} is {only} in every row that has it: a constant column tells nothing"]
    never = [name for name, count in zip(test.names, counts, strict=True) if not count]
    return [f"{test.name} never showed {', '.join(never)}: what happens then is guessed"] if never else []


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
