"""The studies that this process has open, and the threads that work on them.

There is one :class:`~proband.Study` for each study (:mod:`.shelf`); whoever asks speaks through it under his own name
and station (:meth:`~proband.Study.speaking`). Plans are made elsewhere (:mod:`.planning`). Nothing that waits for a
disk, a server or a plan runs on the event loop: calls run in threads. Python runs one thread at a time, and handing
over costs more than a quick call takes, so that quick calls of one study (what stations do) run in few threads
(:mod:`.lanes`). What may take long (summaries, trees, exports) has threads of its own.

A write is acknowledged when it is durable. Writers of a study take turns in its store anyway, so that one is made at a
time. Where the store can make many durable at once (one file, in which all studies are), they are committed one after
the other, and one sync serves all that were committed before it began.

A call that takes too long is answered by an error; what it does is done all the same, and its idempotency key tells.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, TypeVar, runtime_checkable

from proband.errors import ServiceError, StoreBusyError, TamperedError, UnknownStudyError
from proband.service.lanes import Lanes, Threads
from proband.service.limits import Limits
from proband.service.planning import HERE, Planning
from proband.service.shelf import Shelf
from proband.studies import Study, queries
from proband.studies.stores import Store
from proband.studies.stores.contract import Defers
from proband.studies.stores.entries import BESIDE, unknown

T = TypeVar("T")
Watcher = Callable[[str], None]
Settled = asyncio.Future[None]

STATION = "service"
"""Where this process is, for what it does itself."""


class Desk:
    """The open studies of a store.

    Parameters
    ----------
    store : Store
        Closed with the desk.
    limits : Limits
    planning : Planning, optional
        Who makes the plans; by default this process, in a thread.
    """

    def __init__(self, store: Store, limits: Limits, planning: Planning | None = None) -> None:
        self.store, self.limits = store, limits
        self.places = places_of(store)
        self.planning = Planning(HERE) if planning is None else planning
        self.shelf = Shelf(self._open, limits.memory)
        self._threads = Threads("quick", limits.threads), Threads("slow", limits.threads)
        self._quick, self._slow = (Lanes(threads, limits.side_by_side) for threads in self._threads)
        self._writing = Lanes(self._threads[0], 1)
        self._aside = ThreadPoolExecutor(limits.threads, thread_name_prefix="aside")
        self._syncs = Syncs(store) if isinstance(store, Defers) else None
        self._waiting = 0
        self._synced: dict[str, tuple[int, str]] = {}  # by study, the last entry that is known to be durable
        self.wrote: Watcher = lambda study: None  # told after each write

    @property
    def open(self) -> list[str]:
        """Names of the studies that are open here."""
        return self.shelf.names

    @property
    def waiting(self) -> int:
        """Calls that were made and not answered."""
        return self._waiting

    async def ask(self, study: str, work: Callable[[Study], T]) -> T:
        """Ask a study something that takes a moment."""
        live = await self._opened(study)
        with self._as_read(study, live), self.shelf.in_use(study) as end:
            answer = partial(self._quick.run, study, partial(work, live), end)
            return await self._within(self.limits.answer_seconds, answer)

    async def write(self, study: str, work: Callable[[Study], T], *, actor: str, station: str | None) -> T:
        """Work on a study as an actor at a station, and tell those who watch it; durable when this returns."""
        opened = await self._opened(study)
        live = opened.speaking(actor=actor, station=station or actor)
        try:
            with self._as_read(study, opened), self.shelf.in_use(study) as end:
                durable = partial(self._durable, study, partial(_with_last, work, live), end)
                answer, last = await self._within(self.limits.answer_seconds, durable)
                self._synced[study] = max(self._synced.get(study, last), last)
                return answer
        finally:
            self.wrote(study)

    async def call(self, study: str, work: Callable[[Study], T]) -> T:
        """Do something with a study that may take long."""
        live = await self._opened(study)
        with self._as_read(study, live), self.shelf.in_use(study) as end:
            return await self._within(
                self.limits.long_seconds, partial(self._slow.run, study, partial(work, live), end)
            )

    async def run(self, work: Callable[[], T], *, seconds: float | None = None) -> T:
        """Do something that concerns no open study in a thread."""
        limit = self.limits.answer_seconds if seconds is None else seconds
        return await self._within(limit, partial(_threaded, self._aside, work))

    def begun(self, study: str) -> None:
        """Have a study opened anew: it was just begun, and what was open under its name until now is another one."""
        self.shelf.drop(study)
        self._synced.pop(study, None)

    async def close(self) -> None:
        """Close all studies and the store; calls that are under way end first, or are left behind with the process."""
        await self.shelf.close()
        for threads in (*self._threads, *([] if self._syncs is None else [self._syncs.threads])):
            threads.close()
        self._aside.shutdown(wait=False, cancel_futures=True)
        self.planning.close()
        await asyncio.get_running_loop().run_in_executor(None, self.store.close)

    async def _opened(self, study: str) -> Study:
        if study.startswith(BESIDE):  # a log that is kept beside the studies, such as that of access
            raise unknown(study, self.store.url)
        return await self.shelf.study(study)

    async def _open(self, study: str) -> Study:
        opened = partial(
            Study.open, study, store=self.store, station=STATION, actor=STATION, replan="aside", planner=self.planning
        )
        found, known = await self.run(opened), self._synced.get(study)
        if known is not None and not await self.run(partial(queries.has_entry, found, *known)):
            await self.run(found.close)
            raise TamperedError(
                f"entry {known[0]} of study {study!r} was synced to the disk, and is gone or another one; was an older "
                "copy of the database put in its place? compare with an export, and start the service again"
            )
        return found

    @contextmanager
    def _as_read(self, study: str, live: Study) -> Iterator[None]:
        """Have a study opened anew if its database died before it had synced what was read of it, or if it is gone.

        The first may be so where each process reads what another one has not yet synced; what was acknowledged is
        there.
        """
        try:
            yield
        except UnknownStudyError:
            self.shelf.drop(study, live)
            raise
        except TamperedError as error:
            if self._syncs is None or self._syncs.one_turn:
                raise
            self.shelf.drop(study, live)
            raise StoreBusyError(
                f"study {study!r} is read anew: its database came back without writes that it had not yet synced, and "
                "that nobody was told of; try again, a write with the same idempotency key"
            ) from error

    async def _within(self, seconds: float, begun: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Wait for an answer, for so many seconds at most."""
        if self._waiting >= self.limits.waiting:
            raise ServiceError(f"{self._waiting:,} calls wait already; the service is busy; try again in a moment")
        self._waiting += 1
        try:
            async with asyncio.timeout(seconds):
                return await begun()
        except TimeoutError:
            raise ServiceError(
                f"there was no answer within {seconds:g} seconds; the study may be making its first plan, or its store "
                "be held by others; try again, a write with the same idempotency key"
            ) from None
        finally:
            self._waiting -= 1

    async def _durable(self, study: str, work: Callable[[], T], end: Callable[[], None]) -> T:
        if self._syncs is None:
            return await self._writing.run(study, work, end)
        lane = "" if self._syncs.one_turn else study
        answer, since = await self._writing.run(lane, partial(self._syncs.deferred, work), end)
        await self._syncs.settled(since)
        return answer


class Syncs:
    """Syncs of a store, each for all writes that were committed before it began.

    A sync that could only wait for another one is not begun: what is committed meanwhile joins it, instead of the next.
    """

    def __init__(self, store: Defers) -> None:
        self._store, self._at_once = store, store.syncs_at_once
        self.threads = Threads("sync", self._at_once)
        self.one_turn = store.one_turn
        self._running = 0
        self._next: Settled | None = None
        self._since = 0

    def deferred(self, work: Callable[[], T]) -> tuple[T, int]:
        """Work, in a thread, without waiting for the disk; return also since when it is to be settled."""
        with self._store.deferring() as since:
            return work(), since

    async def settled(self, since: int) -> None:
        """Return when everything is durable that was committed before this was called."""
        if self._next is None:
            self._next, self._since = asyncio.get_running_loop().create_future(), since
        self._since = min(self._since, since)  # if that fails, all are told to try again
        joined = self._next
        self._begin()
        await asyncio.shield(joined)

    def _begin(self) -> None:
        if self._next is None or self._running >= self._at_once:
            return
        batch, self._next = self._next, None
        self._running += 1
        self.threads.put(partial(self._store.settle, self._since), partial(self._ended, batch))

    def _ended(self, batch: Settled, _: Any, error: BaseException | None) -> None:
        self._running -= 1
        if error is None:
            batch.set_result(None)
        else:
            batch.set_exception(error)
            batch.exception()  # whoever waited may have left
        self._begin()


@runtime_checkable
class InAFile(Protocol):
    """A store in a file of this machine."""

    path: str


def places_of(store: Store) -> list[str]:
    """Return all names of the place where a store is, the longest first.

    Examples
    --------
    >>> from proband.studies import open_store
    >>> places_of(open_store("memory:")), places_of(open_store("sqlite:////tmp/bolts.db"))
    (['memory:'], ['sqlite:////tmp/bolts.db', '/tmp/bolts.db'])
    """
    files = {store.path, os.path.realpath(store.path)} if isinstance(store, InAFile) else set()
    return sorted({store.url, *files}, key=len, reverse=True)


def _with_last(work: Callable[[Study], T], live: Study) -> tuple[T, tuple[int, str]]:
    return work(live), queries.last_entry(live)


async def _threaded(threads: Executor, work: Callable[[], T]) -> T:
    return await asyncio.shield(asyncio.get_running_loop().run_in_executor(threads, work))
