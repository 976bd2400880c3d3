"""The studies that this process has open: opened when they are asked for, and closed when memory gets short.

There is one :class:`~proband.Study` for each study. When the process takes more memory than it may, those that nobody
has used for longest are closed, some at a time, until it does not; who asks for one again opens it again, from its
snapshot and with the plans that are kept in the store. One that is at work stays open.
"""

from __future__ import annotations

import asyncio
import ctypes
import functools
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from proband.errors import ProbandError, ServiceError
from proband.studies import Study
from proband.studies.learning.learners import Planned
from proband.studies.queries import planned

LOOK = 1.0
"""Seconds between two looks at the memory."""

SHARE = 0.1
"""Share of the open studies that is closed at a time."""

LEAST = 2**28
"""Bytes of memory that a service needs before it opens any study, and some more."""


@dataclass(eq=False)
class _Open:
    task: asyncio.Task[Study]
    calls: int = 0
    used: float = field(default_factory=time.monotonic)


class Shelf:
    """The open studies.

    Parameters
    ----------
    open_study : callable
        Opens a study by its name.
    memory : int, optional
        Bytes that the process may take; without, nothing is closed.
    """

    def __init__(self, open_study: Callable[[str], Awaitable[Study]], memory: int | None = None) -> None:
        if memory is not None and (memory < LEAST or used_memory() == 0):
            raise ServiceError(
                f"the memory is limited to {memory:,} bytes; it must be {LEAST:,} at least, and a system that tells "
                "how much a process takes (Linux); raise it, or leave it out"
            )
        self._open_study, self._memory = open_study, memory
        self._studies: dict[str, _Open] = {}
        self.closed = 0
        self._before = Planned()  # of studies that were closed
        self._ending = set[asyncio.Task[None]]()

    @property
    def names(self) -> list[str]:
        """Names of the studies that are open."""
        return [name for name, each in self._studies.items() if _ready(each.task)]

    def planned(self) -> Planned:
        """Return what was planned for the studies that are open, or were."""
        own = (planned(self._studies[name].task.result()) for name in self.names)
        return functools.reduce(Planned.plus, own, self._before)

    async def study(self, name: str) -> Study:
        """Return a study, after opening it if need be."""
        found = self._studies.get(name)
        if found is None:
            found = self._studies[name] = _Open(asyncio.create_task(self._opened(name)))
            found.task.add_done_callback(partial(self._forget_failed, name, found))
        found.used = time.monotonic()
        return found.task.result() if found.task.done() else await asyncio.shield(found.task)

    @contextmanager
    def in_use(self, name: str) -> Iterator[Callable[[], None]]:
        """Keep a study open until what is given is called; or until the block fails."""
        found = self._studies.get(name)
        ended = [found is None]

        def end() -> None:
            if found is not None and not ended[0]:
                ended[0] = True
                found.calls -= 1
                found.used = time.monotonic()

        if found is not None:
            found.calls += 1
        try:
            yield end
        except BaseException:
            end()
            raise

    async def watch(self) -> None:
        """Look at the memory again and again, and close what is too much."""
        while self._memory is not None:
            await asyncio.sleep(LOOK)
            if used_memory() > self._memory:
                await self.make_room()

    async def make_room(self) -> None:
        """Close some of the studies that nobody has used for longest."""
        idle = [(each.used, name) for name, each in self._studies.items() if _ready(each.task) and not each.calls]
        for _, name in sorted(idle)[: max(1, int(SHARE * len(self._studies)))]:
            each = self._studies.pop(name)
            self.closed += 1
            self._before = self._before.plus(planned(each.task.result()))
            await asyncio.get_running_loop().run_in_executor(None, partial(_close, each.task.result()))
        _give_back()

    def drop(self, name: str, study: Study | None = None) -> None:
        """Have a study opened anew by who asks for it next; close this one when nobody is at work on it any more."""
        found = self._studies.get(name)
        if found is None or not _ready(found.task) or (study is not None and found.task.result() is not study):
            return
        self._studies.pop(name)
        self._before = self._before.plus(planned(found.task.result()))
        ending = asyncio.create_task(self._ended(found))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def _ended(self, left: _Open) -> None:
        while left.calls:
            await asyncio.sleep(LOOK)
        await asyncio.get_running_loop().run_in_executor(None, partial(_close, left.task.result()))

    async def close(self) -> None:
        """Close all of them."""
        for ending in self._ending:
            ending.cancel()
        for each in list(self._studies.values()):
            if _ready(each.task):
                await asyncio.get_running_loop().run_in_executor(None, partial(_close, each.task.result()))
            each.task.cancel()

    async def _opened(self, name: str) -> Study:
        return await self._open_study(name)

    def _forget_failed(self, name: str, found: _Open, task: asyncio.Task[Study]) -> None:
        if not _ready(task) and self._studies.get(name) is found:
            self._studies.pop(name)


def used_memory() -> int:
    """Return the bytes of memory that this process takes; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def half_the_memory() -> int | None:
    """Return half of what the machine, or this process's control group, has; None where nobody tells."""
    if used_memory() == 0:
        return None
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):
        whole = min(whole, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return max(LEAST, whole // 2)


def _close(study: Study) -> None:
    with suppress(ProbandError):
        study.close()


def _ready(task: asyncio.Task[Study]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


def _give_back() -> None:
    """Have the allocator give back what is free, where it can."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
