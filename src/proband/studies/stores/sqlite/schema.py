"""The tables of a store in SQLite: how a file says what it is, and how it gets from one format to the next.

``application_id`` says that a file is ours, ``user_version`` says which of the :data:`MIGRATIONS` it has seen, and a
table says which versions of proband ran them. A file that is somebody else's, or of a later format, is left untouched.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import NamedTuple

from proband.errors import StoreError

APPLICATION = 0x70726F62
"""The letters "prob"."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE migrations (number INTEGER PRIMARY KEY, software TEXT NOT NULL, time TEXT NOT NULL)",
        "CREATE TABLE studies (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        """
        CREATE TABLE entries (
            study INTEGER NOT NULL REFERENCES studies, number INTEGER NOT NULL,
            key TEXT NOT NULL, hash TEXT NOT NULL, body TEXT NOT NULL,
            PRIMARY KEY (study, number), UNIQUE (study, key)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE cache (
            study INTEGER NOT NULL REFERENCES studies, name TEXT NOT NULL, content BLOB NOT NULL,
            PRIMARY KEY (study, name)
        )
        """,
    ),
)
"""Statements that lead from each format to the next. Never edit one that was released: add another."""


class Format(NamedTuple):
    """What a file says of itself: whose it is, in which format, and with tables or without."""

    application: int
    number: int
    tables: int

    @property
    def empty(self) -> bool:
        """Whether nobody has written anything to it yet."""
        return not self.application and not self.number and not self.tables


def read_format(connection: sqlite3.Connection) -> Format:
    """Return what a file says of itself, as of one moment."""
    [row] = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)"
        " FROM pragma_application_id, pragma_user_version"
    ).fetchall()
    return Format(*row)


def check_format(connection: sqlite3.Connection, found: Format, path: str, software: str) -> None:
    """Raise StoreError unless a file is ours, and no newer than this version of proband."""
    if found.empty:
        return
    if found.application != APPLICATION:
        raise StoreError(
            f"{path} is another program's database (application id {found.application}, {found.tables} tables and "
            "indices); it was left untouched; give the name of a new file or of a store of proband"
        )
    if found.number > len(MIGRATIONS):
        rows = connection.execute("SELECT software FROM migrations ORDER BY number DESC LIMIT 1").fetchall()
        writer = f"proband {rows[0][0]}" if rows else "a later proband"
        raise StoreError(
            f"{path} has format {found.number}, written by {writer}; this is proband {software}, which knows formats "
            f"up to {len(MIGRATIONS)}; upgrade proband"
        )


def outdated(found: Format) -> bool:
    """Whether a file of ours has migrations to come."""
    return not found.empty and found.number < len(MIGRATIONS)


def check_current(connection: sqlite3.Connection, path: str, software: str) -> None:
    """Raise StoreError if a later proband has brought the file to its own format since it was opened."""
    [[number]] = connection.execute("PRAGMA user_version").fetchall()
    if number != len(MIGRATIONS):
        check_format(connection, read_format(connection), path, software)


def migrate(connection: sqlite3.Connection, software: str) -> None:
    """Bring a file that is empty or ours up to date, in the transaction that the caller has begun."""
    done = read_format(connection).number
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for number, statements in enumerate(MIGRATIONS[done:], start=done + 1):
        for statement in statements:
            connection.execute(statement)
        connection.execute("INSERT INTO migrations VALUES (?, ?, ?)", (number, software, now))
        connection.execute(f"PRAGMA user_version = {number}")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
