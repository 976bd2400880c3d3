"""One connection to PostgreSQL: no statement is waited for beyond a deadline, and a commit is one only if told."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg

from proband.errors import StoreError, StudyError
from proband.studies.stores.patience import Patience

T = TypeVar("T")

BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"


class Connection(psycopg.Connection[Any]):
    """A connection that waits for no answer beyond a deadline."""

    deadline = 60.0

    def wait(self, gen: Generator[Any, Any, T], *arguments: Any, **options: Any) -> T:
        """Wait for a statement."""
        return super().wait(_until(gen, Patience(self.deadline)), *arguments, **options)


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
    """Commit what happens in the block, all or none; after a StudyError the connection stays usable."""
    connection.execute(BEGIN)
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
