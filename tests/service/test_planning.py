"""A plan in the making keeps no station waiting, and what takes long keeps nothing else waiting."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path

import pytest
from tests.service.running import Running, at

from proband import Problem

pytestmark = pytest.mark.slow  # they wait, kill and try thousands of requests

ROOT = Path(__file__).parents[2]


@pytest.fixture
def slow(tmp_path: Path, problem: Problem, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with a study whose agent takes long over its plans, and the file in which it says so."""
    monkeypatch.setenv("PROBAND_SLOW_PLAN", "4")
    monkeypatch.setenv("PROBAND_SLOW_MARK", str(tmp_path / "mark"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    problem.save(tmp_path / "bolts.toml")
    subprocess.run(
        [sys.executable, "-m", "proband", "study", "create", "bolts.toml", "--name", "bolts",
         "--agent", "benchmarks.service.slow:Slow", "--store", "sqlite:///store.db"],
        cwd=tmp_path, check=True, capture_output=True, env=os.environ.copy(),
    )  # fmt: skip
    return tmp_path / "mark"


def said(mark: Path) -> list[str]:
    return mark.read_text().split() if mark.exists() else []


def test_stations_go_on_while_a_plan_is_made(slow: Path) -> None:
    with Running("sqlite:///store.db", "--open", folder=slow.parent) as running:

        def inspect(name: str) -> None:
            assert running.call("POST", at("bolts", "arrive"), {"subject": name}).status == 201
            assert running.call("GET", at("bolts", "subjects", name, "ask")).status == 200
            shown = {"outcomes": {"visual": "clean", "ultrasonic": "ok"}}
            assert running.call("POST", at("bolts", "subjects", name, "tell"), shown).status == 200
            assert running.call("POST", at("bolts", "subjects", name, "decide"), {}).json["decision"] == "pass"

        inspect("first")
        end = time.monotonic() + 60
        while "begun" not in said(slow):
            assert time.monotonic() < end
            time.sleep(0.01)
        with ThreadPoolExecutor(8) as threads:
            waits = [threads.submit(running.call, "GET", at("bolts", "summary")) for _ in range(6)]
            for n in range(12):
                inspect(f"second {n}")
            assert running.call("GET", "/ready").status == 200
            assert running.call("GET", at("bolts", "events")).status == 200
            assert said(slow) == ["begun"], "stations waited for the plan"
            running.kill()  # nobody waits for what is left
            for wait in waits:
                assert isinstance(wait.exception(), OSError | HTTPException | None)


def test_another_service_plans_at_once_when_who_plans_is_killed(slow: Path) -> None:
    """Who has the claim of a plan is killed in the middle of it; the other one has seen that a plan is due."""
    with (
        Running("sqlite:///store.db", "--open", folder=slow.parent) as first,
        Running("sqlite:///store.db", "--open", folder=slow.parent) as second,
    ):

        def inspect(name: str, by: Running) -> None:
            began = time.monotonic()
            assert by.call("POST", at("bolts", "arrive"), {"subject": name}).status == 201
            told = {"outcomes": {"visual": "clean", "ultrasonic": "ok"}}
            assert by.call("POST", at("bolts", "subjects", name, "tell"), told).status == 200
            assert by.call("POST", at("bolts", "subjects", name, "decide"), {}).status == 200
            assert time.monotonic() - began < 3.0, "a station waited for a plan of four seconds"

        assert second.call("POST", at("bolts", "arrive"), {"subject": "early"}).status == 201
        inspect("a", first)
        until(lambda: said(slow) == ["begun"])
        inspect("b", second)
        assert said(slow) == ["begun"], "the other one plans the same"
        first.kill()
        until(lambda: said(slow) == ["begun", "begun"])
        inspect("c", second)
        until(lambda: "done" in said(slow))
        early = second.call("GET", at("bolts", "subjects", "early")).json
        until(lambda: second.call("POST", at("bolts", "arrive"), {}).json["policy"] > early["policy"])
        assert second.call("GET", at("bolts", "verify")).status == 200


def until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)
