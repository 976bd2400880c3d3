"""The clock of a service jumps: dates never run back, nobody is robbed of a subject, and nothing is lost."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.service.jumpy import CLOCK
from tests.service.running import Running, at, new_study

from proband import Problem
from proband.client import Service, StationQueue
from proband.studies import Study

DAY = 86_400.0


class Clock:
    """Says by how much the clock of the service is wrong."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.set(0.0)

    def set(self, seconds: float) -> None:
        beside = self.file.with_suffix(".new")
        beside.write_text(str(seconds))
        beside.replace(self.file)


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setenv(CLOCK, str(tmp_path / "clock"))
    return Clock(tmp_path / "clock")


def test_a_clock_that_jumps_ahead_and_back(tmp_path: Path, problem: Problem, clock: Clock) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    with Running(store, program=["tests.service.jumpy"]) as running:
        admin = running.link

        def tell(subject: str, test: str, station: str) -> int:
            outcome = {"visual": "clean", "ultrasonic": "ok"}[test]
            told = {"outcomes": {test: outcome}, "station": station}
            return running.call("POST", at("bolts", "subjects", subject, "tell"), told, token=admin).status

        assert running.call("POST", "/api/studies", new_study(problem, name="bolts"), token=admin).status == 201
        given = {"user": "Ada", "role": "viewer", "days": 1}
        token = running.call("POST", "/api/tokens", given, token=admin).json["secret"]
        for subject in ("a", "b"):
            arrival = {"subject": subject, "station": "line 1"}
            assert running.call("POST", at("bolts", "arrive"), arrival, token=admin).status == 201
        clock.set(3 * DAY)
        assert tell("a", "visual", "line 2") == 409, "a lease is as long as it takes, whatever the clock says"
        assert tell("a", "visual", "line 1") == 200
        assert running.call("GET", "/api/me", token=token).status == 401
        clock.set(-DAY)
        assert running.call("GET", "/api/me", token=token).status == 200
        assert tell("b", "visual", "line 2") == 409
        assert tell("a", "ultrasonic", "line 1") == 200
        clock.set(0.0)
        decided = running.call("POST", at("bolts", "subjects", "a", "decide"), {"station": "line 1"}, token=admin)
        assert decided.status == 200
        behind = running.call("GET", at("bolts", "summary"), token=admin).json["clock"]
        assert [round(each["seconds"] / DAY) for each in behind] == [4, 3]
    with Study.open("bolts", store=store, replan="never") as study:
        study.verify()
        times = [event.time for event in study.events()]
        assert times == sorted(times)
        assert study.replay().differences == ()


@pytest.mark.parametrize("year", [1970, 2150])
def test_a_clock_that_is_wrong_by_decades_records_nothing_and_loses_nothing(
    tmp_path: Path, problem: Problem, clock: Clock, year: int
) -> None:
    """A small computer without a battery begins in 1970; what stations tell meanwhile waits at the stations."""
    with Running(f"sqlite:///{tmp_path}/store.db", program=["tests.service.jumpy"]) as running:
        admin = running.link
        assert running.call("POST", "/api/studies", new_study(problem, name="bolts"), token=admin).status == 201
        assert running.call("POST", at("bolts", "arrive"), {"subject": "a"}, token=admin).status == 201
        clock.set((year - 1970) * 365.25 * DAY + DAY - time.time())
        refused = running.call("POST", at("bolts", "arrive"), {"subject": "b"}, token=admin)
        assert (refused.status, refused.json["type"]) == (503, "urn:proband:ClockError")
        assert "set the clock" in refused.detail
        assert "retry-after" in refused.headers
        assert running.call("GET", at("bolts", "subjects", "a", "ask"), token=admin).json["action"] == "visual"
        with (
            Service(running.url, admin, station="line 1", patience=0.0) as client,
            StationQueue(tmp_path / "queue.db", client.study("bolts"), background=False) as queue,
        ):
            queue.arrive("b")
            queue.tell("b", "visual", "clean")
            assert (queue.deliver(), queue.refused()) == (0, [])
            assert "set the clock" in str(queue.trouble)
            clock.set(0.0)
            assert (queue.deliver(), queue.waiting()) == (2, [])
        assert running.call("GET", at("bolts", "verify"), token=admin).json["length"] == 4
