"""Leaf completion with many tests: what to buy of whom, when states can no longer be listed.

The law is that of :class:`~proband.estimators.Structured`, plans are grown by information and pruned by price
(``method="rollout"``) with a penalty for every node. Where a plan stops, three things may happen to a subject:

* a coin of the *floor* completes it, whoever it is: such subjects are a fair sample of the law, and are kept apart as
  *audits* (:mod:`proband.agents.listed.audits`);
* an *extra* is bought: the label and the tests that seem to matter, for a share of all subjects alike;
* it is decided as planned.

**Which extra, and for how many.** With posterior draws D_1 ... D_J of the law and the plan π,

    G(B) = mean_j [ V_j(B) − V_j(π) ]⁺        what a plan with the tests of B, beside π's, might gain a subject,
    p(B) = what the extra B costs a subject beyond what deciding better brings it,
    n(B) = subjects known by label and by the tests of B, each for the share of B that it shows,
    H    = the subjects to come.

What is lost falls with the subjects seen like n^(−β), so n' more of them bring H·G·(1 − (n/(n + n'))^β) and cost n'·p:
most at n + n' = n·(βHG/(np))^(1/(1 + β)). The bundle with the largest difference is bought. Bundles are the tests that
the plans of the draws use most per price, 4, 8, 16, ... of them, or all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proband.agents.estimates import Planner
from proband.agents.listed.audits import AuditedSubjects
from proband.agents.stops import Stops
from proband.errors import AgentError
from proband.estimators import Structured
from proband.policies import SUREST, ByTests, Completing, Extra, follow
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy, Records

BUNDLES = (4, 8, 16, 32, 64)
LARGEST_RISE = 2.0
"""The subjects that tell about a bundle at most double in a block."""

MOST_PLAIN = 1000
"""So many subjects of a block who were treated as planned are learned from, about, at most."""

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


def thinned(policy: Policy, rows: FloatArray, counts: IntArray, rng: np.random.Generator) -> Records:
    """Return rows (n, d) of a block, less some of those who were treated as planned, drawn by lot.

    They are many, and show of the tests only those that the plan believes in already. Each of them has the same
    chance to be left out, so that the law is not biased.
    """
    if isinstance(policy, Completing):
        plain = np.asarray((np.isnan(policy.leaves(rows)) == np.isnan(rows)).all(axis=1))
        share = min(1.0, MOST_PLAIN / max(1, int(counts[plain].sum())))
        counts = np.where(plain, rng.binomial(counts, share), counts)
    return Records(rows[counts > 0], counts[counts > 0])


@dataclass(frozen=True)
class Wish:
    """An extra, for how many subjects of the block, and what that is hoped to bring beyond its price."""

    tests: tuple[int, ...]
    subjects: float
    gain: float


class ManyLeaves:
    """The leaves of plans of many tests (:class:`~proband.agents.stops.Leaves`).

    Parameters
    ----------
    problem : Problem
    draws : int, default 6
        J, the number of posterior draws.
    expected : int, default 10000
        So many subjects are expected to come, at least, where no horizon is told.
    rate : float, default 0.3
        β: how fast the loss falls with the subjects that were seen.
    """

    floor, safe_floor, threshold, surest = 0.0, 0.0125, 1.0, SUREST
    ahead, first, growth = 1.5, 50, 0.35
    reference = AuditedSubjects

    def __init__(self, problem: Problem, *, draws: int = 6, expected: int = 10_000, rate: float = 0.3) -> None:
        if draws < 1 or expected < 0 or not rate > 0:
            raise AgentError(
                f"draws is {draws}, expected {expected}, rate {rate}; they must be 1 or more, 0 or more, and positive; "
                "correct them"
            )
        self.problem, self.draws, self.expected, self.rate = problem, draws, expected, rate
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
        """Return what is bought of some subjects of a block of `left`, `allowed` of them at most."""
        wish = self.wish(estimator, stops.base, rng, ahead)
        if wish is None or allowed <= 0:
            return None
        return Extra(wish.tests, min(SUREST, min(wish.subjects, allowed) / left))

    def wish(self, estimator: Structured, base: Policy, rng: np.random.Generator, ahead: float) -> Wish | None:
        """Return the extra that promises most, if any promises more than it costs."""
        hopes = Hopes(self.problem, estimator, base, estimator.draws(rng, self.draws))
        best: Wish | None = None
        for tests in hopes.bundles():
            gain, price, n = hopes.gain(tests), hopes.price(tests), hopes.known(tests)
            rise = min(LARGEST_RISE, (self.rate * ahead * gain / (n * price)) ** (1 / (1 + self.rate)))
            if rise <= 1:
                continue
            net = ahead * gain * (1 - rise**-self.rate) - (rise - 1) * n * price
            if net > 0 and (best is None or net > best.gain):
                best = Wish(tests, (rise - 1) * n, net)
        return best


class Hopes:
    """What plans of draws of the law, shape (J, K) over the estimator's support, promise beyond a plan."""

    def __init__(self, problem: Problem, estimator: Structured, base: Policy, draws: FloatArray) -> None:
        self.problem, self.estimator, self.base = problem, estimator, base
        self.rows, self.law = estimator.support, estimator.probabilities
        self.operable = np.asarray(problem.operable, dtype=np.int64)
        self.targets = tuple(i for i in estimator.targets if problem.tests[i].operable)
        self.stopped = follow(problem, base, self.rows)
        self.earned = problem.realised(self.rows, self.stopped.actions) - self.stopped.costs
        payoff = problem.payoff(self.rows)
        about = np.zeros_like(payoff)
        best = payoff.argmax(axis=1)
        about[np.arange(len(payoff)), best] = payoff.max(axis=1) - payoff.min(axis=1)
        self.draws, self.stakes, self.ideal = draws, draws[:, :, None] * payoff, draws[:, :, None] * about
        self.now = draws @ self.earned
        self.run = (~np.isnan(self.stopped.states[:, self.operable])).any(axis=0)
        self.promised, self.usage = self._grown(np.ones(len(self.operable), dtype=np.bool_))

    def bundles(self) -> list[tuple[int, ...]]:
        """Return sets of tests, the label's among them: those that the draws' plans use most per price, and all."""
        cost = self.problem.prices.only(self.problem.operable).cost
        score = self.usage / np.maximum(cost, 1e-9)
        order: IntArray = np.argsort(-score, kind="stable")
        used = order[score[order] > 0]
        sizes = [size for size in BUNDLES if size < len(used)] + [len(used), len(self.operable)]
        found = [tuple(sorted({*self.operable[order[:size]].tolist(), *self.targets})) for size in sizes]
        return [bundle for bundle in dict.fromkeys(found) if bundle]

    def gain(self, tests: tuple[int, ...]) -> float:
        """Return G(B)."""
        allowed = self.run | np.isin(self.operable, tests)
        covered = not (self.usage[~allowed] > 0).any()
        values = self.promised if covered else self._grown(allowed)[0]
        return float(np.maximum(values - self.now, 0.0).mean())

    def price(self, tests: tuple[int, ...]) -> float:
        """Return p(B), a millionth of what is at stake at least."""
        law, nobody = self.estimator.distribution(), ByTests(self.problem, {})
        extra = Completing(self.problem, self.base, nobody, law, extra=Extra(tests, SUREST))
        given = extra.part(self.stopped, self.rows)
        earned = self.problem.realised(self.rows, given.actions) - given.costs
        return max(float(self.law @ (self.earned - earned)), 1e-6 * float(np.abs(self.earned).max()), 1e-12)

    def known(self, tests: tuple[int, ...]) -> float:
        """Return n(B), 1 at least."""
        seen, counts = self.estimator.observations.rows, self.estimator.observations.counts
        labelled = ~np.isnan(seen[:, self.estimator.targets]).any(axis=1)
        others = [i for i in tests if i not in self.estimator.targets]
        shown = (~np.isnan(seen[:, others])).mean(axis=1) if others else np.ones(len(seen))
        return max(1.0, float(counts[labelled] @ shown[labelled]))

    def _grown(self, allowed: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
        """Return what the draws' plans of allowed tests bring, (J,), and how much each test is used, (m,)."""
        from proband.planners.rollout import grow_many  # compiled

        prices = self.problem.prices.only(self.problem.operable)
        _, context = np.unique(self.rows[:, self.problem.context], axis=0, return_inverse=True)
        context = context.reshape(-1)
        return grow_many(
            self.rows[:, self.operable].astype(np.int64),
            self.draws,
            self.stakes,
            self.ideal,
            prices.cost,
            group=prices.group,
            group_cost=prices.group_cost,
            starts=[np.flatnonzero(context == number) for number in range(int(context.max()) + 1)],
            allowed=allowed,
        )
