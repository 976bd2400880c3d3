"""Event streams as a weapon: opened by the dozen, dropped, never read. Whoever else is there notices nothing."""

from __future__ import annotations

import asyncio
import itertools
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.service.running import Running, at, new_study
from tests.service.test_stream import watching

from proband import Problem
from proband.client import Service
from proband.service.access.log import AccessLog
from proband.service.access.tokens import Role
from proband.service.desk import Desk
from proband.service.feeds import PACE, Feeds
from proband.service.limits import Limits
from proband.studies import Study, open_store
from proband.studies.stores import MemoryStore

MEGABYTE = 2**20


def open_stream(running: Running, study: str) -> socket.socket:
    """Open a stream and read nothing of it, with as little room as there can be on the way."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", running.port))
    connection.sendall(f"GET {at(study, 'stream')} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return connection


def streams_open(running: Running) -> int:
    lines = running.call("GET", "/metrics").body.decode().splitlines()
    return int(next(line for line in lines if line.startswith("proband_streams_open ")).split()[1])


@pytest.fixture
def running(tmp_path: Path, problem: Problem) -> Iterator[Running]:
    with Running(f"sqlite:///{tmp_path}/store.db", "--open") as service:
        assert service.call("POST", "/api/studies", new_study(problem, name="bolts")).status == 201
        yield service


def test_streams_that_are_dropped_at_once_are_forgotten(running: Running) -> None:
    for _ in range(3 * Limits().streams_each):
        open_stream(running, "bolts").close()
    end = time.monotonic() + 60
    while streams_open(running):
        assert running.call("POST", at("bolts", "arrive"), {}).status == 201  # with the next event they are noticed
        assert time.monotonic() < end, "streams that nobody reads any more still count"
    with watching(running, "bolts") as events:
        assert next(events)["kind"] == "created"


def test_streams_that_nobody_reads_cost_next_to_nothing(running: Running) -> None:
    with ExitStack() as closing, watching(running, "bolts") as events:
        for _ in range(Limits().streams_each - 1):
            closing.enter_context(open_stream(running, "bolts"))
        next(events)
        process = psutil.Process(running.process.pid)
        before = process.memory_info().rss
        for n in range(150):
            said = {"subject": f"bolt {n} " + "x" * 150}
            assert running.call("POST", at("bolts", "arrive"), said).status == 201
        numbers = [event["number"] for event in itertools.islice(events, 150)]
        assert numbers == list(range(2, 152))
        assert process.memory_info().rss - before < 60 * MEGABYTE


@pytest.mark.slow
def test_as_many_streams_as_there_may_be_get_everything_and_keep_no_station_waiting(
    tmp_path: Path, problem: Problem
) -> None:
    store, limits, written = f"sqlite:///{tmp_path}/store.db", Limits(), 100
    where = open_store(store)
    access = AccessLog(where)
    users = limits.streams // limits.streams_each
    secrets = [access.make(f"user {n}", Role.OPERATOR, by="tests")[0] for n in range(users + 1)]
    where.close()
    with Running(store) as running, ExitStack() as closing, ThreadPoolExecutor(limits.streams) as threads:
        admin = running.link
        assert running.call("POST", "/api/studies", new_study(problem, name="bolts"), token=admin).status == 201
        streams = [
            closing.enter_context(watching(running, "bolts", secret))
            for secret in secrets[:users]
            for _ in range(limits.streams_each)
        ]
        too_many = running.call("GET", at("bolts", "stream"), token=secrets[users])
        assert too_many.status == 429
        assert f"{limits.streams} in all" in too_many.detail

        def seen(stream: Iterator[dict[str, Any]]) -> list[int]:
            return [event["number"] for event in itertools.islice(stream, written + 1)]

        reading = [threads.submit(seen, stream) for stream in streams]
        with Service(running.url, secrets[users], station="line 1") as client:
            for n in range(written):
                client.study("bolts").arrive(subject=f"bolt {n}")
        assert all(each.result(60) == list(range(1, written + 2)) for each in reading)
        assert running.call("GET", "/health").status == 200


def test_many_events_are_told_together(problem: Problem) -> None:
    """While much is written each watcher is woken ten times a second, not for every event; none is left out."""

    async def work() -> None:
        desk = Desk(MemoryStore(), Limits())
        Study.create(problem, name="bolts", agent="test-everything", store=desk.store, replan="never").close()
        watched, parts = Feeds(desk), list[bytes]()
        stream = watched.stream("bolts", 0, "Ada", lambda: True)

        async def watch() -> None:
            async for part in stream:
                parts.append(part)
                if b"id: 301\n" in part:
                    return

        watching, began = asyncio.create_task(watch()), time.monotonic()
        for _ in range(300):
            await desk.write("bolts", Study.arrive, actor="QA", station=None)
        await asyncio.wait_for(watching, 60)
        looks = 3 + (time.monotonic() - began) / PACE
        await stream.aclose()
        assert len(parts) <= looks
        numbers = [int(number) for part in parts for number in re.findall(rb"^id: (\d+)$", part, flags=re.MULTILINE)]
        assert numbers == list(range(1, 302))
        assert watched.watchers == 0
        await desk.close()

    asyncio.run(work())


@pytest.mark.parametrize(
    "lines",
    [
        "Host: evil.example", "Host: localhost.evil.example", "Host: localhost:80@evil.example", "Host:",
        "Host: 127.0.0.1.evil.example:8765", "Host: [::1", "Host: evil.example\r\nHost: localhost",
        "Host: localhost\r\nX-Forwarded-Host: evil.example\r\nHost: evil.example",
    ],
)  # fmt: skip
def test_another_host_gets_no_stream_and_no_study(running: Running, lines: str) -> None:
    for path in (at("bolts", "stream"), "/api/studies", "/"):
        answer = running.raw(f"GET {path} HTTP/1.1\r\n{lines}\r\nConnection: close\r\n\r\n".encode())
        assert answer.split(b" ", 2)[1] in (b"400", b"421"), answer[:200]
        assert b"bolts" not in answer.partition(b"\r\n\r\n")[2]
