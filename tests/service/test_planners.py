"""Who plans for a service: a process beside it, a cluster, or itself; what happens when they are away or killed."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from tests.cli import thirty
from tests.service.running import Running, at, new_study
from tests.service.test_kinds import patient

from proband import Problem
from proband.errors import MissingExtraError, PlanError, ServiceError
from proband.problem_files import toml
from proband.service import planning
from proband.service.planning import Aside, OnCluster, Planning
from proband.studies import Study
from proband.studies.events.created import draft, make_agent
from proband.studies.learning.frozen import Basis
from proband.studies.learning.learner import Learner
from proband.studies.learning.orders import order_of, outcome_of
from proband.studies.ledger.ledger import Ledger, Part
from proband.tables import write_table

ROOT = Path(__file__).parents[2]


class Order:
    """To learn 70 subjects, after which the default agent has a plan."""

    def __init__(self, problem: Problem, agent: str | None = "leaf-completion") -> None:
        creation = draft(
            problem, name="bolts", agent=agent, seed=0, horizon=None, created="2026-01-01T00:00:00.000000Z"
        )
        self.ledger = Ledger.begun(creation)
        rows = np.random.default_rng(0).integers(0, 2, size=(70, 2)).astype(float)
        part = Part(rows, np.ones(70, dtype=np.int64), np.ones(70), np.arange(1, 71), whole=False)
        self.basis = Basis(self.ledger.problem, self.make())
        learner = Learner(self.make, self.ledger.unavailable)
        advance = learner.way_to(self.ledger, 0)._replace(position=70, parts=[part])
        self.content = order_of(self.ledger, self.basis, None, advance)
        self.due = learner.learn(advance).policy

    def make(self) -> Any:
        return make_agent(self.ledger.problem, self.ledger.creation)

    def check(self, answer: bytes) -> None:
        came = outcome_of(answer, self.basis)
        states, coins = self.ledger.problem.states([[np.nan, np.nan], [0, np.nan], [1, np.nan]]), [0.1, 0.001, 0.5]
        assert came.state.position == 70
        assert came.plans >= 1
        assert came.state.policy.act(states, coins).tolist() == self.due.act(states, coins).tolist()


@pytest.fixture
def order(problem: Problem) -> Order:
    return Order(problem)


@contextmanager
def closing(maker: Any) -> Iterator[Any]:
    try:
        yield maker
    finally:
        maker.close()


def test_a_process_plans_and_is_started_again_when_it_was_killed(order: Order) -> None:
    with closing(Planning("process")) as planner:
        order.check(planner.plan(order.content))
        [aside] = planner._makers.values()
        killed = aside._process
        killed.kill()
        order.check(planner.plan(order.content))
        assert aside._process is not killed
        assert (planner.at_work, planner.away, dict(planner.made)) == ("process", False, {"process": 2})
        last = aside._process
    assert last.wait(30) is not None
    with pytest.raises(PlanError, match="ended"):
        planner.plan(order.content)


def test_a_process_that_is_killed_while_it_plans_is_asked_once_more(order: Order) -> None:
    with closing(Aside()) as aside:
        aside.plan(order.content)
        os.kill(aside._process.pid, signal.SIGSTOP)  # in the midst of what it does
        answers: list[bytes] = []
        thread = threading.Thread(target=lambda: answers.append(aside.plan(order.content)))
        thread.start()
        aside._process.kill()
        thread.join(60)
        order.check(answers[0])


def test_a_fault_of_the_plan_is_told_and_the_process_goes_on(order: Order) -> None:
    with closing(Aside()) as aside:
        with pytest.raises(PlanError, match="failed"):
            aside.plan(b"no order at all")
        first = aside._process
        order.check(aside.plan(order.content))
        assert aside._process is first


def test_the_process_ends_with_the_service_even_if_that_is_killed(tmp_path: Path, problem: Problem) -> None:
    with Running(f"sqlite:///{tmp_path}/store.db", "--open") as running:
        begin_planning(running, problem)
        [planner] = psutil.Process(running.process.pid).children()
        running.kill()
        planner.wait(30)


def begin_planning(running: Running, problem: Problem) -> dict[str, Any]:
    """Begin a study whose first plan is due at once, and return what /ready says when it was made."""
    rows = "\n".join(["visual,ultrasonic", *("clean,ok", "rusty,crack", "clean,ok", "rusty,ok") * 20])
    given = new_study(problem, name="bolts", agent="leaf-completion", past={"records": rows})
    assert running.call("POST", "/api/studies", given).status == 201
    assert running.call("POST", at("bolts", "arrive"), {"subject": "a"}).status == 201
    answer: dict[str, Any] = running.call("GET", "/ready").json
    return answer


def metrics(running: Running) -> dict[str, float]:
    lines = running.call("GET", "/metrics").body.decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


def test_a_second_service_plans_nothing_that_the_first_one_planned(tmp_path: Path, problem: Problem) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    with Running(store, "--open", "--planner", "thread") as first, Running(store, "--open") as second:
        assert begin_planning(first, problem)["planner"] == "thread"
        assert first.call("GET", at("bolts", "subjects", "a", "ask")).status == 200
        assert metrics(first)["proband_plans_made"] >= 1
        asked = [one.call("GET", at("bolts", "subjects", "a", "ask")).json for one in (first, second)]
        assert asked[0] == asked[1]
        assert metrics(second)["proband_plans_made"] == 0
        assert metrics(second)["proband_plans_taken"] >= 1
        assert psutil.Process(second.process.pid).children() == []
        first.kill()
        with Running(store, "--open") as again:  # nor does the next start
            assert again.call("POST", at("bolts", "arrive"), {"subject": "b"}).status == 201
            assert again.call("GET", at("bolts", "subjects", "b", "ask")).status == 200
            assert metrics(again)["proband_plans_made"] == 0


@pytest.mark.slow
def test_a_plan_of_thirty_tests_is_made_once_for_two_services(tmp_path: Path) -> None:
    """Subjects go from one service to the other with each test; both say the same, and the log is that of one study."""
    problem, store = thirty.line(), f"sqlite:///{tmp_path}/store.db"
    write_table(tmp_path / "past.csv", problem.tests, thirty.subjects(problem, 120, seed=1))
    with Running(store, "--open") as first, Running(store, "--open") as second:
        past = {"records": (tmp_path / "past.csv").read_text()}
        given = {"problem": toml(problem.to_dict()), "name": "line", "past": past}
        assert first.call("POST", "/api/studies", given).status == 201
        for subject in ("a", "b"):
            arrived = patient(first, at("line", "arrive"), {"subject": subject, "station": "line 1"}, key=subject)
            assert arrived.status == 201, arrived
            turn = itertools.cycle((second, first))
            while True:
                advice = [each.call("GET", at("line", "subjects", subject, "ask")).json for each in (first, second)]
                assert advice[0] == advice[1]
                if advice[0]["kind"] == "decision":
                    break
                told = {"outcomes": {advice[0]["action"]: thirty.TOLD[advice[0]["action"]]}, "station": "line 1"}
                assert next(turn).call("POST", at("line", "subjects", subject, "tell"), told).status == 200
            decided = next(turn).call("POST", at("line", "subjects", subject, "decide"), {"station": "line 1"})
            assert decided.status == 200
        trees = [each.call("GET", f"{at('line', 'tree')}?depth=3").json for each in (first, second)]
        assert trees[0] == trees[1]
        assert metrics(first)["proband_plans_made"] >= 1
        assert metrics(second)["proband_plans_made"] == 0
        assert metrics(second)["proband_plans_taken"] >= 1
    with Study.open("line", store=store, replan="never") as study:
        assert study.replay().differences == ()


class Cluster:
    """A scheduler and a worker, as somebody would start them."""

    def __init__(self, port: int) -> None:
        self.address = f"tcp://127.0.0.1:{port}"
        self.processes = [
            self.start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"),
            self.start("worker", self.address, "--nthreads", "1", "--nworkers", "1", "--no-dashboard", "--no-nanny"),
        ]

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *arguments]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, stdout=quiet, stderr=quiet, env={**os.environ, "PYTHONWARNINGS": "ignore"})

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_cluster_plans_and_the_service_goes_on_without_it(
    order: Order, problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.service.running import free_port

    monkeypatch.setattr(planning, "AGAIN", 1.0)
    monkeypatch.setattr(planning, "SILENCE", 3.0)
    cluster = Cluster(free_port())
    try:
        with (
            closing(Planning(cluster.address)) as planner,
            Running(f"sqlite:///{tmp_path}/store.db", "--open", "--planner", cluster.address) as running,
        ):
            ready = begin_planning(running, problem)
            assert (ready["planner"], ready["planner_away"]) == ("cluster", False)
            end = time.monotonic() + 60
            while True:  # as soon as there are scheduler and worker
                order.check(planner.plan(order.content))
                if planner.at_work == "cluster":
                    break
                assert time.monotonic() < end
            assert not planner.away
            cluster.stop()
            order.check(planner.plan(order.content))
            assert (planner.at_work, planner.away) == ("process", True)
            assert "plan here" in str(planner.trouble)
            for name in "bcd":  # stations go on, and the next plan is made by the service
                assert running.call("POST", at("bolts", "arrive"), {"subject": name}).status == 201
                assert running.call("GET", at("bolts", "subjects", name, "ask")).status == 200
    finally:
        cluster.stop()


def test_a_cluster_that_is_not_there_is_asked_again_later(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def away(address: str) -> None:
        asked.append(address)
        raise ServiceError("no cluster answers")

    monkeypatch.setattr(planning.cluster, "connected", away)
    with closing(Planning("tcp://127.0.0.1:9")) as planner:
        for _ in range(2):
            order.check(planner.plan(order.content))
        assert len(asked) == 1
        assert (planner.at_work, planner.away, planner.failed["cluster"]) == ("process", True, 2)
        monkeypatch.setattr(planning.time, "monotonic", lambda: float("inf"))
        order.check(planner.plan(order.content))
        assert len(asked) == 2


def test_a_planner_is_one_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ServiceError, match=r"tcp://10\.0\.0\.5:8786"):
        Planning("the cloud")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"proband\[cluster\]"):
        OnCluster("tcp://127.0.0.1:9")
