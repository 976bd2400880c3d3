"""Leaf completion with many tests: what to buy of whom, when states can no longer be listed.

The law is that of :class:`~proband.estimators.Structured`, plans are grown by information and pruned by price
(``method="rollout"``) with a penalty for every node. Where a plan stops, three things may happen to a subject:

* a coin of the *floor* completes it, whoever it is: such subjects are a fair sample of the law, and are kept apart as
  *audits* (:mod:`proband.agents.listed.audits`);
* an *extra* B is bought: the label, and of the tests that plans of posterior draws use most for their price eight, or
  as many as cost no more than the label;
* it is decided as planned.

**Of whom, and of how many.** In a leaf s where tests of B are left, with the subjects to come H, let

    stake(s) = what knowing everything, at no cost, would bring beyond what a subject brings there,
    p(s)     = what B costs a subject beyond what deciding better brings it,
    n        = the subjects who tell about labels, each for the share of B that it shows,
    L(n)     = what is lost to the best plan.

Most is learned for the price where the chances of B are in proportion to (stake/p)^(1/(1 + β)): where a decision is in
doubt the label is nearly paid for by the better decision, and where it is not there is little to learn. At the mean
price p so paid, n' more of them cost n'·p and save H·(L(n) − L(n + n')), which is best where

    n + n' = n · (β·H·L(n) / (n·p))^(1/(1 + β)).

**How much is lost.** The learning curve C(n) = h · E[stake] · (n0/n)^β fits the mean of some laws, and errs for one
law by a factor of three. With 400 subjects that tell, two *halves* of them are asked, too: the plan of a half loses
something to that of all, under the law estimated from all. Where loss falls like 1/n this is what the latter loses to
the best one; with a penalty and a smoothed law it was two to three times as much. So L is 2.5 times what halves lose,
but not above 3·C(n), and not below C(n)·√(200/n) or a third of it: where all plans agree, nobody knows whether they are
right. n' forgives errors, since it grows with the power 1/(1 + β) of what is wrong.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proband.agents.estimates import NO_LIMITS, PerSubject, Planner, suited_planner
from proband.agents.listed.audits import AuditedSubjects
from proband.agents.stops import Stops
from proband.distributions import totals, weighted_sum
from proband.distributions.discrete import row_ids
from proband.errors import AgentError
from proband.estimators import Structured
from proband.policies import SUREST, AtLeaves, ByTests, Extra, follow
from proband.policies.extra import ExtraRun
from proband.problem import Problem
from proband.vocabulary import FloatArray, Policy

FIRST = 100
"""n0: so many subjects are tested completely at the beginning."""

LOST = 0.23
"""h: the share of what is at stake that is lost to the best plan after n0 subjects."""

ENOUGH = 400
"""So many subjects must tell before halves of them are."""

PER_HALF = 2.5
"""What is lost, over what the plan of a half loses to that of all."""

FARTHEST = 3.0
"""The loss differs from the learning curve by this factor at most."""

LARGEST_RISE = 2.0
"""The subjects that tell at most double in a block."""

LARGEST_TREE = 15
"""Test nodes of the plans that the safeguards are about: K of floor and cap bounds the logarithm of their number."""


def log_trees(nodes: int, tests: int, outcomes: int, decisions: int) -> float:
    """Return a bound on the logarithm of the number of trees with so many test nodes at most.

    A tree with i test nodes has a shape, of at most (e·k)^i, a test at each of them, and a decision at each of its
    (k − 1)·i + 1 leaves.

    Examples
    --------
    >>> round(log_trees(1, 30, 2, 2), 2)  # at most 30 · 4 + 2 trees
    7.17
    """
    node = 1 + math.log(outcomes) + math.log(max(1, tests)) + (outcomes - 1) * math.log(max(1, decisions))
    return nodes * node + math.log(max(1, decisions) * (nodes + 1))


class ManyLeaves:
    """The leaves of plans of many tests (:class:`~proband.agents.stops.Leaves`).

    Parameters
    ----------
    problem : Problem
    draws : int, default 6
        How many posterior draws are planned with, to see which tests matter.
    expected : int, default 10000
        So many subjects are expected to come, at least, where no horizon is told.
    rate : float, default 0.4
        β: how fast the loss falls with the subjects that tell.
    limits : PerSubject, optional
        Of the plans; what a coin decides is tested beyond.
    """

    floor, safe_floor, threshold, surest = 0.0, 0.0125, 1.0, SUREST
    ahead, first, growth = 1.5, FIRST, 0.35
    memoryless = True
    reference = AuditedSubjects

    def __init__(
        self, problem: Problem, *, draws: int = 6, expected: int = 10_000, rate: float = 0.4,
        limits: PerSubject = NO_LIMITS,
    ) -> None:  # fmt: skip
        if draws < 1 or expected < 0 or not rate > 0:
            raise AgentError(
                f"draws is {draws}, expected {expected}, rate {rate}; they must be 1 or more, 0 or more, and positive; "
                "correct them"
            )
        self.problem, self.draws, self.expected, self.rate, self.limits = problem, draws, expected, rate, limits
        self.parameters = log_trees(LARGEST_TREE, len(problem.operable), int(problem.k.max()), problem.n_decisions)

    def look(self, estimator: Structured, planner: Planner, rng: np.random.Generator, t: int) -> Stops:
        """Return the plan of the estimate; nobody is completed by what it may lose, only by the floor."""
        base = planner(self.problem, estimator.distribution(), t)
        nothing = np.empty(0)
        return Stops(base, np.empty((0, self.problem.d)), nothing, nothing, nothing, nothing, nothing.astype(np.bool_))

    def completion(self, stops: Stops, chances: FloatArray, lowest: float) -> ByTests:
        """Return the floor, wherever a test is left."""
        return ByTests(self.problem, {}, otherwise=min(lowest, SUREST))

    def within(self, allowed: float, left: int) -> tuple[int, float]:
        """Leave the block as it is: extras are cut to what the cap allows."""
        return left, 0.0

    def extra(
        self, estimator: Structured, stops: Stops, rng: np.random.Generator, *, ahead: float, left: int, allowed: float
    ) -> Extra | None:
        """Return what is bought of some subjects of a block of `left`, for `allowed` of what is at stake at most."""
        ends = Ends(self.problem, estimator, stops.base, self.limits)
        tests = ends.bundle(estimator.draws(rng, self.draws))
        if not tests:
            return None
        known = ends.known(tests)
        lost = ends.lost(known, self.rate, rng)
        chances = ends.chances(tests, known=known, lost=lost, ahead=ahead, left=left, rate=self.rate)
        dearest = sum(self.problem.tests[i].cost for i in tests)
        most = min(SUREST, allowed * ends.at_stake / dearest) if dearest > 0 else SUREST
        largest = min(most, float(chances.max()))
        if not largest > 0:
            return None
        # A leaf that no row of the support comes to is one that nothing is known of.
        return Extra(tests, largest, AtLeaves(ends.leaves, np.minimum(chances / largest, 1.0), otherwise=1.0))


class Ends:
    """Where a plan stops, and what more could be known there.

    Attributes
    ----------
    leaves : FloatArray of shape (leaves, d)
    mass : FloatArray of shape (leaves,)
        How often the plan stops there, by the estimate.
    stake : FloatArray of shape (leaves,)
        What knowing everything, at no cost, would bring beyond what a subject brings.
    at_stake : float
        What a subject can bring and cost, at most.
    """

    def __init__(self, problem: Problem, estimator: Structured, base: Policy, limits: PerSubject = NO_LIMITS) -> None:
        self.problem, self.estimator, self.limits = problem, estimator, limits
        self.rows, self.law, self.payoff = estimator.support, estimator.probabilities, problem.payoff(estimator.support)
        self.stopped = follow(problem, base, self.rows)
        self.earned = problem.realised(self.rows, self.stopped.actions) - self.stopped.costs
        states = row_ids(np.nan_to_num(self.stopped.states, nan=-1.0) + 1)
        _, first, self._leaf = np.unique(states, return_index=True, return_inverse=True)
        self.leaves = self.stopped.states[first]
        self.mass = totals(self._leaf, self.law, len(first))
        self.stake = self._mean(self.payoff.max(axis=1) - self.earned)
        self.at_stake = float(np.ptp(self.payoff)) + sum(problem.tests[i].cost for i in problem.operable)

    def bundle(self, draws: FloatArray) -> tuple[int, ...]:
        """Return the label and the tests that plans of draws of the law, (J, K), use most for their price.

        They are as many as an extra has at least, and more while all of them cost no more than the label; one is left
        out in any case, since who is tested completely might be an audit.
        """
        problem, operable, targets = self.problem, self.problem.operable, self.estimator.targets
        labels = [i for i in targets if problem.tests[i].operable]
        others = operable[~np.isin(operable, targets)]
        cost = np.array([problem.tests[i].cost for i in others])
        order = np.argsort(-self._usage(draws)[np.isin(operable, others)] / np.maximum(cost, 1e-9), kind="stable")
        as_dear = int((np.cumsum(cost[order]) <= sum(problem.tests[i].cost for i in labels)).sum())
        size = min(max(self.estimator.bundle, as_dear), len(others) - 1)
        return tuple(sorted([*others[order[: max(0, size)]].tolist(), *labels]))

    def known(self, tests: tuple[int, ...]) -> float:
        """Return n, 1 at least."""
        seen, counts = self.estimator.observations.rows, self.estimator.observations.counts
        telling = self.estimator.tells(seen)
        others = [i for i in tests if i not in self.estimator.targets]
        shown = ~np.isnan(seen[telling][:, others])
        return max(1.0, float((counts[telling] * (shown.mean(axis=1) if others else 1.0)).sum()))

    def lost(self, known: float, rate: float, rng: np.random.Generator) -> float:
        """Return L(n), what the plan loses to the best one."""
        curve = float(LOST * (self.mass @ self.stake) * (FIRST / max(known, FIRST)) ** rate)
        if known < ENOUGH:
            return curve
        least = max(1 / FARTHEST, math.sqrt(ENOUGH / 2 / known))
        plans = [
            suited_planner(half, self.limits)(self.problem, half.distribution(), 0)
            for half in self.estimator.halves(rng)
        ]
        behind = float(np.mean([weighted_sum(self.law, self.earned - self._brings(plan)) for plan in plans]))
        return min(max(PER_HALF * behind, least * curve), FARTHEST * curve)

    def chances(
        self, tests: tuple[int, ...], *, known: float, lost: float, ahead: float, left: int, rate: float
    ) -> FloatArray:
        """Return how probable the tests should be in each leaf (leaves,), for a block of `left` subjects."""
        price, some_left = self._prices(tests)
        pull = np.where(some_left, (np.maximum(self.stake, 0.0) / price) ** (1 / (1 + rate)), 0.0)
        share = float(self.mass @ pull)
        if not share > 0:
            return np.zeros(len(pull))
        mean = float(self.mass @ (pull * price)) / share
        rise = min(LARGEST_RISE, (rate * ahead * lost / (known * mean)) ** (1 / (1 + rate)))
        return np.asarray(pull * (max(0.0, rise - 1) * known / (left * share)))

    def _prices(self, tests: tuple[int, ...]) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return p(s) of each leaf, a hundredth of what is earned at least, and where any of the tests is left."""
        run = ExtraRun(self.problem, Extra(tests, SUREST))
        given = run.add(self.stopped, self.rows)
        lost = self.earned - self.problem.realised(self.rows, given.actions) + given.costs
        least = max(0.01 * float(np.abs(self.earned).max()), 1e-12)
        some_left, _ = run.left(self.leaves)
        return np.maximum(self._mean(lost), least), some_left

    def _brings(self, plan: Policy) -> FloatArray:
        """Return what a plan brings each row (K,)."""
        ends = follow(self.problem, plan, self.rows)
        return np.asarray(self.problem.realised(self.rows, ends.actions) - ends.costs)

    def _mean(self, amounts: FloatArray) -> FloatArray:
        """Return the mean, in each leaf, of amounts of the rows (K,)."""
        return totals(self._leaf, self.law * amounts, len(self.mass)) / np.maximum(self.mass, 1e-300)

    def _usage(self, draws: FloatArray) -> FloatArray:
        """Return how much plans of the draws use each test that can be run."""
        from proband.planners.rollout import grow_many  # compiled

        operable, context = self.problem.operable, self.problem.context
        about = np.zeros_like(self.payoff)
        about[np.arange(len(about)), self.payoff.argmax(axis=1)] = np.ptp(self.payoff, axis=1)
        prices = self.problem.prices.only(operable)
        known = np.unique(self.rows[:, context], axis=0, return_inverse=True)[1].reshape(-1)
        _, usage = grow_many(
            self.rows[:, operable].astype(np.int64),
            draws,
            draws[:, :, None] * self.payoff,
            draws[:, :, None] * about,
            prices.cost,
            group=prices.group,
            group_cost=prices.group_cost,
            starts=[np.flatnonzero(known == number) for number in range(int(known.max()) + 1)],
            max_tests=self.limits.max_tests,
            budget=self.limits.budget,
        )
        return usage
