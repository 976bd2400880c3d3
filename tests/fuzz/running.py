"""Cases in child processes: what crashes, hangs or takes too much memory is seen, and blamed on its case.

A child takes the cases one by one, and says in a pipe which one it begins with. When it dies, or says nothing for too
long, that case has failed, and another child goes on with the next.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import select
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.processes import fork

ALLOWANCE = 2**29
"""Bytes of memory that reading a file may take beside what the process has: 512 MiB."""

PATIENCE = 300.0
"""Seconds of silence after which a child hangs; a case takes milliseconds."""

MEMORY = "/dev/shm"
"""Where there are files in memory, whose syncs take no time."""

Say = Callable[[str], None]


@dataclass
class Report:
    """What became of the cases."""

    cases: int
    accepted: int = 0
    failures: dict[int, str] = field(default_factory=dict)
    growth: int = 0

    def __str__(self) -> str:
        return (
            f"{self.cases} cases, {self.accepted} taken for right, {len(self.failures)} failures; a process grew by "
            f"{self.growth / 2**20:.0f} MiB at most"
        )


@dataclass(frozen=True)
class Cases:
    """Files to be read.

    Attributes
    ----------
    make : callable
        Returns the content of a case's file.
    read : callable
        Reads the file, and returns whether it took it for right; whatever it raises is a failure.
    ending : str
        Of the file's name.
    patience : float
        Seconds of silence after which a child hangs.
    """

    make: Callable[[int], bytes]
    read: Callable[[Path], bool]
    ending: str = ""
    patience: float = PATIENCE

    def run(self, numbers: Sequence[int]) -> Report:
        """Let children read some cases, in ascending order."""
        report, left = Report(len(numbers)), list(numbers)
        while left:
            last = self._in_child(left, report)
            left = [number for number in left if number > last]
        return report

    def _in_child(self, numbers: list[int], report: Report) -> int:
        """Follow a child through the cases; return the last one that it began with."""
        with tempfile.TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None) as folder:
            reading, writing = os.pipe()
            child = fork()
            if not child:
                self._be_child(numbers, Path(folder, f"case{self.ending}"), writing)
            os.close(writing)
            at, hangs = self._listen(child, reading, numbers[0], report)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if hangs:
            report.failures[at] = f"it took more than {self.patience:g} seconds"
        elif code:
            report.failures[at] = f"the process ended with {signal.Signals(-code).name if code < 0 else code}"
        return at

    def _listen(self, child: int, reading: int, at: int, report: Report) -> tuple[int, bool]:
        """Note what a child says until it ends; return the case that it was at, and whether it hung there."""
        hangs = False
        with os.fdopen(reading, "rb", buffering=0) as pipe:
            while True:
                if not select.select([pipe], [], [], self.patience)[0]:
                    os.kill(child, signal.SIGKILL)
                    hangs = True
                line = pipe.readline().decode()
                if not line:
                    return at, hangs
                word, _, rest = line.strip().partition(" ")
                if word == "at":
                    at = int(rest)
                elif word == "wrong":
                    report.failures[at] = rest
                elif word == "grown":
                    report.growth = max(report.growth, int(rest))
                report.accepted += word == "accepted"

    def _be_child(self, numbers: list[int], path: Path, writing: int) -> None:
        try:
            self._read_all(numbers, path, lambda text: _say(writing, text))
        except BaseException:
            os._exit(1)
        os._exit(0)

    def _read_all(self, numbers: list[int], path: Path, say: Say) -> None:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        resource.setrlimit(resource.RLIMIT_AS, (_address_space() + ALLOWANCE, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler.disable()  # a crash is reported by the parent
        warnings.simplefilter("error")
        for number in numbers:
            say(f"at {number}")
            path.write_bytes(self.make(number))
            try:
                say("accepted" if self.read(path) else "refused")
            except Exception:
                say(f"wrong {traceback.format_exc()!r}")
        say(f"grown {1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)}")


def _say(writing: int, text: str) -> None:
    os.write(writing, text.encode("ascii", "backslashreplace") + b"\n")


def _address_space() -> int:
    """Return the bytes of address space that this process has."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
