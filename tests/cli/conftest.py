from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.strict_json import strict

from proband.cli import main


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return strict(self.out)


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in an empty folder, through the function that the installed program calls."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Result:
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        captured = capsys.readouterr()
        return Result(int(stop.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture
def files(run: Run) -> None:
    """The files of the bolts example."""
    assert run("example", "bolts", "--records", "800").status == 0
