"""docs/service.md: its code runs, and it tells of every route and limit."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.service.running import Running, new_study
from tests.service.test_roles import TABLE

from proband import Problem
from proband.service.access.tokens import ROLES

DOCUMENT = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, flags=re.MULTILINE | re.DOTALL)


def test_its_commands_and_code_run(
    tmp_path: Path, problem: Problem, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    serve, create = (line.strip() for line in blocks("console"))
    assert serve == "proband serve --store sqlite:///bolts.db"
    with Running("sqlite:///bolts.db", folder=tmp_path) as running:
        assert running.call("POST", "/api/studies", new_study(problem), token=running.link).status == 201
        words = re.findall(r'"[^"]*"|\S+', create.removeprefix("proband "))
        command = [sys.executable, "-m", "proband", *(word.strip('"') for word in words)]
        made = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
        [token] = re.findall(r"proband_\S+", made.stdout)
        first, second = blocks("python")
        names: dict[str, object] = {"token": token, "url": running.url}
        exec(compile(first.replace("http://127.0.0.1:8765", running.url), "service.md", "exec"), names)
        assert capsys.readouterr().out == "fail\n"
        exec(compile(second.replace("bolt 17", "bolt 18"), "service.md", "exec"), names)
        queue = names["queue"]
        queue.wait(queue.delivery(3))  # type: ignore[attr-defined]
        assert [queue.delivery(n).state for n in (1, 2, 3)] == ["delivered"] * 3  # type: ignore[attr-defined]
        queue.close()  # type: ignore[attr-defined]
        names["service"].close()  # type: ignore[attr-defined]
        queue._study._service.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", sorted({path for _, path in TABLE} - {"/", "/openapi.json", "/page/{name}"}))
def test_every_route_is_documented(path: str) -> None:
    last = (
        path.rpartition("/")[2] if "{" not in path.rpartition("/")[2] else path.rpartition("/{")[0].rpartition("/")[2]
    )
    assert f"/{last}" in DOCUMENT


@pytest.mark.parametrize("role", ROLES)
def test_every_role_is_documented(role: str) -> None:
    assert f"| {role} |" in DOCUMENT
