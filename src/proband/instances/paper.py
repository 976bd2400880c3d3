"""The paper's random discrete instance (its first experiment).

d binary tests; each of the 2^d outcome vectors has a probability proportional to an independent Pareto draw with
scale 1 and shape log_4 5 (four fifths of the mass sit on a fifth of the vectors); f = 1{x = y}. The paper leaves the
costs unstated: here 0.05 a test, unless given.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Discrete
from proband.errors import ProblemError
from proband.instances.instance import Instance, packaged_problem
from proband.problem import Problem
from proband.rewards import Match
from proband.vocabulary import Test, outcome_rows

SHAPE = math.log(5, 4)
MOST_TESTS = 24
"""The law lists all 2^d outcome vectors."""


def paper_discrete(
    rng: np.random.Generator,
    *,
    d: int = 10,
    cost: ArrayLike = 0.05,
    cost_range: tuple[float, float] | None = None,
) -> Instance[Discrete]:
    """Draw the random discrete instance.

    Parameters
    ----------
    rng : numpy.random.Generator
    d : int, default 10
        Number of binary tests.
    cost : float or array_like of shape (d,), default 0.05
        Cost of each test.
    cost_range : (float, float), optional
        Draw the costs uniformly between these two instead.

    Examples
    --------
    >>> instance = paper_discrete(np.random.default_rng(0), d=3)
    >>> len(instance.distribution), instance.problem.tests[0].cost
    (8, 0.05)
    """
    if not 1 <= d <= MOST_TESTS:
        raise ProblemError(f"d is {d}; the instance lists all 2^d vectors; give a d from 1 to {MOST_TESTS}")
    pareto = 1 + rng.pareto(SHAPE, size=2**d)
    given = np.asarray(cost if cost_range is None else rng.uniform(*cost_range, size=d), dtype=np.float64)
    if given.shape not in ((), (d,)):
        raise ProblemError(f"costs have shape {given.shape}; with {d} tests give one number, or {d} of them")
    costs = np.broadcast_to(given, (d,)).tolist()
    tests = [Test(f"x{i}", costs[i - 1]) for i in range(1, d + 1)]
    problem = Problem(tests, reward=Match(), name="Random discrete instance")
    return Instance("paper-discrete", problem, Discrete.from_weights(outcome_rows(np.arange(2**d), tests), pareto))


def paper_example() -> Instance[Discrete]:
    """Return the random discrete instance of the seed 0, whose problem file comes with the package."""
    drawn = paper_discrete(np.random.default_rng(0))
    return Instance(drawn.name, packaged_problem(drawn.name), drawn.distribution)
