"""Connections to PostgreSQL that come back after the server was away, and the locks that they hold.

A task is run on a connection, and run again on another one if the first is lost, until a deadline. It is told so: what
the lost connection was doing may have been committed or not. No statement is waited for beyond the deadline, even if
the server does not say a word; and the server ends the session of a client that was stopped while it held a study.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
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
from proband.studies.stores.postgresql.connection import BEGIN, Connection, transaction
from proband.studies.stores.postgresql.schema import check_current, migrate, outdated, read_format
from proband.studies.stores.postgresql.witness import FLUSH, Witness

T = TypeVar("T")
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
_LOCK = """
SELECT id, (SELECT max(number) FROM proband_migrations)
FROM proband_studies WHERE name = {study} FOR NO KEY UPDATE OF proband_studies
"""
_OF_STUDY = "FROM proband_entries WHERE study = (SELECT id FROM proband_studies WHERE name = {study})"
_LENGTH = f"SELECT max(number) {_OF_STUDY}"
_NEWS = f"SELECT number, key, hash, body {_OF_STUDY} AND number > {{after}} ORDER BY number LIMIT {{limit}}"
_FOUND = f"SELECT number, key, hash, body {_OF_STUDY} AND key = {{key}}"
"""Asked for when the lock is there: only then nobody adds anything."""


class Wanted(NamedTuple):
    """What a writer asks for when its turn begins: some of the entries after a number, and the one with a key."""

    after: int
    limit: int
    key: str | None


News = tuple[list[Any], list[Any]]
"""Their rows."""


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
        self._witness = Witness(self._open)

    def close(self) -> None:
        """Close them."""
        self._witness.close()
        self._pool.close()

    @property
    def deferring(self) -> bool:
        """Whether this thread's commits wait for no disk."""
        return bool(getattr(self._mine, "deferring", False))

    @contextmanager
    def deferred(self) -> Iterator[int]:
        """Let this thread's commits wait for no disk; give the number of the witness."""
        number = self._trying(self._witness.number)
        self._mine.deferring = True
        try:
            yield number
        finally:
            self._mine.deferring = False

    def flush(self, since: int | None = None) -> None:
        """Make durable what was committed before; raise if some of it, since a witness was there, may be lost."""
        if since is not None:
            self._witness.flush(since)
        else:
            self.run(lambda connection, again: connection.execute(FLUSH))

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
    def exclusive(self, study: str, wanted: Wanted | None = None) -> Iterator[News | None]:
        """Hold the lock of a study until a task of this thread commits in :meth:`locked`, or the block ends.

        Give what is wanted; nothing if this thread has the lock already.
        """

        def lock(connection: Connection, again: bool) -> tuple[_Lock, News]:
            number, length, news = self._begun(connection, study, wanted)
            return _Lock(connection, number, os.getpid(), length), news

        if self._lock_of(study) is not None:
            yield None
            return
        with within(self._deadline):
            try:
                self._locks()[study], news = self._retry(self._take, lock)
            except NothingYetError:
                raise unknown(study, self.url) from None
            try:
                yield news
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
                number, length, _ = self._begun(connection, study)
                yield number, length
        except StudyError:
            connection.execute("ROLLBACK")
            raise

    def _retry(self, lend: Callable[[], AbstractContextManager[Connection]], task: Task[T]) -> T:
        again = False

        def attempt() -> T:
            nonlocal again
            now, again = again, True
            with lend() as connection:
                return task(connection, now)

        return self._trying(attempt)

    def _trying(self, attempt: Callable[[], T]) -> T:
        """Try something again and again while the server is away."""
        patience = Patience(self._deadline if self._reached else SECONDS_TO_REACH)
        while True:
            try:
                return attempt()
            except psycopg.Error as error:
                self._pool.close()
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

    def _begun(self, connection: Connection, study: str, wanted: Wanted | None = None) -> tuple[int, int, News]:
        """Lock the row of a study in a new transaction, on one way to the server.

        Return its number, its length, and what is wanted.
        """
        asked, name = [BEGIN, _LOCK, _LENGTH], {"study": Literal(study)}
        if wanted is not None:
            asked += [_NEWS, *([] if wanted.key is None else [_FOUND])]
            name |= {field: Literal(value) for field, value in wanted._asdict().items()}
        answers = connection.execute(SQL("; ".join(asked)).format(**name))
        answers.nextset()
        rows = answers.fetchall()
        if not rows:
            raise unknown(study, self.url)
        check_current(connection, rows[0][1], proband.__version__)
        answers.nextset()
        [[length]] = answers.fetchall()
        news: News = [], []
        for part in news:
            if answers.nextset():
                part.extend(answers.fetchall())
        return int(rows[0][0]), int(length or 0), news

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
