"""A warm parent of writing processes: it has imported and compiled everything, and forks a writer in milliseconds.

It is a process of its own with a single thread, reads one command a line, and answers each with one line:

    spawn URL STUDY SLOT FOLDER SEED     the number of the new process
    reap PROCESS                         how it ended
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[2]


class Nursery:
    """The near side: spawns writers, kills them, and ends all that is left."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.nursery"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.alive: set[int] = set()
        assert self._ask("ready") == "ready"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in list(self.alive):
            self.kill(process)
        self._process.communicate()

    def spawn(self, url: str, study: str, slot: int, folder: Path, seed: int) -> int:
        """Start a writer."""
        process = int(self._ask(f"spawn\t{url}\t{study}\t{slot}\t{folder}\t{seed}"))
        self.alive.add(process)
        return process

    def kill(self, *processes: int) -> None:
        """Kill -9 writers, all at once; one that ended before, ended with an error."""
        for process in processes:
            os.kill(process, signal.SIGKILL)
        for process in processes:
            self.alive.remove(process)
            ended = self._ask(f"reap\t{process}")
            assert ended == "-9", f"a writer ended with {ended} before it was killed"

    def _ask(self, command: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()


def main() -> None:
    """The far side."""
    from tests.crash.writers import warm_up, write

    warm_up()
    for line in sys.stdin:
        command, *arguments = line.rstrip("\n").split("\t")
        if command == "reap":
            _, status = os.waitpid(int(arguments[0]), 0)
            _answer(os.waitstatus_to_exitcode(status))
        elif command == "ready":
            _answer("ready")
        else:
            url, study, slot, folder, seed = arguments
            process = os.fork()
            if not process:
                write(url, study, int(slot), Path(folder), int(seed))
            _answer(process)


def _answer(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
