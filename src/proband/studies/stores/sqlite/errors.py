"""SQLite's errors in the words of a store: what happened to which file, and what helps."""

from __future__ import annotations

import sqlite3

from proband.errors import StoreBusyError, StoreError

BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL})
"""Others hold the file; trying again helps."""

_WRITING = "nothing of this write was acknowledged"
_HELD = "others hold it for longer than the deadline; look for a process that was stopped while it wrote"
_FOLDER = (
    "its folder can only be read; writing, and in WAL mode reading too, needs files beside it; "
    "give write access to the folder, or open a copy elsewhere"
)
_DAMAGED = (
    "it is damaged, or no SQLite database; it was left as it is; put back a copy, or import the last export of its "
    'studies into a new store (sqlite3 "{path}" .recover may save the rest)'
)
_EXPLANATIONS: dict[int, str] = {
    sqlite3.SQLITE_BUSY: _HELD,
    sqlite3.SQLITE_PROTOCOL: _HELD,
    sqlite3.SQLITE_FULL: f"the disk is full; {_WRITING}; make room and do it again",
    sqlite3.SQLITE_READONLY: "it can only be read; give write access to the file and its folder, or open a copy",
    sqlite3.SQLITE_READONLY_DIRECTORY: _FOLDER,
    sqlite3.SQLITE_READONLY_CANTINIT: _FOLDER,
    sqlite3.SQLITE_PERM: "it may not be opened; give access to the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "it, or the journal beside it, cannot be opened; give access to the file and its folder",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_IOERR: f"the file system failed; {_WRITING}; look after the disk and do it again",
    sqlite3.SQLITE_TOOBIG: "a text or a cache is larger than SQLite can keep (about 1 GB); split it",
}


def primary_code(error: sqlite3.Error) -> int:
    """Return the code of an error without the details in its upper bits; 0 if SQLite itself did not raise it."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def explain(error: sqlite3.Error, path: str) -> StoreError:
    """Return an error that names the file and a remedy."""
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    codes = int(getattr(error, "sqlite_errorcode", 0)), primary_code(error)
    known = [_EXPLANATIONS[code] for code in codes if code in _EXPLANATIONS]
    what = known[0].format(path=path) if known else "SQLite cannot go on; see what it says"
    kind = StoreBusyError if primary_code(error) in BUSY else StoreError
    return kind(f"{path}: {what} ({name}: {error})")


def explain_system(error: OSError, path: str) -> StoreError:
    """Return an error that names the file, for what the system says of it and not SQLite."""
    return StoreError(
        f"{path}: the system refuses it or a file beside it ({error.strerror}); {_WRITING}; look after the folder, its "
        "rights and the disk"
    )
