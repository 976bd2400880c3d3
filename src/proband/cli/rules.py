"""``proband rules``: a policy as rules for a spreadsheet, a program, a database or people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from proband.cli import printing
from proband.cli.next import PolicyFileArgument
from proband.errors import UnknownNameError
from proband.planners.files import load_policy
from proband.policies import Tree
from proband.policies.rules import FORMATS

AsOption = Annotated[
    str, typer.Option("--as", metavar="|".join(FORMATS), help="An if-then table, a function, a CASE, or sentences.")
]
OutOption = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the rules there.")]


def rules_command(policy: PolicyFileArgument, kind: AsOption = "text", out: OutOption = None) -> None:
    """Write a policy as rules: an if-then table, a Python function, a SQL CASE or sentences.

    They act on every subject as the policy does, and need no proband.

    [bold]Examples[/bold]
    $ proband rules policy.json
    $ proband rules policy.json --as csv --out rules.csv
    $ proband rules policy.json --as sql
    """
    if kind not in FORMATS:
        raise UnknownNameError(f"--as is {kind!r}; rules are written as {', '.join(FORMATS)}; choose one")
    with printing.waiting("writing rules"):
        saved = load_policy(policy)
        text = FORMATS[kind](saved if isinstance(saved, Tree) else saved.tree()).rstrip("\n")
    if out is None:
        printing.say(text)
        return
    out.write_text(text + "\n", encoding="utf-8", newline="\n")
    printing.print_facts([("written", str(out))])
