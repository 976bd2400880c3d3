"""Policies that do not adapt: a fixed set of tests, everything, or nothing; then the best decision."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Distribution
from proband.errors import PolicyError, StateError
from proband.policies.deciding import StopDecider, decider_for
from proband.policies.episodes import Episodes
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Kind, Pooling, outcome_codes


class FixedSet:
    """Run the named tests in the given order, whatever they show, then decide.

    Parameters
    ----------
    problem : Problem
    tests : sequence of str
        Names of the tests to run.
    distribution : Distribution, optional
        The law under which the final decision is best. Without it every test must be known in the end, and the
        decision is best for the complete outcome vector (f is known; P is not needed). An entropy problem needs none.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 2.0)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> policy = FixedSet(problem, ["crack"])
    >>> [problem.action_name(a) for a in policy.act([[float("nan")], [0], [1]])]
    ['crack', 'pass', 'fail']
    """

    def __init__(self, problem: Problem, tests: Sequence[str], distribution: Distribution | None = None) -> None:
        self.problem = problem
        self.order = [problem.test_index(name) for name in tests]
        for i in self.order:
            if not problem.tests[i].operable:
                raise PolicyError(
                    f"test {problem.tests[i].name!r} cannot be run (known on arrival, or unavailable); a fixed set "
                    "holds tests that can; drop it"
                )
        stops, seen = problem.kind is Kind.SETS, {*self.order, *problem.context.tolist()}
        left_out = [test.name for i, test in enumerate(problem.tests) if i not in seen]
        if distribution is None and not stops and left_out:
            raise PolicyError(
                f"the tests {left_out} stay unknown; deciding without them needs a law; give a distribution"
            )
        self._decider = None if distribution is None else decider_for(problem, distribution)
        if stops:
            self._decider = StopDecider(problem)

    @property
    def everything(self) -> bool:
        """Whether these are all tests that can be run."""
        return set(self.order) == set(self.problem.operable.tolist())

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return the first missing test of the set, or the decision, for each state."""
        rows = self.problem.states(states)
        actions = np.full(len(rows), -1, dtype=np.int64)
        for i in [*self.problem.context.tolist(), *self.order]:
            actions[(actions < 0) & np.isnan(rows[:, i])] = i
        done = actions < 0
        if done.any():
            actions[done] = self.decide(rows[done])
        return actions

    def run(self, rows: FloatArray) -> Episodes:
        """Take subjects with complete outcome vectors (n, d) from arrival to decision: the same tests for all."""
        problem, n = self.problem, len(rows)
        seen = [*problem.context.tolist(), *dict.fromkeys(self.order)]
        states = problem.states(rows)
        states[:, np.setdiff1d(np.arange(problem.d), seen)] = np.nan
        if np.isnan(states[:, seen]).any():
            raise StateError("an outcome is NaN; a subject's whole outcome vector must be known to run it; fill it in")
        before = np.zeros((1, problem.d), dtype=np.bool_)
        cost = problem.prices.adding(before, np.array(self.order, dtype=np.int64))[0]
        tests = np.full(n, len(seen) - len(problem.context), dtype=np.int64)
        return Episodes(states, self.decide(states), np.full(n, cost), tests)

    def decide(self, rows: FloatArray) -> IntArray:
        """Return the decision in states in which every test of the set is known, shape (n,)."""
        return settled_decisions(self.problem, rows) if self._decider is None else self._decider.decide(rows)[0]


class DecideNow:
    """Run no test: take one named decision, or the best one for what is known on arrival.

    Parameters
    ----------
    problem : Problem
    decision : str, optional
        The decision to take always.
    distribution : Distribution, optional
        The law under which the decision is best, when none is named.
    """

    def __init__(self, problem: Problem, decision: str | None = None, distribution: Distribution | None = None) -> None:
        if (decision is None) == (distribution is None):
            raise PolicyError("give either a decision to take always, or a distribution to find the best one under")
        self.problem = problem
        self._action = None if decision is None else problem.decision_action(decision)
        self._fixed = None if distribution is None else FixedSet(problem, (), distribution)

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return the decision for each state."""
        if self._fixed is not None:
            return self._fixed.act(states)
        rows = self.problem.states(states)
        return np.full(len(rows), self._action, dtype=np.int64)


def settled_decisions(problem: Problem, rows: FloatArray) -> IntArray:
    """Return the best decision in each state in which the reward is settled, as an action, shape (n,)."""
    if problem.reward.pooling is Pooling.MAXIMUM:
        return problem.d + outcome_codes(rows, problem.tests)
    if problem.measured:  # a settled reward reads known tests alone, but a weight of 0 times NaN would be NaN
        rows = np.where(np.isnan(rows), 0.0, rows)
    return np.asarray(problem.d + problem.payoff(rows).argmax(axis=1))


def test_everything(problem: Problem, distribution: Distribution | None = None) -> FixedSet:
    """Return the policy that runs every test that can be run, in a cheapest order, then decides."""
    return FixedSet(problem, [problem.tests[i].name for i in problem.cheapest_order], distribution)


vars(test_everything)["__test__"] = False  # pytest would take it for a test
