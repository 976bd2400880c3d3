"""``proband study import``, ``export``, ``copy`` and ``verify``: what stands elsewhere, and whether it is the same."""

from __future__ import annotations

import shlex
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from proband.cli import inputs, printing
from proband.cli.study.options import DEFAULT_STORE, ActorOption, StoreOption, StudyArgument, on_study, opened
from proband.errors import StudyError, UnknownStudyError
from proband.studies import Study, copy_study, import_study, open_store
from proband.studies.exchange.exports import Verified, read_export
from proband.studies.stores import Hidden
from proband.studies.stores.entries import names_of_studies


def import_command(
    study: StudyArgument,
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Past records (.csv, .xlsx, .parquet, - for standard input), or an export (.jsonl).",
        ),
    ],
    source: Annotated[str | None, typer.Option("--source", metavar="TEXT", help="Where records come from.")] = None,
    sheet: inputs.SheetOption = None,
    store: StoreOption = DEFAULT_STORE,
    actor: ActorOption = None,
    as_json: inputs.JsonOption = False,
) -> None:
    """Import past records as starting knowledge, or a whole study that was exported. Twice adds nothing.

    [bold]Examples[/bold]
    $ proband study import bolts bolts-records.csv
    $ proband study import bolts past.xlsx --sheet 2023
    $ proband study import bolts bolts.jsonl --store sqlite:///copy.db
    """
    if path.suffix.lower() == ".jsonl":
        name, _ = read_export(path)
        if name != study:
            raise StudyError(
                f"{path}: it holds the study {name!r}, not {study!r}; a copy keeps its name, which is part of its log; "
                f"write proband study import {shlex.quote(name)} {shlex.quote(str(path))}, with another --store if the "
                "copy is to stand beside the first"
            )
        with printing.waiting("importing"):
            found = import_study(path, store=store)
        content: dict[str, Any] = {"events": found.length, "hash": found.hash}
    else:
        with opened(study, store, None, actor) as live:
            with printing.waiting("importing"):
                learned = live.learn_from(inputs.table_at(path), source=source, sheet=sheet)
            content = {"subjects_added": int(learned), "subjects_recognised": learned.recognised}
    printing.print_content(content, as_json=as_json)


@on_study(telling=False)
def export_command(
    live: Study,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The log (.jsonl), or the subjects (.csv, .parquet).")],
    as_json: inputs.JsonOption = False,
) -> None:
    """Write everything, lossless, as JSON lines; or the table of subjects.

    [bold]Examples[/bold]
    $ proband study export bolts bolts.jsonl
    $ proband study export bolts subjects.csv
    """
    if path.suffix.lower() == ".jsonl":
        with printing.waiting("exporting"):
            found = live.export(path)
        content: dict[str, Any] = {"written": str(path), "events": found.length, "hash": found.hash}
    else:
        with printing.waiting("exporting"):
            live.write_table(path)
        content = {"written": str(path), "subjects": len(live.table())}
    printing.print_content(content, as_json=as_json)


def copy_command(
    source: Annotated[Hidden, typer.Argument(metavar="FROM", parser=Hidden, help="URL of the store to copy from.")],
    target: Annotated[Hidden, typer.Argument(metavar="TO", parser=Hidden, help="URL of the store to copy to.")],
    study: Annotated[
        list[str] | None, typer.Option("--study", metavar="NAME", help="Which study; by default all. Repeat it.")
    ] = None,
    as_json: inputs.JsonOption = False,
) -> None:
    """Copy studies to another store, each whole or not at all, and verify them there. Twice adds what came since.

    [bold]Examples[/bold]
    $ proband study copy sqlite:///bolts.db postgresql://host/quality
    """
    with closing(open_store(source)) as here, closing(open_store(target)) as there:
        names = study or names_of_studies(here)
        if not names:
            raise UnknownStudyError(f"there is no study in {here.url}; give the store that has one")
        found: list[tuple[str, Verified]] = []
        for name in names:
            kept = partial(_kept, [name for name, _ in found])
            with printing.kept_if_stopped(kept), printing.waiting(f"copying {name}"):
                found.append((name, copy_study(name, source=here, target=there)))
    if as_json:
        printing.print_json(
            {"copied": [{"study": name, "events": log.length, "hash": log.hash} for name, log in found]}
        )
    else:
        printing.print_table(["study", "events", "hash"], [[name, f"{log.length:,}", log.hash] for name, log in found])


def _kept(names: list[str]) -> str:
    return f"{', '.join(names) or 'nothing'} was copied, whole; the same command copies the rest"


@on_study(telling=False)
def verify_command(
    live: Study,
    length: Annotated[
        int | None, typer.Option("--length", min=1, metavar="N", help="Length at an earlier look, with --hash.")
    ] = None,
    hash: Annotated[
        str | None, typer.Option("--hash", metavar="HEX", help="Hash at that time: of entry N, or alone of any entry.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="An earlier export to compare every entry with.")
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Also work out again all advice, from the log alone.")
    ] = False,
    as_json: inputs.JsonOption = False,
) -> None:
    """Prove that nothing was altered, reordered or dropped.

    [bold]Examples[/bold]
    $ proband study verify bolts
    $ proband study verify bolts --hash $(cat hash.txt)
    """
    with printing.waiting("verifying"):
        found = live.verify(length=length, hash=hash, export=export)
        replayed = live.replay() if replay else None
    content: dict[str, Any] = {"events": found.length, "hash": found.hash, "chain": "whole"}
    if replayed is not None:
        content |= {"advice_replayed": replayed.advices, "advice_that_differs": len(replayed.differences)}
    printing.print_content(content, as_json=as_json)
    if replayed is not None and replayed.differences:
        raise typer.Exit(5)
