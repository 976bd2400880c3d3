"""What the limits for a subject leave: how many more tests, and how much more to pay."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from proband.problem import Problem

TIE = 1e-12
"""By so much a sum of prices may exceed a budget for rounding."""


@dataclass(frozen=True)
class Room:
    """How many more tests may be run on a subject, and how much may be paid for them."""

    tests: float = math.inf
    money: float = math.inf

    def allows(self, cost: float) -> bool:
        """Return whether a test of this price may be run."""
        return self.tests >= 1 and cost <= self.money + TIE


def room_after(
    problem: Problem, done: Sequence[int], *, max_tests: int | None = None, budget: float | None = None
) -> Room:
    """Return what limits leave after some tests were run, in this order; those known on arrival do not count.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Match
    >>> problem = Problem([Test("a", 2.0), Test("b", 3.0)], reward=Match())
    >>> room_after(problem, [0], max_tests=2, budget=4.0), room_after(problem, [0, 1], budget=4.0)
    (Room(tests=1, money=2.0), Room(tests=inf, money=0.0))
    """
    if max_tests is None and budget is None:
        return Room()
    run = np.array([i for i in done if problem.tests[i].operable], dtype=np.int64)
    spent = float(problem.prices.adding(np.zeros((1, problem.d), dtype=np.bool_), run)[0])
    tests = math.inf if max_tests is None else max(0, max_tests - len(run))
    return Room(tests, math.inf if budget is None else max(0.0, budget - spent))
