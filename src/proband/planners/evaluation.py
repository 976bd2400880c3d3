"""The exact figures of any policy under a discrete law: every outcome vector goes through it once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proband.distributions import Discrete, totals
from proband.policies import branches
from proband.problem import Problem
from proband.vocabulary import Policy


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
    """

    value: float
    reward: float
    cost: float
    tests: float
    decisions: dict[str, float]


def evaluate(problem: Problem, distribution: Discrete, policy: Policy) -> Evaluation:
    """Return the exact figures of a policy: a sum over the whole support.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test
    >>> from proband.policies import test_everything
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 0.1)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> evaluate(problem, Discrete([[0], [1]], [0.75, 0.25]), test_everything(problem))
    Evaluation(value=0.65, reward=0.75, cost=0.1, tests=1.0, decisions={'pass': 0.75, 'fail': 0.25})
    """
    distribution.check(problem)
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
    decisions = {problem.action_name(a): shares[a] for a in sorted(shares, key=lambda a: (-shares[a], a))}
    return Evaluation(reward - cost, reward, cost, tests, decisions)
