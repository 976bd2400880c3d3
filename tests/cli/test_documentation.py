"""Every command and every option is documented."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from proband.cli.app import app
from proband.errors import CODES

DOCUMENT = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def section(name: str) -> str:
    _, found, rest = DOCUMENT.partition(f"## `proband {name}`\n")
    assert found, f"docs/command-line.md has no section on proband {name}"
    return rest.partition("\n## ")[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str) -> None:
    text = section(name)
    for parameter in COMMANDS[name].params:
        names = parameter.opts if parameter.opts[0].startswith("-") else [parameter.metavar.strip("[]{}")]
        for option in names:
            assert option in text, f"docs/command-line.md does not mention {option} of proband {name}"


def test_no_command_is_documented_that_does_not_exist() -> None:
    headings = [line for line in DOCUMENT.splitlines() if line.startswith("## `proband ")]
    assert headings == [f"## `proband {line.split()[2].strip('`')}`" for line in headings]
    assert {line.split()[2].strip("`") for line in headings} == set(COMMANDS)


def test_every_exit_status_is_documented() -> None:
    for status in {codes.exit for codes in CODES.values()}:
        assert f"| {status} |" in DOCUMENT
