"""Policies that toss a coin where they would stop: decide as planned, or run every remaining test first.

Each subject has one coin u, uniform on [0, 1). Where the base policy stops in a leaf s, the subject is completed if
u < q(s). The coin comes with the subject, so that acting stays pure: the same subject asked twice gets the same
answer, and the probability with which anything was seen is known. A policy that lives by its coins does not act
without: forgotten coins would look like a policy that never explores.

Listed outcomes have states that can be named, each with its q. Two subjects never measure the same numbers, so where
outcomes are measured the sets of tests are named instead, as bit masks: bit i is test i, those known on arrival
included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Distribution
from proband.errors import PolicyError
from proband.policies.deciding import masks_of
from proband.policies.episodes import Episodes, follow
from proband.policies.fixed import test_everything
from proband.problem import Problem
from proband.vocabulary import NEVER, FloatArray, IntArray, Policy

SUREST = 1.0 - 2.0**-53
"""The largest probability of a coin, and the largest coin: a chance of 1 means that the plan itself runs every test."""


Completion = Callable[[ArrayLike], FloatArray]
"""From states (n, d) in which a policy stops to probabilities of completing, shape (n,)."""


@runtime_checkable
class CoinPolicy(Protocol):
    """A policy whose actions depend on the subject's coin."""

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return one action for each state (n, d) and coin, (n,) or one for all; raise without coins."""
        ...

    def completion(self, states: ArrayLike) -> FloatArray:
        """Return the probability with which a subject that stops in each state is completed, shape (n,)."""
        ...

    def stopped(self, rows: FloatArray) -> Episodes:
        """Return what happens to subjects with complete outcome vectors (n, d) whose coins do not fall."""
        ...

    def complete(self, stopped: Episodes, rows: FloatArray) -> Episodes:
        """Return what happens to them if the coins fall where they would have stopped."""
        ...


class Completing:
    """Follow a base policy; where it stops, complete the subject with a probability that depends on where.

    Parameters
    ----------
    problem : Problem
    base : Policy
    completion : callable
        From states (n, d) in which the base policy stops to probabilities (n,), such as
        :class:`~proband.policies.AtLeaves` and :class:`~proband.policies.ByTests`.
    distribution : Distribution, optional
        The law for the decision after completing; needed where tests are unavailable.
    """

    def __init__(
        self, problem: Problem, base: Policy, completion: Completion, distribution: Distribution | None = None
    ) -> None:
        self.problem = problem
        self.base = base
        self.completion = completion
        self._everything = test_everything(problem, distribution)

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return one action for each state (n, d) and coin, (n,) or one for all."""
        rows = self.problem.states(states)
        tosses = _checked_coins(coins, len(rows))
        actions, leaves = self._walk(rows)
        tossed = (actions >= self.problem.d) & (tosses < self.completion(leaves))
        if tossed.any():
            actions[tossed] = self._everything.act(rows[tossed])
        return actions

    def stopped(self, rows: FloatArray) -> Episodes:
        """Return what happens to subjects with complete outcome vectors (n, d) whose coins do not fall."""
        return follow(self.problem, self.base, rows)

    def complete(self, stopped: Episodes, rows: FloatArray) -> Episodes:
        """Return what happens to them if the coins fall where they would have stopped."""
        states = self.problem.states(rows)
        return Episodes(
            states,
            self._everything.act(states),
            stopped.costs + self.problem.cost_of_the_rest(stopped.states),
            stopped.tests + np.isnan(stopped.states[:, self.problem.operable]).sum(axis=1),
        )

    def _walk(self, rows: FloatArray) -> tuple[IntArray, FloatArray]:
        """Walk the base policy through what is known: its first action that is not yet done, and the state there."""
        reached = np.full_like(rows, np.nan)
        reached[:, self.problem.context] = rows[:, self.problem.context]
        actions = np.empty(len(rows), dtype=np.int64)
        active = np.arange(len(rows))
        while len(active):
            chosen = self.base.act(reached[active], NEVER)
            actions[active] = chosen
            test = np.minimum(chosen, self.problem.d - 1)
            known = (chosen < self.problem.d) & ~np.isnan(rows[active, test])
            active, test = active[known], test[known]
            reached[active, test] = rows[active, test]
        return actions, reached


class AtLeaves:
    """Probabilities of completing in given states, and 0 elsewhere.

    Parameters
    ----------
    leaves : FloatArray of shape (leaves, d)
    probabilities : FloatArray of shape (leaves,)

    Examples
    --------
    >>> AtLeaves(np.array([[0, np.nan]]), np.array([0.25]))([[0, np.nan], [1, np.nan]])
    array([0.25, 0.  ])
    """

    def __init__(self, leaves: FloatArray, probabilities: FloatArray) -> None:
        self.leaves = leaves
        self.probabilities = probabilities
        keys = _keys(leaves)
        order = np.argsort(keys)
        self._keys, self._chances = keys[order], probabilities[order]

    def __call__(self, states: ArrayLike) -> FloatArray:
        """Return the probability of completing in each state, shape (n,)."""
        return _found(self._keys, self._chances, _keys(np.atleast_2d(np.asarray(states, dtype=np.float64))), 0.0)


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
        self.problem = problem
        self.masks = np.array(sorted(probabilities), dtype=np.int64)
        self.probabilities = np.array([probabilities[int(mask)] for mask in self.masks], dtype=np.float64)
        self.otherwise = float(otherwise)

    def __call__(self, states: ArrayLike) -> FloatArray:
        """Return the probability of completing in each state, shape (n,)."""
        rows = self.problem.states(states)
        chances = _found(self.masks, self.probabilities, masks_of(rows), self.otherwise)
        left = np.isnan(rows[:, self.problem.operable]).any(axis=1)
        return np.where(left, chances, 0.0)


def branches(problem: Problem, policy: Policy, rows: FloatArray) -> list[tuple[FloatArray, Episodes]]:
    """Return the ways in which a policy may treat each row, with their probabilities (n,).

    One for a policy without coins; two for one with: the coin not falling, and falling where it can.
    """
    if not isinstance(policy, CoinPolicy):
        return [(np.ones(len(rows)), follow(problem, policy, rows))]
    stopped = policy.stopped(rows)
    chance = policy.completion(stopped.states)
    return [(1 - chance, stopped), (chance, policy.complete(stopped, rows))]


def chances(problem: Problem, policy: Policy, states: FloatArray) -> FloatArray:
    """Return how likely subjects that met a policy, and ended in these states (n, d), were to be tested completely.

    It is 1 where the plan itself runs every test, the coin's probability where the plan stops and a coin decides, 0
    where there is none, and NaN if what is known on arrival is missing: what :class:`~proband.Records` is told.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.policies import AtLeaves, DecideNow
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 2.0)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> nothing = np.array([[np.nan]])
    >>> policy = Completing(problem, DecideNow(problem, "pass"), AtLeaves(nothing, np.array([0.25])))
    >>> chances(problem, policy, np.array([[np.nan], [1.0]]))
    array([0.25, 0.25])
    """
    complete = ~np.isnan(states[:, [*problem.context, *problem.operable]]).any(axis=1)
    unknown = np.isnan(states[:, problem.context]).any(axis=1)
    if not isinstance(policy, CoinPolicy):
        return np.where(unknown, np.nan, np.where(complete, 1.0, 0.0))
    leaves = problem.states(states)
    if complete.any():
        leaves[complete] = policy.stopped(states[complete]).states
    stops = np.isnan(leaves[:, problem.operable]).any(axis=1)
    known = np.where(complete, 1.0, 0.0)
    known[stops] = policy.completion(leaves[stops])
    return np.where(unknown, np.nan, known)


def _checked_coins(coins: ArrayLike | None, n: int) -> FloatArray:
    if coins is None:
        raise PolicyError(
            "no coins are given, and this policy tosses one for each subject: without, nobody would ever be completed; "
            "draw a number in [0, 1) for each subject, once, and pass it each time (NEVER asks for the plan alone)"
        )
    tosses = np.asarray(coins, dtype=np.float64)
    if tosses.shape not in ((), (n,)) or not ((tosses >= 0) & (tosses <= NEVER)).all():
        raise PolicyError(
            f"coins have shape {tosses.shape} for {n} states, or lie outside [0, 1]; there must be one number in "
            "[0, 1) for each, or one for all; correct them"
        )
    return np.broadcast_to(tosses, n)


def _found(known: IntArray, chances: FloatArray, keys: IntArray, otherwise: float) -> FloatArray:
    """Return the chance of each key that is among the known ones, which are sorted."""
    if not len(known):
        return np.full(len(keys), otherwise)
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[place] == keys, chances[place], otherwise)


def _keys(states: FloatArray) -> IntArray:
    """Number states, NaN included, so that equal states have equal numbers."""
    filled = np.where(np.isnan(states), 0, states + 1).astype(np.int64)
    keys = np.zeros(len(states), dtype=np.uint64)
    for column in filled.T:
        keys = (keys + column.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    return keys.astype(np.int64)
