"""The manifest of a run: what was run, with which versions, on what kind of machine; no names of hosts or folders."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import proband
from proband.errors import TableError, shown
from proband.experiments.cells import Outcome, write_atomically
from proband.experiments.experiment import Cell, Experiment
from proband.experiments.fingerprint import FINGERPRINT
from proband.files import read_json

MANIFEST = "manifest.json"
PACKAGES = ("numpy", "scipy", "numba", "pyarrow", "distributed")


def describe(experiment: Experiment, *, seed: int, how: str) -> dict[str, Any]:
    """Return the manifest of a run that begins now; `how` says where its cells are run.

    Examples
    --------
    >>> from proband.experiments import EXPERIMENTS
    >>> describe(EXPERIMENTS["easy"], seed=1000, how="in process")["agents"][0]
    'explore-then-commit'
    """
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "seed": seed,
        "replications": experiment.replications,
        "agents": [entrant.name for entrant in experiment.agents],
        "points": [dict(point) for point in experiment.points()],
        "checkpoints_per_doubling": experiment.per_doubling,
        "cells": len(experiment.cells(seed=seed)),
        "executor": how,
        "code": FINGERPRINT,
        "versions": {"proband": proband.__version__, "python": platform.python_version(), **_packages()},
        "machine": {"cores": os.cpu_count() or 1, "processor": _processor(), "system": platform.system()},
        "started": now(),
        "finished": None,
    }


def seconds_by_agent(outcomes: list[tuple[Cell, Outcome]]) -> dict[str, dict[str, float]]:
    """Return how long cells at the largest horizon took, by agent."""
    longest = max(int(cell.point["horizon"]) for cell, _ in outcomes)
    times: dict[str, list[float]] = {}
    for cell, outcome in outcomes:
        if cell.point["horizon"] == longest:
            times.setdefault(cell.agent, []).append(outcome.seconds)
    return {agent: {"median": float(np.median(s)), "largest": max(s)} for agent, s in times.items()}


def write_manifest(folder: Path, content: dict[str, Any]) -> None:
    """Write the manifest into a run's folder."""
    write_atomically(folder / MANIFEST, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a run's folder, if it has one."""
    path = folder / MANIFEST
    if not path.exists():
        return None
    content = read_json(path, TableError)
    if not isinstance(content, dict):
        raise TableError(f"{path}: it is {shown(content)}; a run writes a table of fields; choose another --out")
    return content


def now() -> str:
    """Return the time, in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _packages() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
