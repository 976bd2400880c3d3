"""Kills, stops and forks at random moments: nothing that was acknowledged is lost or doubled, nothing is refused, and
nobody has to mend anything.

The long versions (``make test-crash``) kill a thousand writers on SQLite, and a hundred PostgreSQL servers and two
hundred of their clients; the short ones, in ``make test``, kill fifty in all.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.crash.nursery import Nursery
from tests.crash.writers import AGENTS, PROBLEM, Notes
from tests.postgres import Server, running_server

from proband.studies import Study
from proband.studies.ledger.chain import Event

KILLS_OF_A_LOG = 25
SECONDS_TO_WRITE = 3.0
LINE = 70
"""Bytes of a note, about."""


@dataclass
class Tally:
    """What happened in all rounds of a test."""

    kills: int = 0
    stops: int = 0
    events: int = 0
    acknowledged: int = 0
    unanswered: int = 0
    recorded_unanswered: int = 0
    half_done: int = 0
    begun: float = field(default_factory=time.monotonic)

    def __str__(self) -> str:
        return (
            f"{self.kills} kills and {self.stops} stops in {time.monotonic() - self.begun:.0f} s; {self.events} "
            f"events, {self.acknowledged} requests acknowledged; {self.unanswered} had no answer in the end, of which "
            f"{self.recorded_unanswered} were recorded; {self.half_done} times a file was left with its log beside it"
        )


class Round:
    """One log, its writers, and the checks in the end."""

    def __init__(self, nursery: Nursery, folder: Path, url: str, rng: random.Random) -> None:
        self.nursery, self.folder, self.url, self.rng = nursery, folder, url, rng
        folder.mkdir(parents=True)
        with Study.create(PROBLEM, store=url, agent=rng.choice(AGENTS), seed=rng.randrange(100), name=folder.name):
            pass
        self.writers: dict[int, int] = {}  # by slot

    def spawn(self, slots: int) -> None:
        """Start as many writers as are missing."""
        for slot in range(slots):
            if slot not in self.writers:
                seed = self.rng.randrange(2**30)
                self.writers[slot] = self.nursery.spawn(self.url, self.folder.name, slot, self.folder, seed)

    def let_them_write(self) -> None:
        """Wait for a random number of notes and then for a random moment, so that it suits a busy machine too."""
        due, end = self.noted() + self.rng.randrange(30), time.monotonic() + SECONDS_TO_WRITE
        while self.noted() < due and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(self.rng.uniform(0, 0.02))

    def stop_some(self) -> int:
        """Stop a writer for a moment, in the middle of whatever it does, and let it go on; return how many."""
        if self.rng.random() < 0.5:
            return 0
        process = self.writers[self.rng.choice(list(self.writers))]
        os.kill(process, signal.SIGSTOP)
        time.sleep(self.rng.uniform(0, 0.5))
        os.kill(process, signal.SIGCONT)
        return 1

    def noted(self) -> int:
        """Return how many lines all writers have noted, nearly."""
        return sum(path.stat().st_size for path in self.folder.glob("*.notes")) // LINE

    def kill(self, *slots: int) -> None:
        """Kill writers at the same time, if none has ended with an error."""
        self.look_for_errors()
        self.nursery.kill(*(self.writers.pop(slot) for slot in slots))
        self.look_for_errors()

    def look_for_errors(self) -> None:
        """Check that no writer was shown an error."""
        errors = list(self.folder.glob("*.error"))
        assert not errors, errors[0].read_text()

    def kill_some(self) -> int:
        """Kill one writer, or now and then all of them; return how many."""
        slots = list(self.writers)
        chosen = slots if self.rng.random() < 0.2 else [self.rng.choice(slots)]
        self.kill(*chosen)
        return len(chosen)

    def check(self, tally: Tally) -> None:
        """Open the study as if nothing had happened, and compare it with the notes of all writers."""
        self.kill(*self.writers)
        with Study.open(self.folder.name, store=self.url, station="inspector", replan="now") as study:
            assert study.verify().length == study.store.length(study.name)
            self.compare(list(study.events()), tally)
            replayed = study.replay()
            assert not replayed.differences, replayed
            for subject in study.subjects(open=True):
                study.take(subject, at_once=True)
                study.decide(subject, "fail")
            assert not study.subjects(open=True)
            assert not study.replay().differences

    def compare(self, events: list[Event], tally: Tally) -> None:
        """Check that every answer stands in the log once, and nothing else does that nobody asked for."""
        notes = [Notes(path) for path in self.folder.glob("*.notes")]
        tried = {key: request for each in notes for key, request in each.tried.items()}
        told = {key: answer for each in notes for key, answer in each.told.items()}
        recorded = groups(events[1:], tried)
        assert sum(map(len, recorded.values())) == len(events) - 1
        lost = told.keys() - recorded.keys()
        assert not lost, f"acknowledged and lost: {[tried[key] for key in lost]}"
        for key, group in recorded.items():
            agrees(group, tried[key], told.get(key))
        unanswered = tried.keys() - told.keys()
        tally.events += len(events)
        tally.acknowledged += len(told)
        tally.unanswered += len(unanswered)
        tally.recorded_unanswered += len(unanswered & recorded.keys())


def groups(events: list[Event], tried: dict[str, dict[str, Any]]) -> dict[str, list[Event]]:
    """Return events by the requests that they record; without a key, they are known by what they are about."""
    about = {
        (request["kind"], request["subject"], test): key
        for key, request in tried.items()
        for test in request.get("told", [request.get("test")])
    }
    found: dict[str, list[Event]] = {}
    for event in events:
        key = event.key.partition(" part ")[0]
        if key not in tried:
            key = about[event.kind, event.subject, event.data.get("test")]
        found.setdefault(key, []).append(event)
    return found


def agrees(events: list[Event], request: dict[str, Any], answer: object) -> None:
    """Check events against the request that they record, and the answer that was given."""
    first = events[0]
    assert {(event.kind, event.subject) for event in events} == {(request["kind"], request["subject"])}
    assert [event.number for event in events] == list(range(first.number, first.number + len(events)))
    if "told" in request:
        assert [(event.data["test"], event.data["outcome"]) for event in events] == list(request["told"].items())
    else:
        assert len(events) == 1
    for name in ("test", "outcome", "known", "decision"):
        if request.get(name) is not None:
            assert first.data[name] == request[name], (first, request)
    if answer is not None:
        assert answer == (first.data["decision"] if first.kind == "decided" else first.subject)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as ready:
        yield ready


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running


def kill_writers_on_sqlite(nursery: Nursery, folder: Path, kills: int) -> Tally:
    """Kill writers, 1 to 8 at work at a time, on a new file every now and then."""
    tally, rng, n = Tally(), random.Random(kills), 0
    while tally.kills < kills:
        n += 1
        path = folder / f"{n}.db"
        each = Round(nursery, folder / f"round {n}", f"sqlite:///{path}", rng)
        due = min(kills, tally.kills + KILLS_OF_A_LOG)
        while tally.kills < due:
            each.spawn(rng.randint(1, 8))
            each.let_them_write()
            tally.stops += each.stop_some()
            tally.kills += each.kill_some()
            tally.half_done += not each.writers and has_log(path)
        each.check(tally)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return tally


def has_log(path: Path) -> bool:
    """Whether a file was left with a log beside it, half of which may be a write that was not finished."""
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def kill_clients_of_postgresql(nursery: Nursery, folder: Path, server: Server, kills: int) -> Tally:
    """Kill writers, 1 to 8 at work at a time, while the server goes on."""
    tally, rng = Tally(), random.Random(kills)
    while tally.kills < kills:
        each = Round(nursery, folder / f"{kills} clients {tally.kills}", server.url, rng)
        due = min(kills, tally.kills + KILLS_OF_A_LOG)
        while tally.kills < due:
            each.spawn(rng.randint(1, 8))
            each.let_them_write()
            tally.stops += each.stop_some()
            tally.kills += each.kill_some()
        each.check(tally)
    return tally


def kill_servers(nursery: Nursery, folder: Path, server: Server, kills: int) -> Tally:
    """Kill the server under 1 to 8 writers, which go on when it is back."""
    tally, rng = Tally(), random.Random(kills)
    while tally.kills < kills:
        each = Round(nursery, folder / f"{kills} servers {tally.kills}", server.url, rng)
        due = min(kills, tally.kills + KILLS_OF_A_LOG)
        each.spawn(rng.randint(1, 8))
        while tally.kills < due:
            each.let_them_write()
            server.kill(whole=rng.random() < 0.7)
            server.start()
            tally.kills += 1
        each.let_them_write()
        each.check(tally)
    return tally


def test_thirty_kills_on_sqlite(nursery: Nursery, tmp_path: Path) -> None:
    assert kill_writers_on_sqlite(nursery, tmp_path, 30).acknowledged > 30


def test_ten_kills_of_clients_of_postgresql(nursery: Nursery, tmp_path: Path, server: Server) -> None:
    assert kill_clients_of_postgresql(nursery, tmp_path, server, 10).acknowledged > 10


def test_ten_kills_of_postgresql(nursery: Nursery, tmp_path: Path, server: Server) -> None:
    assert kill_servers(nursery, tmp_path, server, 10).acknowledged > 10


@pytest.mark.crash
def test_a_thousand_kills_on_sqlite(nursery: Nursery, tmp_path: Path) -> None:
    tally = kill_writers_on_sqlite(nursery, tmp_path, 1000)
    sys.stdout.write(f"{tally}\n")
    assert tally.unanswered > tally.recorded_unanswered > 0


@pytest.mark.crash
def test_two_hundred_kills_of_clients_of_postgresql(nursery: Nursery, tmp_path: Path, server: Server) -> None:
    tally = kill_clients_of_postgresql(nursery, tmp_path, server, 200)
    sys.stdout.write(f"{tally}\n")
    assert tally.acknowledged > 200


@pytest.mark.crash
def test_a_hundred_kills_of_postgresql(nursery: Nursery, tmp_path: Path, server: Server) -> None:
    tally = kill_servers(nursery, tmp_path, server, 100)
    sys.stdout.write(f"{tally}\n")
    assert tally.acknowledged > 100
