"""Live updates: the events of a study as they are written, by whichever process.

For every study that somebody watches there is one feed: it reads what is new in the log, at once after a write of this
process, and twice a second for those of others, and keeps the last events ready to be sent. While many are written, it
looks ten times a second: each look wakes all who watch, and what they are told together they are told once. A watcher
who falls behind reads from the store until he has caught up; nothing is queued for him, so that a slow one costs
nothing.

What is sent is the entry's body, as it was hashed, with the event's number as its id: a watcher that was cut off names
the last one that he has, and goes on from there.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial

from proband.errors import ProbandError, TooManyRequestsError
from proband.service.desk import Desk
from proband.studies.stores.contract import Entry

LOOK = 0.5
"""Seconds after which a feed looks for what other processes wrote, and a stream whether its watcher may go on."""

PACE = 0.1
"""Seconds between two looks while there is something new."""

PING = 15.0
"""Seconds of silence after which a comment is sent, so that nobody takes the connection for dead."""

READY = 2000
"""Events that a feed keeps ready, at least."""

PAGE = 500
"""Events that are read at a time."""


class Feed:
    """What is new in one study."""

    def __init__(self, desk: Desk, study: str, position: int) -> None:
        self._desk, self._study = desk, study
        self.position = position
        self._ready: list[bytes] = []  # as they are sent, the last one that of the position
        self._news, self._nudge = asyncio.Event(), asyncio.Event()
        self.watchers, self._closed = 0, False
        self.task = asyncio.create_task(self._follow())

    def nudge(self) -> None:
        """Look now: this process wrote something."""
        self._nudge.set()

    async def after(self, position: int, seconds: float) -> tuple[bytes, int]:
        """Return some of the events after a position, as they are sent, and the number of the last one.

        The first is waited for, for so many seconds at most.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while position >= self.position and not self._closed:
                    await self._news.wait()
        if position >= self.position:
            return b"", position
        first = position - (self.position - len(self._ready))
        if first >= 0:
            parts = self._ready[first : first + PAGE]
            return b"".join(parts), position + len(parts)
        entries = await self._read(position)
        return b"".join(map(_sent, entries)), entries[-1].number if entries else position

    def close(self) -> None:
        """Follow no more, and let nobody wait."""
        self._closed = True
        self._news.set()
        self.task.cancel()

    async def _read(self, position: int) -> list[Entry]:
        try:
            return await self._desk.run(partial(self._desk.store.read, self._study, position, PAGE))
        except ProbandError:  # the store is away, or busy: it is looked at again
            await asyncio.sleep(LOOK)
            return []

    async def _follow(self) -> None:
        while True:
            entries = await self._read(self.position)
            if entries:
                self._tell(entries)
                if len(entries) < PAGE:
                    await asyncio.sleep(PACE)
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(self._nudge.wait(), LOOK)
            self._nudge.clear()

    def _tell(self, entries: list[Entry]) -> None:
        """Keep what is new ready, and wake all who watch."""
        self._ready += map(_sent, entries)
        if len(self._ready) > 2 * READY:
            del self._ready[:-READY]
        self.position = entries[-1].number
        self._news.set()
        self._news = asyncio.Event()


class Feeds:
    """The feeds of all studies that somebody watches."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._feeds: dict[str, Feed] = {}
        self._by_user: Counter[str] = Counter()
        self._closing = False
        desk.wrote = self.nudge

    @property
    def watchers(self) -> int:
        """Streams that are open."""
        return self._by_user.total()

    def nudge(self, study: str) -> None:
        """Look at a study now."""
        if study in self._feeds:
            self._feeds[study].nudge()

    def check_room(self, user: str) -> None:
        """Raise if a user, or all together, have too many streams open."""
        limits = self._desk.limits
        if self._by_user[user] >= limits.streams_each or self.watchers >= limits.streams:
            raise TooManyRequestsError(
                f"{self._by_user[user]} event streams of {user!r} are open, and {self.watchers} in all; at most "
                f"{limits.streams_each} and {limits.streams} are; close one, or let several pages share one"
            )

    async def position(self, study: str, seen: int) -> int:
        """Return after which event a stream begins for one who has seen `seen`.

        A log that was put back may be shorter than what was seen of it. To be asked before the answer begins: what is
        written once the watcher has its headers is news.
        """
        return min(seen, await self._length(study))

    async def stream(self, study: str, after: int, user: str, still: Callable[[], bool]) -> AsyncIterator[bytes]:
        """Yield the events of a study after a position as server-sent events, until the service closes."""
        self.check_room(user)
        self._by_user[user] += 1
        try:
            async for part in self._sent(study, after, still):
                yield part
        finally:
            self._by_user[user] -= 1

    async def _sent(self, study: str, after: int, still: Callable[[], bool]) -> AsyncIterator[bytes]:
        feed = self._feeds.get(study)
        if feed is None:
            length = await self._length(study)
            feed = self._feeds.get(study) or Feed(self._desk, study, length)
            self._feeds[study] = feed
        feed.watchers += 1
        try:
            sent, told = b"retry: 1000\n\n", time.monotonic()
            while still() and not self._closing:
                if sent or time.monotonic() >= told + PING:
                    yield sent or b": still here\n\n"
                    told = time.monotonic()
                sent, after = await feed.after(after, LOOK)
        finally:
            feed.watchers -= 1
            if not feed.watchers:
                feed.close()
                self._feeds.pop(study, None)

    async def _length(self, study: str) -> int:
        return await self._desk.run(partial(self._desk.store.length, study))

    def close(self) -> None:
        """End all streams."""
        self._closing = True
        for feed in self._feeds.values():
            feed.close()


def _sent(entry: Entry) -> bytes:
    return f"id: {entry.number}\ndata: {entry.body}\n\n".encode()
