"""What commands are given: a problem by path or by name, and the law of its subjects."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer

import proband
from proband import distributions, estimators, instances
from proband.cli import printing
from proband.errors import DistributionError, ProblemError, StateError, UnknownNameError
from proband.fitting.notes import notes_on_columns
from proband.quantities import counted
from proband.tables import reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from proband.distributions import Discrete, Gaussian, Solvable
    from proband.instances import Instance
    from proband.problem import Problem
    from proband.vocabulary import Records

ProblemArgument = Annotated[
    str, typer.Argument(metavar="PROBLEM", help="A problem file (TOML), or the name of an example such as bolts.")
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="TABLE",
        help="Past subjects: one row each, one column a test (CSV, .xlsx, Parquet; - for standard input).",
    ),
]
SheetOption = Annotated[
    str | None, typer.Option("--sheet", metavar="NAME", help="Which sheet of a workbook (.xlsx) holds the table.")
]
DistributionOption = Annotated[
    Path | None,
    typer.Option(
        "--distribution",
        metavar="FILE",
        help="The law: a CSV with one column a test and the column probability; for measured tests a covariance (CSV "
        "with test names, NPY, NPZ or MAT).",
    ),
]
CompleteOnlyOption = Annotated[
    bool,
    typer.Option(
        "--complete-only",
        help="Leave out rows of --data in which a test is missing; right only if nobody skipped tests because of "
        "what earlier ones showed.",
    ),
]
EstimateOption = Annotated[
    str | None,
    typer.Option(
        "--estimate",
        metavar="NAME",
        help=f"How --data becomes a law: {', '.join(estimators.ESTIMATORS)}; by default the complete rows are counted.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


class Source(NamedTuple):
    """Where the law of subjects comes from, as the options of a command say."""

    data: DataOption = None
    sheet: SheetOption = None
    distribution: DistributionOption = None
    complete_only: CompleteOnlyOption = False
    estimate: EstimateOption = None


MEASURED_ESTIMATES = ("maximum-likelihood", "complete-cases")


def load_problem(name: str) -> tuple[Problem, Instance[Solvable] | None]:
    """Return a problem and, if it is an example, the whole instance."""
    if not Path(name).exists() and name in instances.EXAMPLES:
        with printing.waiting("drawing the example's subjects"):
            instance = instances.example(name)
        return instance.problem, instance
    if not Path(name).exists() and not name.endswith(".toml"):
        raise UnknownNameError(
            f"problem {name!r} is no file, and no example; give the path of a problem file, or one of "
            f"{', '.join(instances.EXAMPLES)}"
        )
    return proband.Problem.load(name), None


def parse_known(entries: Sequence[str]) -> dict[str, str]:
    """Return tests and outcomes from entries such as ``length=ok``.

    Examples
    --------
    >>> parse_known(["bolt length=nominal"])
    {'bolt length': 'nominal'}
    """
    known: dict[str, str] = {}
    for entry in entries:
        name, equals, outcome = (part.strip() for part in entry.partition("="))
        if not equals or not name or not outcome:
            raise StateError(f"--known is {entry!r}; it must name a test and its outcome; write it as length=ok")
        if known.get(name, outcome) != outcome:
            raise StateError(
                f"--known gives {name!r} both {known[name]!r} and {outcome!r}; a test has one outcome; drop one"
            )
        known[name] = outcome
    return known


class Law(NamedTuple):
    """A law and where it comes from; one that was learned has the records, how they become a law, and what is odd."""

    law: Solvable
    source: str
    records: Records | None = None
    learn: Callable[[Records], Solvable] | None = None
    notes: tuple[str, ...] = ()


def load_law(problem: Problem, instance: Instance[Solvable] | None, source: Source) -> Law:
    """Return the law to plan with, and where it comes from."""
    data, sheet, distribution, complete_only, estimate = source
    if data is not None and distribution is not None:
        raise typer.BadParameter("give --data or --distribution, not both")
    if (complete_only or estimate) and data is None:
        raise typer.BadParameter("--complete-only and --estimate are about the rows of --data; give --data too")
    if sheet is not None and data is None:
        raise typer.BadParameter("--sheet is about the table of --data; give --data too")
    _refuse_open_cuts(problem)
    if data is not None:
        return _learned(problem, data, source)
    if distribution is not None and problem.measured:
        normal = distributions.Gaussian.load(distribution, problem)
        return Law(normal, f"{distribution}: a Gaussian of {problem.d} tests")
    if distribution is not None:
        table = distributions.Discrete.load(distribution, problem)
        return Law(table, f"{distribution}: {len(table):,} outcome vectors")
    if instance is None:
        raise DistributionError(
            "a problem file does not hold the law of its subjects, and this needs one; give --data with past subjects, "
            "or --distribution with a table of probabilities"
        )
    law = instance.distribution
    what = (
        f"{len(law):,} outcome vectors" if isinstance(law, distributions.Discrete) else f"a Gaussian of {law.d} tests"
    )
    return Law(law, f"the example's own law: {what}")


def _refuse_open_cuts(problem: Problem) -> None:
    open_ = [test.name for test in problem.tests if test.choose_cuts]
    if open_:
        raise ProblemError(
            f"the cuts of {', '.join(open_)} are still to be chosen, and this needs them; choose them from past "
            "subjects with proband fit (--problem-out writes a file that has them), or write cuts = [..]"
        )


def _learned(problem: Problem, data: Path, source: Source) -> Law:
    table, complete_only, estimate = table_at(data), source.complete_only, source.estimate
    with printing.waiting("reading the table"):
        records, called = problem.records(table, sheet=source.sheet), reading.called(table)
    _refuse_no_labels(problem, records, called)

    def learn(some: Records) -> tuple[Solvable, str]:
        if problem.measured:
            return _measured_law(problem, some, called, complete_only=complete_only, estimate=estimate)
        if estimate is not None:
            return _estimated_law(problem, some, called, estimate)
        return _law_of_records(problem, some, called, complete_only=complete_only)

    with printing.waiting("estimating the law"):
        law, text = learn(records)
    notes = notes_on_columns(problem, records.subjects)
    return Law(law, text, records, lambda some: learn(some)[0], tuple(notes))


def _refuse_no_labels(problem: Problem, records: Records, called: str) -> None:
    tests, empty = problem.tests, _empty(records)
    names = [tests[i].name for i in problem.targets if empty[i] and not tests[i].available]
    if names:
        raise DistributionError(
            f"{called}: no row has a label ({', '.join(names)}), so that nothing tells what is to be decided; fill in "
            "what became of these subjects"
        )


def _empty(records: Records) -> NDArray[np.bool_]:
    """Return of which tests no record has an outcome, shape (d,)."""
    return np.asarray(np.isnan(records.outcomes).all(axis=0))


def table_at(path: Path) -> Any:
    """Return the table at a path; a dash is standard input."""
    return sys.stdin.buffer if str(path) == "-" else path


def _measured_law(
    problem: Problem, records: Records, called: str, *, complete_only: bool, estimate: str | None
) -> tuple[Gaussian, str]:
    if estimate not in (None, *MEASURED_ESTIMATES):
        raise UnknownNameError(
            f"estimator {estimate!r} is not for measured tests; choose one of {', '.join(MEASURED_ESTIMATES)}"
        )
    complete = records.complete()
    if complete_only or estimate == "complete-cases":
        return distributions.Gaussian.from_records(
            complete
        ), f"{called}: mean and covariance of {len(complete):,} complete records"
    estimator = estimators.GaussianLikelihood(problem)
    estimator.update(records)
    how = f"{len(records):,} records, {complete.n:,} complete, by maximum likelihood"
    return estimator.distribution(), f"{called}: {how}"


def _estimated_law(problem: Problem, records: Records, called: str, name: str) -> tuple[Discrete, str]:
    if name not in estimators.ESTIMATORS:
        raise UnknownNameError(f"estimator {name!r} does not exist; choose one of {', '.join(estimators.ESTIMATORS)}")
    estimator = estimators.ESTIMATORS[name](problem)
    estimator.update(records)
    return estimator.distribution(), f"{called}: {len(records):,} records, {records.complete().n:,} complete, by {name}"


def _never_run(problem: Problem, records: Records) -> str:
    """Return what makes every row incomplete, after a mistake that says that rows are."""
    names = [test.name for test, empty in zip(problem.tests, _empty(records), strict=True) if empty]
    return f". No row has {', '.join(names)}: move it to the problem's list ignore" if names else ""


def _law_of_records(problem: Problem, records: Records, called: str, *, complete_only: bool) -> tuple[Discrete, str]:
    complete = records.complete()
    left_out = len(records) - len(complete)
    if left_out and not complete_only:
        raise DistributionError(
            f"{called}: {left_out:,} of {len(records):,} records are incomplete; an empirical law counts complete rows "
            "only; learn from all with --estimate empirical-bayes or proband fit, or leave them out with "
            "--complete-only (right only if nobody skipped tests because of what earlier ones showed)"
            + _never_run(problem, records)
        )
    if not len(complete):
        raise DistributionError(
            f"{called}: no record is complete; an empirical law needs one or more; add some"
            + _never_run(problem, records)
        )
    source = f"{called}: {counted(len(complete), 'complete record')}"
    return distributions.Discrete.from_records(complete), source + (
        f", {left_out:,} incomplete ones left out" if left_out else ""
    )
