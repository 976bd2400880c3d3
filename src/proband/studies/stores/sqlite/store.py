"""The store in one file: for any number of processes and threads on one machine.

Writers take turns on a lock file beside the database (:mod:`~proband.studies.stores.sqlite.turns`). A turn is one
transaction, which takes SQLite's own lock first, so that programs that know nothing of turns do no harm either. It ends
with the commit, and what was committed is then synced to the disk, by many writers at a time
(:mod:`~proband.studies.stores.sqlite.file`). What fails before the commit is rolled back, and what a dead process left
half-done is gone for whoever opens the file next.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from operator import lt
from typing import Any

from proband.errors import ConflictError, StoreError, StudyError, UnknownStudyError
from proband.studies.stores.contract import Entry
from proband.studies.stores.entries import check_append, check_create, checked, exists, key_taken, too_long, unknown
from proband.studies.stores.pool import NothingYetError
from proband.studies.stores.sqlite.connections import Connections, Held
from proband.studies.stores.sqlite.file import damaged

DEADLINE = 20.0
"""Seconds for which others may hold the file: a turn takes milliseconds, so that somebody was stopped in one."""

_STUDY = "(SELECT id FROM studies WHERE name = ?)"
_LENGTH = f"SELECT number FROM entries WHERE study = {_STUDY} ORDER BY number DESC LIMIT 1"
_READ = f"SELECT number, key, hash, body FROM entries WHERE study = {_STUDY} AND number > ? ORDER BY number LIMIT ?"
_FIND = f"SELECT number, key, hash, body FROM entries WHERE study = {_STUDY} AND key = ?"
_INSERT = "INSERT INTO entries VALUES (?, ?, ?, ?, ?)"
_CACHED = f"SELECT content FROM cache WHERE study = {_STUDY} AND name = ?"
_LISTED = """
SELECT s.name, f.number, f.key, f.hash, f.body, l.number, l.key, l.hash, l.body
FROM (SELECT id, name FROM studies WHERE name > ? ORDER BY name LIMIT ?) s
LEFT JOIN entries f ON f.study = s.id AND f.number = 1
LEFT JOIN entries l ON l.study = s.id AND l.number = (SELECT max(number) FROM entries WHERE study = s.id)
ORDER BY s.name
"""
_KEPT = f"SELECT name FROM cache WHERE study = {_STUDY} ORDER BY name"
_TAIL = (
    "SELECT id, (SELECT number FROM entries WHERE study = id ORDER BY number DESC LIMIT 1) FROM studies WHERE name = ?"
)


class SQLiteStore:
    """Studies in one file, which is made with the first of them.

    Parameters
    ----------
    path : str
        Of the file; its folder must exist. Beside it there will be a lock file and SQLite's log (``-wal``, ``-shm``).
    deadline : float
        How many seconds to go on trying while others hold the file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = SQLiteStore(f"{folder}/bolts.db")
    ...     store.create("bolts", Entry(1, "first", "0a", "{}"))
    ...     store.append("bolts", [Entry(2, "second", "1b", "{}")], expected=1)
    ...     store.read("bolts", after=1)
    ...     store.close()
    [Entry(number=2, key='second', hash='1b', body='{}')]
    """

    def __init__(self, path: str, *, deadline: float = DEADLINE) -> None:
        self._url = f"sqlite:///{path}"
        self.path = os.path.abspath(path)
        folder = os.path.dirname(self.path)
        if not os.path.isdir(folder):
            raise StoreError(f"the folder {folder} of {self._url} does not exist; make it, or correct the path")
        if os.path.isdir(self.path):
            raise StoreError(f"{self.path} is a folder; a store is a file; give its name, as in {self._url}/proband.db")
        self._connections = Connections(self.path, deadline)

    @property
    def url(self) -> str:
        """How this store is opened again."""
        return self._url

    def create(self, study: str, first: Entry, rest: Iterable[Entry] = ()) -> None:
        """Begin a log, all or none."""
        check_create(study, first)
        with self._connections.turn():
            try:
                self._create(study, first, rest)
            except NothingYetError:
                with self._connections.errors():
                    self._connections.file.make()
                self._create(study, first, rest)

    def studies(self) -> list[str]:
        """Return the names of all studies, sorted."""
        with suppress(NothingYetError), self._connections.errors(), self._connections.reading() as connection:
            names = [name for (name,) in self._connections.file.execute(connection, "SELECT name FROM studies")]
            self._check_type(str, names, "the name of a study is no text")
            return sorted(names)
        return []

    def listed(self, after: str, limit: int) -> list[tuple[str, Entry, Entry]]:
        """Return some of the names after a text, with their first and last entries."""
        with suppress(NothingYetError), self._connections.errors(), self._connections.reading() as connection:
            rows = self._connections.file.execute(connection, _LISTED, (after, limit))
            for first in (1, 5):
                self._check_type(int, [row[first] for row in rows], "a study has no entries, or one without a number")
            return [(row[0], Entry(*row[1:5]), Entry(*row[5:])) for row in rows]
        return []

    def length(self, study: str) -> int:
        """Return the number of entries of a study."""
        lengths = [number for (number,) in self._ask_about(study, _LENGTH)]
        if not lengths:
            raise self._empty(study)
        self._check_type(int, lengths, f"the study {study!r} has no entries, or one without a number")
        return int(lengths[0])

    def read(self, study: str, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return the entries after a number, at most `limit` of them."""
        entries = list(map(Entry._make, self._ask_about(study, _READ, after, -1 if limit is None else limit)))
        numbers = [entry.number for entry in entries]
        self._check_type(int, numbers, f"an entry of the study {study!r} has no number")
        if not entries and after <= 0 and limit != 0:
            raise self._empty(study)
        if not all(map(lt, [after, *numbers], numbers)):
            raise damaged(self.path, f"the entries of the study {study!r} are out of order")
        return entries

    def find(self, study: str, key: str) -> Entry | None:
        """Return the entry with an idempotency key; it is synced to the disk, whoever wrote it."""
        rows = self._ask_about(study, _FIND, key)
        if not rows:
            return None
        with self._connections.errors(), self._connections.reading() as connection:
            self._connections.sync(connection)
        return Entry._make(rows[0])

    def append(self, study: str, entries: Sequence[Entry], expected: int) -> None:
        """Add entries, all or none; they are synced to the disk when this returns."""
        check_append(entries, expected)
        with self._existing(study), self._connections.writing() as held, self._connections.errors():
            number, length = self._tail(held, study)
            if length != expected:
                raise too_long(study, length, expected)
            self._insert(held, number, entries, lambda: key_taken(study, entries))

    @contextmanager
    def exclusive(self, study: str) -> Iterator[None]:
        """Hold off other writers of the file, until the first append in the block or its end."""
        with self._existing(study), self._connections.writing():
            yield

    def cached(self, study: str, name: str) -> bytes | None:
        """Return what was kept under a name."""
        rows = self._ask_about(study, _CACHED, name)
        return rows[0][0] if rows and isinstance(rows[0][0], bytes) else None

    def keep(self, study: str, name: str, content: bytes) -> None:
        """Keep a cache beside the log."""
        with self._existing(study), self._connections.writing() as held, self._connections.errors():
            self._put(held, self._tail(held, study)[0], name, content)

    def swap(self, study: str, name: str, expected: bytes | None, content: bytes | None) -> bool:
        """Keep a content in the place of the expected one."""
        if self.cached(study, name) != expected:  # without a turn: whoever waits looks often
            return False
        with self._existing(study), self._connections.writing() as held, self._connections.errors():
            number, _ = self._tail(held, study)
            if self.cached(study, name) != expected:
                return False
            self._put(held, number, name, content)
            return True

    def kept(self, study: str) -> list[str]:
        """Return the names under which something is kept, sorted."""
        return [name for (name,) in self._ask_about(study, _KEPT) if isinstance(name, str)]

    def forget(self, study: str, name: str) -> None:
        """Keep nothing under a name any more."""
        with self._existing(study), self._connections.writing() as held, self._connections.errors():
            self._put(held, self._tail(held, study)[0], name, None)

    @property
    def one_turn(self) -> bool:
        """All studies are in one file."""
        return True

    @property
    def syncs_at_once(self) -> int:
        """Two: the second takes along what was written while the first was at work."""
        return 2

    @contextmanager
    def deferring(self) -> Iterator[int]:
        """Let appends of this thread in the block return before they are durable; :meth:`settle` makes them so."""
        with self._connections.deferred():
            yield 0

    def settle(self, since: int = 0) -> None:
        """Make everything durable that was appended before, by whichever thread."""
        with self._connections.errors(), self._connections.reading() as connection:
            self._connections.sync(connection)

    def close(self) -> None:
        """Close the file; a store that is used again opens it again."""
        self._connections.close()

    def _ask_about(self, study: str, question: str, *parameters: object) -> list[Any]:
        """Return rows of a study; none may mean that there is no such study."""
        with suppress(NothingYetError), self._connections.errors(), self._connections.reading() as connection:
            rows = self._connections.file.execute(connection, question, (study, *parameters))
            if rows or study in connection.seen:  # a study that was there once does not go away
                return rows
            if self._connections.file.execute(connection, "SELECT 1 FROM studies WHERE name = ?", (study,)):
                connection.seen.add(study)
                return rows
        raise unknown(study, self._url)

    def _empty(self, study: str) -> StoreError | UnknownStudyError:
        """Return the error about a study without entries: somebody removed it, or damaged the file."""
        with self._connections.errors(), self._connections.reading() as connection:
            there = self._connections.file.execute(connection, "SELECT 1 FROM studies WHERE name = ?", (study,))
        return damaged(self.path, f"the study {study!r} has no entries") if there else unknown(study, self._url)

    def _put(self, held: Held, number: int, name: str, content: bytes | None) -> None:
        if content is None:
            held.connection.execute("DELETE FROM cache WHERE study = ? AND name = ?", (number, name))
        else:
            held.connection.execute("INSERT OR REPLACE INTO cache VALUES (?, ?, ?)", (number, name, content))

    def _tail(self, held: Held, study: str) -> tuple[int, int]:
        """Return the number and the length of a study."""
        for row in held.connection.execute(_TAIL, (study,)).fetchall():
            self._check_type(int, row, f"the study {study!r} has no entries, or one without a number")
            return int(row[0]), int(row[1])
        raise unknown(study, self._url)

    def _create(self, study: str, first: Entry, rest: Iterable[Entry]) -> None:
        with self._connections.writing() as held, self._connections.errors():
            try:
                number = held.connection.execute("INSERT INTO studies (name) VALUES (?)", (study,)).lastrowid
            except sqlite3.IntegrityError:
                raise exists(study, self._url) from None
            entries = itertools.chain([first], checked(rest, 1))
            self._insert(held, int(number or 0), entries, lambda: key_taken(study, itertools.chain([first], rest)))

    def _insert(self, held: Held, number: int, entries: Iterable[Entry], taken: Callable[[], ConflictError]) -> None:
        """Add entries and commit; then let the next one in, and sync while it is at work."""
        try:
            held.connection.executemany(_INSERT, ((number, *entry) for entry in entries))
        except (sqlite3.IntegrityError, StudyError) as error:
            held.connection.rollback()
            self._connections.file.begin(held.connection)  # for what else there is to do in this turn
            raise (error if isinstance(error, StudyError) else taken()) from None
        self._connections.commit(held.connection)
        held.turn.end()
        if not self._connections.deferring:
            self._connections.sync(held.connection)

    @contextmanager
    def _existing(self, study: str) -> Iterator[None]:
        try:
            yield
        except NothingYetError:
            raise unknown(study, self._url) from None

    def _check_type(self, kind: type, values: Iterable[object], what: str) -> None:
        """Raise unless all values are of a type: a damaged file may give anything."""
        if set(map(type, values)) - {kind}:
            raise damaged(self.path, what)
