"""Guides and how-to pages: every command and every line of code runs, in order, and prints what the page shows."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from proband.cli import main

ROOT = Path(__file__).parents[1]
PAGES = sorted(path for folder in ("guides", "howto") for path in (ROOT / "docs" / folder).glob("*.md"))
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE  # three dots stand for what a page leaves out


def parts(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def run_commands(lines: str) -> None:
    for line in lines.splitlines():
        program, *arguments = shlex.split(line, comments=True)
        assert program == "proband", line
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert not stop.value.code, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_all_of_the_page_is_true(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    shutil.copy(ROOT / "examples" / "castings.csv", tmp_path)
    names: dict[str, Any] = {}
    printed = ""
    for language, content in parts(page.read_text(encoding="utf-8")):
        if language == "console":
            run_commands(content)
        elif language == "python":
            exec(compile(content, page.name, "exec"), names)
        elif language == "toml":
            name = content.splitlines()[0].removeprefix("# ")
            assert re.fullmatch(r"[a-z-]+\.(toml|csv)", name), (
                f"a file says in its first line what it is called: {name}"
            )
            Path(name).write_text(content, encoding="utf-8")
        else:
            assert language == "text", f"nobody knows how to run {language}"
            assert doctest.OutputChecker().check_output(content, printed, OPTIONS), f"{page.name} prints\n{printed}"
        printed = capsys.readouterr().out
    assert names or "```console" in page.read_text(encoding="utf-8"), "nothing on the page runs"


def test_there_is_a_guide_for_each_profession() -> None:
    assert {page.stem for page in PAGES} >= {"inspection", "diagnosis", "monitoring", "research"}
