"""Coins for measured states: the probability of completing depends on *which* tests were run.

Two subjects never measure the same numbers, so a policy on measured states cannot list the states in which it tosses a
coin (:mod:`proband.policies.completing`). It lists the sets of tests, as bit masks: bit i is test i, those known on
arrival included.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Gaussian
from proband.errors import PolicyError
from proband.policies import Completing
from proband.policies.beliefs import masks_of
from proband.problem import Problem
from proband.vocabulary import FloatArray, Policy


class CompletingSets(Completing):
    """Follow a base policy; where it stops, complete the subject with a probability that depends on the tested set.

    Parameters
    ----------
    problem : Problem
    base : Policy
    probabilities : mapping of int to float
        For a set of tests, as a bit mask, with which probability a subject is completed that stops with this set; 0
        for sets that are not listed.
    law : Gaussian, optional
        For the decision after completing; needed where tests are unavailable.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.policies import DecideNow
    >>> from proband.rewards import Piece, Projection, Score
    >>> reward = Projection([Score("length", {"length": 1.0})], [Piece("pass", slope={"length": 1.0})])
    >>> problem = Problem([Test("length", 1.0, outcomes=None)], ["pass", "fail"], reward)
    >>> policy = CompletingSets(problem, DecideNow(problem, "pass"), {0b0: 0.25})
    >>> nothing = [[float("nan")], [float("nan")], [-1.0]]
    >>> [problem.action_name(a) for a in policy.act(nothing, [0.1, 0.7, 0.1])]
    ['length', 'pass', 'fail']
    """

    def __init__(
        self,
        problem: Problem,
        base: Policy,
        probabilities: Mapping[int, float],
        law: Gaussian | None = None,
        *,
        otherwise: float = 0.0,
    ) -> None:
        wrong = [chance for chance in (*probabilities.values(), otherwise) if not 0 <= chance <= 1]
        if wrong:
            raise PolicyError(f"the probabilities of completing hold {wrong}; each must be from 0 to 1; correct them")
        super().__init__(problem, base, np.empty((0, problem.d)), np.empty(0), law)
        self.masks = np.array(sorted(probabilities), dtype=np.int64)
        self.probabilities = np.array([probabilities[int(mask)] for mask in self.masks], dtype=np.float64)
        self.otherwise = float(otherwise)

    def completion(self, states: ArrayLike) -> FloatArray:
        """Return the probability of completing in each state where the base policy stops, shape (n,)."""
        rows = self.problem.states(states)
        masks = masks_of(rows)
        chances = np.full(len(masks), self.otherwise)
        if len(self.masks):
            place = np.minimum(np.searchsorted(self.masks, masks), len(self.masks) - 1)
            chances = np.where(self.masks[place] == masks, self.probabilities[place], chances)
        left = np.isnan(rows[:, self.problem.operable]).any(axis=1)
        return np.where(left, chances, 0.0)
