"""Where cells are run: here, in processes on this machine, or on a Dask cluster.

An executor takes an experiment and cells and yields each cell with its outcome, in any order, as soon as it is there.

A cluster (:mod:`proband.cluster`) is somebody's; outcomes come back over the network and are written here.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from proband import cluster
from proband.errors import ExperimentError, ServiceError
from proband.experiments.cells import Outcome, digest, play
from proband.experiments.experiment import Cell, Experiment
from proband.experiments.fingerprint import FINGERPRINT

SECONDS_TO_CONNECT = 15
Executor = Callable[[Experiment, Sequence[Cell]], Iterator[tuple[Cell, Outcome]]]
"""Runs cells of an experiment, here or elsewhere, and yields each with what came out, in any order."""


def in_process(experiment: Experiment, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome]]:
    """Run one cell after the other.

    Examples
    --------
    >>> from proband.experiments import EXPERIMENTS
    >>> small = EXPERIMENTS["easy"].changed(horizon=64, replications=1, agents=["test-everything"])
    >>> [(cell, outcome)] = in_process(small, small.cells(seed=1000))
    >>> cell.agent, outcome.t[-1]
    ('test-everything', 64)
    """
    for cell in cells:
        yield cell, play(experiment, cell)


def in_processes(jobs: int) -> Executor:
    """Return an executor with so many fresh processes."""
    if jobs < 1:
        raise ExperimentError(f"jobs is {jobs}; it must be 1 or more; give the number of processes")

    def run(experiment: Experiment, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome]]:
        pool = ProcessPoolExecutor(
            min(jobs, max(1, len(cells))),
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_leave_with_parent,
        )
        try:
            futures = {pool.submit(play, experiment, cell, FINGERPRINT): cell for cell in cells}
            for future in as_completed(futures):
                yield futures.pop(future), future.result()
        except BrokenProcessPool as error:
            raise ExperimentError(
                "a worker process died (killed, or out of memory); finished cells are kept; run the same command "
                "again to go on, with fewer --jobs if memory is short"
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    return run


def on_cluster(address: str) -> Executor:
    """Return an executor on the cluster whose scheduler has this address, such as ``tcp://10.0.0.5:8786``."""
    cluster.check_installed()

    def run(experiment: Experiment, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome]]:
        try:
            client = cluster.connected(address, seconds=SECONDS_TO_CONNECT)
        except ServiceError as error:
            raise ExperimentError(str(error)) from error
        with client:
            futures = {
                client.submit(play, experiment, cell, FINGERPRINT, key=f"proband-{digest(cell)}"): cell
                for cell in cells
            }
            for future in cluster.as_completed(futures, client):
                outcome = future.result()
                yield futures.pop(future), outcome

    return run


def _leave_with_parent() -> None:
    """End this worker when the process that started it is gone, even if it was killed."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
