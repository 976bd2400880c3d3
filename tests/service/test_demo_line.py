"""The simulated line: there is a history, stations go on inspecting, and whoever has the link sees it."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest
from tests.service.running import Running, at

from proband.cli.line import NAME, STATIONS, Line
from proband.studies import Study, open_store


def test_a_line_has_a_history_once(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    Line(store, seed=1).prepare(history=30)
    with Study.open(NAME, store=store, replan="never") as study:
        events = list(study.events())
        finished = [event for event in events if event.kind == "decided"]
        assert len(finished) == 30
        assert {event.station for event in finished} == set(STATIONS)
        times = [event.time for event in events]
        assert times == sorted(times)
        assert times[-1] <= time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + 1))
        assert not study.replay().differences
    Line(store, seed=1).prepare(history=30)
    assert store.length(NAME) == len(events)
    store.close()


def test_the_line_keeps_inspecting(tmp_path: Path) -> None:
    """With a store that has its history already, so that the test need not wait for it."""
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    Line(store).prepare(history=5)
    before = store.length(NAME)
    store.close()
    with Running(f"sqlite:///{tmp_path}/store.db", "--demo") as running:
        end = time.monotonic() + 60
        for _ in itertools.count():
            events = running.call("GET", at(NAME, "events") + f"?after={before}", token=running.link).json["items"]
            if {event["kind"] for event in events} >= {"arrived", "observed"}:
                break
            assert time.monotonic() < end
            time.sleep(0.1)
        assert {event["actor"] for event in events} == {"simulated line"}
        assert running.call("GET", at(NAME, "summary"), token=running.link).json["finished"] >= 5


@pytest.mark.parametrize("option", [("--host", "0.0.0.0"), ("--behind-proxy",)])
def test_a_demonstration_is_for_this_machine_alone(option: tuple[str, ...]) -> None:
    with pytest.raises(AssertionError, match="this machine alone"):
        Running("memory:", "--demo", *option)
