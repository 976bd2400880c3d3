"""Everything that is compiled, compiled ahead: for images, fleets, and whoever does not like to wait later.

Each part does, on the smallest of examples, what its users will do first. What is on disk already is loaded, so that a
second time there is nothing to do.
"""

from __future__ import annotations

import logging
import multiprocessing
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np

from proband.agents import agents_for
from proband.errors import UnknownNameError
from proband.estimators import ESTIMATORS
from proband.experiments import EXPERIMENTS, play
from proband.instances import INSTANCES, paper_entropy_example
from proband.planners import evaluate, plan
from proband.planners.subset import sizes
from proband.policies import test_everything
from proband.studies import Study
from proband.vocabulary import Records

__all__ = ["PARTS", "Warmed", "warm", "warm_all"]


@dataclass(frozen=True)
class Warmed:
    """What came of a part: how many kernels had to be compiled, and the seconds that all of it took."""

    part: str
    compiled: int
    seconds: float


def _planned(name: str, *, method: str | None = None, max_tests: int | None = None) -> None:
    example = INSTANCES[name]()
    best = plan(example.problem, example.distribution, method=method, max_tests=max_tests)
    best.explain(example.problem.state())
    evaluate(example.problem, example.distribution, best)
    evaluate(example.problem, example.distribution, test_everything(example.problem, example.distribution))


def _dense() -> None:
    for method in ("dense", "myopic", "lookahead", "gain"):
        _planned("bolts", method=method)


def _sparse() -> None:
    _planned("bolts", method="sparse")
    _planned("bolts", max_tests=2)


def _sets() -> None:
    _planned("paper-entropy")
    sizes(paper_entropy_example().distribution.covariance, sizes=[1, 2])


def _estimators() -> None:
    example = INSTANCES["bolts"]()
    for build in ESTIMATORS.values():
        estimator = build(example.problem)
        estimator.update(_records("bolts"))
        estimator.distribution()


def _agents() -> None:
    for name in ("bolts", "bolts-measured", "paper-entropy"):
        problem = INSTANCES[name]().problem
        for agent in set(agents_for(problem)) - {"clairvoyant"}:  # who must be told the truth
            with Study.create(
                problem, name=agent, store="memory:", agent=agent, horizon=1000, condition_number=10.0, replan="now"
            ) as study:
                study.learn_from(_records(name))
                study.ask(study.arrive())


def _experiments() -> None:
    for name in ("easy", "gaussian-etc", "paper-entropy"):
        experiment = EXPERIMENTS[name].changed(horizon=256, replications=1)
        for cell in experiment.cells(seed=0):
            play(experiment, cell)


def _records(name: str, subjects: int = 200) -> Records:
    """Return subjects of whom some were not tested completely."""
    rng, example = np.random.default_rng(0), INSTANCES[name]()
    rows = np.asarray(example.sample(rng, subjects), dtype=np.float64)
    rows[::3, -1] = np.nan
    return Records(rows)


PARTS: dict[str, Callable[[], None]] = {
    "dense": _dense,
    "sparse": _sparse,
    "one-score": lambda: _planned("bolts-measured"),
    "sets": _sets,
    "rollout": lambda: _planned("bolts", method="rollout"),
    "two-scores": lambda: _planned("shafts"),
    "estimators": _estimators,
    "agents": _agents,
    "experiments": _experiments,
}
"""What is compiled together, by name."""

USING = ("agents", "experiments")
"""Parts that use what the others compile, and much of the same beside it: they come last, one after the other."""


def warm(part: str) -> Warmed:
    """Compile a part of :data:`PARTS`, or load it where that was done before."""
    if part not in PARTS:
        raise UnknownNameError(f"part {part!r} does not exist; choose one of {', '.join(PARTS)}")
    from proband import compiling

    start, before = time.perf_counter(), compiling.compiled()
    logger = logging.getLogger(compiling.__name__)
    level = logger.level
    logger.setLevel(logging.ERROR)  # whoever asks for it need not be told
    try:
        with warnings.catch_warnings(action="ignore"):
            PARTS[part]()
    finally:
        logger.setLevel(level)
    return Warmed(part, compiling.compiled() - before, time.perf_counter() - start)


def warm_all(parts: Sequence[str], *, jobs: int = 1) -> Iterator[Warmed]:
    """Compile parts in so many processes, and yield each when it is done.

    What two parts share may be compiled twice where both begin at once: with two processes all of it takes little more
    than half as long.
    """
    others, using = ([name for name in parts if (name in USING) == last] for last in (False, True))
    if jobs == 1:
        yield from map(warm, others)
    else:
        with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
            yield from (each.result() for each in as_completed([pool.submit(warm, name) for name in others]))
    yield from map(warm, using)
