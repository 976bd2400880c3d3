"""Policies that toss a coin where they would stop: decide as planned, or run all or some of the remaining tests first.

Each subject has one coin u, uniform on [0, 1). Where the base policy stops in a leaf s, the subject is completed if
u < q(s), and given a few extra tests (:mod:`proband.policies.extra`) if q(s) <= u < q(s) + b(s). The coin comes with
the subject, so that acting stays pure: the same subject asked twice gets the same answer, and the probability with
which anything was seen is known. A policy that lives by its coins does not act without: forgotten coins would look
like a policy that never explores.
"""

from __future__ import annotations

from typing import Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Distribution
from proband.errors import PolicyError
from proband.policies.episodes import Episodes, follow
from proband.policies.extra import Extra, ExtraRun
from proband.policies.fixed import test_everything
from proband.policies.leaf_chances import Completion
from proband.problem import Problem
from proband.vocabulary import NEVER, FloatArray, IntArray, Policy

SUREST = 1.0 - 2.0**-53
"""The largest probability of a coin, and the largest coin: a chance of 1 means that the plan itself runs every test."""


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


@runtime_checkable
class ExtraPolicy(CoinPolicy, Protocol):
    """A policy whose coin may also decide for a part of the tests."""

    extra: Extra | None

    def partly(self, states: ArrayLike) -> FloatArray:
        """Return the probability with which a subject that stops in each state gets the extra tests alone, (n,)."""
        ...

    def leaves(self, states: ArrayLike) -> FloatArray:
        """Return where the plan comes to through what is known in each state (n, d), and nothing else."""
        ...

    def part(self, stopped: Episodes, rows: FloatArray) -> Episodes:
        """Return what happens to subjects that are given the extra tests where they would have stopped."""
        ...


class Completing:
    """Follow a base policy; where it stops, complete the subject with a probability that depends on where.

    With extra tests, others are given these alone. Where nothing else is left, that is completing: the probability of
    the extra tests is then part of `completion`. The two probabilities sum to :data:`SUREST` at most; the one of the
    extra tests is cut.

    Parameters
    ----------
    problem : Problem
    base : Policy
    completion : callable
        From states (n, d) in which the base policy stops to probabilities (n,), such as
        :class:`~proband.policies.AtLeaves` and :class:`~proband.policies.ByTests`.
    distribution : Distribution, optional
        The law for the decision after completing; needed where tests are unavailable.
    extra : Extra, optional
        A part of the tests.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.policies import AtLeaves, DecideNow
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("dye"), Test("crack", 2.0)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> never = AtLeaves(np.full((1, 2), np.nan), np.array([0.25]))
    >>> policy = Completing(problem, DecideNow(problem, "pass"), never, extra=Extra((1,), 0.5))
    >>> [problem.action_name(policy.act(problem.state(), u)[0]) for u in (0.2, 0.7, 0.8)]
    ['dye', 'crack', 'pass']
    >>> problem.action_name(policy.act(problem.state({"crack": "1"}), 0.7)[0])
    'fail'
    """

    def __init__(
        self,
        problem: Problem,
        base: Policy,
        completion: Completion,
        distribution: Distribution | None = None,
        *,
        extra: Extra | None = None,
    ) -> None:
        self.problem = problem
        self.base = base
        self.extra = extra
        self.completion: Completion = completion if extra is None else self._with_extra
        self._given = completion
        self._extra = None if extra is None else ExtraRun(problem, extra)
        self._everything = test_everything(problem, distribution)

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return one action for each state (n, d) and coin, (n,) or one for all."""
        rows = self.problem.states(states)
        tosses = _checked_coins(coins, len(rows))
        actions, leaves = self._walk(rows)
        stops = actions >= self.problem.d
        completing, either = self._thresholds(leaves)
        tossed = stops & (tosses < completing)
        if tossed.any():
            actions[tossed] = self._everything.act(rows[tossed])
        added = stops & ~tossed & (tosses < either)
        if self._extra is not None and added.any():
            actions[added] = self._extra.act(rows[added], actions[added])
        return actions

    def partly(self, states: ArrayLike) -> FloatArray:
        """Return the probability with which a subject that stops in each state gets the extra tests alone, (n,)."""
        completing, either = self._thresholds(self.problem.states(states))
        return either - completing

    def leaves(self, states: ArrayLike) -> FloatArray:
        """Return where the plan comes to through what is known in each state (n, d), and nothing else."""
        return self._walk(self.problem.states(states))[1]

    def stopped(self, rows: FloatArray) -> Episodes:
        """Return what happens to subjects with complete outcome vectors (n, d) whose coins do not fall."""
        return follow(self.problem, self.base, rows)

    def complete(self, stopped: Episodes, rows: FloatArray) -> Episodes:
        """Return what happens to them if the coins fall where they would have stopped."""
        states, known = self.problem.states(rows), ~np.isnan(stopped.states)
        return Episodes(
            states,
            self._everything.decide(states),
            stopped.costs + self.problem.prices.adding(known, self.problem.cheapest_order),
            stopped.tests + (~known[:, self.problem.operable]).sum(axis=1),
        )

    def part(self, stopped: Episodes, rows: FloatArray) -> Episodes:
        """Return what happens to subjects that are given the extra tests where they would have stopped."""
        return stopped if self._extra is None else self._extra.add(stopped, rows)

    def _with_extra(self, states: ArrayLike) -> FloatArray:
        return self._thresholds(self.problem.states(states))[0]

    def _thresholds(self, leaves: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return below which coins a subject is completed in each leaf, and below which it gets any further test."""
        completing = self._given(leaves)
        if self._extra is None or self.extra is None:
            return completing, completing
        topped = np.maximum(completing, np.minimum(completing + self.extra.chances(leaves), SUREST))
        some_left, nothing_else = self._extra.left(leaves)
        either = np.where(some_left, topped, completing)
        return np.where(nothing_else, either, completing), either

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


def branches(problem: Problem, policy: Policy, rows: FloatArray) -> list[tuple[FloatArray, Episodes]]:
    """Return the ways in which a policy may treat each row, with their probabilities (n,).

    One for a policy without coins; two for one with: the coin not falling, and falling where it can; a third one for
    extra tests.
    """
    if not isinstance(policy, CoinPolicy):
        return [(np.ones(len(rows)), follow(problem, policy, rows))]
    stopped = policy.stopped(rows)
    chance = policy.completion(stopped.states)
    completed = policy.complete(stopped, rows)
    if not has_extra(policy):
        return [(1 - chance, stopped), (chance, completed)]
    part = policy.partly(stopped.states)
    return [(1 - chance - part, stopped), (chance, completed), (part, policy.part(stopped, rows))]


def has_extra(policy: Policy) -> TypeGuard[ExtraPolicy]:
    """Return whether a policy's coin may also decide for a part of the tests."""
    return getattr(policy, "extra", None) is not None and isinstance(policy, ExtraPolicy)


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
    leaves = policy.leaves(states) if has_extra(policy) else problem.states(states)
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
