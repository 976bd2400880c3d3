"""The figures of any policy under a law.

Where outcomes are listed they are exact: every outcome vector goes through the policy once. Where they are measured
subjects are drawn, and the standard error is told. Under a Gaussian law what a decision brings is counted by its
expectation given all that was seen, in closed form, so that only what the tests show is left to chance. A set of
measurements has an entropy: exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from proband.distributions import Discrete, Distribution, Gaussian, totals, weighted_sum
from proband.errors import PolicyError
from proband.policies import ProjectionDecider, follow, ways
from proband.problem import Problem
from proband.rewards import Entropy
from proband.showing import Shown
from proband.vocabulary import FloatArray, IntArray, Kind, Policy

Rng = np.random.Generator | None

SUBJECTS = 2**16
"""How many subjects with measured outcomes are drawn unless told otherwise."""


@dataclass(frozen=True)
class Evaluation(Shown):
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
    distribution: Distribution,
    policy: Policy,
    *,
    subjects: int = SUBJECTS,
    rng: Rng = None,
) -> Evaluation:
    """Return the figures of a policy.

    Parameters
    ----------
    problem : Problem
    distribution : Distribution
    policy : Policy
    subjects : int, optional
        How many to draw where outcomes are measured.
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
    return EVALUATORS[problem.kind](problem, distribution, policy, subjects, rng)


def _exact(problem: Problem, distribution: Distribution, policy: Policy, subjects: int, rng: Rng) -> Evaluation:
    table = distribution.solvable()
    assert isinstance(table, Discrete)
    rows, reward, cost, tests = table.support, 0.0, 0.0, 0.0
    shares: dict[int, float] = {}
    for way in ways(problem, policy, rows):
        p = table.probabilities * way.chances
        reward += weighted_sum(p, problem.realised(rows, way.actions))
        cost += weighted_sum(p, way.costs)
        tests += weighted_sum(p, way.tests)
        chosen, inverse = np.unique(way.actions, return_inverse=True)
        for action, share in zip(chosen.tolist(), totals(inverse, p, len(chosen)), strict=True):
            shares[action] = shares.get(action, 0.0) + float(share)
    return Evaluation(reward - cost, reward, cost, tests, _named(problem, shares))


def _drawn(problem: Problem, distribution: Distribution, policy: Policy, subjects: int, rng: Rng) -> Evaluation:
    rng = np.random.default_rng(0) if rng is None else rng
    rows = distribution.sample(rng, subjects)
    episodes = follow(problem, policy, rows, coins=rng.random(subjects))
    if isinstance(distribution, Gaussian):  # the only law whose posterior rewards have a closed form: less noise
        rewards = expected_rewards(ProjectionDecider(problem, distribution), episodes.states, episodes.actions)
    else:
        rewards = problem.realised(rows, episodes.actions)
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


def _of_set(problem: Problem, distribution: Distribution, policy: Policy, subjects: int, rng: Rng) -> Evaluation:
    """Return the figures of a policy that measures a fixed set, which any two subjects show."""
    episodes = follow(problem, policy, distribution.sample(np.random.default_rng(0) if rng is None else rng, 2))
    known = ~np.isnan(episodes.states)
    if not (known == known[0]).all():
        raise PolicyError(
            "the policy measures other tests on other subjects; the entropy is that of a fixed set; give such a policy"
        )
    reward = set_reward(problem, distribution, np.flatnonzero(known[0]))
    cost = float(episodes.costs[0])
    return Evaluation(reward - cost, reward, cost, float(known[0].sum()), {problem.decisions[0]: 1.0})


def set_reward(problem: Problem, distribution: Distribution, tests: IntArray) -> float:
    """Return λ·H(S)."""
    gaussian = distribution.solvable()
    assert isinstance(problem.reward, Entropy)
    assert isinstance(gaussian, Gaussian)
    return problem.reward.scale * gaussian.entropy(tests.tolist()) if len(tests) else 0.0


def _named(problem: Problem, shares: dict[int, float]) -> dict[str, float]:
    return {problem.action_name(a): shares[a] for a in sorted(shares, key=lambda a: (-shares[a], a))}


EVALUATORS: dict[Kind, Callable[[Problem, Distribution, Policy, int, Rng], Evaluation]] = {
    Kind.LISTED: _exact,
    Kind.SCORES: _drawn,
    Kind.SETS: _of_set,
}
"""How policies of problems of each kind are evaluated."""
