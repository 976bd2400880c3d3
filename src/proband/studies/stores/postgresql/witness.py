"""Making many commits durable at once, and knowing that none of them was lost meanwhile.

A commit that does not wait for the disk (``synchronous_commit = off``) is there for everybody at once, and lost if the
server dies before its log is written. Any later commit that does wait makes it durable, since the log is one sequence.
If the server died in between and came back, though, such a commit would succeed, and what was before it be gone. So one
connection bears witness: opened before the first of these commits, and ended by whatever ends the server. As long as
it lives, nothing was lost.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg

from proband.errors import StoreBusyError

FLUSH = b"SELECT pg_logical_emit_message(true, 'proband', '')"
"""Writes something to the server's log, and commits it: the least that is waited for."""


class Witness:
    """A connection that was open all the time; there is a new one when the last one is lost.

    Parameters
    ----------
    connect : callable
        Opens a connection.
    """

    def __init__(self, connect: Callable[[], psycopg.Connection[Any]]) -> None:
        self._connect = connect
        self._change = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None
        self._process = 0
        self._number = 0
        self._left: list[psycopg.Connection[Any]] = []

    def number(self) -> int:
        """Return the number of the one who is there from now on."""
        with self._change:
            own = self._process == os.getpid()
            if self._connection is None or self._connection.closed or not own:
                if self._connection is not None and not own:
                    self._left.append(self._connection)  # the parent's: closing it, or dropping it, would end it
                self._connection, self._process = self._connect(), os.getpid()
                self._number += 1
            return self._number

    def flush(self, number: int) -> None:
        """Make durable what was committed since a witness was there; raise if it may have been lost."""
        with self._change:
            connection, own = self._connection, self._process == os.getpid()
            alive = number == self._number and own and connection is not None and not connection.closed
        if alive and connection is not None:
            try:
                connection.execute(FLUSH)
                return
            except psycopg.Error:
                with suppress(psycopg.Error):
                    connection.close()
        raise StoreBusyError(
            "the connection to the database was lost before it had synced this write to its disk; whether it was "
            "recorded is not known; do it again with the same key, which does not record it twice"
        )

    def close(self) -> None:
        """Leave."""
        with self._change:
            connection, self._connection = self._connection, None
            if connection is not None and self._process == os.getpid():
                with suppress(psycopg.Error):
                    connection.close()
