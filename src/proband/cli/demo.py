"""``proband demo``: a stream of bolts, a policy learned from it, and what that saves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where demo.png and report.md go.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, metavar="S", help="Seed of the simulated stream.")]


def demo_command(out: OutOption = Path("out"), seed: SeedOption = 0) -> None:
    """Inspect a simulated stream of bolts, learn a policy from it, and show what that saves.

    [bold]Examples[/bold]
    $ proband demo
    $ proband demo --seed 7 --out elsewhere
    """
    from proband.demo import show

    show(out, seed=seed)
