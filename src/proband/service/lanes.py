"""Threads for calls of studies, as cheap as they can be: a quick call takes less than handing it over does elsewhere.

Calls wait for their turn on the event loop, where waiting is cheap. All that is counted here is counted on the loop,
without locks; a call goes to a thread by one queue, and comes back by another, for which the loop is woken once.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from proband.errors import ServiceError

T = TypeVar("T")
Work = Callable[[], Any]


class Threads:
    """Threads that take calls from a queue; they are started when they are needed, and end with the process."""

    def __init__(self, name: str, most: int) -> None:
        self._name, self._most = name, most
        self._queue: queue.SimpleQueue[tuple[Work, Callable[[Any, BaseException | None], None]] | None]
        self._queue, self._started, self._busy = queue.SimpleQueue(), 0, 0
        self._closed = False
        self._done: deque[tuple[Callable[[Any, BaseException | None], None], Any, BaseException | None]] = deque()
        self._told = False  # that something is done

    def put(self, work: Work, ended: Callable[[Any, BaseException | None], None]) -> None:
        """Have a call made; `ended` is called on the event loop with what it returned or raised."""
        if self._closed:
            raise ServiceError("the service has ended; nothing more is done; start it again")
        self._busy += 1
        if self._busy > self._started < self._most:
            self._started += 1
            loop = asyncio.get_running_loop()
            threading.Thread(target=self._run, args=(loop,), name=self._name, daemon=True).start()
        self._queue.put((work, ended))

    def close(self) -> None:
        """Take no more calls; those that wait are not made."""
        self._closed = True
        for _ in range(self._started):
            self._queue.put(None)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        while (taken := self._queue.get()) is not None and not self._closed:
            work, ended = taken
            try:
                answer, error = work(), None
            except BaseException as raised:  # whoever waits gets it
                answer, error = None, raised
            self._done.append((ended, answer, error))
            if not self._told:  # else the loop has not looked yet, and will find this, too
                self._told = True
                try:
                    loop.call_soon_threadsafe(self._collect)
                except RuntimeError:  # the loop has ended
                    return
            del taken, work, ended, answer, error

    def _collect(self) -> None:
        self._told = False  # before looking: what is done from here on is told again
        while self._done:
            ended, answer, error = self._done.popleft()
            self._busy -= 1
            ended(answer, error)


class Lanes:
    """So many calls at a time for each study, or what else stands for the same queue; the others wait."""

    def __init__(self, threads: Threads, side_by_side: int) -> None:
        self._threads, self._side_by_side = threads, side_by_side
        self._at_work: dict[str, int] = {}
        self._waiting: dict[str, deque[tuple[Work, asyncio.Future[Any], Callable[[], None]]]] = {}

    async def run(self, lane: str, work: Callable[[], T], end: Callable[[], None] = lambda: None) -> T:
        """Work in a thread when it is the call's turn; `end` is called when it is done, whoever still waits."""
        waiter: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        if self._at_work.get(lane, 0) < self._side_by_side:
            self._begin(lane, work, waiter, end)
        else:
            self._waiting.setdefault(lane, deque()).append((work, waiter, end))
        return await waiter

    def _begin(self, lane: str, work: Work, waiter: asyncio.Future[Any], end: Callable[[], None]) -> None:
        self._at_work[lane] = self._at_work.get(lane, 0) + 1
        self._threads.put(work, partial(self._ended, lane, waiter, end))

    def _ended(
        self,
        lane: str,
        waiter: asyncio.Future[Any],
        end: Callable[[], None],
        answer: Any,
        error: BaseException | None,
    ) -> None:
        self._at_work[lane] -= 1
        end()
        if not waiter.done():
            if error is None:
                waiter.set_result(answer)
            else:
                waiter.set_exception(error)
        self._go_on(lane)

    def _go_on(self, lane: str) -> None:
        """Begin the next call of a lane; one that nobody waits for any more, and that did not begin, is not made."""
        waiting = self._waiting.get(lane)
        while waiting:
            work, waiter, end = waiting.popleft()
            if not waiter.done():
                self._begin(lane, work, waiter, end)
                return
            end()
        self._waiting.pop(lane, None)
        if not self._at_work[lane]:
            del self._at_work[lane]
