"""Probabilities of completing, by where a policy stops.

Listed outcomes have states that can be named, each with its q. Two subjects never measure the same numbers, so where
outcomes are measured the sets of tests are named instead, as bit masks: bit i is test i, those known on arrival
included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import PolicyError
from proband.policies.beliefs import MOST_TESTS, masks_of
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray

Completion = Callable[[ArrayLike], FloatArray]
"""From states (n, d) in which a policy stops to probabilities of completing, shape (n,)."""


class AtLeaves:
    """Probabilities of completing in given states.

    Parameters
    ----------
    leaves : FloatArray of shape (leaves, d)
    probabilities : FloatArray of shape (leaves,)
    otherwise : float, default 0
        In all other states.

    Examples
    --------
    >>> AtLeaves(np.array([[0, np.nan]]), np.array([0.25]))([[0, np.nan], [1, np.nan]])
    array([0.25, 0.  ])
    """

    def __init__(self, leaves: FloatArray, probabilities: FloatArray, *, otherwise: float = 0.0) -> None:
        self.leaves = leaves
        self.probabilities = probabilities
        self.otherwise = otherwise
        keys = _keys(leaves)
        order = np.argsort(keys)
        self._keys, self._chances = keys[order], probabilities[order]

    def __call__(self, states: ArrayLike) -> FloatArray:
        """Return the probability of completing in each state, shape (n,)."""
        keys = _keys(np.atleast_2d(np.asarray(states, dtype=np.float64)))
        return _found(self._keys, self._chances, keys, self.otherwise)


class ByTests:
    """Probabilities of completing that depend on which tests were run, and 0 where none is left.

    Parameters
    ----------
    problem : Problem
    probabilities : mapping of int to float
        For sets of tests, as bit masks.
    otherwise : float, default 0
        For all other sets.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Match
    >>> problem = Problem([Test("length"), Test("weight")], (), Match())
    >>> ByTests(problem, {0b01: 0.25}, otherwise=0.125)([[0, np.nan], [np.nan, 0], [0, 0]])
    array([0.25 , 0.125, 0.   ])
    """

    def __init__(self, problem: Problem, probabilities: Mapping[int, float], *, otherwise: float = 0.0) -> None:
        wrong = [chance for chance in (*probabilities.values(), otherwise) if not 0 <= chance <= 1]
        if wrong:
            raise PolicyError(f"the probabilities of completing hold {wrong}; each must be from 0 to 1; correct them")
        if probabilities and problem.d > MOST_TESTS:
            raise PolicyError(
                f"the problem has {problem.d} tests, and {len(probabilities)} sets are named; sets have numbers "
                f"for at most {MOST_TESTS}; give one probability for all sets (otherwise), or name leaves"
            )
        self.problem = problem
        self.masks = np.array(sorted(probabilities), dtype=np.int64)
        self.probabilities = np.array([probabilities[int(mask)] for mask in self.masks], dtype=np.float64)
        self.otherwise = float(otherwise)

    def __call__(self, states: ArrayLike) -> FloatArray:
        """Return the probability of completing in each state, shape (n,)."""
        rows = self.problem.states(states)
        chances: FloatArray | float = self.otherwise
        if len(self.masks):
            chances = _found(self.masks, self.probabilities, masks_of(rows), self.otherwise)
        left = np.isnan(rows)[:, self.problem.operable].any(axis=1)
        return np.where(left, chances, 0.0)


def _found(known: IntArray, chances: FloatArray, keys: IntArray, otherwise: float) -> FloatArray:
    """Return the chance of each key that is among the known ones, which are sorted."""
    if not len(known):
        return np.full(len(keys), otherwise)
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[place] == keys, chances[place], otherwise)


def _keys(states: FloatArray) -> IntArray:
    """Number states, NaN included, so that equal states have equal numbers."""
    filled = np.nan_to_num(np.array(states.T, order="C"), nan=-1.0)  # one test of all states at a time
    keys = np.zeros(len(states), dtype=np.uint64)
    for column in filled:
        keys += column.astype(np.int64).view(np.uint64) + np.uint64(2)
        keys *= np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    return keys.astype(np.int64)
