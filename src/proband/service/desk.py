"""The studies that this process has open, and the threads that work on them.

There is one :class:`~proband.Study` for each study, opened when it is first asked for; whoever asks speaks through it
under his own name and station (:meth:`~proband.Study.speaking`). Nothing that waits for a disk, a server or a plan runs
on the event loop: calls run in threads, so many at once for one study, so that a study whose first plan takes long
leaves threads for the others. The rest wait, and when too many do, the service says that it is busy.

A call that takes too long is answered by an error; what it does is done all the same, and its idempotency key tells.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

from proband.errors import ServiceError, StoreError
from proband.service.limits import Limits
from proband.studies import Study
from proband.studies.stores import Store

T = TypeVar("T")
Watcher = Callable[[str], None]

STATION = "service"
"""Where this process is, for what it does itself."""


class Desk:
    """The open studies of a store.

    Parameters
    ----------
    store : Store
        Closed with the desk.
    limits : Limits
    """

    def __init__(self, store: Store, limits: Limits) -> None:
        self.store, self.limits = store, limits
        self._studies: dict[str, asyncio.Task[Study]] = {}
        self._room: dict[str, asyncio.Semaphore] = {}
        self._threads = ThreadPoolExecutor(limits.threads, thread_name_prefix="study")
        self._waiting = 0
        self.wrote: Watcher = lambda study: None  # told after each write

    @property
    def open(self) -> list[str]:
        """Names of the studies that are open here."""
        return [name for name, task in self._studies.items() if task.done() and not task.exception()]

    @property
    def waiting(self) -> int:
        """Calls that were made and not answered."""
        return self._waiting

    async def call(self, study: str, work: Callable[[Study], T], *, seconds: float | None = None) -> T:
        """Work on a study in a thread."""
        live = await self._opened(study)
        return await self._within(self._room_of(study), partial(work, live), seconds)

    async def write(self, study: str, work: Callable[[Study], T], *, actor: str, station: str | None) -> T:
        """Work on a study as an actor at a station, and tell those who watch it."""
        live = (await self._opened(study)).speaking(actor=actor, station=station or actor)
        try:
            return await self._within(self._room_of(study), partial(work, live), None)
        finally:
            self.wrote(study)

    async def run(self, work: Callable[[], T], *, seconds: float | None = None) -> T:
        """Do something that concerns no open study in a thread."""
        return await self._within(None, work, seconds)

    async def close(self) -> None:
        """Close all studies and the store; calls that are under way end first, or are left behind with the process."""
        loop = asyncio.get_running_loop()
        for task in self._studies.values():
            if task.done() and not task.cancelled() and task.exception() is None:
                with suppress(StoreError):
                    await loop.run_in_executor(None, task.result().close)
            task.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)
        await loop.run_in_executor(None, self.store.close)

    async def _opened(self, study: str) -> Study:
        task = self._studies.get(study)
        if task is None:
            task = self._studies[study] = asyncio.create_task(self._open(study))
            task.add_done_callback(partial(self._forget_failed, study))
        return await asyncio.shield(task)

    async def _open(self, study: str) -> Study:
        return await self._within(
            None, lambda: Study.open(study, store=self.store, station=STATION, actor=STATION), None
        )

    def _forget_failed(self, study: str, task: asyncio.Task[Study]) -> None:
        if task.cancelled() or task.exception() is not None:
            self._studies.pop(study, None)

    def _room_of(self, study: str) -> asyncio.Semaphore:
        return self._room.setdefault(study, asyncio.Semaphore(self.limits.side_by_side))

    async def _within(self, room: asyncio.Semaphore | None, work: Callable[[], T], seconds: float | None) -> T:
        """Wait for room and for the answer, together for so many seconds at most."""
        if self._waiting >= self.limits.waiting:
            raise ServiceError(f"{self._waiting:,} calls wait already; the service is busy; try again in a moment")
        limit = self.limits.answer_seconds if seconds is None else seconds
        self._waiting += 1
        try:
            async with asyncio.timeout(limit):
                return await (self._threaded(work) if room is None else self._in_room(room, work))
        except TimeoutError:
            raise ServiceError(
                f"there was no answer within {limit:g} seconds; the study may be making its first plan, or its store "
                "be held by others; try again, a write with the same idempotency key"
            ) from None
        finally:
            self._waiting -= 1

    async def _in_room(self, room: asyncio.Semaphore, work: Callable[[], T]) -> T:
        await room.acquire()
        future = asyncio.get_running_loop().run_in_executor(self._threads, work)
        future.add_done_callback(lambda _: room.release())  # when it is done, and not when nobody waits any more
        return await asyncio.shield(future)

    async def _threaded(self, work: Callable[[], T]) -> T:
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._threads, work))
