"""What a release says of itself is so."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from pathlib import Path

import proband

ROOT = Path(proband.__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def members(extra: str) -> set[str]:
    """The extras that an extra is made of, itself where it names packages."""
    names = [re.fullmatch(r"proband\[(.*)\]", each) for each in PROJECT["optional-dependencies"][extra]]
    return {name for found in names if found for name in found[1].split(",")}


def test_the_table_of_extras_names_all_of_them() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z]+)` \| .* \| (yes|no) \|$", readme, flags=re.MULTILINE))
    assert set(rows) == set(PROJECT["optional-dependencies"]) - {"all", "dev"}
    assert {name for name, inside in rows.items() if inside == "yes"} == members("all")


def test_the_version_stands_once() -> None:
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT
    assert f"\nversion: {proband.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## [{proband.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_types_come_with_the_package() -> None:
    assert resources.files("proband").joinpath("py.typed").is_file()


def test_smoke_runs_the_commands_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    smoke = (ROOT / "tests" / "release" / "smoke.py").read_text(encoding="utf-8")
    console = readme.split("```console\n")[1].split("```")[0]
    for line in console.splitlines():
        command = line.partition("#")[0].rstrip()
        if "study run" not in command:  # asks an operator
            assert f"\n{command}\n" in smoke or f'"""\\\n{command}\n' in smoke, command
