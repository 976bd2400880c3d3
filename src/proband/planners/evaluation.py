"""The figures of any policy under a law.

Under a discrete law they are exact: every outcome vector goes through the policy once. Under a Gaussian law subjects
are drawn; what a decision brings is counted by its expectation given all that was seen, in closed form, so that only
what the tests show is left to chance, and the standard error is told. A set of measurements has an entropy: exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proband.distributions import Discrete, Gaussian, Law, totals
from proband.errors import PolicyError
from proband.policies import ProjectionDecider, branches, follow
from proband.problem import Problem
from proband.rewards import Entropy
from proband.vocabulary import FloatArray, IntArray, Policy

SUBJECTS = 2**16
"""How many subjects are drawn from a Gaussian law unless told otherwise."""


@dataclass(frozen=True)
class Evaluation:
    """What to expect of a new subject under a policy.

    Attributes
    ----------
    value : float
        Expected total reward: `reward` minus `cost`.
    reward, cost, tests : float
        Expected f(x, y), expected costs paid, expected number of tests run.
    decisions : dict of str to float
        Probability of each decision that can be taken, largest first.
    standard_error : float
        Of `value`, where subjects were drawn; 0 where every figure is exact.
    """

    value: float
    reward: float
    cost: float
    tests: float
    decisions: dict[str, float]
    standard_error: float = 0.0


def evaluate(
    problem: Problem,
    distribution: Law,
    policy: Policy,
    *,
    subjects: int = SUBJECTS,
    rng: np.random.Generator | None = None,
) -> Evaluation:
    """Return the figures of a policy.

    Parameters
    ----------
    problem : Problem
    distribution : Discrete or Gaussian
    policy : Policy
    subjects : int, optional
        How many to draw from a Gaussian law.
    rng : numpy.random.Generator, optional
        Draws them; by default always the same ones.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test
    >>> from proband.policies import test_everything
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 0.1)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> evaluate(problem, Discrete([[0], [1]], [0.75, 0.25]), test_everything(problem))
    Evaluation(value=0.65, reward=0.75, cost=0.1, tests=1.0, decisions={'pass': 0.75, 'fail': 0.25},
               standard_error=0.0)
    """
    distribution.check(problem)
    if isinstance(distribution, Discrete):
        return _exact(problem, distribution, policy)
    rng = np.random.default_rng(0) if rng is None else rng
    if isinstance(problem.reward, Entropy):
        return _of_set(problem, distribution, policy, distribution.sample(rng, 2))
    return _drawn(problem, distribution, policy, distribution.sample(rng, subjects), rng.random(subjects))


def _exact(problem: Problem, distribution: Discrete, policy: Policy) -> Evaluation:
    rows, reward, cost, tests = distribution.support, 0.0, 0.0, 0.0
    shares: dict[int, float] = {}
    for chance, episodes in branches(problem, policy, rows):
        p = distribution.probabilities * chance
        reward += float(p @ problem.realised(rows, episodes.actions))
        cost += float(p @ episodes.costs)
        tests += float(p @ episodes.tests)
        chosen, inverse = np.unique(episodes.actions, return_inverse=True)
        for action, share in zip(chosen.tolist(), totals(inverse, p, len(chosen)), strict=True):
            shares[action] = shares.get(action, 0.0) + float(share)
    return Evaluation(reward - cost, reward, cost, tests, _named(problem, shares))


def _drawn(problem: Problem, law: Gaussian, policy: Policy, rows: FloatArray, coins: FloatArray) -> Evaluation:
    episodes = follow(problem, policy, rows, coins=coins)
    rewards = expected_rewards(ProjectionDecider(problem, law), episodes.states, episodes.actions)
    totals_earned = rewards - episodes.costs
    chosen, counts = np.unique(episodes.actions, return_counts=True)
    shares = {int(action): float(count) / len(rows) for action, count in zip(chosen, counts, strict=True)}
    return Evaluation(
        value=float(totals_earned.mean()),
        reward=float(rewards.mean()),
        cost=float(episodes.costs.mean()),
        tests=float(episodes.tests.mean()),
        decisions=_named(problem, shares),
        standard_error=float(totals_earned.std() / np.sqrt(len(rows))),
    )


def expected_rewards(decider: ProjectionDecider, states: FloatArray, actions: IntArray) -> FloatArray:
    """Return E[f(x, y) | s] of the decision taken in each final state, shape (n,)."""
    expected = decider.expected(states)
    return np.take_along_axis(expected, (actions - decider.problem.d)[:, None], axis=1)[:, 0]


def _of_set(problem: Problem, law: Gaussian, policy: Policy, rows: FloatArray) -> Evaluation:
    """Return the figures of a policy that measures a fixed set, which any subject shows."""
    episodes = follow(problem, policy, rows)
    known = ~np.isnan(episodes.states)
    if not (known == known[0]).all():
        raise PolicyError(
            "the policy measures other tests on other subjects; the entropy is that of a fixed set; give such a policy"
        )
    reward = set_reward(problem, law, np.flatnonzero(known[0]))
    cost = float(episodes.costs[0])
    return Evaluation(reward - cost, reward, cost, float(known[0].sum()), {problem.decisions[0]: 1.0})


def set_reward(problem: Problem, law: Gaussian, tests: IntArray) -> float:
    """Return λ·H(S)."""
    assert isinstance(problem.reward, Entropy)
    return problem.reward.scale * law.entropy(tests.tolist()) if len(tests) else 0.0


def _named(problem: Problem, shares: dict[int, float]) -> dict[str, float]:
    return {problem.action_name(a): shares[a] for a in sorted(shares, key=lambda a: (-shares[a], a))}
