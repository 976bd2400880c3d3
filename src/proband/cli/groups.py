"""Groups of commands that are loaded when they are called: to list them takes their names and a line for each."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

Lines = Mapping[str, tuple[str, str]]
"""By the name of a command the name of its module and the first line of its help."""


class Commands(TyperGroup):
    """The commands of a package: of each the function ``NAME_command``, or for a group the application ``NAME_app``."""

    package: ClassVar[str]
    lines: ClassVar[Lines]

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = Loading(self.package, self.lines)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the group, without loading its commands."""
        loading, self.commands = self.commands, {n: TyperCommand(n, help=line) for n, (_, line) in self.lines.items()}
        try:
            super().format_help(ctx, formatter)
        finally:
            self.commands = loading


class Loading(Mapping[str, Any]):
    """Commands by name, each made when it is asked for."""

    def __init__(self, package: str, lines: Lines) -> None:
        self._package, self._lines = package, lines
        self._made: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, name: object) -> bool:
        return name in self._lines

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            module = importlib.import_module(f"{self._package}.{self._lines[name][0]}")
            self._made[name] = _made(name, module)
        return self._made[name]


def _made(name: str, module: Any) -> Any:
    application = getattr(module, f"{name}_app", None)
    if application is None:
        application = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
        application.command(name)(getattr(module, f"{name}_command"))
    command: Any = typer.main.get_command(application)
    command.name = name
    return command


def group(package: str, lines: Lines, *, about: str = "", kind: type[Commands] = Commands) -> typer.Typer:
    """Return the application of the commands in a package."""
    application = typer.Typer(
        cls=type(kind.__name__, (kind,), {"package": package, "lines": lines}),
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    application.callback(help=about)(lambda: None)
    return application
