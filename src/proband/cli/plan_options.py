"""The options of ``proband plan``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from proband.planners import PLANNERS

TreeOption = Annotated[
    str | None,
    typer.Option(
        "--tree",
        metavar="text|mermaid|dot|FILE",
        help="Print the tree as text (below the figures), or as mermaid or dot (alone, for a pipe); or write it to a "
        "file ending in .svg, .png, .pdf, .dot, .mmd or .txt.",
    ),
]
DepthOption = Annotated[
    int | None,
    typer.Option("--depth", min=0, metavar="N", help="Cut the tree below N tests (known on arrival not counted)."),
]
MethodOption = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help=f"The planner: {', '.join(PLANNERS)}, or a place such as package.module:function; by default chosen by "
        "size and reward.",
    ),
]
DeviceOption = Annotated[
    str | None,
    typer.Option("--device", metavar="cpu|gpu", help="Where a dense plan is made; by default chosen by size."),
]
MaxTestsOption = Annotated[
    int | None, typer.Option("--max-tests", min=0, metavar="N", help="Run at most N tests on a subject.")
]
BudgetOption = Annotated[
    float | None, typer.Option("--budget", min=0, metavar="COST", help="Pay at most this for the tests of a subject.")
]
NodePenaltyOption = Annotated[
    float,
    typer.Option(
        "--node-penalty",
        min=0,
        metavar="COST",
        help="Search for a smaller tree: each of its tests must earn this, whatever share of subjects comes to it.",
    ),
]
TimeLimitOption = Annotated[
    float | None,
    typer.Option("--time-limit", min=0, metavar="SECONDS", help="Stop a search then; its bound tells how good it is."),
]
ToleranceOption = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        metavar="EPS",
        help="Numerical error allowed in the value of a plan of measured tests; for a set the gap to end a search at.",
    ),
]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw a plan of measured tests: where each action is best, for each tested set (.svg, .png, .pdf).",
    ),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="JSON", help="Write the policy, for proband next and proband evaluate.")
]


FoldsOption = Annotated[
    int | None,
    typer.Option(
        "--folds",
        min=3,
        metavar="K",
        help="Also say what the plan brings to subjects of --data that it has not seen: everything is made again "
        "without each of K parts of the rows, and without each two.",
    ),
]
