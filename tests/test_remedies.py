"""What a message tells people to do can be done: every command, option, extra, method and name in it exists."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import metadata
from pathlib import Path

import pytest
import typer

import proband
from proband.cli.app import app
from proband.planners import PLANNERS
from proband.studies.stores.registry import STORES

PACKAGE = Path(proband.__file__).parent
ROOT = PACKAGE.parents[1]
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]

KEYWORDS = {"method": set(PLANNERS), "device": {"cpu", "gpu"}, "support": {"product", "seen"}}
"""Arguments that messages name with a value, and the values that they take."""


def texts(path: Path) -> Iterator[str]:
    """Every text in a module that is no docstring, with {} for what is filled in."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    silent = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    silent |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node.value
        elif isinstance(node, documented) and "cli" in path.parts:
            yield from re.findall(r"^\s*(\$ .*)$", ast.get_docstring(node) or "", flags=re.MULTILINE)


@cache
def messages() -> list[tuple[str, str]]:
    """All texts of the package, with their modules."""
    return [(str(path.relative_to(PACKAGE)), text) for path in sorted(PACKAGE.rglob("*.py")) for text in texts(path)]


def found(pattern: str) -> list[tuple[str, tuple[str, ...], str]]:
    """Where a pattern occurs: the module, its groups, and the whole text."""
    return [(where, match.groups(), text) for where, text in messages() for match in re.finditer(pattern, text)]


def options(command: object) -> set[str]:
    """All options of a command, or of all commands of a group."""
    below = getattr(command, "commands", {}).values()
    own = {option for parameter in command.params for option in parameter.opts}  # type: ignore[attr-defined]
    return own.union(*map(options, below)) | {"--help"}


def test_messages_are_found() -> None:
    assert len(messages()) > 2000
    assert any("proband study take" in text for _, text in messages())


def test_every_command_exists() -> None:
    for where, (command,), text in found(r"(?:\b(?:run|use|with|write|try|see|by):? +|<code>|\$ )proband ([a-z]+)"):
        assert command in COMMANDS, f"{where}: {text!r} names proband {command}"
    for where, (command, below), text in found(rf"\bproband ({'|'.join(COMMANDS)}) ([a-z]+)"):
        group = getattr(COMMANDS[command], "commands", {below: None})
        assert below in group, f"{where}: {text!r} names proband {command} {below}"


def test_every_option_exists() -> None:
    every = set().union(*map(options, COMMANDS.values())) | {"--version"}
    for where, (option,), text in found(r"(?<![-\w])(--[a-z][a-z-]*)"):
        folder, _, name = where.partition("/")
        mine = COMMANDS.get(name.removesuffix(".py").partition("_")[0]) if folder == "cli" else None
        named = re.findall(r"proband ([a-z]+)", text)
        known = every if mine is None or named else options(mine)
        assert option in known, f"{where}: {text!r} names {option}"


def test_an_option_that_follows_its_command_is_one_of_it() -> None:
    for where, (line, option), text in found(r"\bproband ((?:[a-z]+ )+)(--[a-z][a-z-]*)"):
        command: object = COMMANDS[line.split()[0]]
        for word in line.split()[1:]:
            command = getattr(command, "commands", {}).get(word, command)
        assert option in options(command), f"{where}: {text!r} names {option} of proband {line}"


def test_every_extra_exists() -> None:
    extras = set(metadata("proband").get_all("Provides-Extra") or ())
    for where, (extra,), text in found(r"proband\[([a-z]+)\]"):
        assert extra in extras, f"{where}: {text!r} names the extra {extra}"


def test_every_argument_exists_and_takes_the_value() -> None:
    for where, (name, value), text in found(r'\b([a-z_]+)="([a-z]+)"'):
        if "<" not in text and name != "class":  # HTML has attributes
            assert value in KEYWORDS.get(name, ()), f"{where}: {text!r} names {name}={value!r}"


@pytest.mark.parametrize(
    "name", sorted({name for _, (name,), _ in found(r"\b(proband(?:\.[A-Za-z_]+)+)\b(?<!\.db)(?<!\.fish)")})
)
def test_every_name_exists(name: str) -> None:
    if name == STORES.group:  # of entry points, not of modules
        return
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            thing: object = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            thing = getattr(thing, part)
        return
    raise AssertionError(f"{name} does not exist")


def test_every_document_exists() -> None:
    for where, (document,), text in found(r"\b(docs/[a-z/-]+\.md)"):
        assert (ROOT / document).exists(), f"{where}: {text!r} names {document}"
