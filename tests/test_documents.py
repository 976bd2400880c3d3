"""What the documents show is true: their code runs, their examples load, their fields are all there."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from proband import Problem
from proband.cli import main
from proband.instances import PACKAGED, packaged_problem

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROBLEM_FILES = (ROOT / "docs" / "problem-files.md").read_text(encoding="utf-8")
BUILT = ("gallery", "reference")
"""Folders of docs/ that `make docs` writes, where warnings are errors."""

DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS = [path for path in DOCUMENTS if path.parent.name not in BUILT]


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def test_the_readmes_library_example_prints_what_it_says() -> None:
    code, [expected] = blocks(README, "python")[0], blocks(README, "text")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == expected


def test_the_readmes_agent_learns() -> None:
    names: dict[str, Any] = {}
    exec(compile(blocks(README, "python")[1], "README.md", "exec"), names)
    assert names["agent"].t == 100
    assert names["decision"] in names["problem"].decisions


def fill(draft: Path) -> None:
    """Fill in what a draft leaves open: prices, and what decisions bring."""
    numbers = iter(["0.1"] * 6 + ["0.0", "-10.0", "0.0", "5.0"])
    text = draft.read_text(encoding="utf-8")
    draft.write_text(re.sub(r'(?<== )"\?"', lambda _: next(numbers), text), encoding="utf-8")


def test_the_readmes_first_commands_lead_to_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    [lines] = blocks(README, "sh")
    install, *commands = [line for line in lines.splitlines() if not line.startswith("#")]
    assert install.startswith("pip install ")
    for line in commands:
        _, *arguments = shlex.split(line)
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert not stop.value.code, line
        if arguments[0] == "init":
            fill(tmp_path / "problem.toml")
    assert "known          Visual=smooth\n" in capsys.readouterr().out


def test_the_readmes_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [lines] = blocks(README, "console")
    assert len(lines.splitlines()) == 12
    for line in lines.splitlines():
        if line.startswith("proband study run"):
            monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
        program, *arguments = shlex.split(line, comments=True)
        assert program == "proband"
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert not stop.value.code, line


def test_the_problem_file_in_the_documentation_loads(tmp_path: Path) -> None:
    whole, _, measured = blocks(PROBLEM_FILES, "toml")
    (tmp_path / "short.toml").write_text(whole)
    assert Problem.load(tmp_path / "short.toml").name == "Bolts, in short"
    (tmp_path / "measured.toml").write_text(measured)
    assert Problem.load(tmp_path / "measured.toml").measured


def test_the_reward_in_the_documentation_is_read_as_it_says(tmp_path: Path) -> None:
    whole, reward, _ = blocks(PROBLEM_FILES, "toml")
    tensile = '[[tests]]\nname = "tensile strength"\ncost = 1.0\noutcomes = ["sufficient", "low"]\n'
    (tmp_path / "two.toml").write_text(whole.partition("[reward]")[0] + tensile + reward)
    utilities = Problem.load(tmp_path / "two.toml").reward.utilities  # type: ignore[attr-defined]
    assert utilities[1].tolist() == [[-60, -1], [-60, -1]]
    assert utilities[0].tolist() == [[6, -2], [-30, -1]]


@pytest.mark.parametrize("name", PACKAGED)
def test_every_field_of_a_problem_file_is_documented(name: str) -> None:
    def keys(content: Any) -> set[str]:
        if isinstance(content, list):
            return set().union(*map(keys, content))
        if not isinstance(content, dict):
            return set()
        free = ("when", "value", "weights", "slope", "at")  # their keys are names
        inner = (value for key, value in content.items() if key not in free)
        return set(content) | set().union(*map(keys, inner))

    for key in keys(packaged_problem(name).to_dict()):
        assert f"| `{key}` |" in PROBLEM_FILES
    assert f"| `{name}` |" in PROBLEM_FILES


SPREADSHEETS = (ROOT / "docs" / "spreadsheets.md").read_text(encoding="utf-8")


def test_the_way_from_a_spreadsheet_to_a_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "castings.csv", tmp_path)
    [whole] = blocks(SPREADSHEETS, "toml")
    Path("castings.toml").write_text(whole, encoding="utf-8")
    parts = re.findall(r"^```(console|python|text)\n(.*?)^```$", SPREADSHEETS, flags=re.MULTILINE | re.DOTALL)
    done = 0
    for (language, content), (follows, expected) in zip(parts, [*parts[1:], ("", "")], strict=True):
        if language == "console":
            for line in content.splitlines():
                with pytest.raises(SystemExit) as stop:
                    main(shlex.split(line)[1:])
                assert bool(stop.value.code) == expected.startswith("error: "), line
        elif language == "python":
            exec(compile(content, "spreadsheets.md", "exec"), {})
        else:
            continue
        shown = capsys.readouterr()
        if follows == "text":
            assert (shown.err or shown.out) == expected
        done += 1
    assert done == 8
    drafted = Path("problem.toml").read_text(encoding="utf-8")
    _check_filled_in(tomllib.loads(drafted), tomllib.loads(whole))
    beside = re.findall(r"^    (.*cuts = .*)$", SPREADSHEETS, flags=re.MULTILINE)
    assert len(beside) == 2
    assert "\n".join(beside) in drafted


def test_the_page_on_notebooks_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    [code], [expected] = blocks(text, "python"), blocks(text, "text")
    exec(compile(code, "notebooks.md", "exec"), {})
    assert capsys.readouterr().out == expected


REPORTS = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")


def test_the_reports_of_the_documentation_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "castings.csv", tmp_path)
    Path("castings.toml").write_text(blocks(SPREADSHEETS, "toml")[0], encoding="utf-8")
    [commands], [code], [expected] = (blocks(REPORTS, kind) for kind in ("console", "python", "text"))
    for line in commands.splitlines():
        with pytest.raises(SystemExit) as stop:
            main(shlex.split(line)[1:])
        assert not stop.value.code, line
    capsys.readouterr()
    exec(compile(code, "reports.md", "exec"), {})
    assert capsys.readouterr().out == expected
    page = Path("report.html").read_text(encoding="utf-8")
    assert "line 166 (C-4164)" in page
    headings = re.findall("<h2>(.*)</h2>", page)
    assert len(headings) == 7
    for heading in headings:
        assert f"| {heading[0].lower()}{heading[1:]} |" in REPORTS, heading


def test_the_page_on_fits_is_true() -> None:
    [code] = blocks((ROOT / "docs" / "fitting.md").read_text(encoding="utf-8"), "python")
    exec(compile(code, "fitting.md", "exec"), {})


def _check_filled_in(draft: dict[str, Any], whole: dict[str, Any]) -> None:
    """The file in the tutorial is the draft, filled in as the tutorial says."""
    moved = [test["name"] for test in draft["tests"] if test["name"] not in {one["name"] for one in whole["tests"]}]
    assert moved == ["Hall"]
    assert whole["ignore"] == [*draft["ignore"], *moved]
    assert whole["missing"] == draft["missing"]
    drafted = {test["name"]: {k: v for k, v in test.items() if k != "cost"} for test in draft["tests"]}
    for test in whole["tests"]:
        assert {k: v for k, v in test.items() if k not in ("cost", "on_arrival")} == drafted[test["name"]]
    assert [entry["when"] for entry in whole["reward"]["utilities"]] == [
        entry["when"] for entry in draft["reward"]["utilities"]
    ]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose):
        if "://" not in target and not target.removeprefix("../").startswith(BUILT):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"
