"""``proband example``: files to try proband with."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from proband import tables
from proband.cli import printing
from proband.errors import ProbandError, UnknownNameError
from proband.instances import EXAMPLES, INSTANCES, PACKAGED, TABLES, example, problem_text

NameArgument = Annotated[str | None, typer.Argument(metavar="[NAME]", help="Name of the example; without it, a list.")]
RecordsOption = Annotated[
    int, typer.Option("--records", min=1, metavar="N", help="How many complete subjects to simulate.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, metavar="S", help="Seed of the simulation.")]
FolderOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to write; made if missing.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]


def example_command(
    name: NameArgument = None,
    records: RecordsOption = 2000,
    seed: SeedOption = 0,
    out: FolderOption = Path(),
    force: ForceOption = False,
) -> None:
    """Write a problem file and simulated records, for a first try.

    [bold]Examples[/bold]
    $ proband example
    $ proband example bolts --records 5000 --out try
    """
    if name is None:
        made = [(key, build().problem.name) for key, build in INSTANCES.items()]
        printing.print_facts([*made, *TABLES.items()])
        return
    if name not in EXAMPLES:
        raise UnknownNameError(f"example {name!r} does not exist; choose one of {', '.join(EXAMPLES)}")
    instance = example(name)
    problem_path, records_path = out / f"{name}.toml", out / f"{name}-records.csv"
    for path in (problem_path, records_path):
        if path.exists() and not force:
            raise ProbandError(f"{path}: it exists already; nothing was written; choose another --out, or add --force")
    out.mkdir(parents=True, exist_ok=True)
    if instance.name in PACKAGED:  # with its comments
        problem_path.write_text(problem_text(instance.name), encoding="utf-8")
    else:
        instance.problem.save(problem_path)
    with printing.waiting("simulating subjects"):
        rows = instance.sample(np.random.default_rng(seed), records)
        tables.write_table(records_path, instance.problem.tests, rows)
    printing.print_facts([("problem", str(problem_path)), ("records", f"{records_path}, {records} simulated subjects")])
    printing.say(f"\nNow try:  proband plan {shlex.quote(str(problem_path))} --data {shlex.quote(str(records_path))}")
