from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import proband
from proband import Problem, tables
from proband.cli import main
from proband.cli.app import app
from proband.cli.doctor import EXTRAS, _gpu
from proband.instances import INSTANCES, problem_text

PROGRAM = Path(sys.executable).with_name("proband")


class TestExample:
    @pytest.mark.parametrize("name", INSTANCES)
    def test_its_files_can_be_planned_with(self, run, name: str) -> None:
        assert run("example", name, "--records", "300", "--out", "try").status == 0
        assert Problem.load(f"try/{name}.toml") == INSTANCES[name]().problem
        result = run("plan", f"try/{name}.toml", "--data", f"try/{name}-records.csv", "--json")
        assert "300 complete" in result.json["law"] or "300 records, 300 complete" in result.json["law"]

    def test_a_public_table_is_an_example_with_its_prices(self, run) -> None:
        assert run("example", "wine", "--records", "50").status == 0
        problem = Problem.load("wine.toml")
        assert [test.cost for test in problem.tests] == [0.02] * 13 + [0.25]
        assert len(tables.read_records("wine-records.csv", problem.tests)) == 50
        assert "30 tests" in run("example").out

    def test_the_problem_keeps_its_comments(self, run) -> None:
        run("example", "gout")
        assert Path("gout.toml").read_text() == problem_text("gout")

    def test_seeds_make_records(self, run) -> None:
        for seed in ("0", "0", "1"):
            run("example", "bolts", "--records", "50", "--seed", seed, "--out", f"s{seed}", "--force")
        first, second = (
            tables.read_records(f"s{n}/bolts-records.csv", INSTANCES["bolts"]().problem.tests) for n in "01"
        )
        assert len(first) == 50
        assert first != second

    def test_without_a_name_it_lists_them(self, run) -> None:
        listed = run("example").out
        assert all(name in listed for name in INSTANCES)

    def test_files_are_not_overwritten_unasked(self, run, files) -> None:
        Path("bolts.toml").write_text("mine")
        result = run("example", "bolts")
        assert result.status == 1
        assert "it exists already" in result.err
        assert Path("bolts.toml").read_text() == "mine"
        assert run("example", "bolts", "--force").status == 0

    def test_an_unknown_name_is_answered(self, run) -> None:
        result = run("example", "nuts")
        assert (result.status, "choose one of bolts" in result.err) == (2, True)


class TestDoctor:
    def test_it_tells_what_is_there(self, run) -> None:
        content = run("doctor", "--json").json
        assert content["proband"] == proband.__version__
        assert set(content["packages"]) == {"numpy", "scipy", "numba"}
        assert content["extras"]["cli"]["present"]
        assert content["sqlite"]["version"] == sqlite3.sqlite_version
        assert content["cores"] >= 1
        assert content["memory_available_bytes"] > 0

    def test_people_read_it_too(self, run) -> None:
        shown = run("doctor").out
        for name in ("Python", "numpy", "extra figures", "GPU", "SQLite", "cores", "memory"):
            assert name in shown

    def test_it_knows_every_extra(self) -> None:
        assert {*EXTRAS, "all", "dev"} == set(metadata("proband").get_all("Provides-Extra") or ())

    def test_missing_extras_come_with_their_remedy(self, run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(EXTRAS, "gpu", ("no_such_module",))
        assert 'pip install "proband[gpu]"' in run("doctor").out

    def test_a_broken_gpu_does_not_break_the_report(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "cupy.py").write_text("raise RuntimeError('no driver')\n")
        monkeypatch.delitem(sys.modules, "cupy", raising=False)
        monkeypatch.syspath_prepend(tmp_path)
        assert _gpu() == {"present": False, "detail": "cupy finds none (RuntimeError: no driver)"}

    def test_a_gpu_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "cupy.py").write_text(
            "class cuda:\n    class runtime:\n        getDeviceCount = staticmethod(lambda: 1)\n"
            "        getDeviceProperties = staticmethod(lambda n: {'name': b'Model X'})\n"
        )
        monkeypatch.delitem(sys.modules, "cupy", raising=False)
        monkeypatch.syspath_prepend(tmp_path)
        assert _gpu() == {"present": True, "detail": "Model X"}
        sys.modules.pop("cupy")


def test_the_demo_writes_where_it_is_told(run) -> None:
    result = run("demo", "--seed", "3", "--bolts", "2000", "--out", "there")
    assert result.status == 0
    assert {path.name for path in Path("there").iterdir()} == {"demo.png", "report.md"}


def test_the_demo_with_many_tests_writes_where_it_is_told(run) -> None:
    result = run("demo", "--many", "--boards", "200", "--out", "there")
    assert result.status == 0
    assert "decide at once" in result.out
    assert {path.name for path in Path("there").iterdir()} == {"many.md"}


class TestMain:
    def test_help_shows_examples_for_every_command(self) -> None:
        commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
        for name in [name for name, command in commands.items() if not hasattr(command, "commands")]:
            result = CliRunner().invoke(app, [name, "--help"])
            assert result.exit_code == 0
            assert f"$ proband {name}" in result.output

    @pytest.mark.parametrize("group", [(), ("study",), ("experiment",)])
    def test_a_group_lists_its_commands_as_they_describe_themselves(self, group: tuple[str, ...]) -> None:
        found: Any = typer.main.get_command(app)
        for name in group:
            found = found.commands[name]
        said = {name: str(command.help).split("\n")[0] for name, command in found.commands.items()}
        assert found.lines == said

    def test_version(self) -> None:
        result = CliRunner().invoke(app, ["--version"])
        assert result.output == f"proband {proband.__version__}\n"

    def test_an_unknown_command_is_a_usage_error(self, run) -> None:
        assert run("frobnicate").status == 2

    @pytest.mark.parametrize("module", ["typer", "rich"])
    def test_without_its_extra_the_remedy_is_named(self, module: str) -> None:
        code = f"import sys; sys.modules[{module!r}] = None; from proband.cli import main; main(['doctor'])"
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
        assert (result.returncode, result.stdout) == (4, "")
        message = f'the command line needs {module}, which is not installed; pip install "proband[cli]"'
        assert result.stderr == f"error: {message}\n"

    def test_a_programming_error_is_not_hidden(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(name: str) -> None:
            raise OSError("no file involved")

        monkeypatch.setattr("proband.cli.inputs.load_problem", fail)
        with pytest.raises(OSError, match="no file involved"):
            main(["plan", "bolts"])


def test_the_installed_program_from_end_to_end(tmp_path: Path) -> None:
    def program(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "200"}
        return subprocess.run(
            [PROGRAM, *arguments], cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False
        )

    for arguments in (
        ("example", "bolts"),
        ("plan", "bolts.toml", "--data", "bolts-records.csv", "--out", "policy.json", "--tree", "tree.svg"),
        ("next", "policy.json"),
        ("evaluate", "bolts", "policy.json"),
    ):
        result = program(*arguments)
        said = [line for line in result.stderr.splitlines() if not line.startswith("compiling ")]  # once on a machine
        assert (result.returncode, said) == (0, []), arguments
    assert {path.name for path in tmp_path.iterdir()} == {
        "bolts.toml",
        "bolts-records.csv",
        "policy.json",
        "tree.svg",
    }
    wrong = program("next", "policy.json", "--known", "colour=red")
    assert wrong.returncode == 2
    assert wrong.stdout == ""
    assert wrong.stderr.startswith("error: test 'colour' does not exist")  # plain: not a terminal
