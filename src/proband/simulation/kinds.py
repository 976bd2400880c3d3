"""What policies do to a stream of subjects, and lose to the best plan, for each kind of problem.

* *Pseudo-regret* is what is lost in expectation, the sum over subjects of v* − v(π^(t)).
* *Realised regret* sums, over the stream, what the clairvoyant's plan earned on each subject minus what the agent
  earned on the same one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from proband.distributions import Discrete, Gaussian
from proband.planners import Evaluation, Plan, evaluate, plan
from proband.planners.choice import by_size
from proband.planners.evaluation import expected_rewards
from proband.planners.options import Options
from proband.policies import FixedSet, ProjectionDecider, Way, branches, follow, ways
from proband.policies.treating import MOST_CELLS
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Kind, Policy, Records

LARGEST_SEARCH = 20_000
"""On supports with more rows a search for the best plan might never end."""


@dataclass(frozen=True)
class Treated:
    """What came of some subjects.

    Attributes
    ----------
    figures : FloatArray of shape (4,)
        Pseudo-regret, realised regret, cost and tests, summed over them.
    records : Records
        What was seen of them.
    hidden : FloatArray of shape (len(records), unavailable tests)
        What the unavailable tests would have shown.
    """

    figures: FloatArray
    records: Records
    hidden: FloatArray


class Treatment(ABC):
    """The subjects of a stream (T, ...), as :func:`proband.simulation.simulate` takes them, and what comes of them.

    Parameters
    ----------
    problem : Problem
    distribution : Distribution
        The true law.
    stream : array
    rng : numpy.random.Generator
        Tosses coins.
    best : Policy, optional
        What regret is measured against; by default the best plan.
    """

    most: int = 2**62
    """So many subjects are treated at a time, at most."""

    def __init__(
        self, problem: Problem, distribution: Any, stream: Any, rng: np.random.Generator, best: Policy | None = None
    ) -> None:
        self.problem, self.distribution, self.rng = problem, distribution, rng
        self.stream: Any = np.asarray(stream, dtype=np.float64)
        self.best = self.reference() if best is None else best
        self.unavailable = np.flatnonzero([not test.available for test in problem.tests])

    @staticmethod
    def draw(distribution: Any, rng: np.random.Generator, n: int) -> IntArray | FloatArray:
        """Draw a stream of n subjects: their measurements."""
        return np.asarray(distribution.sample(rng, n))

    def reference(self) -> Policy:
        """Return the best plan."""
        return plan(self.problem, self.distribution)

    @abstractmethod
    def treat(self, policy: Policy, start: int, stop: int) -> Treated:
        """Let some subjects meet a policy."""

    def whole(self, start: int, stop: int) -> Records:
        """Return some subjects with all their outcomes, as nobody but a simulation knows them."""
        return Records(self.stream[start:stop])


@dataclass(frozen=True)
class _Table:
    """What a policy does to each support row: one entry for each way the coin may fall."""

    ways: list[Way]
    rewards: list[FloatArray]
    states: list[FloatArray] | None

    @cached_property
    def value(self) -> FloatArray:
        """Expected total reward of each row."""
        return np.asarray(sum(way.chances * r for way, r in zip(self.ways, self.rewards, strict=True)))

    def column(self, name: str) -> list[FloatArray]:
        """Return one of the figures for each way."""
        return [np.asarray(getattr(way, name), dtype=np.float64) for way in self.ways]


class ListedTreatment(Treatment):
    """Subjects are rows of a discrete law's support.

    What a policy does to a subject depends on its outcome vector (and its coin) only. So it is a table over the
    support, one row for each outcome vector, and the counts of these vectors in the stream: a million subjects cost as
    much as the plans that they need. Pseudo-regret is exact.

    Where the support is large, the table holds values but no final states: these are worked out for rows that occur.
    """

    distribution: Discrete

    def __init__(
        self,
        problem: Problem,
        distribution: Discrete,
        stream: Any,
        rng: np.random.Generator,
        best: Policy | None = None,
    ) -> None:
        self._large = len(distribution) * problem.d > MOST_CELLS
        super().__init__(problem, distribution, stream, rng, best)
        self.stream = np.asarray(stream, dtype=np.int64)
        table = self._table(self.best)
        self._best = table.value
        self._last: tuple[Policy | None, _Table] = (self.best, table)

    @staticmethod
    def draw(distribution: Discrete, rng: np.random.Generator, n: int) -> IntArray:
        """Draw a stream of n subjects: rows of the support."""
        return distribution.draw(rng, n)

    def reference(self) -> Policy:
        """Return the best plan; one that is improved step by step where the exact search could go on for ever."""
        searched = (
            len(self.distribution) > LARGEST_SEARCH
            and by_size(self.problem, self.distribution, Options())[0] == "sparse"
        )
        return plan(self.problem, self.distribution, method="rollout" if searched else None)

    def treat(self, policy: Policy, start: int, stop: int) -> Treated:
        """Let some subjects meet a policy."""
        if policy is not self._last[0]:
            self._last = (policy, self._table(policy))
        table, subjects = self._last[1], self.stream[start:stop]
        # zeros change no sum and draw no number: where most rows do not occur they are left out
        rows = np.unique(subjects) if self._large else np.arange(len(self.distribution))
        counts = np.bincount(subjects, minlength=len(self.distribution))[rows]
        thrown = self._toss(counts, [chances[rows] for chances in table.column("chances")])
        pseudo = (stop - start) * float(self.distribution.probabilities @ (self._best - table.value))
        earned, cost, tests = (
            sum(float(n @ each[rows]) for n, each in zip(thrown, figures, strict=True))
            for figures in (table.rewards, table.column("costs"), table.column("tests"))
        )
        met = [rows[n > 0] for n in thrown]
        records = Records(np.vstack(self._states(policy, table, met)), np.concatenate([n[n > 0] for n in thrown]))
        figures = np.array([pseudo, float(counts @ self._best[rows]) - earned, cost, tests])
        return Treated(figures, records, self.distribution.support[np.ix_(np.concatenate(met), self.unavailable)])

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
        support = self.distribution.support
        if self._large:
            found, states = ways(self.problem, policy, support), None
        else:
            ends = branches(self.problem, policy, support)
            found = [Way(chance, each.actions, each.costs, each.tests) for chance, each in ends]
            states = [each.states for _, each in ends]
        rewards = [self.problem.realised(support, way.actions) - way.costs for way in found]
        return _Table(found, rewards, states)

    def _states(self, policy: Policy, table: _Table, met: list[IntArray]) -> list[FloatArray]:
        """Return the final states of the rows that met a policy in each way."""
        if table.states is not None:
            return [states[rows] for states, rows in zip(table.states, met, strict=True)]
        found = [np.empty((len(rows), self.problem.d)) for rows in met]
        every, step = np.unique(np.concatenate(met)), max(1, MOST_CELLS // self.problem.d)
        for piece in (every[start : start + step] for start in range(0, len(every), step)):
            ends = branches(self.problem, policy, self.distribution.support[piece])
            for into, rows, (_, each) in zip(found, met, ends, strict=True):
                here = slice(*np.searchsorted(rows, (piece[0], piece[-1] + 1)))
                into[here] = each.states[np.searchsorted(piece, rows[here])]
        return found


class MeasuredTreatment(Treatment):
    """Subjects are rows of measurements, and the best plan treats the same ones beside the agent.

    Pseudo-regret counts what a decision brings by its expectation given all that was seen of the subject: the sum of
    the differences has the right expectation, and the noise of what the tests show only, on subjects that both treat
    differently.
    """

    distribution: Gaussian
    most = 2**16  # it bounds memory

    @cached_property
    def _decider(self) -> ProjectionDecider:
        return ProjectionDecider(self.problem, self.distribution)

    def treat(self, policy: Policy, start: int, stop: int) -> Treated:
        """Let some subjects meet a policy."""
        rows = self.stream[start:stop]
        treated = follow(self.problem, policy, rows, coins=self.rng.random(len(rows)))
        both = follow(self.problem, self.best, rows), treated
        expected = [expected_rewards(self._decider, each.states, each.actions) - each.costs for each in both]
        realised = [self.problem.realised(rows, each.actions) - each.costs for each in both]
        lost = [float((best - own).sum()) for best, own in (expected, realised)]
        figures = np.array([*lost, float(treated.costs.sum()), float(treated.tests.sum())])
        return Treated(figures, Records(treated.states), rows[:, self.unavailable])


class SetTreatment(Treatment):
    """Subjects are rounds of measurements, the policy of a round is a set, and its reward is known exactly.

    A round in which S is measured loses f(S*) − f(S), f(S) = λ·H(S) − costs, whatever it shows; pseudo-regret and
    realised regret are the same.
    """

    distribution: Gaussian

    @cached_property
    def _best(self) -> float:
        return self.best.value if isinstance(self.best, Plan) else self._evaluated(self.best).value

    @cached_property
    def _figures(self) -> dict[tuple[int, ...], FloatArray]:
        return {}

    def _evaluated(self, policy: Policy) -> Evaluation:
        return evaluate(self.problem, self.distribution, policy)

    def treat(self, policy: Policy, start: int, stop: int) -> Treated:
        """Let some rounds measure a set."""
        rows = self.stream[start:stop]
        if isinstance(policy, FixedSet):
            chosen = tuple(sorted(policy.order))
        else:
            chosen = tuple(np.flatnonzero(~np.isnan(follow(self.problem, policy, rows[:1]).states[0])).tolist())
        if chosen not in self._figures:
            found = self._evaluated(policy)
            lost = self._best - found.value
            self._figures[chosen] = np.array([lost, lost, found.cost, found.tests])
        seen = np.full(rows.shape, np.nan)
        seen[:, chosen] = rows[:, chosen]
        return Treated(len(rows) * self._figures[chosen], Records(seen), rows[:, self.unavailable])


TREATMENTS: dict[Kind, type[Treatment]] = {
    Kind.LISTED: ListedTreatment,
    Kind.SCORES: MeasuredTreatment,
    Kind.SETS: SetTreatment,
}
