"""A report on a plan: its numbers, computed once, and apart from how they are drawn and written."""

from __future__ import annotations

import dataclasses
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proband.distributions import Distribution
from proband.errors import UnknownNameError
from proband.planners import Plan, plan
from proband.planners.progress import Progress
from proband.planners.progress import Report as Telling
from proband.planners.validation import Interval, Validation
from proband.policies import Tree
from proband.problem import Problem
from proband.reporting.calibration import Calibration
from proband.reporting.curve import MULTIPLIERS, Point, price_curve
from proband.reporting.held_out import Mistake, calibration, complete_rows, mistakes, treat
from proband.reporting.recipes import Planned, Recipe, check_listed
from proband.reporting.worth import PlaceWorth, TestWorth, place_worths, test_worths
from proband.showing import Shown

ENDINGS = (".html", ".htm", ".md")
MOST_MISTAKES = 25


@dataclass(frozen=True)
class HeldOut:
    """What happened to rows under plans that were made without them.

    Attributes
    ----------
    folds, rows, left_out : int
        Parts of the rows; complete rows, which were treated, and incomplete ones.
    curve : list of Point
    worth : dict of str to Interval
        What plans brought more than those without a test, for each test that the plan uses.
    calibration : Calibration
    mistakes : list of Mistake
        The worst ones.
    wrong : int
        How many rows were decided wrongly.
    lost : float
        What that lost in all.
    """

    folds: int
    rows: int
    left_out: int
    curve: list[Point]
    worth: dict[str, Interval]
    calibration: Calibration
    mistakes: list[Mistake]
    wrong: int
    lost: float


@dataclass(frozen=True, repr=False)
class Report(Shown):
    """All that a report says.

    Attributes
    ----------
    problem : Problem
    tree : Tree
    value, expected_cost, expected_tests : float
        Of the plan, by its law.
    in_sample : float, optional
        What the plan brings to the rows that it was made from; None where there are none.
    decisions : dict of str to float
    curve : list of Point
        Empty in a report on a tree alone, as are tests and places.
    tests : list of TestWorth
    places : list of PlaceWorth
    held_out : HeldOut, optional
        None where no rows are there, or fewer complete ones than folds.
    validation : Validation, optional
    notes : list of str
    method : str
    """

    problem: Problem
    tree: Tree
    value: float
    expected_cost: float
    expected_tests: float
    in_sample: float | None
    decisions: dict[str, float]
    curve: list[Point]
    tests: list[TestWorth]
    places: list[PlaceWorth]
    held_out: HeldOut | None = None
    validation: Validation | None = None
    notes: list[str] = field(default_factory=list)
    method: str = ""

    def __repr__(self) -> str:
        return f"Report({self.problem.name!r}: {len(self.tests)} tests, {sum(1 for _ in self.tree.nodes())} nodes)"

    def html(self) -> str:
        """Return the report as one page of HTML, pictures inside."""
        from proband.reporting.content import content, title
        from proband.reporting.writing import as_page

        return as_page(title(self), content(self))

    def markdown(self) -> str:
        """Return the report as Markdown."""
        from proband.reporting.content import content
        from proband.reporting.writing import as_markdown

        return as_markdown(content(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for programs."""
        left_out = ("problem", "tree")
        names = [part.name for part in dataclasses.fields(self) if part.name not in left_out]
        found = {name: _structure(getattr(self, name)) for name in names}
        return {"problem": self.problem.name, "unit": self.problem.unit, **found}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report: HTML or Markdown, by the ending."""
        ending = check_report_ending(path)
        Path(path).write_text(self.markdown() if ending == ".md" else self.html(), encoding="utf-8", newline="\n")


def check_report_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a report's file, or raise if it is none.

    Examples
    --------
    >>> check_report_ending("Report.HTML")
    '.html'
    """
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise UnknownNameError(
            f"{path}: the ending {ending!r} is not one of a report; reports end in {', '.join(ENDINGS)}; rename it"
        )
    return ending


def report_on(
    recipe: Recipe,
    *,
    names: Sequence[str] | None = None,
    folds: int = 5,
    multipliers: Sequence[float] = MULTIPLIERS,
    progress: Telling | None = None,
) -> Report:
    """Return the report on a plan.

    Parameters
    ----------
    recipe : Fit or Planned
        A fit, or a law and a way to plan (:func:`planned`).
    names : sequence of str, optional
        How the rows of its records are called; by default by their number.
    folds : int, default 5
        Into how many parts the rows are dealt to see what happens to those that a plan has not seen.
    multipliers : sequence of float, optional
        By which prices are multiplied for the curve.
    progress : callable, optional
        Called now and then with a :class:`~proband.planners.progress.Progress`.

    Examples
    --------
    >>> from proband.instances import bolts
    >>> found = report_on(planned(bolts().problem, bolts().distribution))
    >>> found.tests[0].test, found.held_out is None, found.html().startswith("<!doctype html>")
    ('bolt weight', True, True)
    """
    check_listed(recipe.problem)
    points = sorted({*multipliers, 1.0})
    ticking = _Ticking(progress, steps(recipe, points=len(points), folds=folds))
    made, tree = recipe.plan, recipe.tree
    curve, tests = price_curve(recipe, points, each=ticking), test_worths(recipe, each=ticking)
    used = [recipe.problem.test_index(one.test) for one in tests if one.share > 0]
    ticking.total += folds * len(used) if complete_rows(recipe) >= folds else 0
    return Report(
        problem=recipe.problem,
        tree=tree,
        value=made.value,
        expected_cost=made.expected_cost,
        expected_tests=made.expected_tests,
        decisions=made.decision_probabilities,
        in_sample=None if recipe.records is None else recipe.in_sample,
        curve=curve,
        tests=tests,
        places=place_worths(tree),
        held_out=_held_out(recipe, points, used, names, folds=folds, each=ticking),
        validation=recipe.validation,
        notes=[*recipe.notes, *_too_few(recipe, folds)],
        method=f"{made.method}, {made.explain_choice}",
    )


def steps(recipe: Recipe, *, points: int = len(MULTIPLIERS), folds: int = 5) -> int:
    """Return how many steps a report takes, for a progress bar."""
    tests = sum(test.available for test in recipe.problem.tests)
    return points + tests + (folds * points if complete_rows(recipe) >= folds else 0)


def planned(problem: Problem, law: Distribution, **options: Any) -> Planned:
    """Return a law with the library's way to plan; options are those of :func:`proband.plan`."""

    def make(of: Problem, given: Distribution) -> Plan:
        return plan(of, given, **options)

    return Planned(problem, law, make)


def _held_out(
    recipe: Recipe,
    points: Sequence[float],
    used: Sequence[int],
    names: Sequence[str] | None,
    *,
    folds: int,
    each: Callable[[], object],
) -> HeldOut | None:
    if recipe.records is None or complete_rows(recipe) < folds:
        return None
    called = [f"row {n + 1}" for n in range(len(recipe.records))] if names is None else names
    found = treat(recipe, points, used, folds=folds, each=each)
    treated = found.treated
    return HeldOut(
        folds=folds,
        rows=len(treated.rows),
        left_out=recipe.records.n - len(treated.rows),
        curve=found.curve,
        worth={recipe.problem.tests[i].name: worth for i, worth in found.worth.items()},
        calibration=calibration(recipe.problem, treated),
        mistakes=mistakes(recipe.problem, treated, called, most=MOST_MISTAKES),
        wrong=int((treated.lost > 0).sum()),
        lost=float(treated.lost.sum()),
    )


def _too_few(recipe: Recipe, folds: int) -> list[str]:
    """Return what a report leaves out where hardly a row is complete."""
    if recipe.records is None or complete_rows(recipe) >= folds:
        return []
    note = (
        f"{complete_rows(recipe)} of {recipe.records.n} rows are complete, too few to be treated by plans that have "
        "not seen them: the curve and the worth of tests are by the law alone, and neither who is decided wrongly nor "
        "whether chances are as told can be said"
    )
    return [note]


def _structure(value: Any) -> Any:
    """Return data classes as dictionaries, and sequences as lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {part.name: _structure(getattr(value, part.name)) for part in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: _structure(each) for key, each in value.items()}
    return [_structure(each) for each in value] if isinstance(value, list | tuple) else value


class _Ticking:
    """Counts steps, and tells of them."""

    def __init__(self, progress: Telling | None, total: int) -> None:
        self.progress, self.total, self.done, self.began = progress, total, 0, time.perf_counter()

    def __call__(self) -> None:
        self.done += 1
        if self.progress is not None:
            seconds, nan, done = time.perf_counter() - self.began, math.nan, self.done
            self.progress(Progress(seconds=seconds, value=nan, bound=nan, what="steps", done=done, total=self.total))
