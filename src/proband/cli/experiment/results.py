"""``proband experiment plot`` and ``report``: what a run found, as figures and as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from proband.cli import printing
from proband.cli.experiment.catalogue import NameArgument, OutOption, find, folder_of
from proband.experiments import read_table
from proband.experiments.plots import plot
from proband.experiments.report import report

MeasureOption = Annotated[bool, typer.Option("--realised", help="Draw realised regret in place of pseudo-regret.")]
ToOption = Annotated[
    Path | None, typer.Option("--to", metavar="DIR", help="Where to write; by default the run's folder.")
]


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
    for path in plot(read_table(folder), find(name), to or folder, measure=measure):
        printing.say(str(path))


def report_command(name: NameArgument, out: OutOption = None, to: ToOption = None) -> None:
    """Write a page about a run: numbers, slopes, figures, and the command that reproduces it.

    [bold]Examples[/bold]
    $ proband experiment report paper-discrete --to docs/experiments
    """
    folder = folder_of(name, out)
    for path in report(find(name), folder, to or folder):
        printing.say(str(path))
