"""What is seen and what can be done, as Gymnasium's spaces: shared by one environment and many side by side.

An observation has for each test that can be known a place for each of its outcomes, 1 where it was seen and 0
elsewhere; a measured test has two, whether it was seen, and by how many standard deviations it is off its mean, cut at
±10. An action is a test that can be run, then a decision.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from gymnasium.error import InvalidAction
from numpy.typing import NDArray

from gymnasium import spaces
from proband.distributions import Distribution
from proband.errors import ProblemError, TooLargeError
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Kind

FARTHEST = 10.0
"""Standard deviations that an observation shows, at most."""

MOST_DECISIONS = 4096


class Course:
    """The rules of the game for subjects side by side: what they show, cost and bring."""

    def __init__(self, problem: Problem, distribution: Distribution) -> None:
        distribution.check(problem)
        if problem.kind is Kind.SETS:
            raise ProblemError("the reward is that of a set of sites; an episode ends in a decision; plan it instead")
        self.problem, self.distribution = problem, distribution
        self.tests: IntArray = np.asarray(problem.operable)
        if not len(self.tests):
            raise ProblemError("no test can be run: all are in the past alone; an environment needs one; add a test")
        decisions = len(problem.decisions) or float(np.prod(problem.k.astype(float)))
        if decisions > MOST_DECISIONS:
            raise TooLargeError(
                f"there are {decisions:.0f} decisions; an environment has {MOST_DECISIONS} at most; name decisions"
            )
        self.decisions = int(decisions)
        self.most_steps = 2 * len(self.tests) + 1
        self.visible = [i for i, test in enumerate(problem.tests) if test.available]

    @cached_property
    def action_space(self) -> spaces.Discrete[Any]:
        """The tests that can be run, then the decisions."""
        return spaces.Discrete(len(self.tests) + self.decisions)

    @cached_property
    def observation_space(self) -> spaces.Box:
        """What was seen, in places between 0 and 1, or -10 and 10 for what was measured."""
        measured = [self.problem.tests[i].measured for i in self.visible]
        low = np.concatenate([[0.0, -FARTHEST] if m else np.zeros(self._width(i)) for i, m in self._places(measured)])
        high = np.concatenate([[1.0, FARTHEST] if m else np.ones(self._width(i)) for i, m in self._places(measured)])
        return spaces.Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)

    @property
    def action_names(self) -> list[str]:
        """What each action is."""
        names = [self.problem.tests[i].name for i in self.tests]
        return names + [self.problem.action_name(self.problem.d + y) for y in range(self.decisions)]

    def start(self, subjects: FloatArray) -> FloatArray:
        """Return the states of subjects (n, d) when they arrive: what is known on arrival."""
        states = np.full(subjects.shape, np.nan)
        states[:, self.problem.context] = subjects[:, self.problem.context]
        return states

    def observed(self, states: FloatArray) -> NDArray[np.float32]:
        """Return the observations of states (n, d), shape (n, places)."""
        parts = []
        for i in self.visible:
            seen, column = ~np.isnan(states[:, i]), states[:, i]
            if self.problem.tests[i].measured:
                off = np.clip((column - self._mean[i]) / self._sd[i], -FARTHEST, FARTHEST)
                parts.append(np.column_stack([seen, np.where(seen, off, 0.0)]))
            else:
                parts.append(column[:, None] == np.arange(self._width(i)))
        return np.concatenate(parts, axis=1).astype(np.float32)

    def masks(self, states: FloatArray) -> NDArray[np.int8]:
        """Return which actions make sense in states (n, d): tests that were not run, and all decisions."""
        free = np.isnan(states[:, self.tests])
        return np.column_stack([free, np.ones((len(states), self.decisions), dtype=np.bool_)]).astype(np.int8)

    def act(self, subjects: FloatArray, states: FloatArray, given: Any) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Act on subjects (n, d), and write into their states what is seen; return rewards (n,), and who is decided.

        A test that is run again costs again and shows the same.
        """
        actions = self._checked(given, len(subjects))
        decided = actions >= len(self.tests)
        rewards = np.zeros(len(actions))
        here = np.flatnonzero(~decided)
        chosen = self.tests[actions[here]]
        before = states[here].copy()
        before[np.arange(len(here)), chosen] = np.nan
        if len(here):
            rewards[here] = -self.problem.costs(before)[np.arange(len(here)), chosen]
        states[here, chosen] = subjects[here, chosen]
        done = np.flatnonzero(decided)
        if len(done):
            taken = self.problem.d + actions[done] - len(self.tests)
            rewards[done] = self.problem.realised(subjects[done], taken)
        return rewards, decided

    def _checked(self, given: Any, number: int) -> IntArray:
        actions, most = np.asarray(given), len(self.tests) + self.decisions
        if actions.shape != (number,):
            raise InvalidAction(f"actions have shape {actions.shape}; there must be one for each of {number} subjects")
        odd = actions[~((actions >= 0) & (actions < most) & (actions == np.floor(actions)))]
        if len(odd):
            raise InvalidAction(
                f"the action is {odd[0]}; actions are whole numbers from 0 to {most - 1}, of which the first "
                f"{len(self.tests)} are tests; see action_names"
            )
        return actions.astype(np.int64)

    @cached_property
    def _mean(self) -> FloatArray:
        return np.asarray(getattr(self.distribution, "mean", np.zeros(self.problem.d)))

    @cached_property
    def _sd(self) -> FloatArray:
        variance = np.diagonal(getattr(self.distribution, "covariance", np.eye(self.problem.d)))
        return np.asarray(np.sqrt(np.where(variance > 0, variance, 1.0)))

    def _width(self, test: int) -> int:
        return int(self.problem.tests[test].k)

    def _places(self, measured: list[bool]) -> list[tuple[int, bool]]:
        return list(zip(self.visible, measured, strict=True))
