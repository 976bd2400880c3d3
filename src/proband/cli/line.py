"""``proband serve --demo``: a simulated line that keeps inspecting bolts, so that a newcomer sees a living study.

Stations speak to the service as real ones do, with a token of their own. What they do not know is the truth about each
bolt; it is drawn from the example's law. The study has a history: some hundred bolts of the last hours, before the
service starts, so that its charts are not empty.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from proband.client import RemoteStudy, Service
from proband.distributions import Discrete
from proband.errors import ProbandError, StudyExistsError
from proband.instances import Instance, bolts
from proband.service.access.log import AccessLog
from proband.service.access.tokens import Role
from proband.studies import Study
from proband.studies.stores import Store
from proband.vocabulary import FloatArray

NAME = "simulated bolts"
STATIONS = ("line 1", "line 2", "line 3")
HISTORY = 300
"""Bolts that were inspected before."""

HOURS = 9.0
"""How long ago the first of them was."""

PAUSE = 1.5
"""Seconds between two steps of a station, about."""

STUBBORN = 0.02
"""How often an operator runs another test than the advised one."""


class Line:
    """A simulated line.

    Parameters
    ----------
    store : Store
    seed : int
    pause : float
        Seconds between two steps of a station, about.
    """

    def __init__(self, store: Store, *, seed: int = 0, pause: float = PAUSE) -> None:
        self._store, self._pause = store, pause
        self._instance = bolts()
        self._seeds = np.random.SeedSequence(seed).spawn(len(STATIONS) + 1)
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []

    def prepare(self, *, history: int = HISTORY) -> None:
        """Begin the study with a history, unless it is there already."""
        clock = _Clock(HOURS * 3600 / max(1, history))
        try:
            study = Study.create(
                self._instance.problem, name=NAME, store=self._store, clock=clock, replan="now", actor="simulation",
                station=STATIONS[0],
            )  # fmt: skip
        except StudyExistsError:
            return
        rng = np.random.default_rng(self._seeds[-1])
        with study:
            for n, row in enumerate(self._instance.sample(rng, history)):
                clock.next()
                _inspect(study.speaking(station=STATIONS[n % len(STATIONS)]), self._instance, row, rng)

    def start(self, url: str) -> None:
        """Let the stations work."""
        secret, token = AccessLog(self._store).make("simulated line", Role.OPERATOR, [NAME], by="demo")
        del token
        for station, seed in zip(STATIONS, self._seeds, strict=False):
            work = threading.Thread(target=self._work, args=(url, secret, station, seed), daemon=True)
            work.start()
            self._threads.append(work)

    def stop(self) -> None:
        """Let them end."""
        self._ended.set()
        for work in self._threads:
            work.join()

    def _work(self, url: str, secret: str, station: str, seed: np.random.SeedSequence) -> None:
        rng = np.random.default_rng(seed)
        with Service(url, secret, station=station, patience=5.0) as service:
            study = service.study(NAME)
            while not self._wait(rng):
                [row] = self._instance.sample(rng, 1)
                try:
                    _inspect(study, self._instance, row, rng, lambda: self._wait(rng))
                except ProbandError:  # the service is busy, ends, or somebody took the bolt over
                    self._ended.wait(self._pause)

    def _wait(self, rng: np.random.Generator) -> bool:
        """Wait for about a pause; return whether the line has ended."""
        return self._ended.wait(self._pause * float(rng.uniform(0.5, 1.5)))


class _Clock:
    """A clock of the last hours, which goes on by an even step with each bolt."""

    def __init__(self, step: float) -> None:
        self._step, self._n = step, 0
        self._began = time.time() - HOURS * 3600

    def next(self) -> None:
        """Go on to the next bolt."""
        self._n += 1

    def __call__(self) -> float:
        return min(self._began + self._n * self._step, time.time())


def _inspect(
    study: Study | RemoteStudy,
    instance: Instance[Discrete],
    row: FloatArray,
    rng: np.random.Generator,
    ended: Callable[[], bool] = lambda: False,
) -> None:
    """Inspect one bolt, mostly as advised."""
    problem = instance.problem
    bolt = study.arrive().name
    while (advice := study.ask(bolt)).kind == "test" and not ended():
        others = [each.name for each in advice.alternatives if each.kind == "test" and each.name != advice.action]
        test = str(rng.choice(others)) if others and rng.random() < STUBBORN else advice.action
        j = problem.test_index(test)
        study.tell(bolt, test, problem.tests[j].names[int(row[j])])
    if advice.kind == "decision":
        study.decide(bolt)
