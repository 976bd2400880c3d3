"""Rewards, laws and a planner of another package work by name everywhere, with no file of the library touched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PIECES = Path(__file__).parent / "pieces"
PROBAND = ("-c", "from proband.cli import main; main()")
ENTRY_POINTS = """
[proband.rewards]
threshold = other:Threshold
within = other:Within

[proband.planners]
impatient = other:plan_impatient
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the other package is installed, as pip would, with the pieces of its user."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(PIECES / "other.py", folder)
    about = folder / "other-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    done = python(folder, str(PIECES / "use.py"), str(folder))
    assert done.returncode == 0, done.stderr
    return folder


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("method", ["impatient", "other:plan_impatient"])
def test_a_planner_by_its_name_and_by_its_place(installed: Path, method: str) -> None:
    done = python(
        installed, *PROBAND, "plan", "problem.toml", "--distribution", "law.csv", "--method", method, "--json"
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["method"], found["expected_tests"]) == ("impatient", 0.0)


def test_a_policy_for_its_reward(installed: Path) -> None:
    said = python(installed, *PROBAND, "next", "policy.json", "--json")
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["test"] in ("a", "b", "c")
