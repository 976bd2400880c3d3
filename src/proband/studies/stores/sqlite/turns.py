"""Taking turns at a file: a queue of processes and threads on a lock file beside it.

SQLite lets those who wait poll, which is unfair: of eight writers, one got 2,736 turns and another a single one. Here
they wait in the kernel, on flock(2), in a queue that is fair and costs nothing while waiting; the kernel ends a turn
when its holder dies, however it dies. The lock file stays: removing it would let two queues form.

As flock(2) knows no deadline, whoever has to wait lets a thread wait for it. Where there is no flock(2), waiting
means polling.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from proband.errors import StoreError
from proband.studies.stores.patience import Patience
from proband.studies.stores.pool import at_fork

if sys.platform == "win32":
    import msvcrt

    _wait = None

    def _try(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _wait(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _try(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


class Turns:
    """Turns on a lock file.

    Parameters
    ----------
    path : str
        Of the lock file, which is made when it is first needed.
    polling : bool
        Whether to poll although there is flock(2).
    """

    def __init__(self, path: str, *, polling: bool = _wait is None) -> None:
        self.path = path
        self._polling = polling
        self._guard = threading.Lock()
        self._files: set[int] = set()
        at_fork(self, before=Turns._before_fork, parent=Turns._after_fork, child=Turns._in_child)

    @contextmanager
    def turn(self, seconds: float) -> Iterator[None]:
        """Wait for a turn, and keep it until the end of the block; raise StoreError if it takes too long."""
        file = self._open()
        try:
            if not _try(file) and not (self._poll if self._polling else self._queue)(file, seconds):
                raise StoreError(
                    f"{self.path} was locked by others for {seconds:g} seconds; a turn takes milliseconds; "
                    "look for a process that was stopped while it wrote, and let it go on or end it"
                )
            yield
        finally:
            self._close(file)

    def _poll(self, file: int, seconds: float) -> bool:
        patience = Patience(seconds)
        while patience.wait():
            if _try(file):
                return True
        return False

    def _queue(self, file: int, seconds: float) -> bool:
        """Wait in the kernel's queue; if it takes too long, the turn ends as it comes, with its last handle."""
        waiting = self._open(file)

        def wait() -> None:
            with suppress(OSError):
                _wait(waiting)
            self._close(waiting, release=False)

        thread = threading.Thread(target=wait, daemon=True, name="proband-turn")
        try:
            thread.start()
        except RuntimeError:  # no thread can be started while Python shuts down
            self._close(waiting, release=False)
            return self._poll(file, seconds)
        thread.join(seconds)
        return not thread.is_alive()

    def _open(self, same: int | None = None) -> int:
        """Open the lock file, or a second handle to the same lock."""
        with self._guard:  # no fork in between: a child that does not know of a handle could keep a turn for ever
            try:
                file = (
                    os.open(self.path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o666) if same is None else os.dup(same)
                )
            except OSError as error:
                raise StoreError(
                    f"{self.path} cannot be opened ({error.strerror}); writing needs a lock file beside the database; "
                    "give write access to the folder"
                ) from error
            self._files.add(file)
        return file

    def _close(self, file: int, *, release: bool = True) -> None:
        """Close a handle, and with `release` end its turn; a handle from before a fork is closed already."""
        with self._guard:
            if file not in self._files:
                return
            self._files.remove(file)
            if release:
                with suppress(OSError):
                    _release(file)
            os.close(file)

    def _before_fork(self) -> None:
        self._guard.acquire()

    def _after_fork(self) -> None:
        self._guard.release()

    def _in_child(self) -> None:
        """Close the parent's handles without ending the parent's turns."""
        self._guard = threading.Lock()
        for file in self._files:
            os.close(file)
        self._files.clear()
