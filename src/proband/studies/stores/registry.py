"""All stores by the scheme of their URLs, for studies, the command line, and the conformance kit."""

from __future__ import annotations

import re
from collections.abc import Callable

from proband.errors import StoreError
from proband.studies.stores.contract import Store
from proband.studies.stores.memory import MemoryStore
from proband.studies.stores.sqlite import SQLiteStore

FORMS = "memory:, sqlite:///file.db, sqlite:////folder/file.db, postgresql://user@host/database"

_POSTGRESQL = re.compile(r"\s*(postgres(ql)?(\+\w+)?:|\w+\s*=)", re.IGNORECASE)
"""However a URL of PostgreSQL is written, or its ``key=value`` pairs."""


class Hidden(str):
    """A URL that may hold a password: its repr, in messages and where values of variables are shown, holds none.

    Examples
    --------
    >>> Hidden("sqlite:///bolts.db"), Hidden("postgresql://qa:secret@host/bolts"), Hidden("password=secret")
    ('sqlite:///bolts.db', 'postgresql:...', '...')
    """

    def __repr__(self) -> str:
        scheme = re.match(r"(\w[\w+]{1,20}:)?", self)
        start = scheme[0] if scheme else ""
        return repr(f"{start}..." if re.search("[:@=]", self.removeprefix(start)) else str(self))


def _memory(url: str) -> Store:
    if url != "memory:":
        raise StoreError(f"{url!r} is no store in memory; write memory: and nothing else")
    return MemoryStore()


def _sqlite(url: str) -> Store:
    path = Hidden(url.removeprefix("sqlite:///"))
    if path in (url, "") or "://" in path:
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
        ``postgresql://user@host/database``, or however else PostgreSQL's own programs take it. What follows
        ``sqlite:///`` is the path as it is, without escapes.

    Examples
    --------
    >>> open_store("memory:").studies()
    []
    >>> open_store("bolts.db")
    Traceback (most recent call last):
    proband.errors.StoreError: 'bolts.db' is no URL of a store; it must be one of memory:, ...
    """
    url = Hidden(url)
    scheme, colon = ("postgresql", ":") if _POSTGRESQL.match(url) else url.partition(":")[:2]
    if not colon or scheme not in STORES:
        hint = "" if colon else "; for a file, write sqlite:/// before it"
        raise StoreError(f"{url!r} is no URL of a store; it must be one of {FORMS}{hint}")
    return STORES[scheme](url)
