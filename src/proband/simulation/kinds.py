"""What policies do to a stream of subjects, and lose to the best plan, for each kind of problem.

* *Pseudo-regret* is what is lost in expectation, the sum over subjects of v* − v(π^(t)).
* *Realised regret* sums, over the stream, what the clairvoyant's plan earned on each subject minus what the agent
  earned on the same one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from proband.distributions import Discrete, Gaussian
from proband.planners import evaluate, plan
from proband.planners.evaluation import expected_rewards
from proband.policies import FixedSet, ProjectionDecider, branches, follow
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Kind, Policy, Records


class Treatment(ABC):
    """The subjects of a stream (T, ...), as :func:`proband.simulation.simulate` takes them, and what comes of them."""

    most: int = 2**62
    """So many subjects are treated at a time, at most."""

    def __init__(self, problem: Problem, distribution: Any, stream: Any, rng: np.random.Generator) -> None:
        self.problem, self.distribution, self.rng = problem, distribution, rng
        self.stream: Any = np.asarray(stream, dtype=np.float64)

    @staticmethod
    def draw(distribution: Any, rng: np.random.Generator, n: int) -> IntArray | FloatArray:
        """Draw a stream of n subjects: their measurements."""
        return np.asarray(distribution.sample(rng, n))

    @abstractmethod
    def treat(self, policy: Policy, start: int, stop: int) -> tuple[FloatArray, Records]:
        """Let some subjects meet a policy.

        Returns pseudo-regret, realised regret, cost and tests, (4,), summed over them, and what was seen of them.
        """

    def whole(self, start: int, stop: int) -> Records:
        """Return some subjects with all their outcomes, as nobody but a simulation knows them."""
        return Records(self.stream[start:stop])


@dataclass(frozen=True)
class _Table:
    """What a policy does to each support row: one entry for each way the coin may fall."""

    chances: list[FloatArray]
    states: list[FloatArray]
    rewards: list[FloatArray]
    costs: list[FloatArray]
    tests: list[FloatArray]

    @property
    def value(self) -> FloatArray:
        """Expected total reward of each row."""
        return np.asarray(sum(q * r for q, r in zip(self.chances, self.rewards, strict=True)))


class ListedTreatment(Treatment):
    """Subjects are rows of a discrete law's support.

    What a policy does to a subject depends on its outcome vector (and its coin) only. So it is a table over the
    support, one row for each outcome vector, and the counts of these vectors in the stream: a million subjects cost as
    much as the plans that they need. Pseudo-regret is exact.
    """

    distribution: Discrete

    def __init__(self, problem: Problem, distribution: Discrete, stream: Any, rng: np.random.Generator) -> None:
        super().__init__(problem, distribution, stream, rng)
        self.stream = np.asarray(stream, dtype=np.int64)
        self._best = self._table(plan(problem, distribution))
        self._last: tuple[Policy | None, _Table] = (None, self._best)

    @staticmethod
    def draw(distribution: Discrete, rng: np.random.Generator, n: int) -> IntArray:
        """Draw a stream of n subjects: rows of the support."""
        return distribution.draw(rng, n)

    def treat(self, policy: Policy, start: int, stop: int) -> tuple[FloatArray, Records]:
        """Let some subjects meet a policy."""
        if policy is not self._last[0]:
            self._last = (policy, self._table(policy))
        table, best = self._last[1], self._best
        counts = np.bincount(self.stream[start:stop], minlength=len(self.distribution))
        thrown = self._toss(counts, table.chances)
        pseudo = (stop - start) * float(self.distribution.probabilities @ (best.value - table.value))
        earned, cost, tests = (
            sum(float(n @ each) for n, each in zip(thrown, figures, strict=True))
            for figures in (table.rewards, table.costs, table.tests)
        )
        seen = [(states[n > 0], n[n > 0]) for states, n in zip(table.states, thrown, strict=True)]
        records = Records(np.vstack([states for states, _ in seen]), np.concatenate([n for _, n in seen]))
        return np.array([pseudo, float(counts @ best.value) - earned, cost, tests]), records

    def whole(self, start: int, stop: int) -> Records:
        """Return some subjects with all their outcomes."""
        rows, counts = np.unique(self.stream[start:stop], return_counts=True)
        return Records(self.distribution.support[rows], counts)

    def _toss(self, counts: IntArray, chances: list[FloatArray]) -> list[IntArray]:
        """Return how many subjects of each row are treated in each way; the first way takes those that are left."""
        thrown, rest, left = [], counts, np.ones(len(counts))
        for chance in chances[1:]:
            given = np.divide(chance, left, where=left > 0, out=np.zeros(len(counts)))  # no way before was taken
            fell = self.rng.binomial(rest, np.minimum(given, 1.0))
            thrown.append(fell)
            rest, left = rest - fell, left - chance
        return [rest, *thrown]

    def _table(self, policy: Policy) -> _Table:
        table, support = _Table([], [], [], [], []), self.distribution.support
        for chance, episodes in branches(self.problem, policy, support):
            table.chances.append(chance)
            table.states.append(episodes.states)
            table.rewards.append(self.problem.realised(support, episodes.actions) - episodes.costs)
            table.costs.append(episodes.costs)
            table.tests.append(episodes.tests.astype(np.float64))
        return table


class MeasuredTreatment(Treatment):
    """Subjects are rows of measurements, and the best plan treats the same ones beside the agent.

    Pseudo-regret counts what a decision brings by its expectation given all that was seen of the subject: the sum of
    the differences has the right expectation, and the noise of what the tests show only, on subjects that both treat
    differently.
    """

    distribution: Gaussian
    most = 2**16  # it bounds memory

    def __init__(self, problem: Problem, distribution: Gaussian, stream: Any, rng: np.random.Generator) -> None:
        super().__init__(problem, distribution, stream, rng)
        self._best, self._decider = plan(problem, distribution), ProjectionDecider(problem, distribution)

    def treat(self, policy: Policy, start: int, stop: int) -> tuple[FloatArray, Records]:
        """Let some subjects meet a policy."""
        rows = self.stream[start:stop]
        treated = follow(self.problem, policy, rows, coins=self.rng.random(len(rows)))
        both = follow(self.problem, self._best, rows), treated
        expected = [expected_rewards(self._decider, each.states, each.actions) - each.costs for each in both]
        realised = [self.problem.realised(rows, each.actions) - each.costs for each in both]
        lost = [float((best - own).sum()) for best, own in (expected, realised)]
        return np.array([*lost, float(treated.costs.sum()), float(treated.tests.sum())]), Records(treated.states)


class SetTreatment(Treatment):
    """Subjects are rounds of measurements, the policy of a round is a set, and its reward is known exactly.

    A round in which S is measured loses f(S*) − f(S), f(S) = λ·H(S) − costs, whatever it shows; pseudo-regret and
    realised regret are the same.
    """

    distribution: Gaussian

    def __init__(self, problem: Problem, distribution: Gaussian, stream: Any, rng: np.random.Generator) -> None:
        super().__init__(problem, distribution, stream, rng)
        self._best = plan(problem, distribution).value
        self._figures: dict[tuple[int, ...], FloatArray] = {}

    def treat(self, policy: Policy, start: int, stop: int) -> tuple[FloatArray, Records]:
        """Let some rounds measure a set."""
        rows = self.stream[start:stop]
        if isinstance(policy, FixedSet):
            chosen = tuple(sorted(policy.order))
        else:
            chosen = tuple(np.flatnonzero(~np.isnan(follow(self.problem, policy, rows[:1]).states[0])).tolist())
        if chosen not in self._figures:
            found = evaluate(self.problem, self.distribution, policy)
            lost = self._best - found.value
            self._figures[chosen] = np.array([lost, lost, found.cost, found.tests])
        seen = np.full(rows.shape, np.nan)
        seen[:, chosen] = rows[:, chosen]
        return len(rows) * self._figures[chosen], Records(seen)


TREATMENTS: dict[Kind, type[Treatment]] = {
    Kind.LISTED: ListedTreatment,
    Kind.SCORES: MeasuredTreatment,
    Kind.SETS: SetTreatment,
}
