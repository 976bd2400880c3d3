"""The application: it knows every command by name, and loads the one that is called."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import proband
from proband.cli import groups
from proband.texts import escaped, without_passwords

MISTAKES: Any = typer.BadParameter.__bases__
"""Mistakes of usage, wherever typer keeps the class."""

COMMANDS = {
    "plan": ("plan", "Find the best policy, and show what to expect of it."),
    "evaluate": ("evaluate", "Show what to expect of a policy: rewards, costs, tests and decisions."),
    "next": ("next", "Say which test to run next, or what to decide, and why."),
    "sensors": ("sensors", "Find the sites of a network that are worth measuring, with proof."),
    "example": ("example", "Write a problem file and simulated records, for a first try."),
    "doctor": (
        "doctor",
        "Show versions, optional parts, the GPU, SQLite and the machine; or compile everything ahead.",
    ),
    "demo": (
        "demo",
        "Let three agents learn from the same simulated stream of bolts, and show what their learning cost.",
    ),
    "study": ("study", "Live studies: ask, tell, decide, and lose nothing."),
    "experiment": (
        "experiment",
        "Agents side by side on the same subjects: from one seed to a table, figures and a report.",
    ),
}
"""The module of each command, and the first line of its help."""


class Root(groups.Commands):
    """All commands; what is wrong with a command line is told without passwords, and without characters that act."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except MISTAKES as error:
            error.message = escaped(without_passwords(error.message))
            raise


app = groups.group("proband.cli", COMMANDS, kind=Root)


def _show_version(asked: bool) -> None:
    if asked:
        from proband.cli import printing

        printing.say(f"proband {proband.__version__}")
        raise typer.Exit


@app.callback()
def proband_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Which test to run next, when to stop, and what to decide."""
