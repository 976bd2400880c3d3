"""The application: it knows every command, and nothing else."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import proband
from proband.cli import printing
from proband.cli.demo import demo_command
from proband.cli.doctor import doctor_command
from proband.cli.evaluate import evaluate_command
from proband.cli.example import example_command
from proband.cli.experiment import experiment_app
from proband.cli.next import next_command
from proband.cli.plan import plan_command
from proband.cli.sensors import sensors_command
from proband.cli.study import study_app
from proband.texts import escaped, without_passwords

MISTAKES: Any = typer.BadParameter.__bases__
"""Mistakes of usage, wherever typer keeps the class."""


class Commands(TyperGroup):
    """Commands; what is wrong with a command line is told without passwords, and without characters that act."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except MISTAKES as error:
            error.message = escaped(without_passwords(error.message))
            raise


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        printing.say(f"proband {proband.__version__}")
        raise typer.Exit


@app.callback()
def proband_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Which test to run next, when to stop, and what to decide."""


app.command("plan")(plan_command)
app.command("evaluate")(evaluate_command)
app.command("next")(next_command)
app.command("sensors")(sensors_command)
app.command("example")(example_command)
app.add_typer(study_app, name="study")
app.add_typer(experiment_app, name="experiment")
app.command("doctor")(doctor_command)
app.command("demo")(demo_command)
