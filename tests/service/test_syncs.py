"""Writes that were committed are made durable together, and nobody waits for more syncs than two."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from proband.errors import StoreBusyError
from proband.service.desk import Syncs


class Disk:
    """A store that syncs when it is let, and may fail."""

    one_turn = False

    def __init__(self, syncs_at_once: int) -> None:
        self.syncs_at_once = syncs_at_once
        self.let = threading.Semaphore(0)
        self.begun: list[int] = []
        self.error: StoreBusyError | None = None

    @contextmanager
    def deferring(self) -> Iterator[int]:
        yield 7

    def settle(self, since: int) -> None:
        self.begun.append(since)
        assert self.let.acquire(timeout=30)
        if self.error is not None:
            raise self.error


async def begun(disk: Disk, syncs: int) -> None:
    async with asyncio.timeout(30):
        while len(disk.begun) < syncs:
            await asyncio.sleep(0.001)
    await asyncio.sleep(0.02)  # more of them would have begun by now
    assert len(disk.begun) == syncs


@pytest.mark.parametrize("at_once", [1, 2])
def test_what_is_committed_during_a_sync_joins_the_next_one(at_once: int) -> None:
    async def work() -> None:
        disk = Disk(at_once)
        syncs = Syncs(disk)
        waiting = []
        for n in range(20):
            waiting.append(asyncio.ensure_future(syncs.settled(9 - n % 3)))
            await begun(disk, min(n + 1, at_once))
        disk.let.release()
        await begun(disk, at_once + 1)
        done = [each.done() for each in waiting]
        assert done == [True] + 19 * [False] if at_once == 1 else sum(done) == 1
        disk.let.release(at_once)
        await asyncio.gather(*waiting)
        assert disk.begun == [9, 7] if at_once == 1 else len(disk.begun) == 3  # since the first of those that joined
        syncs.threads.close()

    asyncio.run(work())


def test_a_sync_that_fails_is_told_to_all_that_joined_it_and_to_nobody_else() -> None:
    async def work() -> None:
        disk = Disk(1)
        syncs = Syncs(disk)
        first = asyncio.ensure_future(syncs.settled(1))
        await begun(disk, 1)
        joined = [asyncio.ensure_future(syncs.settled(1)) for _ in range(3)]
        await asyncio.sleep(0)
        disk.let.release()
        await first
        await begun(disk, 2)
        disk.error = StoreBusyError("the server went away")
        disk.let.release()
        answers = await asyncio.gather(*joined, return_exceptions=True)
        assert all(isinstance(answer, StoreBusyError) for answer in answers)
        disk.error = None
        disk.let.release()
        await syncs.settled(2)
        syncs.threads.close()

    asyncio.run(work())
