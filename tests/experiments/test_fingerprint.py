from __future__ import annotations

import shutil
from pathlib import Path

import proband
from proband.experiments.fingerprint import FINGERPRINT, PARTS, fingerprint

PACKAGE = Path(proband.__file__).parent


def test_it_changes_with_what_results_depend_on_and_with_nothing_else(tmp_path: Path) -> None:
    copy = tmp_path / "proband"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = fingerprint(copy)
    assert len(before) == len(FINGERPRINT)
    (copy / "cli" / "app.py").write_text("")
    (copy / "experiments" / "report.py").write_text("")
    assert fingerprint(copy) == before
    with (copy / "agents" / "doubling.py").open("a") as file:
        file.write("\n")
    assert fingerprint(copy) != before


def test_every_part_exists() -> None:
    assert all((PACKAGE / part).exists() for part in PARTS)
