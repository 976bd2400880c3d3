"""The inbox: where requests wait while another writer has the turn at the log.

A commit to a disk takes milliseconds however little it holds, so writers leave their requests in the inbox, and one of
them, the leader, writes all of them in one commit, rings for those that it served, and lets the next one lead. The
leader also leaves the last entries of the log there, so that nobody has to ask the store, which may be at work, what is
new. The inbox is a hint and no more: a request that nobody took along is written by its owner, entries that are left
there carry their hashes, and only the log says what was recorded.

For a store in a file the inbox is a folder beside it (:mod:`proband.studies.inbox_folder`); other stores have one for
the threads of one process.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Protocol

from proband.studies.stores.contract import Entry, Store


class Slip(Protocol):
    """A request in the inbox."""

    @property
    def text(self) -> str:
        """What it asks for."""
        ...

    @property
    def taken(self) -> bool:
        """Whether a leader says to have recorded it."""
        ...

    def take(self) -> None:
        """Say that it was recorded."""
        ...

    def ring(self) -> None:
        """Wake whoever waits for it."""
        ...

    def wait(self, seconds: float) -> None:
        """Wait until somebody rings, for a time."""
        ...


class Inbox(Protocol):
    """Requests that wait, and news for those who ask."""

    def waiting(self, text: str) -> AbstractContextManager[Slip]:
        """Let a request wait until the end of the block."""
        ...

    def leading(self, own: Slip) -> AbstractContextManager[list[Slip] | None]:
        """Try to be the leader until the end of the block; None if there is another.

        Then ring for the next leader, and for those who were served: the leader adds them to the list.
        """
        ...

    def gather(self, seconds: float) -> None:
        """Wait for a time at most, as long as writers who were just busy have no request here."""
        ...

    def others(self, own: Slip) -> list[Slip]:
        """Return the requests that wait, without one's own."""
        ...

    def publish(self, entries: Sequence[Entry]) -> None:
        """Leave the last entries of the log."""
        ...

    def news(self, after: int) -> list[Entry] | None:
        """Return the entries after a number that a leader left; None if some of them are not there."""
        ...

    def forget(self) -> None:
        """Take the news away: they are not those of the log."""
        ...

    def close(self) -> None:
        """Remove what was made."""
        ...


class LocalSlip:
    """A request of a thread."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.taken = False
        self._bell = threading.Event()

    def take(self) -> None:
        """Say that it was recorded."""
        self.taken = True

    def ring(self) -> None:
        """Wake whoever waits for it."""
        self._bell.set()

    def wait(self, seconds: float) -> None:
        """Wait until somebody rings, for a time."""
        if self._bell.wait(seconds):
            self._bell.clear()


class LocalInbox:
    """The inbox of one process.

    Examples
    --------
    >>> inbox = LocalInbox()
    >>> with inbox.waiting("a") as own, inbox.waiting("b") as other:
    ...     [slip.text for slip in inbox.others(own)]
    ['b']
    """

    def __init__(self) -> None:
        self._slips: list[Slip] = []
        self._leader = threading.Lock()

    @contextmanager
    def waiting(self, text: str) -> Iterator[Slip]:
        """Let a request wait until the end of the block."""
        slip = LocalSlip(text)
        self._slips.append(slip)
        try:
            yield slip
        finally:
            self._slips.remove(slip)

    @contextmanager
    def leading(self, own: Slip) -> Iterator[list[Slip] | None]:
        """Try to be the leader until the end of the block."""
        if not self._leader.acquire(blocking=False):
            yield None
            return
        served: list[Slip] = []
        try:
            yield served
        finally:
            own.take()
            self._leader.release()
            for slip in [*self.others(own)[:1], *served]:
                slip.ring()

    def gather(self, seconds: float) -> None:
        """Wait for nobody."""

    def others(self, own: Slip) -> list[Slip]:
        """Return the requests that wait, without one's own."""
        return [slip for slip in list(self._slips) if slip is not own and not slip.taken]

    def publish(self, entries: Sequence[Entry]) -> None:
        """Do nothing: threads share a ledger."""

    def news(self, after: int) -> list[Entry] | None:
        """Return None: the store is to be asked."""
        return None

    def forget(self) -> None:
        """Do nothing: there are none."""

    def close(self) -> None:
        """Do nothing: there are no files."""


def inbox_of(store: Store, study: str) -> Inbox:
    """Return the inbox of a study: in a folder beside the store's file if it has one, else one for this process."""
    path = getattr(store, "path", None)
    if isinstance(path, str) and sys.platform != "win32":
        from proband.studies.inbox_folder import FolderInbox

        with suppress(OSError):  # a folder that cannot be written to
            return FolderInbox(os.path.realpath(path), study)
    return LocalInbox()
