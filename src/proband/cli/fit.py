"""``proband fit``: from past subjects to a policy, with a value that one can believe."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from proband.cli import inputs, plan, printing, validating
from proband.cli import plan_options as options
from proband.cli import report as reporting
from proband.fitting import Fit
from proband.fitting import fit as fitted
from proband.fitting.choosing import DEFAULT
from proband.fitting.recipe import ENGINES
from proband.planners.files import save_policy
from proband.planners.progress import Progress
from proband.policies.rendering import FORMATS
from proband.problem import Problem
from proband.quantities import counted
from proband.tables import reading

TableOption = Annotated[
    Path,
    typer.Option(
        "--data", metavar="TABLE", help="Past subjects: one row each, one column a test (CSV, .xlsx, Parquet; -)."
    ),
]
MinLeafOption = Annotated[
    int,
    typer.Option("--min-leaf", min=1, metavar="N", help="Each outcome of a test was seen on N subjects, or on none."),
]
StrengthOption = Annotated[
    float | None,
    typer.Option(
        "--strength",
        min=0,
        metavar="A",
        help="Of the penalty of small leaves, 0 for none; by default chosen by cross-validation.",
    ),
]
FoldsOption = Annotated[
    int,
    typer.Option(
        "--folds", min=0, metavar="K", help="Parts of the rows for the value to believe; 0 leaves it out (in-sample)."
    ),
]
ReportOption = Annotated[
    Path | None,
    typer.Option("--report", metavar="HTML|MD", help="Also write a report on the plan, as proband report does."),
]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", min=1, metavar="N", help="How many folds at a time; by default all cores.")
]
ClusterOption = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Work on the folds on the Dask cluster with this scheduler."),
]
MethodOption = Annotated[
    str | None,
    typer.Option("--method", metavar="NAME", help=f"How plans are made: {', '.join(ENGINES)}; by default by size."),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, metavar="S", help="Of folds and draws.")]
ProblemOutOption = Annotated[
    Path | None,
    typer.Option("--problem-out", metavar="TOML", help="Write the problem with the cuts that were chosen."),
]


def fit_command(  # noqa: PLR0913, PLR0917 - one argument for each flag
    problem: inputs.ProblemArgument,
    data: TableOption,
    sheet: inputs.SheetOption = None,
    out: options.OutOption = None,
    problem_out: ProblemOutOption = None,
    tree: options.TreeOption = None,
    max_tests: options.MaxTestsOption = None,
    budget: options.BudgetOption = None,
    min_leaf: MinLeafOption = 1,
    strength: StrengthOption = None,
    method: MethodOption = None,
    time_limit: options.TimeLimitOption = None,
    folds: FoldsOption = 5,
    report: ReportOption = None,
    subject: reporting.SubjectOption = None,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
    seed: SeedOption = 0,
    as_json: inputs.JsonOption = False,
) -> None:
    """Make a policy from past subjects, and say what it brings to subjects that it has not seen.

    The law is made for planning: an average of models where subjects are
    few, the subjects themselves where they are many. Small leaves are paid
    for. The value is that of plans made again without the rows that they
    treat, all that is chosen chosen again.

    [bold]Examples[/bold]
    $ proband fit bolts.toml --data bolts-records.csv
    $ proband fit bolts.toml --data bolts-records.csv --out policy.json --min-leaf 10
    $ proband fit bolts.toml --data bolts-records.csv --max-tests 2 --tree tree.svg
    $ proband fit bolts.toml --data bolts-records.csv --report report.html
    """
    plan.check_tree(tree)
    if 0 < folds < 3:
        raise typer.BadParameter("--folds is three or more, or 0 for none")
    if jobs is not None and cluster is not None:
        raise typer.BadParameter("give --jobs or --cluster, not both; a cluster has workers of its own")
    if subject is not None and report is None:
        raise typer.BadParameter("--subject is about the rows of a report; give --report too")
    task, _ = inputs.load_problem(problem)
    names = None if report is None else _names(task, data, sheet, subject, report)
    records = task.records(inputs.table_at(data), sheet=sheet)
    with printing.counting("fitting and cross-validating", folds * (folds + 1) // 2) as progress:
        found = fitted(
            task, records, strength=strength, max_tests=max_tests, budget=budget, min_leaf=min_leaf,
            time_limit=time_limit, method=method, folds=folds, validate=folds > 0,
            jobs=cluster or jobs or os.cpu_count() or 1, seed=seed, progress=_told(progress),
        )  # fmt: skip
    written = plan.write(found.tree, tree, None)
    for path, save in ((out, lambda to: save_policy(found.tree, to)), (problem_out, found.problem.save)):
        if path is not None:
            save(path)
            written.append(str(path))
    if report is not None:
        reporting.write(found, report, names=names, folds=max(folds, 3))
        written.append(str(report))
    if as_json:
        printing.print_json(content(found, written))
    elif tree in FORMATS and tree != "text":
        printing.say(FORMATS[tree](found.tree))
    else:
        _show(found, written, data, show_tree=tree in (None, "text"), asked=tree == "text")


def _names(task: Problem, data: Path, sheet: str | None, subject: str | None, report: Path) -> list[str] | None:
    """Return how the rows are called, once it is clear that the report can be written."""
    from proband.reporting import check_report_ending

    check_report_ending(report)
    return reporting.row_names(task, data, sheet, subject)


def _told(progress: Callable[[Progress], Any]) -> Callable[[Progress], bool | None]:
    return lambda each: progress(each) and None


def content(found: Fit, written: list[str]) -> dict[str, Any]:
    """Return what a fit found, for programs."""
    task = found.problem
    return {
        "problem": task.name,
        "unit": task.unit,
        "rows": found.records.n,
        "value_is": "cross-validated" if found.validation is not None else validating.IN_SAMPLE,
        "in_sample": found.in_sample,
        "believed": found.plan.value,
        **validating.validated(found.validation),
        **printing.evaluation_content(found.plan.evaluation),
        "strength": found.strength.chosen,
        "strengths": [dataclasses.asdict(score) for score in found.strength.scores],
        "cuts": {test.name: list(test.cuts) for test in task.tests if test.cuts},
        "method": found.plan.method,
        "why_this_method": found.plan.explain_choice,
        "leaves": [dataclasses.asdict(leaf) for leaf in found.leaves],
        "notes": list(found.notes),
        "written": written,
    }


def _show(found: Fit, written: list[str], data: Path, *, show_tree: bool, asked: bool) -> None:
    task, seen = found.problem, found.validation
    printing.print_title(task.name or "Fit")
    facts = [
        ("table", f"{reading.called(inputs.table_at(data))}: {counted(found.records.n, 'row')}"),
        *validating.facts(task, seen),
    ]
    in_sample = f"{printing.amount(task, found.in_sample)} a subject on the rows it was made from: new ones bring less"
    facts.append(("in-sample", in_sample))
    facts += printing.evaluation_facts(task, found.plan.evaluation)
    facts += [("strength", _strength(found)), ("method", f"{found.made.engine.method}, {found.plan.explain_choice}")]
    facts += [("note", note) for note in found.notes]
    facts += [("written", path) for path in written]
    printing.print_facts(facts)
    if seen is None:
        validating.in_sample_only(found.records.n)
    small = sum(1 for _ in found.tree.nodes()) <= plan.SHOWN_NODES
    if show_tree and (small or asked):
        printing.say("\n" + FORMATS["text"](found.tree))
    elif show_tree:
        printing.say(f"\nThe tree has more than {plan.SHOWN_NODES} nodes: see it with --tree text.")


def _strength(found: Fit) -> str:
    chosen = found.strength.chosen
    named = "without limit (no test is run)" if math.isinf(chosen) else f"{chosen:g}"
    if not found.strength.scores:
        return named
    if chosen == DEFAULT:
        return f"{chosen:g}, the default: no other was clearly ahead"
    score = next(score for score in found.strength.scores if score.strength == chosen)
    return f"{named}, ahead of the default by {score.ahead:.3g} ± {score.standard_error:.2g}"
