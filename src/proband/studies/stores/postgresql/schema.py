"""The tables of a store in PostgreSQL: which format they have, and how they get from one to the next.

They may stand beside other tables, in the first schema of the search path. One table says which of the
:data:`MIGRATIONS` were run, and by which versions of proband.
"""

from __future__ import annotations

from typing import Any

import psycopg

from proband.errors import StoreError

APPLICATION = 0x70726F62
"""Number of the advisory lock under which tables are made and changed."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE proband_migrations (
            number integer PRIMARY KEY, software text NOT NULL, time timestamptz NOT NULL DEFAULT now()
        )
        """,
        """
        CREATE TABLE proband_studies (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE
        )
        """,
        """
        CREATE TABLE proband_entries (
            study bigint NOT NULL REFERENCES proband_studies, number bigint NOT NULL,
            key text NOT NULL, hash text NOT NULL, body text NOT NULL,
            PRIMARY KEY (study, number), UNIQUE (study, key)
        )
        """,
        """
        CREATE TABLE proband_cache (
            study bigint NOT NULL REFERENCES proband_studies, name text NOT NULL, content bytea NOT NULL,
            PRIMARY KEY (study, name)
        )
        """,
    ),
)
"""Statements that lead from each format to the next. Never edit one that was released: add another."""

_TABLES = (
    "SELECT to_regclass('proband_migrations') IS NOT NULL, to_regclass('proband_studies') IS NOT NULL,"
    " current_setting('server_encoding'), current_database()"
)


def read_format(connection: psycopg.Connection[Any], software: str) -> int:
    """Return which migrations a database has seen, 0 for none; raise StoreError if it is foreign or newer."""
    migrations, studies, encoding, database = connection.execute(_TABLES).fetchall()[0]
    if encoding != "UTF8":
        raise StoreError(
            f"the database {database} is encoded in {encoding}; a store needs UTF8, for every name; "
            "create another one with ENCODING 'UTF8'"
        )
    if not migrations:
        if studies:
            raise StoreError(
                f"the database {database} has a table proband_studies that proband did not make; it was left "
                "untouched; give another database or schema"
            )
        return 0
    rows = connection.execute("SELECT coalesce(max(number), 0) FROM proband_migrations").fetchall()
    check_current(connection, int(rows[0][0]), software)
    return int(rows[0][0])


def check_current(connection: psycopg.Connection[Any], number: int, software: str) -> None:
    """Raise StoreError if a format is later than this version of proband."""
    if number > len(MIGRATIONS):
        question = "SELECT software, current_database() FROM proband_migrations WHERE number = %s"
        [[writer, database]] = connection.execute(question, (number,)).fetchall()
        raise StoreError(
            f"the store in {database} has format {number}, written by proband {writer}; this is proband {software}, "
            f"which knows formats up to {len(MIGRATIONS)}; upgrade proband"
        )


def outdated(number: int) -> bool:
    """Whether a database has migrations to come."""
    return number < len(MIGRATIONS)


def migrate(connection: psycopg.Connection[Any], software: str) -> None:
    """Bring the tables up to date, in the transaction that the caller has begun."""
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (APPLICATION,))
    done = read_format(connection, software)
    for number, statements in enumerate(MIGRATIONS[done:], start=done + 1):
        for statement in statements:
            connection.execute(statement.encode())
        connection.execute("INSERT INTO proband_migrations VALUES (%s, %s)", (number, software))
