"""``proband experiment list`` and ``show``: what is there to be run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from proband.cli import inputs, printing
from proband.errors import UnknownNameError
from proband.experiments import EXPERIMENTS, Experiment
from proband.experiments.plots import written
from proband.experiments.runner import SEED

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of an experiment; list shows them.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Folder of the run; by default out/experiments/NAME.")
]


def list_command(as_json: inputs.JsonOption = False) -> None:
    """List the experiments.

    [bold]Examples[/bold]
    $ proband experiment list
    """
    if as_json:
        printing.print_json({name: experiment.title for name, experiment in EXPERIMENTS.items()})
        return
    printing.print_facts((name, experiment.title) for name, experiment in EXPERIMENTS.items())


def show_command(name: NameArgument, as_json: inputs.JsonOption = False) -> None:
    """Show what an experiment is made of.

    [bold]Examples[/bold]
    $ proband experiment show lower-bound-single
    """
    experiment = find(name)
    if as_json:
        printing.print_json(experiment.to_dict())
        return
    printing.print_title(f"{experiment.name}: {experiment.title}")
    printing.say(experiment.shows + "\n")
    facts = [("agents", ", ".join(entrant.name for entrant in experiment.agents))]
    facts += [("horizon", written(experiment.horizon)), ("replications", str(experiment.replications))]
    for key, parameter in experiment.parameters.items():
        facts.append((key, f"{parameter.default} ({parameter.about})"))
    for key, values in experiment.sweeps.items():
        facts.append((f"sweep of {key}", ", ".join(written(value) for value in values)))
    facts.append(("cells", f"{len(experiment.cells(seed=SEED)):,}"))
    printing.print_facts(facts)


def find(name: str) -> Experiment:
    """Return an experiment of the catalogue."""
    if name not in EXPERIMENTS:
        raise UnknownNameError(f"experiment {name!r} does not exist; choose one of {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


def folder_of(name: str, out: Path | None) -> Path:
    """Return the folder of a run."""
    return Path("out") / "experiments" / find(name).name if out is None else out
