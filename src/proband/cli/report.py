"""``proband report``: what a plan does, what it is worth, and to whom it does wrong, as one file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proband.cli import inputs, printing
from proband.cli import plan_options as options
from proband.cli.signatures import packed
from proband.errors import PlanError
from proband.policies import Tree

if TYPE_CHECKING:
    from proband.distributions import Distribution
    from proband.planners import Plan
    from proband.problem import Problem
    from proband.reporting import Recipe, Report

PlannedArgument = Annotated[
    str,
    typer.Argument(metavar="PROBLEM", help="A problem file (TOML), the name of an example, or a policy file (JSON)."),
]
OutOption = Annotated[
    Path, typer.Option("--out", metavar="HTML|MD", help="Where to write it; the ending says as what.")
]
SubjectOption = Annotated[
    str | None,
    typer.Option(
        "--subject",
        metavar="COLUMN",
        help="The column of --data that names subjects; by default the first ignored one whose entries all differ.",
    ),
]
FoldsOption = Annotated[
    int, typer.Option("--folds", min=3, metavar="K", help="Parts of the rows, each treated by plans made without it.")
]


@packed("source", inputs.Source)
def report_command(
    problem: PlannedArgument,
    source: inputs.Source,
    subject: SubjectOption = None,
    max_tests: options.MaxTestsOption = None,
    budget: options.BudgetOption = None,
    folds: FoldsOption = 5,
    out: OutOption = Path("report.html"),
    as_json: inputs.JsonOption = False,
) -> None:
    """Write a report on a plan: its tree on A4, its value, what tests are worth at which price, and its mistakes.

    With --data the plan is fitted (as by proband.fit), and cross-validated; with
    --estimate or --complete-only it is the literal one of proband plan. One
    file, HTML with its pictures inside or Markdown, readable without a network.
    Of a policy file it shows what is in it: the tree, its values, its sentences.

    [bold]Examples[/bold]
    $ proband report castings.toml --data castings.csv
    $ proband report castings.toml --data castings.csv --subject No --out report.md
    $ proband report gout --out gout.html
    $ proband report policy.json --out policy.html
    """
    from proband.reporting import check_report_ending
    from proband.reporting.recipes import check_listed

    check_report_ending(out)
    data, sheet = source.data, source.sheet
    if subject is not None and data is None:
        raise typer.BadParameter("--subject is about the rows of --data; give --data too")
    if problem.endswith(".json"):
        given = [data, source.distribution, source.estimate, max_tests, budget, source.complete_only or None]
        _write_alone(Path(problem), out, alone=all(each is None for each in given), as_json=as_json)
        return
    task, instance = inputs.load_problem(problem)
    check_listed(task)
    names = None if data is None else row_names(task, data, sheet, subject)
    recipe: Recipe
    if data is not None and source == inputs.Source(data, sheet):
        recipe = _fitted(task, data, sheet, max_tests=max_tests, budget=budget, folds=folds)
    else:
        law = inputs.load_law(task, instance, source)
        recipe = _planned(task, law, max_tests=max_tests, budget=budget, folds=folds)
    _answer(write(recipe, out, names=names, folds=folds), out, as_json=as_json)


def _answer(found: Report, out: Path, *, as_json: bool) -> None:
    if as_json:
        printing.print_json(found.to_dict() | {"written": [str(out)]})
    else:
        printing.print_facts([("written", str(out))])


def _write_alone(policy: Path, out: Path, *, alone: bool, as_json: bool) -> None:
    """Write what a policy file tells of itself."""
    from proband.planners.files import load_policy
    from proband.reporting.recipes import check_listed
    from proband.reporting.trees import report_on_tree

    if not alone:
        raise typer.BadParameter(
            f"{policy} is a policy, which is reported as it is; leave out all but --out, or give the problem: proband "
            "report PROBLEM --data TABLE plans again, and says what tests are worth"
        )
    saved = load_policy(policy)
    check_listed(saved.problem)
    assert isinstance(saved, Tree)
    with printing.waiting("writing the report"):
        found = report_on_tree(saved)
        found.save(out)
    _answer(found, out, as_json=as_json)


def row_names(task: Problem, data: Path, sheet: str | None, subject: str | None) -> list[str] | None:
    """Return how the rows of a table are called; None of standard input, which is read once."""
    if str(data) != "-":
        return task.row_names(data, sheet=sheet, column=subject)
    if subject is not None:
        raise typer.BadParameter("standard input is read once, so subjects have no names; write it to a file")
    return None


def write(recipe: Recipe, out: Path, *, names: Sequence[str] | None, folds: int) -> Report:
    """Write a report, with a progress bar."""
    from proband.reporting import report_on, steps

    with printing.counting("writing the report", steps(recipe, folds=folds)) as progress:
        found = report_on(recipe, names=names, folds=folds, progress=progress)
    found.save(out)
    return found


def _fitted(
    task: Problem, data: Path, sheet: str | None, *, max_tests: int | None, budget: float | None, folds: int
) -> Recipe:
    import proband

    records = task.records(inputs.table_at(data), sheet=sheet)
    try:
        with printing.counting("cross-validating", folds * (folds + 1) // 2) as progress:
            return proband.fit(task, records, max_tests=max_tests, budget=budget, folds=folds, progress=progress)
    except PlanError as error:
        raise PlanError(f"{data}: {error}") from error


def _planned(task: Problem, law: inputs.Law, *, max_tests: int | None, budget: float | None, folds: int) -> Recipe:
    from proband.planners import plan
    from proband.planners.validation import cross_validate
    from proband.reporting import Planned

    def make(of: Problem, given: Distribution) -> Plan:
        return plan(of, given, max_tests=max_tests, budget=budget)

    if law.records is None or law.learn is None:
        return Planned(task, law.law, make)
    with printing.counting("cross-validating", folds * (folds + 1) // 2) as progress:
        seen = cross_validate(
            task, law.records, law.learn, lambda some: make(task, some), folds=folds, max_tests=max_tests,
            budget=budget, progress=progress,
        )  # fmt: skip
    return Planned(task, law.law, make, law.records, law.learn, (law.source, *law.notes), seen)
