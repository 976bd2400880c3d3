"""A crowd of operators: stations on one store who deviate, correct, void, reveal, restart and reopen at random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proband import Discrete, Gaussian, Problem, Records, Test
from proband.policies import CoinPolicy
from proband.rewards import Entropy, Match, Piece, Projection, Score, Table
from proband.studies import Study, Subject
from proband.studies.stores import MemoryStore, Store
from proband.vocabulary import NEVER, FloatArray, Policy

COINS = (0.0, 0.03, 0.3, 0.9)


class Clock:
    """A clock that is set by hand."""

    def __init__(self, seconds: float = 1_700_000_000.0) -> None:
        self.seconds = seconds

    def __call__(self) -> float:
        self.seconds += 0.001
        return self.seconds


def bolts() -> Problem:
    """Three tests in a group or not, everything available."""
    return Problem(
        tests=[
            Test("visual", 0.05, outcomes=("clean", "rusty")),
            Test("weight", 0.1, outcomes=("light", "nominal", "heavy"), group="rig", group_cost=0.06),
            Test("ultrasonic", 0.3, outcomes=("ok", "crack"), group="rig", group_cost=0.25),
        ],
        decisions=["pass", "fail"],
        reward=Table(["ultrasonic"], [[1.0, 0.0], [-3.0, 0.0]]),
        name="bolts",
        unit="EUR",
    )


def gout() -> Problem:
    """Something known on arrival, and a truth that is never available."""
    return Problem(
        tests=[
            Test("sex", outcomes=("f", "m"), on_arrival=True),
            Test("swelling", 0.05, outcomes=("no", "yes")),
            Test("urate", 0.1, outcomes=("low", "high")),
            Test("crystals", outcomes=("none", "found"), available=False),
        ],
        decisions=["treat", "wait"],
        reward=Table(["crystals"], [[-1.0, 0.2], [1.0, -2.0]]),
        name="gout",
    )


def vector() -> Problem:
    """Name the whole outcome vector."""
    return Problem([Test("a", 0.1), Test("b", 0.2, outcomes=("x", "y=1, z", "y"))], (), Match(), name="vector")


def rods() -> Problem:
    """Measured outcomes, and a decision by their sum."""
    reward = Projection([Score("sum", {"length": 1.0, "width": 1.0})], [Piece("pass", slope={"sum": 1.0})])
    tests = [Test(name, cost, outcomes=None, unit="mm") for name, cost in (("length", 0.1), ("width", 0.3))]
    return Problem(tests, ["pass", "fail"], reward, name="rods")


def network() -> Problem:
    """Measured outcomes, and nothing to decide but which to measure."""
    return Problem([Test(name, 0.9, outcomes=None) for name in "abc"], ["stop"], Entropy(), name="network")


PROBLEMS = {"bolts": bolts, "gout": gout, "vector": vector, "rods": rods, "network": network}


def law_of(problem: Problem, rng: np.random.Generator) -> Discrete | Gaussian:
    """A law with some dependence between the tests."""
    if problem.measured:
        factor = rng.normal(size=(problem.d, problem.d))
        return Gaussian(rng.normal(size=problem.d), factor @ factor.T / problem.d + 0.3 * np.eye(problem.d))
    grid = np.meshgrid(*(np.arange(k) for k in problem.k), indexing="ij")
    rows = np.stack([axis.reshape(-1) for axis in grid], axis=-1)
    return Discrete.from_weights(rows, rng.exponential(size=len(rows)) ** 2)


def fingerprint(problem: Problem, policy: Policy) -> list[NDArray[np.generic]]:
    """All that can be seen of a policy on probe states, coins included."""
    rng = np.random.default_rng(1)
    probes = _vectors(problem, rng, 40)
    probes[rng.random(probes.shape) < rng.random((40, 1))] = np.nan
    probes[0] = np.nan
    seen: list[NDArray[np.generic]] = [policy.act(probes, NEVER)]
    if isinstance(policy, CoinPolicy):
        complete = _vectors(problem, rng, 20)
        stopped = policy.stopped(complete)
        seen += [policy.act(probes, np.full(len(probes), coin)) for coin in COINS]
        seen += [stopped.states, policy.completion(stopped.states)]
    return seen


def _vectors(problem: Problem, rng: np.random.Generator, n: int) -> FloatArray:
    if problem.measured:
        return rng.normal(size=(n, problem.d))
    return rng.integers(0, problem.k, size=(n, problem.d)).astype(np.float64)


def same(one: Sequence[NDArray[np.generic]], other: Sequence[NDArray[np.generic]]) -> bool:
    """Whether two fingerprints are equal, bit for bit."""
    return len(one) == len(other) and all(
        np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(one, other, strict=True)
    )


class Crowd:
    """Operators at several stations; one study, one store, and subjects whose truth they look up."""

    def __init__(
        self,
        problem: Problem,
        agent: str,
        rng: np.random.Generator,
        *,
        store: Store | None = None,
        stations: int = 3,
        deviating: float = 0.15,
        past: int = 70,
    ) -> None:
        self.problem, self.rng, self.deviating = problem, rng, deviating
        self.store = MemoryStore() if store is None else store
        self.law = law_of(problem, rng)
        self.clock = Clock()
        self.truth: dict[str, FloatArray] = {}
        first = Study.create(
            problem,
            agent=agent,
            store=self.store,
            seed=7,
            horizon=200 if agent in ("explore-then-commit", "elimination") else None,
            condition_number=4.0 if agent == "elimination" else None,
            station="0",
            replan="now",
            clock=self.clock,
        )
        if past:  # then agents have a plan from the first subject on
            first.learn_from(Records(self.law.sample(rng, past)), source="the first lot")
        self.imports = bool(past)
        self.studies = [first, *(self.open(str(n)) for n in range(1, stations))]

    def open(self, station: str) -> Study:
        """Open the study at a station; some learn at once, some only when they are told to."""
        return Study.open(
            self.problem.name,
            store=self.store,
            station=station,
            replan="now" if station in "02" else "never",
            clock=self.clock,
        )

    def run(self, steps: int) -> None:
        """Do something, many times."""
        actions = (self.work, self.correct, self.void, self.reveal, self.other)
        for _ in range(steps):
            actions[self.rng.choice(len(actions), p=(0.93, 0.02, 0.01, 0.03, 0.01))]()

    def work(self) -> None:
        """Go on with an open subject, mostly; keep about six of them open."""
        study = self.studies[self.rng.integers(len(self.studies))]
        waiting = study.subjects(open=True)
        if len(waiting) < 6 and self.rng.random() < 0.5:
            self.arrive(study)
            return
        if waiting:
            self.go_on(study, waiting[self.rng.integers(len(waiting))])

    def arrive(self, study: Study) -> Subject:
        x = self.law.sample(self.rng, 1)[0]
        known = {self.problem.tests[i].name for i in self.problem.context}
        if self.rng.random() < 0.1:
            known |= {self.problem.tests[self.problem.operable[0]].name}
        told = {name: outcome for name, outcome in self.problem.describe(x).items() if name in known}
        subject = study.arrive(told)
        self.truth[subject.name] = x
        return subject

    def go_on(self, study: Study, subject: Subject) -> None:
        """Follow the advice, or not."""
        if subject.station != study.subject(subject.name).station or subject.station != _station(study):
            study.take(subject, at_once=True)
        advice = study.ask(subject)
        left = [i for i in self.problem.operable if self.problem.tests[i].name not in subject.known]
        if self.rng.random() < self.deviating:
            if left and self.rng.random() < 0.7:
                self.tell(study, subject, self.problem.tests[self.rng.choice(left)].name)
            else:
                most = len(self.problem.decisions) or self.problem.size
                study.decide(subject, self.problem.action_name(self.problem.d + int(self.rng.integers(most))))
        elif advice.kind == "test":
            self.tell(study, subject, advice.action)
        else:
            assert study.decide(subject) == advice.action

    def tell(self, study: Study, subject: Subject, test: str) -> None:
        outcome = self.problem.describe(self.truth[subject.name])[test]
        study.tell(subject, test, outcome)

    def correct(self) -> None:
        """Change or withdraw an outcome of a subject that is open, or was finished long ago."""
        study, subject = self.anybody()
        if subject is None or not subject.known:
            return
        test = list(subject.known)[self.rng.integers(len(subject.known))]
        was, one = subject.known[test], self.problem.tests[self.problem.test_index(test)]
        other = [float(was) + 0.5] if one.measured else [name for name in one.names if name != was]
        study.correct(subject, test, other[0] if other and self.rng.random() < 0.7 else None, reason="misread")

    def void(self) -> None:
        study, subject = self.anybody()
        if subject is not None:
            study.void(subject, reason="dropped")

    def reveal(self) -> None:
        """Tell a truth about somebody who is finished."""
        study, subject = self.anybody(finished=True)
        if subject is None:
            return
        x = self.problem.describe(self.truth[subject.name])
        unknown = [name for name in x if name not in subject.known]
        if unknown:
            name = unknown[self.rng.integers(len(unknown))]
            study.reveal(subject, {name: x[name]})

    def other(self) -> None:
        """Restart, import, reopen or replan."""
        n = int(self.rng.integers(len(self.studies)))
        what = self.rng.random()
        if what < 0.1:
            self.studies[n].restart(reason="new supplier")
        elif what < 0.4 and self.imports:
            rows = self.law.sample(self.rng, 30)
            rows[self.rng.random(rows.shape) < self.rng.choice([0.0, 0.4])] = np.nan
            self.studies[n].learn_from(Records(rows), source="archive")
        elif what < 0.7:
            self.studies[n].close()
            self.studies[n] = self.open(str(n))
        else:
            self.studies[n].replan()

    def anybody(self, *, finished: bool = False) -> tuple[Study, Subject | None]:
        """A subject that is not voided, held by the study's station if it is open."""
        study = self.studies[self.rng.integers(len(self.studies))]

        def wanted(subject: Subject) -> bool:
            ours = not finished and subject.status == "open" and subject.station == _station(study)
            return subject.status == "finished" or ours

        found = [subject for subject in study.subjects() if wanted(subject)]
        return study, found[self.rng.integers(len(found))] if found else None


def _station(study: Study) -> str:
    return study._journal.station
