"""Completion, as shells ask for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proband.agents import AGENTS
from proband.cli.completing import candidates
from proband.cli.completion import SCRIPTS
from proband.experiments import EXPERIMENTS
from proband.instances import EXAMPLES, INSTANCES
from proband.studies import Study

PROGRAM = Path(sys.executable).with_name("proband")


def words(*before: str, last: str = "") -> list[str]:
    return [each.word for each in candidates(before, last)[1]]


def test_commands_options_and_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROBAND_STORE", raising=False)
    assert words(last="pl") == ["plan"]
    assert words(last="--v") == ["--version"]
    assert words("study", last="ta") == ["take"]
    assert words("plan", last="--max") == ["--max-tests"]
    assert "--data" not in words("plan", "bolts", "--data", "x.csv", last="--")
    assert words("plan", last="bo") == ["bolts", "bolts-measured"]
    assert words("example") == list(EXAMPLES)
    assert words("experiment", "run") == list(EXPERIMENTS)
    assert words("study", "create", "bolts", "--agent") == list(AGENTS)
    assert words("experiment", "run", "easy", "--agents", last="greedy,dou") == [
        "greedy,doubling",
        "greedy,doubling-keep",
    ]
    assert words("plan", "bolts", "--device") == ["cpu", "gpu"]
    assert words("plan", "bolts", last="--method=den") == ["--method=dense"]
    assert words("nothing", "at", "all") == []
    (tmp_path / "own.db").touch()
    assert words("study", "list", "--store", last="sqlite") == ["sqlite:///own.db", "sqlite:///"]
    about = {each.word: each.about for each in candidates(["plan", "bolts"], "--data")[1]}
    assert about == {"--data": "Past subjects: one row each, one column a test"}


def test_files_fit_where_a_file_is_asked_for() -> None:
    assert candidates(["plan"], "")[0]
    assert candidates(["plan", "bolts", "--out"], "")[0]
    assert not candidates(["plan", "bolts", "--method"], "")[0]
    assert not candidates(["study", "ask"], "")[0]


def test_studies_of_the_store_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROBAND_STORE", raising=False)
    assert words("study", "ask") == []
    assert not list(tmp_path.iterdir())  # to look for studies makes no store
    Study.create(next(iter(INSTANCES.values()))().problem, name="line 1", store="sqlite:///own.db").close()
    assert words("study", "ask", "--store", "sqlite:///own.db") == ["line 1"]
    monkeypatch.setenv("PROBAND_STORE", "sqlite:///own.db")
    assert words("study", "show") == ["line 1"]


def test_subjects_of_the_study_and_what_tests_may_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROBAND_STORE", "sqlite:///own.db")
    with Study.create(INSTANCES["bolts"]().problem, name="line 1", store="sqlite:///own.db") as study:
        for name in ("bolt 1", "bolt 2", "nut"):
            study.arrive(subject=name)
        study.decide(study.subject("bolt 1"), "fail")
    assert words("study", "ask", "line 1") == ["nut", "bolt 2"]
    assert words("study", "correct", "line 1", last="bolt") == ["bolt 2", "bolt 1"]
    assert words("study", "reveal", "line 1") == ["bolt 1"]
    assert words("study", "tell", "line 1", "nut", last="ultra") == ["ultrasonic=clear", "ultrasonic=crack"]
    assert words("study", "arrive", "line 1", "--known", last="ultrasonic=cl") == ["ultrasonic=clear"]
    script = r"""
eval "$(proband completion bash)"
try() { COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _proband 2> errors; printf '<%s>' "${COMPREPLY[@]}"; echo; }
try proband study ask 'line\ 1' 'bolt\ '
try proband study tell '"line 1"' nut ultrasonic = cr
"""
    assert in_shell("bash", script, tmp_path).splitlines() == ["<bolt 2>", "<crack>"]


def in_shell(shell: str, script: str, folder: Path) -> str:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    environment = {**os.environ, "PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [shell], input=script, cwd=folder, env=environment, check=True, capture_output=True, text=True
    )  # fmt: skip
    return done.stdout


def test_in_bash(tmp_path: Path) -> None:
    (tmp_path / "own.toml").touch()
    script = """
eval "$(proband completion bash)"
try() { COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _proband 2> errors; printf '<%s>' "${COMPREPLY[@]}"; echo; }
try proband experim
try proband plan o
try proband plan bolts --method = gre
try proband plan bolts --method = my
"""
    found = in_shell("bash", script, tmp_path).splitlines()
    assert found == ["<experiment>", "<own.toml>", "<>", "<myopic>"]


def test_in_fish(tmp_path: Path) -> None:
    script = 'proband completion fish | source\ncomplete -C "proband experim"\ncomplete -C "proband plan bolts-"\n'
    found = [line.partition("\t")[0] for line in in_shell("fish", script, tmp_path).splitlines()]
    assert found == ["experiment", "bolts-measured"]


def test_in_zsh(tmp_path: Path) -> None:
    script = """
autoload -Uz compinit; compinit -u -D
eval "$(proband completion zsh)"
_describe() { print -l -- "${(@P)2}" }
_files() { print FILES }
words=(proband experim); CURRENT=2; _proband
words=(proband plan bolts-); CURRENT=3; _proband
"""
    found = in_shell("zsh", script, tmp_path).splitlines()
    assert [line.partition(":")[0] for line in found] == ["experiment", "FILES", "bolts-measured"]


@pytest.mark.parametrize("shell", SCRIPTS)
def test_scripts_are_printed_and_no_other_shell_is_promised(run, shell: str) -> None:
    assert "_PROBAND_COMPLETE" in run("completion", shell).out
    refused = run("completion", "tcsh")
    assert refused.status == 2
    assert "bash, zsh, fish" in refused.err


def test_a_mistake_is_no_answer(tmp_path: Path) -> None:
    environment = {**os.environ, "_PROBAND_COMPLETE": "zsh", "PROBAND_STORE": "mongo://nowhere"}
    done = subprocess.run(
        [sys.executable, "-m", "proband", "study", "ask", ""],
        env=environment, cwd=tmp_path, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("", "")
