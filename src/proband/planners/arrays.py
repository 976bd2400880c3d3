"""A problem's prices as arrays, as the Gaussian and the subset planner take them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True)
class Prices:
    """What tests cost.

    Attributes
    ----------
    costs : FloatArray of shape (d,)
    groups : IntArray of shape (d,)
        Number of the test's group, -1 for none.
    group_costs : FloatArray of shape (d,)
        Price of a test once another test of its group was run; its cost where it has no group.
    """

    costs: FloatArray
    groups: IntArray
    group_costs: FloatArray


def prices_of(problem: Problem) -> Prices:
    """Return the prices of a problem's tests.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Entropy
    >>> tests = [Test("a", 2.0, outcomes=None, group="van", group_cost=0.5), Test("b", 1.0, outcomes=None)]
    >>> prices_of(Problem(tests, ["stop"], Entropy())).groups
    array([ 0, -1])
    """
    names = sorted({test.group for test in problem.tests if test.group is not None})
    return Prices(
        np.array([test.cost for test in problem.tests]),
        np.array([-1 if test.group is None else names.index(test.group) for test in problem.tests], dtype=np.int64),
        np.array([test.cost if test.group_cost is None else test.group_cost for test in problem.tests]),
    )
