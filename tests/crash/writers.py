"""Stations that write until they are killed, and note what they try and what they were told, each in its own file.

A station notes a request before it makes it and the answer after it came. Its successor reads the file, makes the last
request again under the same key if there is no answer, and goes on with the subject that was open. Every other station
uses no keys: its successor just goes on.

While a station writes, a thread of it forks: children that look at the log, or do nothing, and live on for a while,
longer than their parent perhaps.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
import traceback
import warnings
from pathlib import Path
from typing import Any, NoReturn

from proband import Problem, Test
from proband.rewards import Table
from proband.studies import Study
from proband.studies.stores.postgresql import PostgreSQLStore  # noqa: F401  (imported before the fork)

OUTCOMES = {"visual": ("clean", "rusty"), "torque": ("firm", "loose"), "ultrasonic": ("ok", "crack")}
COSTS = {"visual": 0.1, "torque": 0.2, "ultrasonic": 0.6}
PROBLEM = Problem(
    tests=[Test(name, COSTS[name], outcomes=outcomes) for name, outcomes in OUTCOMES.items()],
    decisions=["pass", "fail"],
    reward=Table(["ultrasonic"], [[1.0, 0.0], [-4.0, 0.0]]),
    name="bolts",
)
AGENTS = ("safe-leaf-completion", "leaf-completion", "greedy", "doubling", "test-everything")


class Notes:
    """What a station tried, and what it was told."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tried: dict[str, dict[str, Any]] = {}
        self.told: dict[str, Any] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                word, key, content = line.split("\t")
                (self.tried if word == "try" else self.told)[key] = json.loads(content)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def note(self, word: str, key: str, content: object) -> None:
        """Write a line in one piece, straight to the system: it outlives the process."""
        os.write(self._file, f"{word}\t{key}\t{json.dumps(content)}\n".encode())


def perform(study: Study, key: str | None, request: dict[str, Any]) -> object:
    """Make a request; return its answer."""
    kind, subject = request["kind"], str(request["subject"])
    if kind == "arrived":
        return study.arrive(subject=subject, known=request["known"], key=key).name
    if kind == "observed":
        return study.tell(subject, request["told"], key=key).name
    if kind == "decided":
        return study.decide(subject, request["decision"], key=key)
    if kind == "corrected":
        return study.correct(subject, request["test"], request["outcome"], reason="misread", key=key).name
    return study.void(subject, reason="dropped", key=key).name


class Station:
    """One station at work."""

    def __init__(self, study: Study, slot: int, notes: Notes, rng: random.Random) -> None:
        self.study, self.slot, self.notes, self.rng = study, slot, notes, rng
        self.keyed = slot % 2 == 0

    def go_on(self) -> str | None:
        """Make the last request again if it has no answer; return the subject that is open."""
        if not self.notes.tried:
            return None
        key, request = list(self.notes.tried.items())[-1]
        if self.keyed and key not in self.notes.told:
            self.notes.note("told", key, perform(self.study, key, request))
        subject = str(request["subject"])
        mine = [open_one.name for open_one in self.study.subjects(open=True)]
        return subject if subject in mine else None

    def request(self, kind: str, **content: Any) -> None:
        """Note a request, make it, and note the answer."""
        key, request = os.urandom(8).hex(), {"kind": kind, **content}
        self.notes.note("try", key, request)
        self.notes.note("told", key, perform(self.study, key if self.keyed else None, request))

    def treat(self, subject: str | None) -> None:
        """Treat a subject as advised, or now and then otherwise."""
        rng = self.rng
        truth = {test: rng.choice(outcomes) for test, outcomes in OUTCOMES.items()}
        if subject is None:
            subject = f"{self.slot}-{os.urandom(6).hex()}"
            known = {"visual": truth["visual"]} if rng.random() < 0.1 else {}
            self.request("arrived", subject=subject, known=known)
        while True:
            advice = self.study.ask(subject)
            chance = rng.random()
            if chance < 0.03:
                self.request("voided", subject=subject)
                return
            if advice.kind == "decision" or chance < 0.06:
                decision = rng.choice(["pass", "fail"]) if advice.kind != "decision" or chance < 0.2 else None
                self.request("decided", subject=subject, decision=decision)
                if chance < 0.3:
                    self.correct(subject)
                return
            left = [test for test in truth if test not in self.study.subject(subject).known and test != advice.action]
            tests = [advice.action, *rng.sample(left, rng.randint(0, len(left)) if rng.random() < 0.3 else 0)]
            self.request("observed", subject=subject, told={test: truth[test] for test in tests})

    def correct(self, subject: str) -> None:
        """Correct an outcome of a subject, if it has one."""
        known = self.study.subject(subject).known
        if known:
            test = self.rng.choice(sorted(known))
            other = next(outcome for outcome in OUTCOMES[test] if outcome != known[test])
            self.request("corrected", subject=subject, test=test, outcome=other)


def fork_now_and_then(url: str, study: str, folder: Path, rng: random.Random) -> None:
    """Fork while another thread writes; children are reaped when they are done."""
    warnings.simplefilter("ignore", DeprecationWarning)
    children: list[int] = []
    while True:
        time.sleep(rng.uniform(0, 0.3))
        for child in children[:-1]:
            if os.waitpid(child, os.WNOHANG)[0]:
                children.remove(child)
        looks, lives = rng.random() < 0.5, rng.uniform(0, 2)
        children.append(os.fork())
        if not children[-1]:
            try:
                if looks:
                    Study.open(study, store=url, replan="never").close()
                time.sleep(lives)
                os._exit(0)
            except BaseException:
                if "when this process was forked" not in (trace := traceback.format_exc()):
                    (folder / f"child {os.getpid()}.error").write_text(trace)
                os._exit(1)


def write(url: str, study: str, slot: int, folder: Path, seed: int) -> NoReturn:
    """Write until killed; an error ends the process with its trace in a file."""
    try:
        rng, parent = random.Random(seed), os.getppid()
        opened = Study.open(study, store=url, station=f"station {slot}", replan=rng.choice(["now", "background"]))
        station = Station(opened, slot, Notes(folder / f"{slot}.notes"), rng)
        if rng.random() < 0.5:
            arguments = url, study, folder, random.Random(seed)
            threading.Thread(target=fork_now_and_then, args=arguments, daemon=True).start()
        subject = station.go_on()
        while os.getppid() == parent:  # nobody is left to kill it otherwise
            station.treat(subject)
            subject = None
        os._exit(0)
    except BaseException:
        (folder / f"{slot}-{os.getpid()}.error").write_text(traceback.format_exc())
        os._exit(1)


def warm_up() -> None:
    """Have everything imported and compiled that a writer needs."""
    for agent in AGENTS:
        with Study.create(PROBLEM, store="memory:", agent=agent, replan="now") as study:
            for n in range(6):
                subject = study.arrive()
                while (advice := study.ask(subject)).kind == "test":
                    study.tell(subject, advice.action, OUTCOMES[advice.action][n % 2])
                study.decide(subject)
            assert not study.replay().differences
