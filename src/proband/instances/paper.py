"""The paper's random instances, discrete and of maximum-entropy sampling, and a monitoring network on a map.

**Discrete** (its first experiment): d binary tests; each of the 2^d outcome vectors has a probability proportional to
an independent Pareto draw with scale 1 and shape log_4 5 (four fifths of the mass sit on a fifth of the vectors);
f = 1{x = y}. The paper leaves the costs unstated: here 0.05 a test, unless given.

**Entropy** (its second experiment): Σ = LLᵀ + I, so every conditional variance is at least 1 and a test brings at least
½·log(2πe) = 1.4189 nats whatever else is measured: with costs below that, as in uniform(0, 1), measuring everything is
best and there is nothing to learn. Costs uniform(1, 3) and uniform(1.4, 2.4) make a problem of it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Discrete, Gaussian
from proband.errors import ProblemError
from proband.instances.instance import Instance, packaged_problem
from proband.problem import Problem
from proband.rewards import Entropy, Match
from proband.vocabulary import FloatArray, Test, outcome_rows

SHAPE = math.log(5, 4)
MOST_TESTS = 24
"""The law lists all 2^d outcome vectors."""
COSTS = (1.0, 3.0)
READING = 0.1
"""Variance of the error with which one of two near-tied tests measures what both do."""
TWIN_COST = 1.2
SITES = 24
TOWN = 10.0
"""Side of the map, in kilometres."""
RANGE = 2.5
"""Distance over which pollution decorrelates, in kilometres."""


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


def entropy_problem(
    costs: FloatArray, *, scale: float = 1.0, names: list[str] | None = None, unit: str = ""
) -> Problem:
    """Return the entropy problem with these costs.

    Examples
    --------
    >>> entropy_problem(np.array([1.0, 2.0])).tests[1].name
    'test 2'
    """
    names = [f"test {i + 1}" for i in range(len(costs))] if names is None else names
    tests = [Test(name, float(cost), outcomes=None, unit=unit) for name, cost in zip(names, costs, strict=True)]
    return Problem(tests, ["stop"], Entropy(scale), name="Maximum-entropy sampling")


def paper_entropy(
    rng: np.random.Generator, *, d: int = 15, cost_range: tuple[float, float] = COSTS, scale: float = 1.0
) -> Instance[Gaussian]:
    """Draw an instance of the paper's second experiment: Σ = LLᵀ + I, L uniform on (0, 1).

    The paper does not state the costs; they are drawn uniformly from `cost_range`.

    Examples
    --------
    >>> paper_entropy(np.random.default_rng(0), d=4).distribution.d
    4
    """
    factor = rng.random((d, d))
    costs = rng.uniform(*cost_range, size=d)
    law = Gaussian(np.zeros(d), factor @ factor.T + np.eye(d))
    return Instance("paper-entropy", entropy_problem(costs, scale=scale), law)


def paper_entropy_example() -> Instance[Gaussian]:
    """Return the paper's instance with a fixed seed."""
    return paper_entropy(np.random.default_rng(0))


def near_ties(rng: np.random.Generator, *, d: int = 10, gap: float = 0.01) -> Instance[Gaussian]:
    """Draw an instance whose two best sets are substitutes of each other and differ by `gap` in reward.

    Tests 1 and 2 measure one thing, each with an error of its own: one of them always pays, and the other one no
    longer, once the first is measured. Test 2 costs `gap` more.

    Examples
    --------
    >>> instance = near_ties(np.random.default_rng(0))
    >>> [test.cost for test in instance.problem.tests[:2]]
    [1.2, 1.21]
    """
    factor = rng.random((d - 1, d - 1)) / 2
    thing = np.r_[0, 0 : d - 1]
    covariance = (factor @ factor.T + np.eye(d - 1))[np.ix_(thing, thing)]
    covariance[[0, 1], [0, 1]] += READING
    costs = rng.uniform(1.0, 2.0, size=d)
    costs[:2] = TWIN_COST, TWIN_COST + gap
    return Instance("near-ties", entropy_problem(costs), Gaussian(np.zeros(d), covariance))


def site_positions() -> FloatArray:
    """Return where the sites of the monitoring network stand, in kilometres, shape (24, 2)."""
    rng = np.random.default_rng(20)
    grid = np.array([(x, y) for y in range(4) for x in range(6)], dtype=np.float64)
    spread = TOWN / np.array([6, 4])
    return np.asarray((grid + 0.5 + rng.uniform(-0.35, 0.35, size=grid.shape)) * spread)


def monitoring_network() -> Instance[Gaussian]:
    """Return a network of 24 air-quality sites, of which some are worth their running costs.

    Concentrations decorrelate with distance; sites near the main road vary most. Costs are in hundreds of EUR a month,
    a nat is worth 150 EUR. All numbers are illustrative.

    Examples
    --------
    >>> network = monitoring_network()
    >>> network.problem.d, network.problem.tests[0].unit
    (24, 'µg/m³')
    """
    positions = site_positions()
    apart = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    spread = 2.0 + 3.0 * np.exp(-((positions[:, 1] - 0.45 * positions[:, 0] - 2.5) ** 2) / 4)
    covariance = np.outer(spread, spread) * np.exp(-apart / RANGE) + 0.6 * np.eye(SITES)
    costs = np.random.default_rng(21).uniform(2.6, 4.8, size=SITES)
    problem = entropy_problem(costs, scale=1.5, names=[f"site {n + 1}" for n in range(SITES)], unit="µg/m³")
    named = Problem(problem.tests, problem.decisions, problem.reward, name="Air-quality network", unit="100 EUR/month")
    return Instance("network", named, Gaussian(np.full(SITES, 30.0), covariance))
