"""The service is killed under load, again and again: nothing that was acknowledged is lost or doubled."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.postgres import running_server
from tests.service.running import Running, free_port, new_study

from proband import Problem
from proband.client import RemoteStudy, Service
from proband.studies import Study, open_store

pytestmark = pytest.mark.slow  # they wait, kill and try thousands of requests

STATIONS = 6


class Station:
    """Inspects subjects until it is told to stop, and remembers what was acknowledged."""

    def __init__(self, url: str, number: int, study: str) -> None:
        self.name = f"line {number}"
        self._client = Service(url, station=self.name, patience=120.0)
        self._study: RemoteStudy = self._client.study(study)
        self.acknowledged: dict[str, str] = {}
        self.error: BaseException | None = None
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def _work(self) -> None:
        try:
            n = 0
            while not self.stop.is_set():
                n += 1
                subject = f"{self.name} {n}"
                self._study.arrive(subject=subject, key=f"{subject} arrive")
                self.acknowledged[f"{subject} arrive"] = "arrived"
                while (advice := self._study.ask(subject)).kind == "test":
                    self._study.tell(subject, advice.action, {"visual": "clean", "ultrasonic": "ok"}[advice.action],
                                     key=f"{subject} {advice.action}")  # fmt: skip
                    self.acknowledged[f"{subject} {advice.action}"] = "observed"
                assert self._study.decide(subject, advice.action, key=f"{subject} decide") == advice.action
                self.acknowledged[f"{subject} decide"] = "decided"
        except BaseException as error:
            self.error = error
        finally:
            self._client.close()


def check(store: str, study: str, stations: list[Station]) -> None:
    where = open_store(store)
    log = {entry.key: entry for entry in where.read(study)}
    assert len(log) == where.length(study)
    where.close()
    acknowledged = {key: kind for station in stations for key, kind in station.acknowledged.items()}
    assert len(acknowledged) > 50
    assert acknowledged.keys() <= log.keys(), "what was acknowledged is lost"
    with Study.open(study, store=store, replan="never") as here:
        here.verify()
        events = list(here.events(1))
        assert not here.replay().differences
    twice = Counter((e.kind, e.subject, e.data.get("test")) for e in events)
    assert max(twice.values()) == 1, "something is recorded twice"
    assert {e.key: e.kind for e in events if e.key in acknowledged} == acknowledged
    assert all(e.station == str(e.subject).rpartition(" ")[0] for e in events)


def finish(stations: list[Station]) -> None:
    for station in stations:
        station.stop.set()
    for station in stations:
        station.thread.join(120)
        assert station.error is None, station.error


def test_a_service_on_sqlite(tmp_path: Path, problem: Problem) -> None:
    store, port = f"sqlite:///{tmp_path}/store.db", free_port()
    service = Running(store, "--open", port=port)
    assert service.call("POST", "/api/studies", new_study(problem, name="bolts")).status == 201
    stations = [Station(service.url, n, "bolts") for n in range(STATIONS)]
    for _ in range(4):
        wait_for_progress(stations, 20)
        service.kill()
        service = Running(store, "--open", port=port)
    wait_for_progress(stations, 20)
    finish(stations)
    service.stop()
    check(store, "bolts", stations)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_two_services_on_one_store(kind: str, tmp_path: Path, problem: Problem, request: pytest.FixtureRequest) -> None:
    url = f"sqlite:///{tmp_path}/store.db" if kind == "sqlite" else request.getfixturevalue("postgresql_url")
    ports = [free_port(), free_port()]
    running = [Running(url, "--open", port=port) for port in ports]
    assert running[0].call("POST", "/api/studies", new_study(problem, name="bolts")).status == 201
    stations = [Station(running[n % 2].url, n, "bolts") for n in range(STATIONS)]
    for turn in range(4):
        wait_for_progress(stations, 20)
        running[turn % 2].kill()
        running[turn % 2] = Running(url, "--open", port=ports[turn % 2])
    wait_for_progress(stations, 20)
    finish(stations)
    seen = [each.call("GET", "/api/studies/bolts/subjects?open=false&limit=1000").json["items"] for each in running]
    assert seen[0] == seen[1]
    for each in running:
        each.stop()
    check(url, "bolts", stations)


def test_two_services_whose_database_is_killed(problem: Problem) -> None:
    """Writes are acknowledged after a sync that many of them share; the server dies between and within these."""
    with (
        running_server() as server,
        Running(server.url, "--open") as first,
        Running(server.url, "--open") as second,
    ):
        running = [first, second]
        assert running[0].call("POST", "/api/studies", new_study(problem, name="bolts")).status == 201
        stations = [Station(running[n % 2].url, n, "bolts") for n in range(STATIONS)]
        for turn in range(6):
            wait_for_progress(stations, 20)
            server.kill(whole=turn % 2 == 0)
            server.start()
        wait_for_progress(stations, 20)
        finish(stations)
        check(server.url, "bolts", stations)


def wait_for_progress(stations: list[Station], writes: int) -> None:
    before = sum(len(station.acknowledged) for station in stations)
    end = time.monotonic() + 120
    while sum(len(station.acknowledged) for station in stations) < before + writes:
        for station in stations:
            assert station.error is None, station.error
        assert time.monotonic() < end, "the stations do not get on"
        time.sleep(0.02)


@pytest.mark.parametrize("write", ["token", "study"])
def test_two_services_know_the_same_tokens_and_studies(postgresql_url: str, problem: Problem, write: str) -> None:
    with Running(postgresql_url) as first, Running(postgresql_url) as second:
        admin = first.link
        given = {"user": "Ada", "role": "engineer"}
        made = first.call("POST", "/api/tokens", given, token=admin).json
        assert second.call("GET", "/api/me", token=made["secret"]).json["user"] == "Ada"
        if write == "study":
            new = new_study(problem, name="shared")
            assert first.call("POST", "/api/studies", new, token=made["secret"]).status == 201
            assert second.call("POST", "/api/studies/shared/arrive", {}, token=made["secret"]).status == 201
            assert first.call("GET", "/api/studies/shared/subjects/1", token=made["secret"]).status == 200
            return
        second.call("DELETE", f"/api/tokens/{made['id']}", token=second.link)
        assert second.call("GET", "/api/me", token=made["secret"]).status == 401
        end = time.monotonic() + 30
        while first.call("GET", "/api/me", token=made["secret"]).status == 200:
            assert time.monotonic() < end
            time.sleep(0.05)
