"""The connections to a file, and turns at it: who writes has one transaction in one turn, and readers wait for nobody.

A turn may hold several calls of a store, in one thread; what they do is done on one connection, within one deadline,
and its faults are told in the words of a store.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from proband.errors import StoreError
from proband.studies.stores.patience import within
from proband.studies.stores.pool import OrElse, Pool, tainted
from proband.studies.stores.sqlite.file import Connection, DatabaseFile, explain, explain_system
from proband.studies.stores.sqlite.turns import Turn, Turns


class Held(NamedTuple):
    """A turn, and the connection with its transaction."""

    turn: Turn
    connection: Connection


class Connections:
    """Connections to the file at a path; others may hold it for `deadline` seconds."""

    def __init__(self, path: str, deadline: float) -> None:
        self.path, self._deadline = path, deadline
        self.file = DatabaseFile(path, deadline, self.turn)
        self._turns = Turns(path)
        self._pool: Pool[Connection] = Pool(self._connect, sqlite3.Connection.close, self.file.usable, place=path)
        self._mine = threading.local()
        self._unsynced: StoreError | None = None

    def close(self) -> None:
        """Close them; they are opened again when they are needed."""
        self._pool.close()

    @property
    def deferring(self) -> bool:
        """Whether this thread's commits wait for no disk."""
        return bool(getattr(self._mine, "deferring", False))

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Let this thread's commits in the block wait for no disk."""
        self._mine.deferring = True
        try:
            yield
        finally:
            self._mine.deferring = False

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Give this thread's turn, or wait for one; everything in it has the same deadline."""
        mine: Turn | None = getattr(self._mine, "turn", None)
        if mine is not None and mine.held:
            yield mine
            return
        with within(self._deadline), self._turns.turn(self._deadline) as turn:
            self._mine.turn = turn
            try:
                yield turn
            finally:
                self._mine.turn = mine

    @contextmanager
    def writing(self) -> Iterator[Held]:
        """Give the transaction of this thread's turn, or begin one in a turn of its own, and commit it in the end."""
        held = self._held()
        if held is not None:
            yield held
            return
        with self.turn() as turn:
            with self.errors():
                connection = self._begun()
            self._mine.held = Held(turn, connection)
            keep = False
            try:
                yield self._mine.held
                with self.errors():
                    self.commit(connection)
                keep = True
            except BaseException as error:
                keep = not isinstance(error, OSError | sqlite3.Error)
                raise
            finally:
                self._mine.held = None
                if keep:
                    connection.rollback()  # what is left if the block failed
                self._pool.give(connection, keep=keep)

    def commit(self, connection: Connection) -> None:
        """Commit, unless that was done."""
        if connection.in_transaction:
            self.file.execute(connection, "COMMIT")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Lend the connection of this thread's turn, or any other."""
        held = self._held()
        if held is not None:
            yield held.connection
            return
        with self._pool.borrow() as connection:
            yield connection

    def sync(self, connection: Connection) -> None:
        """Sync, and never again after it failed: the system may have dropped what it could not write."""
        if self._unsynced is None:
            try:
                self.file.sync(connection)
            except OSError as error:
                self._unsynced = StoreError(
                    f"{self.path}: the disk could not keep what was written ({error.strerror}), which may be lost if "
                    "the machine stops now; look after the disk, and open the store again"
                )
        if self._unsynced is not None:
            raise self._unsynced

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Give everything in the block one deadline, and its faults the words of a store."""
        try:
            with within(self._deadline):
                yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise explain(error, self.path) from error
        except StoreError:
            raise
        except OSError as error:
            raise explain_system(error, self.path) from error

    def _begun(self) -> Connection:
        """Return a connection in a new transaction."""
        connection = self._pool.take()
        with OrElse(lambda: self._pool.give(connection, keep=False)):
            self.file.begin(connection)
        return connection

    def _held(self) -> Held | None:
        held: Held | None = getattr(self._mine, "held", None)
        return held if held is not None and held.turn.held and held.connection.in_transaction else None

    def _connect(self) -> Connection:
        if self.path in tainted:
            raise StoreError(
                f"{self.path} was in use by another thread when this process was forked, and SQLite cannot be used "
                "across such a fork; fork while nobody writes, or start a new program (spawn)"
            )
        return self.file.connect()
