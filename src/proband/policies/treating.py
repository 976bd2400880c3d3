"""What a policy does to each row of a support, and how likely: all but what was seen.

Final states are most of the memory: a hundred tests of 200,000 rows are 160 MB, for every way in which a coin may fall.
Values need none of them, so the rows go through the policy in pieces, and the states of each piece are let go.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proband.policies.completing import branches
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy

MOST_CELLS = 2**21
"""Entries of the states that are held at a time, for each way."""


@dataclass(frozen=True)
class Way:
    """One way in which a policy may treat each of n rows.

    Attributes
    ----------
    chances : FloatArray of shape (n,)
        Its probability.
    actions : IntArray of shape (n,)
        The decisions, as actions.
    costs : FloatArray of shape (n,)
    tests : IntArray of shape (n,)
    """

    chances: FloatArray
    actions: IntArray
    costs: FloatArray
    tests: IntArray


def ways(problem: Problem, policy: Policy, rows: FloatArray) -> list[Way]:
    """Return the ways in which a policy may treat rows (n, d), as :func:`proband.policies.branches`, without states.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.policies import test_everything
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 2.0)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> [way] = ways(problem, test_everything(problem), np.array([[0.0], [1.0]]))
    >>> way.actions, way.costs
    (array([1, 2]), array([2., 2.]))
    """
    step = max(1, MOST_CELLS // problem.d)
    pieces = [_treated(problem, policy, rows[start : start + step]) for start in range(0, len(rows), step)]
    return [_joined(list(parts)) for parts in zip(*pieces, strict=True)]


def _treated(problem: Problem, policy: Policy, rows: FloatArray) -> list[Way]:
    found = branches(problem, policy, rows)
    return [Way(chance, episodes.actions, episodes.costs, episodes.tests) for chance, episodes in found]


def _joined(parts: list[Way]) -> Way:
    if len(parts) == 1:
        return parts[0]
    columns = ([getattr(part, name) for part in parts] for name in ("chances", "actions", "costs", "tests"))
    return Way(*(np.concatenate(column) for column in columns))
