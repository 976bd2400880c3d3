"""The store in PostgreSQL: for processes on any number of machines.

Correctness rests on the unique keys and on a lock on the study's row, at READ COMMITTED: every writer takes the lock
first, so that what it reads next is what the one before it left.

A connection that is lost is opened again, for as long as the deadline. If it was lost while an append was on its way,
nobody knows whether that was committed: so the entries are looked up under the lock, which a commit still on its way
holds, and are written again only if they are not there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg
from psycopg.sql import SQL, Literal

from proband.errors import StudyExistsError
from proband.studies.stores.contract import Entry
from proband.studies.stores.entries import check_append, check_create, checked, exists, key_taken, too_long, unknown
from proband.studies.stores.pool import NothingYetError
from proband.studies.stores.postgresql.connection import Connection, check_committed, transaction
from proband.studies.stores.postgresql.connections import Connections, Wanted

BATCH = 5_000
"""Entries in one statement."""

_STUDY = "(SELECT id FROM proband_studies WHERE name = %s)"
_READ = f"SELECT number, key, hash, body FROM proband_entries WHERE study = {_STUDY}"
_INSERT = "INSERT INTO proband_entries SELECT %s, * FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[])"
_KEEP = (
    "INSERT INTO proband_cache VALUES (%s, %s, %s) ON CONFLICT (study, name) DO UPDATE SET content = excluded.content"
)


_LISTED = """
SELECT s.name, f.number, f.key, f.hash, f.body, l.number, l.key, l.hash, l.body
FROM (SELECT id, name FROM proband_studies WHERE name COLLATE "C" > %s ORDER BY name COLLATE "C" LIMIT %s) s
JOIN proband_entries f ON f.study = s.id AND f.number = 1
JOIN proband_entries l ON l.study = s.id AND l.number = (SELECT max(number) FROM proband_entries WHERE study = s.id)
ORDER BY s.name COLLATE "C"
"""
_KEPT = f"SELECT name FROM proband_cache WHERE study = {_STUDY}"
_SWAPS = {
    (False, True): "INSERT INTO proband_cache VALUES (%(study)s, %(name)s, %(content)s) ON CONFLICT DO NOTHING",
    (True, True): "UPDATE proband_cache SET content = %(content)s"
    " WHERE study = %(study)s AND name = %(name)s AND content = %(expected)s",
    (True, False): "DELETE FROM proband_cache WHERE study = %(study)s AND name = %(name)s AND content = %(expected)s",
}
"""By whether something is expected to be there, and whether something is to be there."""


class PostgreSQLStore:
    """Studies in a PostgreSQL database, in tables that are made with the first of them.

    Parameters
    ----------
    url : str
        ``postgresql://user@host:port/database``, as PostgreSQL's own programs take it. A password is better kept in
        the environment (``PGPASSWORD``) or in a password file (``~/.pgpass``) than in the URL; it is never shown.
    deadline : float
        How many seconds to go on trying while others hold a study, or the server is away.
    """

    def __init__(self, url: str, *, deadline: float = 60.0) -> None:
        self._connections = Connections(url, deadline)
        self._seen: set[str] = set()

    @property
    def url(self) -> str:
        """How this store is opened again, without the password."""
        return self._connections.url

    def create(self, study: str, first: Entry, rest: Iterable[Entry] = ()) -> None:
        """Begin a log, all or none."""
        check_create(study, first)

        def write(connection: Connection, again: bool) -> None:
            try:
                with transaction(connection):
                    self._create(connection, study, first, rest)
            except StudyExistsError:
                if not (again and _recorded(connection, study, [first])):
                    raise

        try:
            self._connections.run(write, study)
        except NothingYetError:
            self._connections.make()
            self._connections.run(write, study)

    def studies(self) -> list[str]:
        """Return the names of all studies, sorted."""
        try:
            return sorted(name for (name,) in self._ask(None, "SELECT name FROM proband_studies"))
        except NothingYetError:
            return []

    def listed(self, after: str, limit: int) -> list[tuple[str, Entry, Entry]]:
        """Return some of the names after a text, with their first and last entries."""
        try:
            rows = self._ask(None, _LISTED, after.partition("\0")[0], limit)  # nothing it knows has this character
        except NothingYetError:
            return []
        return [(row[0], Entry(*row[1:5]), Entry(*row[5:])) for row in rows]

    def length(self, study: str) -> int:
        """Return the number of entries of a study."""
        [[length]] = self._ask_about(study, f"SELECT max(number) FROM proband_entries WHERE study = {_STUDY}")
        if length is None:
            raise unknown(study, self.url)
        return int(length)

    def read(self, study: str, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return the entries after a number, at most `limit` of them."""
        if after == self._connections.length(study):  # in its turn this thread knows that there is nothing new
            return []
        rows = self._ask_about(study, f"{_READ} AND number > %s ORDER BY number LIMIT %s", after, limit)
        if not rows and after <= 0 and limit != 0:  # every study has entries: this one was removed
            raise unknown(study, self.url)
        return list(map(Entry._make, rows))

    def find(self, study: str, key: str) -> Entry | None:
        """Return the entry with an idempotency key; the server has synced it to its disk, whoever wrote it."""
        rows = self._ask_about(study, f"{_READ} AND key = %s", key)
        return self._durable(study, rows)

    def append(self, study: str, entries: Sequence[Entry], expected: int) -> None:
        """Add entries, all or none; the server has synced them to its disk when this returns."""
        check_append(entries, expected)

        def write(connection: Connection, again: bool) -> None:
            with self._connections.locked(connection, study) as (number, length):
                if again and _recorded(connection, study, entries):
                    connection.execute("ROLLBACK")
                    return
                if length != expected:
                    raise too_long(study, length, expected)
                try:
                    _commit(connection, number, entries, wait=not self._connections.deferring)
                except psycopg.errors.UniqueViolation:
                    raise key_taken(study, entries) from None

        try:
            self._connections.run(write, study)
        except NothingYetError:
            raise unknown(study, self.url) from None

    @contextmanager
    def exclusive(self, study: str) -> Iterator[None]:
        """Hold off other writers of the study, until the first append in the block or its end."""
        with self._connections.exclusive(study):
            yield

    @contextmanager
    def turn(self, study: str, after: int, limit: int, key: str | None) -> Iterator[tuple[list[Entry], Entry | None]]:
        """Hold off other writers of the study; give what is new, and the entry with a key, on one way to the server."""
        with self._connections.exclusive(study, Wanted(after, limit, key)) as news:
            if news is None:
                yield self.read(study, after, limit), None if key is None else self.find(study, key)
            else:
                new, found = news
                yield list(map(Entry._make, new)), self._durable(study, found)

    @property
    def one_turn(self) -> bool:
        """Every study has a lock of its own."""
        return False

    @property
    def syncs_at_once(self) -> int:
        """One: they go over the one connection that bears witness, and the server syncs one log."""
        return 1

    def deferring(self) -> AbstractContextManager[int]:
        """Let appends of this thread in the block return before the server has synced them."""
        return self._connections.deferred()

    def settle(self, since: int) -> None:
        """Return when the server has synced what was appended before; raise if it may have been lost meanwhile."""
        self._connections.flush(since)

    def cached(self, study: str, name: str) -> bytes | None:
        """Return what was kept under a name."""
        rows = self._ask_about(study, f"SELECT content FROM proband_cache WHERE study = {_STUDY} AND name = %s", name)
        return bytes(rows[0][0]) if rows else None

    def keep(self, study: str, name: str, content: bytes) -> None:
        """Keep a cache beside the log."""
        number = self._number(study)

        def write(connection: Connection, again: bool) -> None:
            connection.execute(_KEEP, (number, name, content))

        self._connections.run(write)

    def swap(self, study: str, name: str, expected: bytes | None, content: bytes | None) -> bool:
        """Keep a content in the place of the expected one."""
        if expected is None and content is None:
            return self.cached(study, name) is None
        statement = _SWAPS[expected is not None, content is not None].encode()
        given = {"study": self._number(study), "name": name, "expected": expected, "content": content}

        def write(connection: Connection, again: bool) -> bool:
            return connection.execute(statement, given).rowcount == 1 or (again and self.cached(study, name) == content)

        return self._connections.run(write)

    def kept(self, study: str) -> list[str]:
        """Return the names under which something is kept, sorted."""
        return sorted(name for (name,) in self._ask_about(study, _KEPT))

    def forget(self, study: str, name: str) -> None:
        """Keep nothing under a name any more."""
        number = self._number(study)

        def write(connection: Connection, again: bool) -> None:
            connection.execute("DELETE FROM proband_cache WHERE study = %s AND name = %s", (number, name))

        self._connections.run(write)

    def close(self) -> None:
        """Close the connections; a store that is used again opens them again."""
        self._connections.close()

    def _durable(self, study: str, rows: list[Any]) -> Entry | None:
        """Return an entry that was found, once it is durable; another process may just have committed it."""
        if rows and not self._connections.deferring:
            self._connections.flush()
            rows = self._ask_about(study, f"{_READ} AND number = %s", rows[0][0])  # gone if the server died meanwhile
        return Entry._make(rows[0]) if rows else None

    def _number(self, study: str) -> int:
        [[number]] = self._ask_about(study, "SELECT id FROM proband_studies WHERE name = %s")
        return int(number)

    def _create(self, connection: Connection, study: str, first: Entry, rest: Iterable[Entry]) -> None:
        try:
            rows = connection.execute(
                "INSERT INTO proband_studies (name) VALUES (%s) RETURNING id", (study,)
            ).fetchall()
        except psycopg.errors.UniqueViolation:
            raise exists(study, self.url) from None
        entries = itertools.chain([first], checked(rest, 1))
        try:
            while batch := list(itertools.islice(entries, BATCH)):
                connection.execute(_INSERT, (rows[0][0], *_columns(batch)))
        except psycopg.errors.UniqueViolation:
            raise key_taken(study, itertools.chain([first], rest)) from None

    def _ask(self, study: str | None, question: str, *parameters: object) -> list[Any]:
        def read(connection: Connection, again: bool) -> list[Any]:
            return connection.execute(question.encode(), parameters).fetchall()

        return self._connections.run(read, study)

    def _ask_about(self, study: str, question: str, *parameters: object) -> list[Any]:
        """Return rows of a study; none may mean that there is no such study."""
        if "\0" in study:  # which the server cannot even be asked about
            raise unknown(study, self.url)
        try:
            rows = self._ask(study, question, study, *parameters)
            if rows or study in self._seen:  # a study that was there once does not go away
                return rows
            if self._ask(study, "SELECT 1 FROM proband_studies WHERE name = %s", study):
                self._seen.add(study)
                return rows
        except NothingYetError:
            pass
        raise unknown(study, self.url)


def _commit(connection: Connection, number: int, entries: Sequence[Entry], *, wait: bool) -> None:
    """Add entries and commit, on one way to the server, and wait for its disk if need be."""
    rows = SQL(", ").join(SQL("({})").format(SQL(", ").join(map(Literal, (number, *entry)))) for entry in entries)
    adding = SQL("INSERT INTO proband_entries VALUES {}; ").format(rows) if entries else SQL("")
    ending = SQL("COMMIT") if wait else SQL("SET LOCAL synchronous_commit = off; COMMIT")
    ended = connection.execute(adding + ending)
    while ended.nextset():
        pass
    check_committed(ended.statusmessage)


def _columns(entries: Sequence[Entry]) -> list[list[object]]:
    """Return numbers, keys, hashes and bodies, for one statement and one way to the server."""
    return [[entry[field] for entry in entries] for field in range(len(Entry._fields))]


def _recorded(connection: Connection, study: str, entries: Sequence[Entry]) -> bool:
    """Whether these very entries are in the log."""
    question = (
        f"SELECT number, hash FROM proband_entries WHERE study = {_STUDY} AND number >= %s ORDER BY number LIMIT %s"
    )
    first = entries[0].number if entries else 1
    rows = connection.execute(question, (study, first, len(entries))).fetchall()
    return rows == [(entry.number, entry.hash) for entry in entries]
