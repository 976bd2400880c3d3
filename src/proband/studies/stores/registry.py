"""All stores by the scheme of their URLs, for studies, the command line, and the conformance kit."""

from __future__ import annotations

from collections.abc import Callable

from proband.errors import StoreError
from proband.studies.stores.contract import Store
from proband.studies.stores.memory import MemoryStore
from proband.studies.stores.sqlite import SQLiteStore

FORMS = "memory:, sqlite:///file.db, sqlite:////folder/file.db, postgresql://user@host/database"


def _memory(url: str) -> Store:
    if url != "memory:":
        raise StoreError(f"{url!r} is no store in memory; write memory: and nothing else")
    return MemoryStore()


def _sqlite(url: str) -> Store:
    path = url.removeprefix("sqlite:///")
    if path in (url, ""):
        raise StoreError(
            f"{url!r} names no file; write sqlite:///bolts.db for a file in this folder, or sqlite:////data/bolts.db"
        )
    return SQLiteStore(path)


def _postgresql(url: str) -> Store:
    from proband.studies.stores.postgresql import PostgreSQLStore

    return PostgreSQLStore(url)


STORES: dict[str, Callable[[str], Store]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    "postgresql": _postgresql,
}


def open_store(url: str) -> Store:
    """Return the store at a URL.

    Parameters
    ----------
    url : str
        ``memory:`` for a new one in memory, ``sqlite:///relative.db``, ``sqlite:////absolute.db``, or
        ``postgresql://user@host/database``. What follows ``sqlite:///`` is the path as it is, without escapes.

    Examples
    --------
    >>> open_store("memory:").studies()
    []
    >>> open_store("bolts.db")
    Traceback (most recent call last):
    proband.errors.StoreError: 'bolts.db' is no URL of a store; it must be one of memory:, ...
    """
    scheme, colon, _ = url.partition(":")
    if not colon or scheme not in STORES:
        hint = "" if colon else f"; for a file, write sqlite:///{url}"
        raise StoreError(f"{url!r} is no URL of a store; it must be one of {FORMS}{hint}")
    return STORES[scheme](url)
