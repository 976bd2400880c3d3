"""One cell: what it draws, how it is played, and how its result is kept on disk.

What a replication draws depends on the run's seed, the point (less the parameters that are shared) and the
replication's number only, through a :class:`numpy.random.SeedSequence`: every agent sees the same instance and the
same subjects, and it matters neither which cells are run, nor where, nor in which order.

A result is a small file ``<hash of the settings>.json``, written under another name first and then renamed: it is
there as a whole, or it is not there.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import proband
from proband.agents import Setting
from proband.distributions import Discrete, Solvable
from proband.errors import ExperimentError
from proband.experiments.experiment import HORIZON, Cell, Experiment, Measure
from proband.experiments.fingerprint import FINGERPRINT, code_of
from proband.instances import Instance
from proband.simulation import checkpoints, draw_stream, simulate
from proband.vocabulary import FloatArray, IntArray

FORMAT = 1
MEASURES = ("pseudo_regret", "realised_regret", "cost", "tests")


@dataclass(frozen=True)
class Outcome:
    """What came of a cell: cumulative figures at the checkpoints `t`, by measure, and how long it took."""

    t: list[int]
    measures: dict[str, list[float]]
    blocks: int
    seconds: float


@dataclass(frozen=True)
class Draw:
    """What all agents of a replication share."""

    instance: Instance[Solvable]
    stream: IntArray | FloatArray


def digest(cell: Cell) -> str:
    """Return the name of a cell's file: a hash of its settings and of the code that it is run with.

    Examples
    --------
    >>> from proband.experiments import EXPERIMENTS
    >>> one, other, *_ = EXPERIMENTS["easy"].cells(seed=1000)
    >>> len(digest(one)), digest(one) == digest(other)
    (24, False)
    """
    return _hash(cell.settings() | {"code": code_of(cell.agent), "format": FORMAT})[:24]


def draw(experiment: Experiment, cell: Cell) -> Draw:
    """Draw the instance and the subjects of a cell; both are the same for every agent."""
    for_instance, for_stream = _sequence(cell).spawn(2)
    instance = experiment.instance(cell.point, cell.replication, np.random.default_rng(for_instance))
    rng, horizon = np.random.default_rng(for_stream), int(cell.point[HORIZON])
    stream = draw_stream(instance.problem, instance.distribution, rng, horizon)
    return Draw(instance, stream)


def play(experiment: Experiment, cell: Cell, code: str = FINGERPRINT) -> Outcome:
    """Run a cell, if this process runs the code that is asked for.

    Examples
    --------
    >>> from proband.experiments import EXPERIMENTS
    >>> small = EXPERIMENTS["easy"].changed(horizon=64)
    >>> outcome = play(small, small.cells(seed=1000)[0])
    >>> outcome.t[-1], len(outcome.measures["pseudo_regret"]) == len(outcome.t)
    (64, True)
    """
    if code != FINGERPRINT:
        raise ExperimentError(
            f"a worker has proband {proband.__version__} with code {FINGERPRINT} and the run was started with {code}; "
            "both must be the same; install one version everywhere"
        )
    if experiment.measure is not None:
        return _measured(experiment.measure, cell)
    drawn = draw(experiment, cell)
    problem, law = drawn.instance.problem, drawn.instance.distribution
    for_agent, for_coins = _sequence(cell, cell.agent).spawn(2)
    horizon = int(cell.point[HORIZON])
    start = time.perf_counter()
    size = len(law) if isinstance(law, Discrete) else None
    setting = Setting(problem, horizon, int(for_agent.generate_state(1)[0]), size, law)
    agent = experiment.entrant(cell.agent).build(setting, cell.point)
    at = checkpoints(horizon, per_doubling=cell.per_doubling)
    if experiment.switch is not None:
        at = np.union1d(at, experiment.switch(cell.point))
    coins, instance = np.random.default_rng(for_coins), drawn.instance
    trajectory = simulate(
        problem, law, agent, drawn.stream, rng=coins, at=at, best=instance.best, reveal=instance.reveal
    )
    seconds = time.perf_counter() - start
    measures = {name: [float(x) for x in getattr(trajectory, name)] for name in MEASURES}
    return Outcome([int(t) for t in trajectory.t], measures, trajectory.blocks, seconds)


def _measured(measure: Measure, cell: Cell) -> Outcome:
    """Return what is worked out without a simulation."""
    start = time.perf_counter()
    at = checkpoints(int(cell.point[HORIZON]), per_doubling=cell.per_doubling)
    values = [float(x) for x in measure(cell.point, cell.agent, at)]
    return Outcome([int(t) for t in at], dict.fromkeys(MEASURES, values), 1, time.perf_counter() - start)


def save(folder: Path, cell: Cell, outcome: Outcome) -> None:
    """Write a cell's result: wholly, or not at all."""
    content = {"cell": cell.settings(), **dataclasses.asdict(outcome)}
    write_atomically(folder / f"{digest(cell)}.json", json.dumps(content, ensure_ascii=False))


def load(folder: Path, cell: Cell) -> Outcome | None:
    """Return a cell's result if its file is there and is its own."""
    try:
        content = json.loads((folder / f"{digest(cell)}.json").read_text(encoding="utf-8"))
        if content["cell"] != json.loads(json.dumps(cell.settings())):
            return None
        return Outcome(content["t"], content["measures"], content["blocks"], content["seconds"])
    except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
        return None


def write_atomically(path: Path, text: str) -> None:
    """Write a file under another name, then rename it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def _sequence(cell: Cell, agent: str = "") -> np.random.SeedSequence:
    """Return the source of what a replication draws, or of an agent's own randomness in it."""
    point = {name: value for name, value in cell.point.items() if name not in cell.shared}
    key = int(_hash({"experiment": cell.experiment, "point": point, "agent": agent})[:16], 16)
    return np.random.SeedSequence(cell.seed, spawn_key=(key, cell.replication))


def seed_of_run(rng: np.random.Generator) -> int:
    """Return the seed of a run, which is the same for all replications, from what one of them draws with."""
    sequence = rng.bit_generator.seed_seq
    assert isinstance(sequence, np.random.SeedSequence)
    assert isinstance(sequence.entropy, int)
    return sequence.entropy


def _hash(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
