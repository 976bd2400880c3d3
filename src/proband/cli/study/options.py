"""What the commands of studies have in common: arguments, options, and how a study is opened."""

from __future__ import annotations

from typing import Annotated

import typer

from proband.studies import Study
from proband.studies.stores import Hidden

STORE_VARIABLE = "PROBAND_STORE"
DEFAULT_STORE = "sqlite:///proband.db"

StudyArgument = Annotated[str, typer.Argument(metavar="STUDY", help="Name of the study.")]
SubjectArgument = Annotated[str, typer.Argument(metavar="SUBJECT", help="Name of the subject.")]
StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="URL",
        envvar=STORE_VARIABLE,
        parser=Hidden,
        help="Where studies are kept: sqlite:///FILE, or postgresql://...",
    ),
]
StationOption = Annotated[
    str | None, typer.Option("--station", metavar="NAME", help="Where this is told; by default the machine.")
]
ActorOption = Annotated[str | None, typer.Option("--actor", metavar="NAME", help="Who tells it; by default the user.")]
KeyOption = Annotated[
    str | None,
    typer.Option("--key", metavar="KEY", help="Idempotency key: the same command again is recorded once."),
]
ReasonOption = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept with the event.")]
KnownOption = Annotated[
    list[str] | None,
    typer.Option("--known", metavar="TEST=OUTCOME", help="What is known of the subject; once for each test."),
]


def opened(name: str, store: str, station: str | None = None, actor: str | None = None) -> Study:
    """Open a study; learning happens in the process that is asked, right after a decision."""
    return Study.open(name, store=store, station=station, actor=actor, replan="now")
