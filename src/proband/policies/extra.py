"""A part of the tests that is run, now and then, where a plan stops.

Running every remaining test shows most and costs most. A few tests, such as the one that the reward depends on, often
teach as much for a fraction of the price. Which ones is the same in every leaf; how often may differ, since where a
decision is hardly in doubt there is little to learn. A leaf at which all of them are known has nothing to add.

What follows is decided by what is then known: where the reward is settled
(:meth:`proband.Problem.settled`) the best decision for it, elsewhere the one that the plan takes in its leaf. A law
would not help: estimated laws hardly ever hold a row that agrees with so many outcomes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proband.errors import PolicyError
from proband.policies.episodes import Episodes
from proband.policies.fixed import settled_decisions
from proband.policies.leaf_chances import Completion
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True)
class Extra:
    """A part of the tests, and with which probability it is run where a plan stops.

    Parameters
    ----------
    tests : tuple of int
        Tests that can be run; those that are known already are left out.
    chance : float
        The probability, in any leaf at most.
    shares : callable, optional
        From leaves (n, d) to shares of this probability (n,), from 0 to 1, such as
        :class:`~proband.policies.AtLeaves`; by default 1, the same chance in every leaf.

    Examples
    --------
    >>> Extra((2, 0), 0.125)
    Extra(tests=(0, 2), chance=0.125, shares=None)
    """

    tests: tuple[int, ...]
    chance: float
    shares: Completion | None = None

    def __post_init__(self) -> None:
        tests = tuple(sorted(int(i) for i in self.tests))
        if not tests or len(set(tests)) < len(tests):
            raise PolicyError(f"the extra tests are {list(tests)}; they must be one or more different ones; list them")
        if not 0 <= self.chance <= 1:
            raise PolicyError(f"the chance of extra tests is {self.chance}; it must be from 0 to 1; correct it")
        object.__setattr__(self, "tests", tests)
        object.__setattr__(self, "chance", float(self.chance))

    def chances(self, leaves: FloatArray) -> FloatArray | float:
        """Return the probability in each leaf (n, d), or one for all."""
        return self.chance if self.shares is None else self.chance * self.shares(leaves)

    def check(self, problem: Problem) -> None:
        """Raise if the problem has tests among them that cannot be run."""
        wrong = [i for i in self.tests if i not in problem.operable]
        if wrong:
            raise PolicyError(
                f"the extra tests {wrong} cannot be run (known on arrival, unavailable, or not there); those that can "
                f"are {problem.operable.tolist()}; drop the others"
            )


class ExtraRun:
    """Extra tests on subjects of a problem: where some are left, which comes next, and what they do."""

    def __init__(self, problem: Problem, extra: Extra) -> None:
        extra.check(problem)
        self.problem = problem
        self.order: IntArray = problem.cheapest_order[np.isin(problem.cheapest_order, extra.tests)]
        self._never = np.flatnonzero([not test.available for test in problem.tests])

    def left(self, states: FloatArray) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return whether an extra test is not known yet in each state, and whether nothing else is: (n,) each.

        Where nothing else is left, running the extra tests is running everything.
        """
        missing = np.isnan(states)
        extra, never = missing[:, self.order], missing[:, self._never]
        left = extra.sum(axis=1)
        others = np.count_nonzero(missing, axis=1) - left - never.sum(axis=1)
        return np.asarray(left > 0), np.asarray((left > 0) & (others == 0))

    def act(self, states: FloatArray, planned: IntArray) -> IntArray:
        """Return the next extra test of each state, or the decision; `planned` are the plan's decisions, (n,)."""
        missing = np.isnan(states[:, self.order])
        return np.where(missing.any(axis=1), self.order[missing.argmax(axis=1)], self._decide(states, planned))

    def add(self, stopped: Episodes, rows: FloatArray) -> Episodes:
        """Return what happens to subjects (n, d) that are given the extra tests where they would have stopped."""
        known = ~np.isnan(stopped.states)
        states = stopped.states.copy()
        states[:, self.order] = rows[:, self.order]
        return Episodes(
            states,
            self._decide(states, stopped.actions),
            stopped.costs + self.problem.prices.adding(known, self.order),
            stopped.tests + (~known[:, self.order]).sum(axis=1),
        )

    def _decide(self, states: FloatArray, planned: IntArray) -> IntArray:
        settled = self.problem.settled(states)
        decisions = planned.copy()
        decisions[settled] = settled_decisions(self.problem, states[settled])
        return decisions
