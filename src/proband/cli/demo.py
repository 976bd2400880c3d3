"""``proband demo``: three agents learn from the same stream of bolts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where demo.png and report.md go.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, metavar="S", help="Seed of the simulation.")]
BoltsOption = Annotated[int, typer.Option("--bolts", min=100, metavar="N", help="Length of the simulated stream.")]


def demo_command(out: OutOption = Path("out"), seed: SeedOption = 0, bolts: BoltsOption = 100_000) -> None:
    """Let three agents learn from the same simulated stream of bolts, and show what their learning cost.

    [bold]Examples[/bold]
    $ proband demo
    $ proband demo --seed 7 --out elsewhere
    """
    from proband.demo import show

    show(out, seed=seed, subjects=bolts)
