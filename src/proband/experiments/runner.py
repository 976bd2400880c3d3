"""From an experiment to its table: run every cell that has no result yet, then collect them all.

A run's folder holds ``cells/`` (one small file each), ``table.csv``, ``table.parquet`` and ``manifest.json``. A run
that was stopped, however rudely, goes on where it was; a run with more replications, points or agents keeps what it
has. Results of other code (:mod:`proband.experiments.fingerprint`) are not taken.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from proband.errors import ExperimentError
from proband.experiments.cells import Outcome, digest, load, save
from proband.experiments.executors import Executor, in_process
from proband.experiments.experiment import Cell, Experiment
from proband.experiments.manifest import describe, now, read_manifest, seconds_by_agent, write_manifest
from proband.experiments.tidy import TidyTable, collect, write_tables

CELLS = "cells"
SEED = 1000
"""The seed by default; 0 to 99 were used to tune agents."""

Progress = Callable[[int, int], None]
"""Called with how many cells are done, and how many there are."""


def run(
    experiment: Experiment,
    out: Path,
    *,
    seed: int = SEED,
    executor: Executor = in_process,
    how: str = "in process",
    progress: Progress | None = None,
    fresh: bool = False,
) -> TidyTable:
    """Run an experiment, or the rest of it.

    Parameters
    ----------
    experiment : Experiment
    out : Path
        The run's folder; made if missing.
    seed : int, default 1000
    executor : callable, optional
        Where cells are run (:mod:`proband.experiments.executors`). The table does not depend on it.
    how : str, default "in process"
        What the manifest says of the executor.
    progress : callable, optional
        Told, after each cell, how many are done and how many there are.
    fresh : bool, default False
        Run every cell again, whatever the folder holds.

    Examples
    --------
    >>> import tempfile
    >>> from proband.experiments import EXPERIMENTS
    >>> small = EXPERIMENTS["easy"].changed(horizon=256, replications=1, agents=["explore-then-commit", "doubling"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = run(small, Path(folder))
    >>> table.unique("agent")
    ['explore-then-commit', 'doubling']
    """
    tell = progress or (lambda done, total: None)
    cells = experiment.cells(seed=seed)
    folder = _prepare(experiment, out)
    manifest = describe(experiment, seed=seed, how=how)
    write_manifest(out, manifest)
    found = {} if fresh else {digest(cell): kept for cell in cells if (kept := load(folder, cell)) is not None}
    tell(len(found), len(cells))
    for cell, outcome in executor(experiment, [cell for cell in cells if digest(cell) not in found]):
        save(folder, cell, outcome)
        found[digest(cell)] = outcome
        tell(len(found), len(cells))
    outcomes = _in_order(experiment, cells, found)
    table = collect(outcomes)
    files = write_tables(out, table)
    write_manifest(out, manifest | {"finished": now(), "files": files, "seconds": seconds_by_agent(outcomes)})
    return table


def _prepare(experiment: Experiment, out: Path) -> Path:
    """Make the folders, unless another experiment's run is there."""
    before = read_manifest(out)
    if before is not None and before.get("experiment") != experiment.name:
        raise ExperimentError(
            f"{out}: it holds a run of {before.get('experiment')!r}; a folder is for one experiment; choose another "
            "--out"
        )
    folder = out / CELLS
    folder.mkdir(parents=True, exist_ok=True)
    for left_over in folder.glob(".*.json.*"):  # of a run that was killed while writing
        left_over.unlink(missing_ok=True)
    return folder


def _in_order(experiment: Experiment, cells: list[Cell], found: dict[str, Outcome]) -> list[tuple[Cell, Outcome]]:
    """Return all outcomes by point, agent and replication, whatever the order in which they came."""
    points = experiment.points()
    agents = [entrant.name for entrant in experiment.agents]
    ordered = sorted(cells, key=lambda cell: (points.index(cell.point), agents.index(cell.agent), cell.replication))
    return [(cell, found[digest(cell)]) for cell in ordered]
