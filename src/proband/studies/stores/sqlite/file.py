"""A database file: opening it only if it is whole and ours, making it, and being patient while others hold it.

The journal mode of a file is chosen when it is made. A rollback journal stays, as an older SQLite may share the file. A
file in WAL mode is turned back by an SQLite that is not safe in it, or refused while others have it open.

Nothing opens the file but SQLite: closing any other handle on it would drop the locks of the whole process.
"""

from __future__ import annotations

import os
import sqlite3
from typing import Any
from urllib.parse import quote

import proband
from proband.errors import StoreError
from proband.studies.stores.patience import Patience
from proband.studies.stores.pool import NothingYetError
from proband.studies.stores.sqlite.errors import BUSY, primary_code
from proband.studies.stores.sqlite.schema import (
    Format,
    JournalMode,
    check_current,
    check_format,
    migrate,
    outdated,
    read_format,
)

SECONDS_TO_LEAVE_WAL = 5.0
LARGEST_IDLE_JOURNAL = 2**20


class Connection(sqlite3.Connection):
    """A connection that knows which file it was opened on."""

    identity: tuple[int, int] | None = None


class DatabaseFile:
    """The file of a store.

    Parameters
    ----------
    path : str
    journal : JournalMode
        The one in which this SQLite is safe.
    deadline : float
        How many seconds to go on trying while others hold the file.
    """

    def __init__(self, path: str, journal: JournalMode, deadline: float) -> None:
        self.path, self.journal, self.deadline = path, journal, deadline

    def connect(self) -> Connection:
        """Open the file; raise :class:`NothingYetError` if there is nothing to open."""
        identity = self._identity()
        if identity is None:
            raise NothingYetError
        connection, found = self._open("rw")
        try:
            if found.empty:
                raise NothingYetError
            self._use_journal(connection)
        except BaseException:
            connection.close()
            raise
        connection.identity = identity
        return connection

    def make(self) -> None:
        """Make the file and its tables, unless somebody else just did."""
        connection, found = self._open("rwc")
        try:
            if found.empty:
                self.execute(connection, f"PRAGMA journal_mode = {self.journal.name}")
                self._migrate(connection)
        finally:
            connection.close()
        _sync_folder(os.path.dirname(self.path))

    def usable(self, connection: Connection) -> bool:
        """Whether the file is still the one that was opened, not removed and not replaced by a copy meanwhile."""
        return connection.identity == self._identity()

    def begin(self, connection: Connection) -> None:
        """Begin to write, unless a later proband has changed the tables meanwhile."""
        self.execute(connection, "BEGIN IMMEDIATE")
        check_current(connection, self.path, proband.__version__)

    def execute(self, connection: sqlite3.Connection, statement: str, parameters: tuple[object, ...] = ()) -> list[Any]:
        """Execute a statement, again and again while others hold the file, and return its rows."""
        return self._patiently(Patience(self.deadline), connection, statement, parameters)

    def _patiently(
        self, patience: Patience, connection: sqlite3.Connection, statement: str, parameters: tuple[object, ...] = ()
    ) -> list[Any]:
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
        try:
            found = self._examine(connection)
            for setting in (
                f"synchronous = {self.journal.synchronous}",
                "fullfsync = ON",  # on macOS, fsync(2) alone leaves data in the drive's cache
                "checkpoint_fullfsync = ON",
                f"journal_size_limit = {LARGEST_IDLE_JOURNAL}",
                "trusted_schema = OFF",
            ):
                self.execute(connection, f"PRAGMA {setting}")
        except BaseException:
            connection.close()
            raise
        return connection, found

    def _examine(self, connection: Connection) -> Format:
        """Check what the file is, while nobody can change it, and bring an older format up to date."""
        self.execute(connection, "BEGIN")
        self.execute(connection, "SELECT count(*) FROM sqlite_master")
        found = read_format(connection)
        check_format(connection, found, self.path, proband.__version__)
        [[mode]] = connection.execute("PRAGMA journal_mode").fetchall()
        [[page]] = connection.execute("PRAGMA page_size").fetchall()
        size = 0 if found.empty else os.stat(self.path).st_size
        connection.execute("COMMIT")
        if mode != "wal" and size % page:
            raise StoreError(
                f"{self.path} has {size} bytes, which is no multiple of {page}: it was cut off; put back a copy, or "
                "import the last export of its studies into a new store"
            )
        if outdated(found):
            self._migrate(connection)
        return found

    def _migrate(self, connection: Connection) -> None:
        self.execute(connection, "BEGIN IMMEDIATE")
        migrate(connection, proband.__version__)
        self.execute(connection, "COMMIT")

    def _use_journal(self, connection: Connection) -> None:
        """Keep to a rollback journal, or come back to it where WAL is not safe."""
        [[mode]] = self.execute(connection, "PRAGMA journal_mode")
        if mode == "wal" and (self.journal.name == "WAL" or not os.access(self.path, os.W_OK)):
            return
        rollback = "PERSIST" if self.journal.name == "WAL" else self.journal.name
        patience = Patience(min(self.deadline, SECONDS_TO_LEAVE_WAL))
        try:
            self._patiently(patience, connection, f"PRAGMA journal_mode = {rollback}")
        except sqlite3.OperationalError as error:
            if primary_code(error) not in BUSY:
                raise
            raise StoreError(
                f"{self.path} is in WAL mode and in use by others; {self.journal.why}; close it everywhere else once, "
                "or use a Python with SQLite 3.51.3 or newer here too"
            ) from error

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino


def _sync_folder(path: str) -> None:
    """Make the name of a new file as durable as its content."""
    if os.name == "nt":
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
