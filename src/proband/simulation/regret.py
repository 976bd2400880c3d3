"""The regret of an agent on a stream of subjects, whatever their law, and where it is recorded.

Subjects go through an agent in blocks: for :attr:`Agent.commitment` of them its policy cannot change. What happens to
them depends on the kind of problem (:mod:`proband.simulation.kinds`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from proband.agents import FOREVER, Agent
from proband.distributions import Distribution
from proband.problem import Problem
from proband.simulation.full_information import FullInformation
from proband.simulation.kinds import TREATMENTS
from proband.vocabulary import FloatArray, IntArray, Records


@dataclass(frozen=True)
class Trajectory:
    """Cumulative figures of one agent on one stream, at the checkpoints `t`.

    Attributes
    ----------
    t : IntArray of shape (n,)
        Numbers of subjects.
    pseudo_regret, realised_regret : FloatArray of shape (n,)
    cost : FloatArray of shape (n,)
        Costs paid.
    tests : FloatArray of shape (n,)
        Tests run.
    blocks : int
        How many policies were played.
    """

    t: IntArray
    pseudo_regret: FloatArray
    realised_regret: FloatArray
    cost: FloatArray
    tests: FloatArray
    blocks: int


def checkpoints(horizon: int, *, per_doubling: int = 4) -> IntArray:
    """Return log-spaced numbers of subjects from 1 to the horizon.

    Examples
    --------
    >>> checkpoints(16, per_doubling=1)
    array([ 1,  2,  4,  8, 16])
    """
    exponents = np.arange(int(np.floor(np.log2(horizon) * per_doubling)) + 1) / per_doubling
    return np.unique(np.append(np.floor(2**exponents).astype(np.int64), horizon))


def draw_stream(
    problem: Problem, distribution: Distribution, rng: np.random.Generator, n: int
) -> IntArray | FloatArray:
    """Draw n subjects, as :func:`simulate` takes them; more subjects begin with the same ones.

    Examples
    --------
    >>> from proband.instances import single_test
    >>> instance = single_test(epsilon=0.1)
    >>> draw_stream(instance.problem, instance.distribution, np.random.default_rng(0), 3)
    array([1, 0, 0])
    """
    return TREATMENTS[problem.kind].draw(distribution, rng, n)


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
        forever, seen = agent.commitment >= FOREVER, []
        for stop in _stops(t, end, at, treatment.most):
            figures, records = treatment.treat(policy, t, stop)
            sums += figures
            seen.append(treatment.whole(t, stop) if isinstance(agent, FullInformation) else records)
            t = stop
            if t in at:
                recorded.append(sums.copy())
            if t == end or forever:  # once a block is quicker, but one without an end is not kept for the agent
                agent.learn(Records.joined(seen))
                seen = []
        blocks += 1
        tell(t)
    pseudo, realised, cost, tests = np.array(recorded).T
    return Trajectory(at[at <= horizon], pseudo, realised, cost, tests, blocks)


def _stops(start: int, end: int, at: IntArray, most: int) -> list[int]:
    """Return where to pause between two numbers of subjects: at checkpoints, and after each piece."""
    return sorted({*at[(at > start) & (at < end)].tolist(), *range(start + most, end, most), end})
