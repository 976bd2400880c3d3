"""The application: it knows every command by name, and loads the one that is called."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import proband
from proband.cli import groups
from proband.texts import escaped, without_passwords

MISTAKES: Any = typer.BadParameter.__bases__
"""Mistakes of usage, wherever typer keeps the class."""

COMMANDS = (
    "init", "fit", "plan", "evaluate", "report", "next", "rules", "sensors", "example", "doctor", "demo",
    "study", "serve", "token", "experiment", "completion",
)  # fmt: skip


class Root(groups.Commands):
    """All commands; what is wrong with a command line is told without passwords, and without characters that act."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise groups.StoppedError(str(stop) or "nothing was written") from stop
        except MISTAKES as error:
            error.message = escaped(without_passwords(error.message))
            raise


app = groups.group("proband.cli", *zip(COMMANDS, COMMANDS, strict=True), kind=Root)


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
