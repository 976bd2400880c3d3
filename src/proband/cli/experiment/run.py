"""``proband experiment run``, ``plot``, ``report``, ``redraw``: cells not finished yet; what all found, as pages."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from proband.cli import inputs, printing
from proband.cli.experiment.catalogue import NameArgument, OutOption, find, folder_of
from proband.experiments import (
    Executor,
    Experiment,
    TidyTable,
    in_process,
    in_processes,
    on_cluster,
    read_table,
    slopes,
    summarise,
)
from proband.experiments.curves import redraw
from proband.experiments.experiment import HORIZON, whole
from proband.experiments.hindsight import places
from proband.experiments.hindsight_report import mean_rows, place_rows
from proband.experiments.plots import plot
from proband.experiments.report import report, run_content, summary_rows
from proband.experiments.runner import SEED, run

HorizonOption = Annotated[
    str | None, typer.Option("--horizon", metavar="T", help="Number of subjects; 2^16 is understood.")
]
ReplicationsOption = Annotated[
    int | None, typer.Option("--replications", min=1, metavar="N", help="How often everything is drawn anew.")
]
AgentsOption = Annotated[
    str | None, typer.Option("--agents", metavar="A,B", help="Agents that take part, by name or as module:Class.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, metavar="S", help="Seed of everything that is drawn.")]
JobsOption = Annotated[int, typer.Option("--jobs", min=1, metavar="N", help="Processes on this machine.")]
ClusterOption = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Run on the Dask cluster with this scheduler, instead of here."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Another value of a parameter; several to sweep: m=1,2,4."),
]
FreshOption = Annotated[bool, typer.Option("--fresh", help="Run every cell again, those that are finished too.")]
MeasureOption = Annotated[bool, typer.Option("--realised", help="Draw realised regret in place of pseudo-regret.")]
ToOption = Annotated[
    Path | None, typer.Option("--to", metavar="DIR", help="Where to write; by default the run's folder.")
]


def run_command(
    name: NameArgument,
    replications: ReplicationsOption = None,
    horizon: HorizonOption = None,
    agents: AgentsOption = None,
    seed: SeedOption = SEED,
    out: OutOption = None,
    jobs: JobsOption = 1,
    cluster: ClusterOption = None,
    settings: SetOption = None,
    fresh: FreshOption = False,
    as_json: inputs.JsonOption = False,
) -> None:
    """Run an experiment, or the rest of it, and print a summary.

    A run that was stopped goes on where it was. Its folder holds the table
    (CSV and Parquet), a manifest, and the cells. The same seed gives the same
    table, on however many processes or workers of a cluster it is run.

    [bold]Examples[/bold]
    $ proband experiment run paper-discrete --jobs 2
    $ proband experiment run paper-discrete --set costs=0.02,0.05,0.1 --replications 20
    $ proband experiment run horizon --horizon 2^14 --agents explore-then-commit,greedy
    $ proband experiment run lower-bound-single --cluster tcp://10.0.0.5:8786
    """
    experiment = find(name).changed(
        horizon=None if horizon is None else _whole(horizon),
        replications=replications,
        agents=None if agents is None else [agent.strip() for agent in agents.split(",")],
        settings=_settings(settings or []),
    )
    folder = folder_of(name, out)
    executor, how = _executor(jobs, cluster)
    cells, bar = len(experiment.cells(seed=seed)), printing.progress_bar(counting=True)
    task = bar.add_task(name, total=cells)

    def kept() -> str:
        done = int(bar.tasks[0].completed)
        return f"{done} of {cells} cells are finished and kept in {folder}; the same command runs the others"

    with printing.kept_if_stopped(kept), bar:
        table = run(
            experiment, folder, seed=seed, executor=executor, how=how, fresh=fresh,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )  # fmt: skip
    if as_json:
        printing.print_json({"experiment": name, "out": str(folder), **run_content(experiment, table)})
        return
    printing.print_title(experiment.title)
    print_summary(experiment, table)
    where = "" if out is None else f" --out {shlex.quote(str(out))}"
    printing.say(
        f"\n{folder}: table.csv{_parquet(folder)}, manifest.json; draw it with proband experiment plot {name}{where}"
    )


def plot_command(
    name: NameArgument, out: OutOption = None, to: ToOption = None, realised: MeasureOption = False
) -> None:
    """Draw the figures of a run, from its table.

    [bold]Examples[/bold]
    $ proband experiment plot paper-discrete
    $ proband experiment plot paper-discrete --out elsewhere --to figures --realised
    """
    folder = folder_of(name, out)
    measure = "realised_regret" if realised else "pseudo_regret"
    with printing.waiting("drawing"):
        paths = list(plot(read_table(folder), find(name), to or folder, measure=measure))
    for path in paths:
        printing.say(str(path))


def report_command(name: NameArgument, out: OutOption = None, to: ToOption = None) -> None:
    """Write a page about a run: numbers, slopes, figures, and the command that reproduces it.

    [bold]Examples[/bold]
    $ proband experiment report paper-discrete --to docs/experiments
    """
    folder = folder_of(name, out)
    with printing.waiting("writing the page"):
        paths = list(report(find(name), folder, to or folder))
    for path in paths:
        printing.say(str(path))


def redraw_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of pages that report wrote.")],
) -> None:
    """Draw the figures of pages again from the curves beside them; nothing is run.

    [bold]Examples[/bold]
    $ proband experiment redraw docs/experiments
    """
    with printing.waiting("drawing"):
        paths = redraw(folder)
    for path in paths:
        printing.say(str(path))


def print_summary(experiment: Experiment, table: TidyTable) -> None:
    """Print regrets and slopes."""
    summaries = summarise(table, baselines=experiment.baselines)
    _print_aligned(*summary_rows(summaries, experiment.baselines, short=True))
    if experiment.families:
        _print_hindsight(experiment, table)
    found = slopes(table)
    if found:
        printing.say("\nslopes of final regret, in logarithms")
        header = ["agent", *("in T" if key == HORIZON else f"in {key}" for key in found)]
        _print_aligned(header, [[agent, *(str(found[key][agent]) for key in found)] for agent in table.unique("agent")])


def _print_hindsight(experiment: Experiment, table: TidyTable) -> None:
    found = places(table, experiment.families, experiment.baselines)
    printing.say("\nbeside the best in hindsight, and what a subject loses as time passes")
    _print_aligned(*place_rows(found))
    header, rows = mean_rows(found, next(iter(experiment.sweeps)))
    if rows:
        printing.say("\ngeometric means over the laws")
        _print_aligned(header, rows)


def _print_aligned(header: list[str], rows: list[list[str]]) -> None:
    """Print a table whose rows are never folded: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        printing.say("  ".join([row[0].ljust(widths[0]), *cells[1:]]).rstrip())


def _executor(jobs: int, cluster: str | None) -> tuple[Executor, str]:
    if cluster is not None:
        if jobs > 1:
            raise typer.BadParameter("give --jobs or --cluster, not both; a cluster has workers of its own")
        return on_cluster(cluster), "on a Dask cluster"
    return (in_process, "in process") if jobs == 1 else (in_processes(jobs), f"in {jobs} processes")


def _settings(pairs: list[str]) -> dict[str, str]:
    split = [pair.partition("=") for pair in pairs]
    for key, equals, value in split:
        if not (key and equals and value):
            raise typer.BadParameter(
                f"--set {key}{equals}{value}: give a parameter and its value, as in m=2 or m=1,2,4"
            )
    return {key.strip(): value for key, _, value in split}


def _whole(text: str) -> int:
    try:
        return whole(text)
    except ValueError as error:
        raise typer.BadParameter(f"--horizon {text}: give a whole number, such as 65536 or 2^16") from error


def _parquet(folder: Path) -> str:
    if (folder / "table.parquet").exists():
        return ", table.parquet"
    return ' (table.parquet needs pip install "proband[tables]")'
