"""Taking turns at a file: who writes holds a lock on a file beside it, which stays for good.

The lock is a record lock of the process (fcntl): the kernel lets go of it when the process ends, however it ends, and a
forked child never has it. Threads of one process see each other in a dictionary. A turn takes a millisecond or so, and
one that is not over at the deadline is that of a process which was stopped.

Whoever has to wait tries again after a short and random pause, so that all have the same chance. A queue in the kernel
would be fairer still, but slower: on a busy machine it takes long until the next in line has a core, and whoever has
one must wait for it meanwhile.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from proband.errors import StoreBusyError, StoreError
from proband.studies.stores.patience import Patience


def _try(file: int) -> bool:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _holder(file: int) -> str:
    """Return the number of the process that has a file locked, where the system tells."""
    if sys.platform != "linux":
        return "unknown"
    layout = "hhqqi"  # of struct flock: type, whence, start, length, process
    answer = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack(layout, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    return str(struct.unpack(layout, answer)[4] or "unknown")


_next: dict[tuple[int, str], Turn] = {}
"""By process and file, the turn of the thread that has it or is the next to get it; a child ignores its parent's."""


class Turn:
    """One turn at a lock file, which gets the rights of another one; from when others let it begin until it ends."""

    def __init__(self, path: str, like: str) -> None:
        self._path, self._like = path, like
        self._key = os.getpid(), path
        self._file: int | None = None

    @property
    def held(self) -> bool:
        """Whether it lasts; never in a child that was forked meanwhile."""
        return self._file is not None and self._key[0] == os.getpid()

    def begin(self, patience: Patience) -> None:
        """Wait among the threads of this process, then with the other processes."""
        while _next.setdefault(self._key, self) is not self:
            self._pause(patience)
        try:
            self._file = self._open()
            while not _try(self._file):
                self._pause(patience)
        except StoreError:
            raise
        except OSError as error:
            raise StoreError(
                f"{self._path} cannot be locked ({error.strerror}); writing needs a lock file beside the database; "
                "give write access to it and to its folder, or put the folder back"
            ) from error

    def end(self) -> None:
        """Let the next one in."""
        if _next.get(self._key) is self and self._key[0] == os.getpid():
            if self._file is not None:
                os.close(self._file)  # before another thread opens it: closing any handle ends the process's lock
                self._file = None
            del _next[self._key]

    def _pause(self, patience: Patience) -> None:
        if not patience.wait():
            holder = os.getpid() if self._file is None else _holder(self._file)
            raise StoreBusyError(
                f"{self._path} was locked by process {holder} for {patience.seconds:.3g} seconds, and a turn takes "
                "milliseconds; if it was stopped while it wrote, let it go on (kill -CONT) or end it; nothing of this "
                "write was recorded"
            )

    def _open(self) -> int:
        with suppress(FileNotFoundError):
            return os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with suppress(OSError):
            os.chmod(self._path, stat.S_IMODE(os.stat(self._like).st_mode))
        return file


class Turns:
    """Turns at a file: the lock file is called like it, with ``-lock`` added, and made when it is first needed."""

    def __init__(self, path: str) -> None:
        self._beside = os.path.realpath(path)
        self.path = self._beside + "-lock"

    @contextmanager
    def turn(self, seconds: float) -> Iterator[Turn]:
        """Wait for a turn, and keep it until the end of the block; raise StoreBusyError if it takes too long."""
        turn = Turn(self.path, self._beside)
        try:
            turn.begin(Patience(seconds))
            yield turn
        finally:
            turn.end()
