"""The inbox of a study whose store is a file: a folder beside it, shared by all processes.

There is a small file and a bell (a named pipe) for each writer, a file for the news, and a lock for the leader. Files
are overwritten in place and never synced, so that the disk has nothing to do with them. A writer keeps its file locked
(flock) as long as it lives: what a dead one left behind is recognised, and thrown away unread, and a leader that dies
leaves its place the same way.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from proband.studies.events import digest
from proband.studies.inbox import Slip
from proband.studies.stores.contract import Entry

FOLDER = "-inbox"
"""What is added to the name of a store's file."""

LEADER, NEWS = "leader", "news"
REQUEST, BELL = ".request", ".bell"
IDLE, WAITING = b"0", b"1"
LATELY = 0.1
"""Seconds after its last request for which a writer is expected to have another one soon."""


class FileSlip:
    """A request in a file, whose first byte says whether it waits."""

    def __init__(self, path: str, text: str, bell: int | None = None) -> None:
        self.path, self.text = path, text
        self._bell = bell

    @property
    def taken(self) -> bool:
        """Whether somebody said that it was recorded."""
        return _peek(self.path) == IDLE

    def take(self) -> None:
        """Say that it was recorded."""
        with suppress(OSError):
            file = os.open(self.path + REQUEST, os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.pwrite(file, IDLE, 0)
            finally:
                os.close(file)

    def ring(self) -> None:
        """Wake whoever waits for it."""
        with suppress(OSError):  # its owner is gone
            bell = os.open(self.path + BELL, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                os.write(bell, b".")
            finally:
                os.close(bell)

    def wait(self, seconds: float) -> None:
        """Wait until somebody rings, for a time."""
        if self._bell is not None:
            poll = select.poll()
            poll.register(self._bell, select.POLLIN)
            if poll.poll(1000 * seconds):
                os.read(self._bell, 4096)


class _Slot(NamedTuple):
    file: int
    bell: int
    path: str


class FolderInbox:
    """The inbox of all processes that work on one study.

    Parameters
    ----------
    path : str
        Of the store's file.
    study : str
    """

    def __init__(self, path: str, study: str) -> None:
        self._folder = os.path.join(path + FOLDER, digest(study)[:16])
        os.makedirs(self._folder, exist_ok=True)
        self._free: list[_Slot] = []
        self._guard = threading.Lock()
        self._lines: dict[int, str] = {}

    @contextmanager
    def waiting(self, text: str) -> Iterator[Slip]:
        """Let a request wait until the end of the block."""
        with self._guard:
            slot = self._free.pop() if self._free else self._new()
        try:
            os.pwrite(slot.file, WAITING + _framed(text), 0)
            yield FileSlip(slot.path, text, slot.bell)
        finally:
            os.pwrite(slot.file, IDLE, 0)
            with self._guard:
                self._free.append(slot)

    @contextmanager
    def leading(self, own: Slip) -> Iterator[list[Slip] | None]:
        """Try to be the leader until the end of the block."""
        file = os.open(os.path.join(self._folder, LEADER), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        if _locked(file):
            os.close(file)
            yield None
            return
        served: list[Slip] = []
        try:
            yield served
        finally:
            own.take()
            os.close(file)
            for slip in [*self._longest(), *served]:
                slip.ring()

    def gather(self, seconds: float) -> None:
        """Wait for a time at most, as long as writers who were just busy have no request here."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and any(_about_to_ask(path) for path in self._paths()):
            time.sleep(seconds / 20)

    def others(self, own: Slip) -> list[Slip]:
        """Return the requests that wait, without one's own; throw away what the dead left."""
        mine = own.path if isinstance(own, FileSlip) else None
        read = (self._read(path) for path in self._paths() if path != mine)
        return [slip for slip in read if slip is not None]

    def publish(self, entries: Sequence[Entry]) -> None:
        """Leave the last entries of the log: their numbers, then one line each."""
        self._lines = {entry.number: self._lines.get(entry.number) or json.dumps(entry) for entry in entries}
        head = f"{entries[0].number} {entries[-1].number}"
        with suppress(OSError):
            file = os.open(os.path.join(self._folder, NEWS), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                os.pwrite(file, "\n".join([head, *self._lines.values(), ""]).encode(), 0)
            finally:
                os.close(file)

    def news(self, after: int) -> list[Entry] | None:
        """Return the entries after a number that a leader left; None if some of them are not there.

        While they are being written, anything may come out of it: entries are to be checked by their hashes.
        """
        try:
            with open(os.path.join(self._folder, NEWS), "rb") as file:
                first, last = map(int, file.readline().split())
                if last <= after:
                    return []
                lines = file.read().split(b"\n")[: last - first + 1]
            return [Entry(*json.loads(line)) for line in lines[after + 1 - first :]] if first <= after + 1 else None
        except (OSError, ValueError, TypeError):
            return None

    def forget(self) -> None:
        """Take the news away: they are not those of the log."""
        with suppress(OSError):
            os.unlink(os.path.join(self._folder, NEWS))

    def close(self) -> None:
        """Remove this process's files."""
        with self._guard:
            for slot in self._free:
                _remove(slot.path)
                os.close(slot.file)
                os.close(slot.bell)
            self._free.clear()

    def _paths(self) -> list[str]:
        names = (name.removesuffix(REQUEST) for name in os.listdir(self._folder) if name.endswith(REQUEST))
        return [os.path.join(self._folder, name) for name in names if not name.startswith(".")]

    def _longest(self) -> list[Slip]:
        """Return the request that waits longest, if there is one."""
        since: dict[str, int] = {}
        for path in self._paths():
            if _peek(path) == WAITING:
                with suppress(OSError):
                    since[path] = os.stat(path + REQUEST).st_mtime_ns
        return [FileSlip(path, "") for path in sorted(since, key=lambda path: since[path])[:1]]

    def _new(self) -> _Slot:
        """Make a bell, and a file that is locked before it has its name."""
        path = os.path.join(self._folder, uuid.uuid4().hex)
        hidden = os.path.join(self._folder, f".{os.path.basename(path)}{REQUEST}")
        os.mkfifo(path + BELL)
        bell = os.open(path + BELL, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        file = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.pwrite(file, IDLE, 0)
        os.rename(hidden, path + REQUEST)
        return _Slot(file, bell, path)

    def _read(self, path: str) -> Slip | None:
        try:
            file = os.open(path + REQUEST, os.O_RDWR | os.O_CLOEXEC)
            try:
                if not _locked(file):  # its owner is dead
                    _remove(path)
                    return None
                content = os.pread(file, os.fstat(file).st_size, 0)
            finally:
                os.close(file)
        except OSError:  # it is gone
            return None
        text = _unframed(content[1:]) if content[:1] == WAITING else None
        return None if text is None else FileSlip(path, text)


def _framed(text: str) -> bytes:
    """Return a text with its length and digest before it: files are overwritten in place, and may be longer."""
    content = text.encode()
    return f"{digest(text)} {len(content)}\n".encode() + content


def _unframed(content: bytes) -> str | None:
    """Return the text of :func:`_framed`; None if it is being written."""
    head, _, rest = content.partition(b"\n")
    try:
        wanted, length = head.split(b" ")
        text = rest[: int(length)].decode()
    except ValueError:
        return None
    return text if digest(text).encode() == wanted else None


def _peek(path: str) -> bytes:
    """Return the first byte of a request."""
    try:
        with open(path + REQUEST, "rb", buffering=0) as file:
            return file.read(1) or b""
    except OSError:
        return b""


def _about_to_ask(path: str) -> bool:
    """Return whether a writer has no request, but had one a moment ago."""
    with suppress(OSError):
        return _peek(path) == IDLE and time.time() - os.stat(path + REQUEST).st_mtime < LATELY
    return False


def _locked(file: int) -> bool:
    """Return whether somebody else has a file locked; if not, it is locked now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _remove(path: str) -> None:
    for ending in (REQUEST, BELL):
        with suppress(OSError):
            os.unlink(path + ending)
