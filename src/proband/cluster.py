"""A Dask cluster of somebody's: where experiments are run, and plans made, on other machines.

It needs an extra (``pip install "proband[cluster]"``), and was started with ``dask scheduler`` and ``dask worker``, or
by a cloud. Workers need the same proband, and no disk in common: what comes of a call comes back over the network. When
a worker dies the scheduler gives its calls to another one.
"""

from __future__ import annotations

from typing import Any

from proband.errors import MissingExtraError, ServiceError

SECONDS_TO_CONNECT = 15.0


def check_installed() -> None:
    """Raise unless a cluster can be used from here."""
    _distributed()


def connected(address: str, *, seconds: float = SECONDS_TO_CONNECT) -> Any:
    """Return a client of the cluster whose scheduler has this address, such as ``tcp://10.0.0.5:8786``."""
    try:
        return _distributed().Client(address, timeout=seconds, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ServiceError(
            f"no cluster answers at {address!r} ({error}); it must be the address of a Dask scheduler, such as "
            "tcp://10.0.0.5:8786; start one with dask scheduler"
        ) from error


def as_completed(futures: Any, client: Any) -> Any:
    """Return an iterator over futures of a client, as soon as they are done."""
    return _distributed().as_completed(futures, loop=client.loop)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise MissingExtraError(
            'a cluster needs dask and distributed, which are not installed; pip install "proband[cluster]"'
        ) from error
    return distributed
