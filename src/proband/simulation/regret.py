"""The regret of an agent on a stream of subjects, whatever their law, and where it is recorded.

Subjects go through an agent in blocks: for :attr:`Agent.commitment` of them its policy cannot change. What happens to
them depends on the kind of problem (:mod:`proband.simulation.kinds`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from proband.agents import FOREVER, Agent
from proband.distributions import Distribution
from proband.errors import AgentError
from proband.problem import Problem
from proband.simulation.full_information import FullInformation
from proband.simulation.kinds import TREATMENTS
from proband.simulation.revealing import AtOnce, Late, Pupil
from proband.vocabulary import FloatArray, IntArray, Policy


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
    best: Policy | None = None,
    reveal: int | None = None,
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
    best : Policy, optional
        What regret is measured against, such as :attr:`proband.instances.Instance.best`; by default the best plan, or
        where the law is too large to be planned exactly, the one of ``method="rollout"``.
    reveal : int, optional
        So many subjects later the agent is told what unavailable tests would have shown, as in a study
        (:mod:`proband.simulation.revealing`); never by default. Copies of the agent learn then.
    tell : callable, optional
        Is told, whenever the agent has learned, how many subjects were treated so far: for a progress bar.
    """
    horizon, whole = len(stream), isinstance(agent, FullInformation)
    at = checkpoints(horizon) if at is None else at
    treatment = TREATMENTS[problem.kind](problem, distribution, stream, rng, best)
    pupil = _pupil(problem, agent, reveal)
    sums, recorded = np.zeros(4), []
    t, blocks = 0, 0
    while t < horizon:
        policy, end = pupil.agent.policy(), min(horizon, pupil.end(t))
        forever, seen = pupil.agent.commitment >= FOREVER, []
        for stop in _stops(t, end, [*at.tolist(), *pupil.pauses(end)], treatment.most):
            treated = treatment.treat(policy, t, stop)
            sums += treated.figures
            seen.append(replace(treated, records=treatment.whole(t, stop)) if whole else treated)
            t = stop
            if t in at:
                recorded.append(sums.copy())
            if t == end or forever:  # once a block is quicker, but one without an end is not kept for the agent
                pupil.learn(t, policy, seen)
                seen = []
        blocks += 1
        tell(t)
    pseudo, realised, cost, tests = np.array(recorded).T
    return Trajectory(at[at <= horizon], pseudo, realised, cost, tests, blocks)


def _pupil(problem: Problem, agent: Agent, reveal: int | None) -> Pupil:
    """Return the agent with the way in which it is told of subjects."""
    if reveal is None or problem.all_available or isinstance(agent, FullInformation):
        return AtOnce(agent)
    if reveal < 0:
        raise AgentError(f"reveal is {reveal}; it must be 0 subjects or more; correct it, or leave it out")
    return Late(problem, agent, reveal)


def _stops(start: int, end: int, at: list[int], most: int) -> list[int]:
    """Return where to pause between two numbers of subjects: where it is asked for, and after each piece."""
    return sorted({*(t for t in at if start < t < end), *range(start + most, end, most), end})
