"""Cells on a Dask cluster: the only module that knows Dask, an extra (``pip install "proband[cluster]"``).

The cluster is somebody's: started with ``dask scheduler`` and ``dask worker``, or by a cloud. Workers need the same
proband, and no disk in common: outcomes come back over the network and are written here. When a worker dies
the scheduler gives its cells to another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proband.errors import ExperimentError, MissingExtraError
from proband.experiments.cells import Outcome, digest, play
from proband.experiments.executors import Executor
from proband.experiments.experiment import Cell, Experiment
from proband.experiments.fingerprint import FINGERPRINT

SECONDS_TO_CONNECT = 15


def on_cluster(address: str) -> Executor:
    """Return an executor on the cluster whose scheduler has this address, such as ``tcp://10.0.0.5:8786``."""
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise MissingExtraError(
            'a cluster needs dask and distributed, which are not installed; pip install "proband[cluster]"'
        ) from error

    def run(experiment: Experiment, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome]]:
        try:
            client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise ExperimentError(
                f"no cluster answers at {address!r} ({error}); it must be the address of a Dask scheduler, such as "
                "tcp://10.0.0.5:8786; start one with dask scheduler"
            ) from error
        with client:
            futures = {
                client.submit(play, experiment, cell, FINGERPRINT, key=f"proband-{digest(cell)}"): cell
                for cell in cells
            }
            for future in as_completed(futures, loop=client.loop):  # type: ignore[no-untyped-call]
                outcome = future.result()
                yield futures.pop(future), outcome

    return run
