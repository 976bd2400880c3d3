"""Connections, each in the hands of one thread at a time, and none of them carried over a fork.

A forked child shares its parent's sockets. Worse, SQLite keeps what it knows of the locks on a file in the memory of
the process: as long as a connection of the parent is open at the fork, even a new connection of the child believes to
have the parent's locks, and takes none (a reader has three, says ``/proc/locks``; one that was opened after such a fork
has none). Looking at the number of the process afterwards is therefore not enough: before a fork the idle connections
are closed, and threads at work on one get a moment to finish. What is then still busy is never touched by the child,
which is told so.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from proband.errors import StudyError

C = TypeVar("C")

SECONDS_BEFORE_FORK = 5.0

tainted: set[str] = set()
"""Places to which a connection was in use when this process was forked."""


class NothingYetError(Exception):
    """There is no store yet to connect to: no file, or no tables."""


class OrElse:
    """Call something if the block fails."""

    def __init__(self, undo: Callable[[], object]) -> None:
        self.undo = undo

    def __enter__(self) -> None:
        """Enter the block."""

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        """Leave the block."""
        if failure is not None:
            self.undo()


@dataclass(eq=False)
class _Loan(Generic[C]):
    thread: int
    era: int
    connection: C | None = None


class Pool(Generic[C]):
    """As many connections as there are threads at work at once; an idle one is used again if it is `usable`.

    The place that they lead to is among :data:`tainted` in a child that was forked while one was in use.
    """

    def __init__(
        self, connect: Callable[[], C], close: Callable[[C], None], usable: Callable[[C], bool], *, place: str = ""
    ) -> None:
        self._connect, self._close, self._usable, self._place = connect, close, usable, place
        self._change = threading.Condition()
        self._idle: list[C] = []
        self._loans: list[_Loan[C]] = []
        self._abandoned: list[_Loan[C]] = []
        self._era = 0
        self._forking = False
        _watch_forks(self)

    @contextmanager
    def borrow(self) -> Iterator[C]:
        """Lend a connection; after anything but a StudyError it is closed: nobody knows in what state it is."""
        connection = self.take()
        try:
            yield connection
        except StudyError:
            self.give(connection)
            raise
        except BaseException:
            self.give(connection, keep=False)
            raise
        self.give(connection)

    def take(self) -> C:
        """Return a connection that nobody else uses until it is given back."""
        with self._change:
            self._change.wait_for(lambda: not self._forking)
            loan = _Loan[C](threading.get_ident(), self._era)
            self._loans.append(loan)
        with OrElse(lambda: self._end(loan)):
            connection = self._reuse()
            loan.connection = connection = self._connect() if connection is None else connection
        return connection

    def give(self, connection: C, *, keep: bool = True) -> None:
        """Take a connection back; one that was taken before a fork is the parent's, and is left alone."""
        loan = next((loan for loan in list(self._loans) if loan.connection is connection), None)
        if loan is None:
            return
        with self._change:
            if keep and loan.era == self._era:
                self._idle.append(connection)
            else:
                self._close(connection)
            self._end(loan)

    def close(self) -> None:
        """Close what is idle now, and what is busy when it comes back."""
        with self._change:
            self._era += 1
            self._close_idle()

    def _end(self, loan: _Loan[C]) -> None:
        with self._change:
            if loan in self._loans:  # else this is a child, and the loan its parent's
                self._loans.remove(loan)
            self._change.notify_all()

    def _reuse(self) -> C | None:
        with self._change:
            while self._idle:
                connection = self._idle.pop()
                if self._usable(connection):
                    return connection
                self._close(connection)
        return None

    def _close_idle(self) -> None:
        while self._idle:
            self._close(self._idle.pop())

    def _before_fork(self) -> None:
        me = threading.get_ident()
        self._change.acquire()
        self._forking = True
        self._change.wait_for(lambda: all(loan.thread == me for loan in self._loans), timeout=SECONDS_BEFORE_FORK)
        self._close_idle()

    def _after_fork(self) -> None:
        self._forking = False
        self._change.notify_all()
        self._change.release()

    def _in_child(self) -> None:
        self._change = threading.Condition()
        self._forking = False
        if self._loans:
            tainted.add(self._place)
        self._abandoned += self._loans  # closing a connection, or dropping it, would touch what is the parent's
        self._loans.clear()


def _watch_forks(pool: Pool[C]) -> None:
    """Have a pool prepare for every fork, for as long as it lives."""
    reference = weakref.ref(pool)

    def call(function: Callable[[Pool[C]], None]) -> None:
        alive = reference()
        if alive is not None:
            function(alive)

    os.register_at_fork(
        before=lambda: call(Pool._before_fork),
        after_in_parent=lambda: call(Pool._after_fork),
        after_in_child=lambda: call(Pool._in_child),
    )
