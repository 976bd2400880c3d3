"""Agents of other packages work by name, and those of a file in the current folder by their place, everywhere."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proband.agents import Setting, build_agent, checked_agent
from proband.errors import AgentError, UnknownNameError
from proband.experiments.fingerprint import FINGERPRINT, code_of
from proband.instances import bolts, bolts_measured
from proband.testing import check_agent

AGENT = """
from proband.agents import FOREVER
from proband.policies import test_everything
from proband.vocabulary import Kind


class Patient:
    kinds = frozenset({Kind.LISTED})
    commitment = FOREVER

    def __init__(self, problem, law=None):
        self._policy = test_everything(problem, law)

    @classmethod
    def of(cls, setting):
        return cls(setting.problem, setting.truth)

    def policy(self):
        return self._policy

    def learn(self, records):
        pass


class Nameless:
    pass
"""
EASY = ("experiment", "run", "easy", "--horizon", "64", "--replications", "1", "--json")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Install a package with an agent in a folder: a module, and the metadata that name it."""
    metadata = tmp_path / "site" / "courier-1.0.dist-info"
    metadata.mkdir(parents=True)
    (tmp_path / "site" / "courier.py").write_text(AGENT, encoding="utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: courier\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text("[proband.agents]\npatient = courier:Patient\n", encoding="utf-8")
    return tmp_path / "site"


def proband(folder: Path, *arguments: str, path: Path | None = None) -> Any:
    """Run a command in a folder, as the installed program does, and return its JSON."""
    code = "import sys; sys.path = [each for each in sys.path if each]; from proband.cli import main; main()"
    environment = os.environ | ({} if path is None else {"PYTHONPATH": str(path)})
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def played(folder: Path, agent: str) -> list[str]:
    """The rows of a run's table that are an agent's, without its name."""
    lines = (folder / "table.csv").read_text(encoding="utf-8").splitlines()
    return [line.replace(f",{agent},", ",") for line in lines if f",{agent}," in line]


def test_an_installed_agent_works_by_its_name(package: Path, tmp_path: Path) -> None:
    proband(tmp_path, *EASY, "--agents", "patient,test-everything", "--out", "run", path=package)
    own, other = (played(tmp_path / "run", name) for name in ("patient", "test-everything"))
    assert own == other
    assert len(own) > 10
    made = proband(tmp_path, "study", "create", "bolts", "--agent", "patient", "--json", path=package)
    assert made["agent"] == "patient"
    proband(tmp_path, "study", "arrive", made["study"], "--subject", "one", "--json", path=package)
    assert proband(tmp_path, "study", "ask", made["study"], "one", "--json", path=package)


def test_an_agent_in_the_current_folder_works_by_its_place(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(AGENT, encoding="utf-8")
    place = "mine:Patient"
    proband(tmp_path, *EASY, "--agents", place, "--jobs", "2", "--out", "run")
    assert len(played(tmp_path / "run", place)) > 10
    made = proband(tmp_path, "study", "create", "bolts", "--agent", place, "--json")
    proband(tmp_path, "study", "arrive", made["study"], "--subject", "one", "--json")
    assert proband(tmp_path, "study", "ask", made["study"], "one", "--json")


@pytest.fixture
def courier(package: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(package))
    monkeypatch.delitem(sys.modules, "courier", raising=False)
    importlib.invalidate_caches()
    return package / "courier.py"


def test_the_kit_checks_an_agent_by_its_place(courier: Path) -> None:
    check_agent(
        lambda problem, law, horizon: build_agent("courier:Patient", Setting(problem, horizon=horizon, truth=law)),
        np.random.default_rng(0),
        instances=3,
        subjects=20,
    )
    with pytest.raises(AgentError, match="courier:Patient is no agent for"):
        build_agent("courier:Patient", Setting(bolts_measured().problem))


def test_results_are_of_the_code_of_the_agent(courier: Path) -> None:
    before = code_of("courier:Patient")
    assert before.startswith(FINGERPRINT)
    courier.write_text(AGENT + "# changed\n", encoding="utf-8")
    assert code_of("courier:Patient") != before
    assert code_of("greedy") == code_of("likelihood") == FINGERPRINT


def test_what_is_no_agent_is_named(courier: Path) -> None:
    with pytest.raises(UnknownNameError, match="agent 'oracle' does not exist; choose one of clairvoyant"):
        checked_agent("oracle")
    with pytest.raises(AgentError, match="has `kinds`"):
        build_agent("courier:Nameless", Setting(bolts().problem))
    with pytest.raises(AgentError, match="cannot be loaded"):
        checked_agent("courier:Nobody")
