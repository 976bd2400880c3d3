"""Regret under a Gaussian law and a projection reward.

Subjects go through an agent in blocks of its commitment, and the best plan treats the same subjects beside it.

* *Pseudo-regret* counts what a decision brings by its expectation given all that was seen of the subject: the sum of
  the differences has the expectation Σ v* − v(π^(t)), and the noise of what the tests show only, on subjects that
  both treat differently.
* *Realised regret* counts what the decisions bring on these very subjects.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from proband.agents import Agent
from proband.distributions import Gaussian
from proband.planners import plan
from proband.planners.evaluation import expected_rewards
from proband.policies import Episodes, ProjectionDecider, follow
from proband.problem import Problem
from proband.simulation.trajectory import Trajectory
from proband.vocabulary import FloatArray, IntArray, Records

PIECE = 2**16
"""So many subjects are treated at a time: it bounds memory."""


def simulate_measured(
    problem: Problem,
    law: Gaussian,
    agent: Agent,
    rows: FloatArray,
    *,
    rng: np.random.Generator,
    at: IntArray,
    tell: Callable[[int], None],
) -> Trajectory:
    """Let an agent treat a stream of subjects with measurements `rows`, shape (T, d)."""
    horizon = len(rows)
    best, decider = plan(problem, law), ProjectionDecider(problem, law)
    sums, recorded = np.zeros(4), []
    t, blocks = 0, 0
    while t < horizon:
        policy, end = agent.policy(), min(horizon, t + agent.commitment)
        seen = []
        for stop in _stops(t, end, at):
            piece = rows[t:stop]
            treated, reference = (
                follow(problem, policy, piece, coins=rng.random(len(piece))),
                follow(problem, best, piece),
            )
            sums += _figures(decider, piece, treated, reference)
            seen.append(treated.states)
            t = stop
            if t in at:
                recorded.append(sums.copy())
        agent.learn(Records(np.vstack(seen)))
        blocks += 1
        tell(t)
    pseudo, realised, cost, tests = np.array(recorded).T
    return Trajectory(at[at <= horizon], pseudo, realised, cost, tests, blocks)


def _stops(start: int, end: int, at: IntArray) -> list[int]:
    """Return where to pause: at checkpoints, and after each piece."""
    pieces = range(start + PIECE, end, PIECE)
    return sorted({*at[(at > start) & (at < end)].tolist(), *pieces, end})


def _figures(decider: ProjectionDecider, rows: FloatArray, treated: Episodes, reference: Episodes) -> FloatArray:
    """Return pseudo-regret, realised regret, cost and tests."""
    problem = decider.problem
    expected, realised = (
        [expected_rewards(decider, each.states, each.actions) - each.costs for each in (reference, treated)],
        [problem.realised(rows, each.actions) - each.costs for each in (reference, treated)],
    )
    return np.array(
        [
            float((expected[0] - expected[1]).sum()),
            float((realised[0] - realised[1]).sum()),
            float(treated.costs.sum()),
            float(treated.tests.sum()),
        ]
    )
