"""The regret of an agent on a stream of subjects, whatever their law.

Subjects go through an agent in blocks: for :attr:`Agent.commitment` of them its policy cannot change. What happens to
them depends on the kind of problem (:mod:`proband.simulation.kinds`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from proband.agents import Agent
from proband.distributions import Distribution
from proband.problem import Problem
from proband.simulation.kinds import TREATMENTS
from proband.simulation.trajectory import Trajectory, checkpoints
from proband.vocabulary import FloatArray, IntArray


def draw_stream(problem: Problem, law: Distribution, rng: np.random.Generator, n: int) -> IntArray | FloatArray:
    """Draw n subjects, as :func:`simulate` takes them; more subjects begin with the same ones.

    Examples
    --------
    >>> from proband.instances import single_test
    >>> instance = single_test(epsilon=0.1)
    >>> draw_stream(instance.problem, instance.distribution, np.random.default_rng(0), 3)
    array([1, 0, 0])
    """
    return TREATMENTS[problem.kind].draw(law, rng, n)


def simulate(
    problem: Problem,
    distribution: Distribution,
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
        The subjects, from :func:`draw_stream`: rows of a discrete law's support, or measurements. Draw it once and
        give it to every agent.
    rng : numpy.random.Generator
        Tosses the coins of policies that have them.
    at : IntArray, optional
        Where to record; :func:`checkpoints` by default.
    tell : callable, optional
        Is told, whenever the agent has learned, how many subjects were treated so far: for a progress bar.
    """
    horizon = len(stream)
    at = checkpoints(horizon) if at is None else at
    treatment = TREATMENTS[problem.kind](problem, distribution, stream, rng)
    sums, recorded = np.zeros(4), []
    t, blocks = 0, 0
    while t < horizon:
        policy, end = agent.policy(), min(horizon, t + agent.commitment)
        for stop in _stops(t, end, at, treatment.most):
            figures, records = treatment.treat(policy, t, stop)
            sums += figures
            agent.learn(records)
            t = stop
            if t in at:
                recorded.append(sums.copy())
        blocks += 1
        tell(t)
    pseudo, realised, cost, tests = np.array(recorded).T
    return Trajectory(at[at <= horizon], pseudo, realised, cost, tests, blocks)


def _stops(start: int, end: int, at: IntArray, most: int) -> list[int]:
    """Return where to pause between two numbers of subjects: at checkpoints, and after each piece."""
    return sorted({*at[(at > start) & (at < end)].tolist(), *range(start + most, end, most), end})
