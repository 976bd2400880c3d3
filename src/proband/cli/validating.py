"""What ``proband plan --data`` says of its value: in-sample, and with ``--folds`` cross-validated beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from proband.cli import printing
from proband.cli.inputs import Law
from proband.distributions import Distribution
from proband.planners.validation import LEVEL, Interval, Scores, Validation, cross_validate
from proband.problem import Problem
from proband.quantities import alike, scaled
from proband.vocabulary import Kind, Policy

IN_SAMPLE, BY_LAW = "in-sample", "under the law"
FOLDS = 5
"""Parts of the rows that are proposed."""
NAMES = {"everything": "testing everything", "now": "deciding at once"}


def validate(
    task: Problem,
    law: Law,
    make: Callable[[Distribution], Policy],
    folds: int,
    *,
    max_tests: int | None = None,
    budget: float | None = None,
) -> Validation:
    """Make everything again without each fold, with a progress bar; rivals keep the limits of the plan."""
    assert law.records is not None
    assert law.learn is not None
    with printing.counting("cross-validating", folds * (folds + 1) // 2) as progress:
        return cross_validate(
            task, law.records, law.learn, make, folds=folds, max_tests=max_tests, budget=budget, progress=progress
        )


def content(law: Law, found: Validation | None) -> dict[str, Any]:
    """Return what the value is, for programs."""
    kind = {"value_is": BY_LAW if law.records is None else IN_SAMPLE}
    return {**kind, **({} if law.records is None else {"notes": list(law.notes)}), **validated(found)}


def validated(found: Validation | None) -> dict[str, Any]:
    """Return what was cross-validated, for programs."""
    return {} if found is None else {"cross_validated": {"level": LEVEL, **dataclasses.asdict(found)}}


def facts(task: Problem, found: Validation | None, *, cut: bool = False) -> list[tuple[str, str]]:
    """Return what the plan (or its tree, once it is cut) and its rivals bring to subjects that they have not seen."""
    if found is None:
        return []
    rows = f"{found.scored:,} rows" + f", {found.left_out:,} incomplete ones cannot be treated" * (found.left_out > 0)
    told = [("cross-validated", f"{_value(task, found.plan)} ({'the cut tree, ' * cut}{found.folds} folds, {rows})")]
    for name, scores in found.others.items():
        told.append((NAMES.get(name, name), _value(task, scores) + _ahead(scores.ahead, task.unit)))
    return told


def notes(law: Law) -> list[tuple[str, str]]:
    """Return what is odd about the table."""
    return [("note", note) for note in law.notes]


def hint(task: Problem, law: Law, found: Validation | None) -> None:
    """Say how the value to believe is found, where the printed one is in-sample."""
    if law.records is not None and found is None and task.kind is not Kind.SETS:
        in_sample_only(law.records.complete().n)


def in_sample_only(rows: int) -> None:
    """Say that a value is in-sample, and what to do about it, if there are rows enough to do it."""
    remedy = "see what with --folds 5" if rows >= FOLDS else f"of {rows:,} rows nobody can tell; get more"
    printing.say(f"\nThe value is {IN_SAMPLE}; new subjects may bring far less: {remedy}.")


def _value(task: Problem, scores: Scores) -> str:
    between = _limits(scores.value, task.unit)
    return f"{printing.amount(task, scores.value.mean)} a subject, {100 * LEVEL:.0f} % interval {between}"


def _ahead(found: Interval | None, unit: str) -> str:
    """Return by how much the plan is ahead of a rival, or behind it."""
    if found is None:
        return ""
    if found.mean < 0:
        found, where = Interval(-found.mean, found.standard_error, -found.high, -found.low), "behind"
    else:
        where = "ahead"
    times, name = scaled(unit)
    mean, low, high = alike(*(times * each for each in (found.mean, found.low, found.high)))
    return f"; the plan is {where} by {f'{mean} {name}'.rstrip()} ({low} to {high})"


def _limits(found: Interval, unit: str) -> str:
    return " to ".join(alike(*(scaled(unit)[0] * each for each in (found.low, found.high))))
