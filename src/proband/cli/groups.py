"""Groups of commands that are loaded when they are called: to list them takes the first line of each one's help."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


class StoppedError(Exception):
    """Somebody pressed Ctrl-C; the message says what is kept."""


class Command(TyperCommand):
    """A command whose help shows no types of Python."""

    def get_params(self, ctx: Any) -> Any:
        """Return its options and arguments."""
        return _plain(super().get_params(ctx))


class Commands(TyperGroup):
    """The commands of a package: of each the function ``NAME_command``, or for a group the application ``NAME_app``."""

    modules: ClassVar[Mapping[str, str]]

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = Loading(self.modules)

    @property
    def lines(self) -> dict[str, str]:
        """The first line of each command's help."""
        return {name: _first_line(name, module) for name, module in self.modules.items()}

    def get_params(self, ctx: Any) -> Any:
        """Return the options of the group."""
        return _plain(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the group, without loading its commands."""
        loading, self.commands = self.commands, {n: TyperCommand(n, help=line) for n, line in self.lines.items()}
        try:
            super().format_help(ctx, formatter)
        finally:
            self.commands = loading


class Loading(Mapping[str, Any]):
    """Commands by name, each made when it is asked for."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules
        self._made: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _made(name, importlib.import_module(self._modules[name]))
        return self._made[name]


def _made(name: str, module: Any) -> Any:
    application = getattr(module, f"{name}_app", None)
    if application is None:
        application = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
        application.command(name, cls=Command)(getattr(module, f"{name}_command"))
    command: Any = typer.main.get_command(application)
    command.name = name
    return command


def _plain(parameters: Any) -> Any:
    """Let help show no types of Python: a flag has no value, and an argument's name says what it is."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        elif not parameter.opts[0].startswith("-"):
            parameter.display_type = lambda ctx: None
    return parameters


def _first_line(name: str, module: str) -> str:
    """Return the first line of a command's help from the source of its module: loading all of them takes too long."""
    source: Any = importlib.util.find_spec(module)
    tree: Any = ast.parse(source.loader.get_source(module))
    own = (part for part in tree.body if isinstance(part, ast.FunctionDef) and part.name == f"{name}_command")
    return str(ast.get_docstring(next(own, tree))).partition("\n")[0]


def group(
    package: str, *parts: tuple[str, str], about: str | None = None, kind: type[Commands] = Commands
) -> typer.Typer:
    """Return the application of the commands in a package: of each part the module, and the names of its commands."""
    modules = {name: f"{package}.{module}" for module, names in parts for name in names.split()}
    application = typer.Typer(
        cls=type(kind.__name__, (kind,), {"modules": modules}),
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    application.callback(help=about)(lambda: None)
    return application
