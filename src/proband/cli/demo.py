"""``proband demo``: three agents learn from the same stream of bolts, or one from boards with 30 tests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where demo.png and the report go.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, metavar="S", help="Seed of the simulation.")]
SubjectsOption = Annotated[
    int | None,
    typer.Option(
        "--bolts",
        "--boards",
        min=100,
        metavar="N",
        help="Length of the stream; 100,000 bolts, 5,000 boards by default.",
    ),
]
ManyOption = Annotated[bool, typer.Option("--many", help="Show a line with 30 tests being learned, instead of bolts.")]


def demo_command(
    out: OutOption = Path("out"), seed: SeedOption = 0, subjects: SubjectsOption = None, many: ManyOption = False
) -> None:
    """Let agents learn from a simulated stream of subjects, and show what their learning cost.

    [bold]Examples[/bold]
    $ proband demo
    $ proband demo --seed 7 --out elsewhere
    $ proband demo --many
    """
    from proband.demo import BOARDS, BOLTS, show, show_many

    if many:
        show_many(out, seed=seed, subjects=BOARDS if subjects is None else subjects)
    else:
        show(out, seed=seed, subjects=BOLTS if subjects is None else subjects)
