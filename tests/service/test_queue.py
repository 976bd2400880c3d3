"""A station's queue: accepted on disk, delivered in order, once, whatever happens in between."""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.service.running import Running, free_port, new_study

from proband import Problem
from proband.client import Service, StationQueue
from proband.errors import ServiceError, StoreError, StudyError, UnknownNameError
from proband.studies import Study

ROOT = Path(__file__).parents[2]


def kinds(study: str, store: str) -> list[tuple[str, str | None]]:
    with Study.open(study, store=store, replan="never") as here:
        return [(event.kind, event.subject) for event in here.events(1)]


def until_empty(queue: StationQueue) -> None:
    end = time.monotonic() + 60
    while queue.waiting():
        assert time.monotonic() < end, queue.trouble
        time.sleep(0.02)


def test_what_is_told_while_the_service_is_away_is_delivered_later(
    tmp_path: Path, store: str, tokens: dict[str, str], problem: Problem
) -> None:
    port = free_port()
    with (
        Service(f"http://127.0.0.1:{port}", tokens["engineer"], station="line 1") as client,
        StationQueue(tmp_path / "queue.db", client.study("queued")) as queue,
    ):
        queue.arrive("a", {"visual": "clean"})
        queue.tell("a", "ultrasonic", "ok")
        last = queue.decide("a", "pass")
        assert [each.verb for each in queue.waiting()] == ["arrive", "tell", "decide"]
        with pytest.raises(ServiceError, match="waits for the service"):
            queue.ask("a")
        # Beforehand: the queue delivers as soon as the service is there, and what is told of no study is refused.
        Study.create(problem, name="queued", agent="test-everything", store=store, replan="never").close()
        with Running(store, port=port):
            assert queue.wait(last).state == "delivered"
            assert queue.waiting() == queue.refused() == []
            queue.arrive("b")
            assert queue.ask("b").action == "visual"
            until_empty(queue)
    assert kinds("queued", store) == [("arrived", "a"), ("observed", "a"), ("decided", "a"), ("arrived", "b")]
    assert (tmp_path / "queue.db").stat().st_mode & 0o077 == 0


def test_what_is_refused_is_kept_with_its_reason_and_stands_in_nobodys_way(
    service: Running, tokens: dict[str, str], study: str, tmp_path: Path
) -> None:
    with (
        Service(service.url, tokens["operator"], station="line 1") as client,
        StationQueue(tmp_path / "queue.db", client.study(study), background=False) as queue,
    ):
        queue.arrive("a")
        wrong = queue.tell("a", "visual", "blue")
        queue.tell("a", "visual", "rusty")
        queue.correct("a", "visual", "clean", reason="wrong tray")
        queue.void("a", reason="dropped")
        queue.arrive("b")
        queue.take("b", at_once=True)
        queue.decide("b", "pass")
        queue.reveal("b", {"ultrasonic": "ok"})
        assert queue.deliver() == 9
        [refused] = queue.refused()
        assert refused.number == wrong.number
        assert "blue" in str(refused.answer)
        queue.again(wrong.number)
        assert queue.deliver() == 1
        assert queue.delivery(wrong.number).state == "refused"
        with pytest.raises(UnknownNameError, match="no delivery 99"):
            queue.delivery(99)
        with pytest.raises(StudyError, match="needs its name"):
            queue.arrive("")
        with pytest.raises(StudyError, match="finite"):
            queue.tell("b", "visual", float("nan"))


def test_a_token_that_ended_loses_nothing(service: Running, tokens: dict[str, str], study: str, tmp_path: Path) -> None:
    path = tmp_path / "queue.db"
    with (
        Service(service.url, "proband_ended") as nobody,
        StationQueue(path, nobody.study(study), background=False) as queue,
    ):
        queue.arrive("a")
        assert queue.deliver() == 0
        assert "opens nothing" in str(queue.trouble)
    with Service(service.url, tokens["operator"]) as client, StationQueue(path, client.study(study)) as queue:
        until_empty(queue)
        assert client.study(study).subject("a").station == "the operator"


def test_a_queue_whose_disk_fails_goes_on_when_it_works_again(
    service: Running, tokens: dict[str, str], study: str, tmp_path: Path
) -> None:
    """What was delivered cannot be noted: it is sent again later, under its key, and counts once."""
    path = tmp_path / "queue.db"
    with (
        Service(service.url, tokens["operator"]) as client,
        StationQueue(path, client.study(study), background=False) as first,
        sqlite3.connect(path) as other,
    ):
        last = first.arrive("a")
        other.execute("CREATE TRIGGER full BEFORE UPDATE ON deliveries BEGIN SELECT RAISE(ABORT, 'full'); END")
        with StationQueue(path, client.study(study)) as queue:
            end = time.monotonic() + 60
            while queue.trouble is None:
                assert time.monotonic() < end
                time.sleep(0.02)
            assert "cannot be used (full)" in queue.trouble
            other.execute("DROP TRIGGER full")
            assert queue.wait(last).state == "delivered"
        assert [each.name for each in client.study(study).subjects()] == ["a"]
    other.close()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with Service("http://127.0.0.1:1") as away, pytest.raises(StoreError, match="cannot be opened"):
        StationQueue(tmp_path / "nowhere" / "queue.db", away.study("bolts"))


STATION = """
import sys
from proband.client import Service, StationQueue
url, token, study, path, first = sys.argv[1:]
queue = StationQueue(path, Service(url, token, station="line 1").study(study))
for n in range(int(first), int(first) + 100000):
    queue.arrive(f"s{n}")
    queue.tell(f"s{n}", {"visual": "clean", "ultrasonic": "ok"})
    queue.decide(f"s{n}", "pass")
    print(n, flush=True)
"""


@pytest.mark.slow
def test_a_station_that_is_killed_again_and_again_delivers_everything_once_in_order(
    tmp_path: Path, store: str, tokens: dict[str, str], problem: Problem
) -> None:
    """The station is killed, and the service with it, while they work; what was accepted arrives once, in order."""
    port, path, first = free_port(), tmp_path / "queue.db", 0
    url = f"http://127.0.0.1:{port}"
    service = Running(store, port=port)
    made = service.call("POST", "/api/studies", new_study(problem, name="killed"), token=tokens["engineer"])
    assert made.status == 201
    for turn in range(5):
        command = [sys.executable, "-c", STATION, url, tokens["operator"], "killed", str(path), str(first)]
        station = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert station.stdout is not None
        accepted = [int(station.stdout.readline()) for _ in range(8)]
        if turn % 2:
            service.kill()
            accepted += [int(station.stdout.readline()) for _ in range(4)]
        os.kill(station.pid, signal.SIGKILL)
        accepted += [int(line) for line in station.stdout]
        station.stdout.close()
        station.wait()
        first = accepted[-1] + 2  # the one after the last may have been begun
        if turn % 2:
            service = Running(store, port=port)
    with (
        Service(url, tokens["operator"], station="line 1") as client,
        StationQueue(path, client.study("killed"), background=False) as queue,
    ):
        while queue.waiting():
            queue.deliver()
        assert queue.refused() == []
        taken = [queue.delivery(n) for n in range(1, queue.arrive("last").number)]
        queue.deliver()
    service.stop()
    named = [("arrived" if each.verb == "arrive" else each.verb, each.subject) for each in taken]
    recorded = kinds("killed", store)[:-1]
    verbs = {"arrived": "arrived", "observed": "tell", "decided": "decide"}
    told = [(verbs[kind], subject) for (kind, subject), _ in itertools.groupby(recorded)]
    assert told == named
    assert len(recorded) == sum(2 if verb == "tell" else 1 for verb, _ in named)
