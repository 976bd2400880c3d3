"""``proband init``: a problem file from a table, to be filled in."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from proband.cli import inputs, printing
from proband.drafting import Draft, draft
from proband.drafting.looking import Seen
from proband.drafting.writing import outcomes_of
from proband.errors import ProbandError
from proband.quantities import counted

TableArgument = Annotated[
    Path,
    typer.Argument(metavar="TABLE", help="Past subjects, a row each (CSV, .xlsx, Parquet; - for standard input)."),
]
LabelOption = Annotated[
    str | None, typer.Option("--label", metavar="NAME", help="The column that decisions are about; by default guessed.")
]
OutOption = Annotated[Path, typer.Option("--out", metavar="TOML", help="Where to write the draft.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")]


def init_command(
    table: TableArgument,
    out: OutOption = Path("problem.toml"),
    label: LabelOption = None,
    sheet: inputs.SheetOption = None,
    force: ForceOption = False,
    as_json: inputs.JsonOption = False,
) -> None:
    """Draft a problem file from a table: tests, outcomes, cuts, label; every doubt is a comment.

    Prices and utilities are left to be filled in: they stand as "?", and no
    command takes the file before the last one is a number.

    [bold]Examples[/bold]
    $ proband init past.csv
    $ proband init past.xlsx --sheet 2023 --label quality --out bolts.toml
    """
    if out.exists() and not force:
        raise ProbandError(f"{out}: it exists already; nothing was written; choose another --out, or add --force")
    with printing.waiting("reading the table"):
        found = draft(inputs.table_at(table), label=label, sheet=sheet)
    out.write_text(found.text, encoding="utf-8")
    if as_json:
        printing.print_json({**_content(found), "written": str(out)})
        return
    printing.print_title(f"{found.source}: {counted(found.rows, 'row')}")
    printing.print_facts(
        [
            ("label", f"{found.label.name} ({found.why}): {', '.join(outcomes_of(found.label))}"),
            ("tests", ", ".join(test.name for test in found.tests)),
            *(("ignored", f"{column.name or '(no name)'}: {column.ignored}") for column in found.ignored),
            *([("missing", ", ".join(found.missing))] if found.missing else []),
            *(("doubt", doubt) for doubt in found.all_doubts),
            ("written", str(out)),
        ]
    )
    which = f" --sheet {shlex.quote(sheet)}" if sheet else ""
    fit = f"proband fit {shlex.quote(str(out))} --data {shlex.quote(str(table))}{which}"
    printing.say(f'\nNow fill in every "?" in {out}, then:  {fit}')


def _content(found: Draft) -> dict[str, Any]:
    return {
        "rows": found.rows,
        "label": {**_column(found.label), "why": found.why},
        "tests": [_column(test) for test in found.tests],
        "ignored": [{"name": column.name, "why": column.ignored} for column in found.ignored],
        "missing": list(found.missing),
        "doubts": found.all_doubts,
    }


def _column(seen: Seen) -> dict[str, Any]:
    cut = {"cuts": list(seen.cuts), "unit": seen.column.unit} if seen.cuts else {}
    return {"name": seen.name, "outcomes": list(outcomes_of(seen)), **cut}
