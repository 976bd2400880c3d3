"""A database file: opening it only if it is whole and ours, making it, and being patient while others hold it.

The file is in WAL mode: nobody who reads waits for somebody who writes. Commits are not synced by SQLite but by
:meth:`DatabaseFile.sync` afterwards, when the next writer is at work already: the syncs of many writers come together
in the file system. A file with a rollback journal (of an earlier version, or where shared memory does not work) is
turned to WAL when it is next written to, if it can be; else SQLite syncs every commit.

SQLite before 3.51.3 can damage a file in WAL mode if one connection commits while another one copies the log into the
file. Both happen within turns only (:mod:`~proband.studies.stores.sqlite.turns`), one at a time.

Nothing opens the file but SQLite: closing any other handle on it would drop the locks of the whole process.
SQLite's errors are put in the words of a store: what happened to which file, and what helps.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any
from urllib.parse import quote

import proband
from proband.errors import StoreBusyError, StoreError
from proband.studies.stores.patience import Patience
from proband.studies.stores.pool import NothingYetError, OrElse
from proband.studies.stores.sqlite.schema import Format, check_current, check_format, migrate, outdated, read_format

LARGEST_IDLE_JOURNAL = 2**22

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


class Connection(sqlite3.Connection):
    """A connection that knows which file it was opened on, whether that is in WAL mode, and studies that are there."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.identity: tuple[int, int] | None = None
        self.wal = False
        self.seen: set[str] = set()


class DatabaseFile:
    """The file of a store; within a turn alone anything is written, and others are waited for until a deadline."""

    def __init__(self, path: str, deadline: float, turn: Callable[[], AbstractContextManager[object]]) -> None:
        self.path, self.deadline, self._turn = path, deadline, turn

    def connect(self) -> Connection:
        """Open the file; raise :class:`NothingYetError` if there is nothing to open."""
        identity = self._identity()
        if identity is None:
            raise NothingYetError
        try:
            connection, found = self._open("rw")
        except sqlite3.OperationalError:
            if not self._at_rest():
                raise
            connection, found = self._open("ro&immutable=1")  # without an identity: it is opened anew every time
            identity = None
        if found.empty:
            connection.close()
            raise NothingYetError
        connection.identity = identity
        return connection

    def make(self) -> None:
        """Make the file and its tables, unless somebody else just did; only its owner may read it."""
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL, 0o600))
        connection, found = self._open("rw")
        try:
            if found.empty:
                self._use_wal(connection)
                self._migrate(connection)
                self.sync(connection)
        finally:
            connection.close()
        _sync(os.path.dirname(self.path))  # the name of a new file becomes as durable as its content

    def usable(self, connection: Connection) -> bool:
        """Whether the file is still the one that was opened, not removed and not replaced by a copy meanwhile."""
        return connection.identity == self._identity()

    def begin(self, connection: Connection) -> None:
        """Begin to write, unless a later proband has changed the tables meanwhile."""
        if not connection.wal:
            self._use_wal(connection)
        self.execute(connection, "BEGIN IMMEDIATE")
        check_current(connection, self.path, proband.__version__)

    def sync(self, connection: Connection) -> None:
        """Have the disk keep everything that was committed; the connection keeps the log from being removed."""
        if connection.wal:
            _sync(self.path + "-wal")

    def execute(self, connection: sqlite3.Connection, statement: str, parameters: tuple[object, ...] = ()) -> list[Any]:
        """Execute a statement, again and again while others hold the file, and return its rows."""
        patience = Patience(self.deadline)
        while True:
            try:
                return connection.execute(statement, parameters).fetchall()
            except sqlite3.OperationalError as error:
                if primary_code(error) not in BUSY or not patience.wait():
                    raise

    def _open(self, mode: str) -> tuple[Connection, Format]:
        """Open the file, and leave it untouched unless it is whole and ours; return also what it says of itself."""
        connection = sqlite3.connect(
            f"file:{quote(self.path)}?mode={mode}",
            uri=True,
            timeout=0,
            isolation_level=None,
            check_same_thread=False,
            factory=Connection,
        )
        with OrElse(connection.close):
            found = self._examine(connection)
            for setting in (
                f"synchronous = {'NORMAL' if connection.wal else 'FULL'}",
                "fullfsync = ON",  # on macOS, fsync(2) alone leaves data in the drive's cache
                "checkpoint_fullfsync = ON",
                f"journal_size_limit = {LARGEST_IDLE_JOURNAL}",
                "trusted_schema = OFF",
            ):
                self.execute(connection, f"PRAGMA {setting}")
        return connection, found

    def _examine(self, connection: Connection) -> Format:
        """Check what the file is, while nobody can change it, and bring an older format up to date."""
        self.execute(connection, "BEGIN")
        self.execute(connection, "SELECT count(*) FROM sqlite_master")
        found = read_format(connection)
        check_format(connection, found, self.path, proband.__version__)
        [[mode]] = connection.execute("PRAGMA journal_mode").fetchall()
        [[page]] = connection.execute("PRAGMA page_size").fetchall()
        size = 0 if found.empty or _size(self.path + "-wal") else os.stat(self.path).st_size
        connection.execute("COMMIT")
        connection.wal = mode == "wal"
        if size % page:
            raise StoreError(
                f"{self.path} has {size} bytes, which is no multiple of {page}: it was cut off; put back a copy, or "
                "import the last export of its studies into a new store"
            )
        if outdated(found):
            with self._turn():
                self._migrate(connection)
        return found

    def _migrate(self, connection: Connection) -> None:
        self.execute(connection, "BEGIN IMMEDIATE")
        migrate(connection, proband.__version__)
        self.execute(connection, "COMMIT")

    def _use_wal(self, connection: Connection) -> None:
        """Turn the file to WAL mode, if nobody else is at work on it and its file system can do that."""
        try:
            [[mode]] = connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except sqlite3.OperationalError as error:
            if primary_code(error) not in BUSY:
                raise
            return
        if mode == "wal":
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.wal = True

    def _at_rest(self) -> bool:
        """Whether nobody can write to the file from here, and everything is in it: then it is read as it is."""
        return not os.access(os.path.dirname(self.path), os.W_OK) and not _size(self.path + "-wal")

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino


def _size(path: str) -> int:
    """Return the size of a file; 0 if there is none."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _sync(path: str) -> None:
    """Have the disk keep the content of a file, whoever wrote it."""
    file = os.open(path, os.O_RDONLY)
    try:
        if sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(file, fcntl.F_FULLFSYNC)  # fsync(2) alone leaves data in the drive's cache
        else:
            os.fsync(file)
    finally:
        os.close(file)


def primary_code(error: sqlite3.Error) -> int:
    """Return the code of an error without the details in its upper bits; 0 if SQLite itself did not raise it."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def damaged(path: str, what: str) -> StoreError:
    """Return the error about a file that SQLite can read, and that holds what no store writes."""
    return StoreError(f"{path}: {_DAMAGED.format(path=path)} ({what})")


def explain(error: sqlite3.Error | UnicodeDecodeError, path: str) -> StoreError:
    """Return an error that names the file and a remedy."""
    if isinstance(error, UnicodeDecodeError):
        return damaged(path, f"a text is no UTF-8: {error.reason}")
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
