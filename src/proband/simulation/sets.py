"""Regret in an entropy problem: the policy of a round is a set, and its reward is known exactly.

A round in which S is measured loses f(S*) − f(S), f(S) = λ·H(S) − costs, whatever it shows; pseudo-regret and realised
regret are the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from proband.agents import Agent
from proband.distributions import Gaussian
from proband.planners import evaluate, plan
from proband.policies import FixedSet, follow
from proband.problem import Problem
from proband.simulation.trajectory import Trajectory
from proband.vocabulary import FloatArray, IntArray, Policy, Records


def simulate_sets(
    problem: Problem,
    law: Gaussian,
    agent: Agent,
    rows: FloatArray,
    *,
    at: IntArray,
    tell: Callable[[int], None],
) -> Trajectory:
    """Let an agent measure in rounds whose measurements are `rows`, shape (T, d)."""
    horizon, best = len(rows), plan(problem, law).value
    known: dict[tuple[int, ...], FloatArray] = {}
    sums, recorded = np.zeros(3), []
    t, blocks = 0, 0
    while t < horizon:
        policy, end = agent.policy(), min(horizon, t + agent.commitment)
        chosen = _measured(problem, policy, rows[t : t + 1])
        key = tuple(chosen)
        if key not in known:
            figures = evaluate(problem, law, policy)
            known[key] = np.array([best - figures.value, figures.cost, figures.tests])
        for stop in [*at[(at > t) & (at < end)].tolist(), end]:
            sums += (stop - t) * known[key]
            if stop in at:
                recorded.append(sums.copy())
            start, t = t, stop
            seen = np.full((stop - start, problem.d), np.nan)
            seen[:, chosen] = rows[start:stop, chosen]
            agent.learn(Records(seen))
        blocks += 1
        tell(t)
    regret, cost, tests = np.array(recorded).T
    return Trajectory(at[at <= horizon], regret, regret, cost, tests, blocks)


def _measured(problem: Problem, policy: Policy, row: FloatArray) -> list[int]:
    """Return the set that a policy measures."""
    if isinstance(policy, FixedSet):
        return sorted(policy.order)
    return [int(i) for i in np.flatnonzero(~np.isnan(follow(problem, policy, row).states[0]))]
