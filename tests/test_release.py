"""What a release says of itself is so."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from pathlib import Path

import proband

ROOT = Path(proband.__file__).parents[2]
DATED = re.compile(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})")
SORTS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
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


def test_versions_come_from_tags() -> None:
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT


def test_the_changelog_keeps_its_form() -> None:
    """Of https://keepachangelog.com: versions with dates, the newest first, and six sorts of changes, each once."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    assert headings[0] == "[Unreleased]" or DATED.fullmatch(headings[0])
    assert all(DATED.fullmatch(heading) for heading in headings[1:])
    for version in re.split(r"^## .*\n", text, flags=re.MULTILINE)[1:]:
        sorts = re.findall(r"^### (.*)$", version, flags=re.MULTILINE)
        assert sorts == [sort for sort in SORTS if sort in sorts]
        for entries in re.split(r"^### .*\n", version, flags=re.MULTILINE)[1:]:
            assert re.fullmatch(r"\n(- .+\n(  .+\n)*)+\n?", entries), entries[-300:]


def test_a_citation_names_the_last_version_that_was_released() -> None:
    released = DATED.search((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    told = dict(re.findall(r"^(version|date-released): (.*)$", cited, flags=re.MULTILINE))
    assert told == ({"version": released[1], "date-released": released[2]} if released else {})


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
