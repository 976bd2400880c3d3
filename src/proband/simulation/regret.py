"""The regret of an agent on a stream of subjects, whatever their law."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from proband.agents import Agent
from proband.distributions import Discrete, Law
from proband.problem import Problem
from proband.rewards import Entropy
from proband.simulation.listed import simulate_listed
from proband.simulation.measured import simulate_measured
from proband.simulation.sets import simulate_sets
from proband.simulation.trajectory import Trajectory, checkpoints
from proband.vocabulary import FloatArray, IntArray


def draw_stream(law: Law, rng: np.random.Generator, n: int) -> IntArray | FloatArray:
    """Draw n subjects: as rows of a discrete law's support (n,), as measurements (n, d) of a Gaussian one.

    More subjects begin with the same ones.

    Examples
    --------
    >>> draw_stream(Discrete([[0], [1]], [0.5, 0.5]), np.random.default_rng(0), 3)
    array([1, 0, 0])
    """
    if not isinstance(law, Discrete):
        return law.sample(rng, n)
    places = np.searchsorted(np.cumsum(law.probabilities), rng.random(n), side="right")
    return np.asarray(np.minimum(places, len(law) - 1), dtype=np.int64)


def simulate(
    problem: Problem,
    distribution: Law,
    agent: Agent,
    stream: IntArray | FloatArray,
    *,
    rng: np.random.Generator,
    at: IntArray | None = None,
    tell: Callable[[int], None] = lambda t: None,
) -> Trajectory:
    """Let an agent treat a stream of subjects.

    Parameters
    ----------
    problem : Problem
    distribution : Discrete or Gaussian
        The true law.
    agent : Agent
    stream : IntArray of shape (T,), or FloatArray of shape (T, d)
        The subjects, from :func:`draw_stream`: draw it once and give it to every agent.
    rng : numpy.random.Generator
        Tosses the coins of policies that have them.
    at : IntArray, optional
        Where to record; :func:`checkpoints` by default.
    tell : callable, optional
        Is told, whenever the agent has learned, how many subjects were treated so far: for a progress bar.
    """
    at = checkpoints(len(stream)) if at is None else at
    if isinstance(distribution, Discrete):
        rows = np.asarray(stream, dtype=np.int64)
        return simulate_listed(problem, distribution, agent, rows, rng=rng, at=at, tell=tell)
    measurements = np.asarray(stream, dtype=np.float64)
    if isinstance(problem.reward, Entropy):
        return simulate_sets(problem, distribution, agent, measurements, at=at, tell=tell)
    return simulate_measured(problem, distribution, agent, measurements, rng=rng, at=at, tell=tell)
