"""What the commands of studies have in common: arguments, options, and how a study is opened."""

from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Callable
from typing import Annotated, Any

import typer

from proband.cli import printing
from proband.cli.signatures import parameter, parameters_of, signed
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


def opened(
    name: str, store: str, station: str | None = None, actor: str | None = None, *, replan: str = "now"
) -> Study:
    """Open a study; learning happens in the process that is asked, by default right after a decision."""
    with printing.waiting("reading the study"):
        return Study.open(name, store=store, station=station, actor=actor, replan=replan)


def store_option(store: str) -> str:
    """Return the option that names a store in a hint, as it was given; nothing where it need not be named."""
    if store in (DEFAULT_STORE, os.environ.get(STORE_VARIABLE)):
        return ""
    hidden = repr(Hidden(store)) != repr(str(store))
    return f" --store {'...' if hidden else shlex.quote(store)}"


def on_study(*, telling: bool = True, replan: str = "now") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command be called with a study open: STUDY and --store say which, --station and --actor who tells.

    These options stand after the command's own, before --key and --json; a command that only reads has --store alone.
    """
    more = {"store": (StoreOption, DEFAULT_STORE), "station": (StationOption, None), "actor": (ActorOption, None)}
    shared = [parameter(name, *more[name]) for name in (more if telling else ["store"])]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def opened_first(
            study: str, store: str, station: str | None = None, actor: str | None = None, **own: Any
        ) -> None:
            told = printing.kept_if_stopped("what was recorded is in the log of the study; nothing else was written")
            with told, opened(study, store, station, actor, replan=replan) as live:
                command(live, **own)

        _, *own = parameters_of(command)
        place = next((n for n, each in enumerate(own) if each.name in ("key", "as_json")), len(own))
        return signed(opened_first, [parameter("study", StudyArgument), *own[:place], *shared, *own[place:]])

    return decorate
