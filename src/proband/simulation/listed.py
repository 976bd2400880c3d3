"""Regret under a discrete law.

Subjects go through an agent in blocks: for :attr:`Agent.commitment` of them its policy cannot change, and what a
policy does to a subject depends on its outcome vector (and its coin) only. So a block is a table over the support,
one row for each outcome vector, and the counts of these vectors in the stream: a million subjects cost as much as
the plans that they need.

* *Pseudo-regret* is the sum over subjects of v* − v(π^(t)), both exact: what is lost in expectation.
* *Realised regret* sums, over the stream, what the clairvoyant's plan earned on each subject minus what the agent
  earned on the same one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from proband.agents import Agent
from proband.distributions import Discrete
from proband.planners import plan
from proband.policies import branches
from proband.problem import Problem
from proband.simulation.trajectory import Trajectory
from proband.vocabulary import FloatArray, IntArray, Policy, Records


@dataclass(frozen=True)
class _Table:
    """What a policy does to each support row: one entry for each way the coin may fall."""

    chances: list[FloatArray]
    states: list[FloatArray]
    rewards: list[FloatArray]
    costs: list[FloatArray]
    tests: list[FloatArray]

    @property
    def value(self) -> FloatArray:
        """Expected total reward of each row."""
        return np.asarray(sum(q * r for q, r in zip(self.chances, self.rewards, strict=True)))


def simulate_listed(
    problem: Problem,
    distribution: Discrete,
    agent: Agent,
    stream: IntArray,
    *,
    rng: np.random.Generator,
    at: IntArray,
    tell: Callable[[int], None],
) -> Trajectory:
    """Let an agent treat a stream of subjects, given as rows of the law's support, shape (T,)."""
    horizon = len(stream)
    best = _table(problem, distribution, plan(problem, distribution))
    sums, recorded = np.zeros(4), []
    t, blocks, last, table = 0, 0, None, best
    while t < horizon:
        policy = agent.policy()
        if policy is not last:
            table, last = _table(problem, distribution, policy), policy
        end = min(horizon, t + agent.commitment)
        seen = []
        for stop in [*at[(at > t) & (at < end)].tolist(), end]:
            counts = np.bincount(stream[t:stop], minlength=len(distribution))
            thrown = _toss(table, counts, rng)
            sums += _figures(distribution, best, table, counts, thrown, stop - t)
            seen += [(states[n > 0], n[n > 0]) for states, n in zip(table.states, thrown, strict=True)]
            t = stop
            if t in at:
                recorded.append(sums.copy())
        agent.learn(_records(seen))
        blocks += 1
        tell(t)
    pseudo, realised, cost, tests = np.array(recorded).T
    return Trajectory(at[at <= horizon], pseudo, realised, cost, tests, blocks)


def _table(problem: Problem, distribution: Discrete, policy: Policy) -> _Table:
    table = _Table([], [], [], [], [])
    for chance, episodes in branches(problem, policy, distribution.support):
        table.chances.append(chance)
        table.states.append(episodes.states)
        table.rewards.append(problem.realised(distribution.support, episodes.actions) - episodes.costs)
        table.costs.append(episodes.costs)
        table.tests.append(episodes.tests.astype(np.float64))
    return table


def _toss(table: _Table, counts: IntArray, rng: np.random.Generator) -> list[IntArray]:
    """Return how many subjects of each row went each way."""
    if len(table.chances) == 1:
        return [counts]
    fell = rng.binomial(counts, table.chances[1])
    return [counts - fell, fell]


def _figures(
    distribution: Discrete, best: _Table, table: _Table, counts: IntArray, thrown: list[IntArray], n: int
) -> FloatArray:
    """Return pseudo-regret, realised regret, cost and tests of n subjects."""
    pseudo = n * float(distribution.probabilities @ (best.value - table.value))
    earned = sum(float(k @ r) for k, r in zip(thrown, table.rewards, strict=True))
    cost = sum(float(k @ c) for k, c in zip(thrown, table.costs, strict=True))
    tests = sum(float(k @ c) for k, c in zip(thrown, table.tests, strict=True))
    return np.array([pseudo, float(counts @ best.value) - earned, cost, tests])


def _records(seen: list[tuple[FloatArray, IntArray]]) -> Records:
    return Records(np.vstack([states for states, _ in seen]), np.concatenate([n for _, n in seen]))
