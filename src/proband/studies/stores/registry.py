"""All stores by the scheme of their URLs, for studies, the command line, and the conformance kit."""

from __future__ import annotations

import re
from collections.abc import Callable

from proband.errors import StoreError
from proband.registries import Registry
from proband.studies.stores.contract import Store

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


def open_memory(url: str) -> Store:
    """Return a new store in memory."""
    from proband.studies.stores.memory import MemoryStore

    if url != "memory:":
        raise StoreError(f"{url!r} is no store in memory; write memory: and nothing else")
    return MemoryStore()


def open_sqlite(url: str) -> Store:
    """Return the store in a file."""
    from proband.studies.stores.sqlite import SQLiteStore

    path = Hidden(url.removeprefix("sqlite:///"))
    if path in (url, "") or "://" in path:
        raise StoreError(
            f"{url!r} names no file; write sqlite:///bolts.db for a file in this folder, or sqlite:////data/bolts.db"
        )
    return SQLiteStore(path)


def open_postgresql(url: str) -> Store:
    """Return the store on a server; psycopg is imported here, and by nobody else."""
    from proband.studies.stores.postgresql import PostgreSQLStore

    return PostgreSQLStore(url)


STORES: Registry[Callable[[str], Store]] = Registry(
    "proband.stores",
    "store",
    StoreError,
    {scheme: f"{__name__}:open_{scheme}" for scheme in ("memory", "sqlite", "postgresql")},
)
"""What opens a store, by the scheme of its URL; packages add theirs by entry points."""


def open_store(url: str) -> Store:
    """Return the store at a URL.

    Parameters
    ----------
    url : str
        ``memory:`` for a new one in memory, ``sqlite:///relative.db``, ``sqlite:////absolute.db``, or
        ``postgresql://user@host/database``, or however else PostgreSQL's own programs take it. What follows
        ``sqlite:///`` is the path as it is, without escapes. Stores of other packages have schemes of their own.

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
        others = "".join(f", {other}:..." for other in STORES if other not in STORES.own)
        raise StoreError(f"{url!r} is no URL of a store; it must be one of {FORMS}{others}{hint}")
    return STORES[scheme](url)
