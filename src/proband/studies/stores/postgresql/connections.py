"""Connections to PostgreSQL that come back after the server was away, and the locks that they hold.

A task is run on a connection, and run again on another one if the first is lost, until a deadline. It is told so: what
the lost connection was doing may have been committed or not. No statement is waited for beyond the deadline, even if
the server does not say a word; and the server ends the session of a client that was stopped while it held a study.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.sql import SQL, Literal

import proband
from proband.errors import StoreBusyError, StoreError, StudyError
from proband.studies.stores.entries import unknown
from proband.studies.stores.patience import Patience, within
from proband.studies.stores.pool import NothingYetError, OrElse, Pool
from proband.studies.stores.postgresql.address import explain, hopeless, passing, read_address, without_secrets
from proband.studies.stores.postgresql.schema import check_current, migrate, outdated, read_format

T = TypeVar("T")


class Connection(psycopg.Connection[Any]):
    """A connection that waits for no answer beyond a deadline."""

    deadline = 60.0

    def wait(self, gen: Generator[Any, Any, T], *arguments: Any, **options: Any) -> T:
        """Wait for a statement."""
        return super().wait(_until(gen, Patience(self.deadline)), *arguments, **options)


Task = Callable[[Connection, bool], T]

SECONDS_TO_REACH = 10.0
"""How long to try at first: then the address may be wrong."""

_DEFAULTS = {
    "application_name": "proband",
    "client_encoding": "UTF8",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
_SETTINGS = """
SET lock_timeout = {lock};
SET idle_in_transaction_session_timeout = {idle};
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""
_LOCKED = "55P03"
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
_LOCK = """
SELECT id, (SELECT max(number) FROM proband_migrations)
FROM proband_studies WHERE name = {study} FOR NO KEY UPDATE OF proband_studies
"""


_LENGTH = """
SELECT max(number) FROM proband_entries WHERE study = (SELECT id FROM proband_studies WHERE name = {study})
"""
"""Asked for when the lock is there: only then nobody adds anything."""


class _Lock(NamedTuple):
    """The lock on the row of a study: a transaction of a connection, until that ends; how long the log is then."""

    connection: Connection
    study: int
    process: int
    length: int

    @property
    def alive(self) -> bool:
        return self.process == os.getpid() and not self.connection.closed

    @property
    def held(self) -> bool:
        return self.alive and self.connection.info.transaction_status == TransactionStatus.INTRANS


class Connections:
    """Connections to the database of a store, by its address with all secrets; tried for `deadline` seconds."""

    def __init__(self, address: str, deadline: float) -> None:
        given = read_address(address)
        self.url = without_secrets(given)
        self._deadline = deadline
        self._parameters = make_conninfo("", **{**_DEFAULTS, **given})
        self._reached = False
        self._pool: Pool[Connection] = Pool(self._connect, psycopg.Connection.close, lambda idle: not idle.closed)
        self._mine = threading.local()

    def close(self) -> None:
        """Close them."""
        self._pool.close()

    def run(self, task: Task[T], study: str | None = None) -> T:
        """Run a task, on the connection that holds the lock of the study if this thread has it."""
        return self._retry(lambda: self._lend(study), task)

    def make(self) -> None:
        """Make the tables, unless somebody else just did."""

        def make_tables(connection: Connection, again: bool) -> None:
            with transaction(connection):
                migrate(connection, proband.__version__)

        self._retry(lambda: closing(self._open()), make_tables)  # without a look at the tables

    @contextmanager
    def exclusive(self, study: str) -> Iterator[None]:
        """Hold the lock of a study until a task of this thread commits in :meth:`locked`, or the block ends."""

        def lock(connection: Connection, again: bool) -> _Lock:
            number, length = self._begun(connection, study)
            return _Lock(connection, number, os.getpid(), length)

        if self._lock_of(study) is not None:
            yield
            return
        with within(self._deadline):
            try:
                self._locks()[study] = self._retry(self._take, lock)
            except NothingYetError:
                raise unknown(study, self.url) from None
            try:
                yield
            finally:
                self._unlock(study)

    def length(self, study: str) -> int | None:
        """Return how long the log is that this thread holds the lock of; None if it holds none."""
        lock = self._lock_of(study)
        return lock.length if lock is not None and lock.held else None

    @contextmanager
    def locked(self, connection: Connection, study: str) -> Iterator[tuple[int, int]]:
        """Hold the lock of a study, unless the connection holds it already; give its number and its length.

        The block commits, or fails.
        """
        lock = self._lock_of(study)
        try:
            if lock is not None and lock.held:
                yield lock.study, lock.length
            else:
                yield self._begun(connection, study)
        except StudyError:
            connection.execute("ROLLBACK")
            raise

    def _retry(self, lend: Callable[[], AbstractContextManager[Connection]], task: Task[T]) -> T:
        patience, again = Patience(self._deadline if self._reached else SECONDS_TO_REACH), False
        while True:
            try:
                with lend() as connection:
                    return task(connection, again)
            except psycopg.Error as error:
                self._pool.close()
                again = True
                if not passing(error) or not patience.wait():
                    kind = StoreBusyError if passing(error) or error.sqlstate == _LOCKED else StoreError
                    raise kind(*explain(error, self.url).args) from None  # its frames hold the password

    @contextmanager
    def _lend(self, study: str | None) -> Iterator[Connection]:
        lock = None if study is None else self._lock_of(study)
        if study is None or lock is None:
            with self._pool.borrow() as connection:
                yield connection
            return
        try:
            yield lock.connection
        except StudyError:
            raise
        except BaseException:
            self._unlock(study)
            raise

    @contextmanager
    def _take(self) -> Iterator[Connection]:
        """Lend a connection for longer than the block."""
        connection = self._pool.take()
        with OrElse(lambda: self._pool.give(connection, keep=False)):
            yield connection

    def _begun(self, connection: Connection, study: str) -> tuple[int, int]:
        """Lock the row of a study in a new transaction, on one way to the server; return its number and its length."""
        name = Literal(study)
        asked = connection.execute(SQL(f"{_BEGIN}; {_LOCK}; {_LENGTH}").format(study=name))
        asked.nextset()
        rows = asked.fetchall()
        if not rows:
            raise unknown(study, self.url)
        check_current(connection, rows[0][1], proband.__version__)
        asked.nextset()
        [[length]] = asked.fetchall()
        return int(rows[0][0]), int(length or 0)

    def _locks(self) -> dict[str, _Lock]:
        """Return the locks of this thread, by study."""
        if not hasattr(self._mine, "locks"):
            self._mine.locks = {}
        locks: dict[str, _Lock] = self._mine.locks
        return locks

    def _lock_of(self, study: str) -> _Lock | None:
        lock = self._locks().get(study)
        return lock if lock is not None and lock.alive else None

    def _unlock(self, study: str) -> None:
        lock = self._locks().pop(study, None)
        if lock is None or lock.process != os.getpid():
            return
        with suppress(psycopg.Error):
            if lock.connection.info.transaction_status != TransactionStatus.IDLE:
                lock.connection.execute("ROLLBACK")
        self._pool.give(lock.connection, keep=not lock.connection.closed)

    def _connect(self) -> Connection:
        connection = self._open()
        with OrElse(connection.close):
            done = read_format(connection, proband.__version__)
            if not done:
                raise NothingYetError
            if outdated(done):
                with transaction(connection):
                    migrate(connection, proband.__version__)
        return connection

    def _open(self) -> Connection:
        left = Patience(self._deadline).left
        hurried = {"connect_timeout": max(2, int(left))} if left < SECONDS_TO_REACH else {}  # libpq counts from 2 on
        try:
            connection = Connection.connect(make_conninfo(self._parameters, **hurried), autocommit=True)
        except psycopg.OperationalError as error:
            if not self._reached and hopeless(error):
                raise explain(error, self.url) from None
            raise
        with OrElse(connection.close):
            connection.deadline = self._deadline
            lock, idle = int(900 * self._deadline), int(1000 * self._deadline / 3)
            connection.execute(_SETTINGS.format(lock=lock, idle=idle).encode())
        self._reached = True
        return connection


def _until(gen: Generator[Any, Any, T], patience: Patience) -> Generator[Any, Any, T]:
    """Go on with a statement as long as there is patience; psycopg asks ten times a second."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and not patience.left:
                raise psycopg.OperationalError(f"the server did not answer within {patience.seconds:.3g} seconds")
            wanted = gen.send(ready)
    except StopIteration as ended:
        result: T = ended.value
        return result


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Commit what happens in the block, all or none."""
    connection.execute(_BEGIN)
    with _ending(connection):
        yield


@contextmanager
def _ending(connection: Connection) -> Iterator[None]:
    """Commit in the end; after a StudyError, roll back and leave the connection usable."""
    try:
        yield
    except StudyError:
        connection.execute("ROLLBACK")
        raise
    check_committed(connection.execute("COMMIT").statusmessage)


def check_committed(ended: str | None) -> None:
    """Raise StoreError unless this is what the server says of a commit."""
    if ended != "COMMIT":
        raise StoreError(f"PostgreSQL answered {ended!r} to COMMIT; nothing of this write was recorded; do it again")
