"""Random problems and laws that reach into the corners: ties, free tests, groups, context, gold standards.

A problem has 1 to 5 tests with 1 to 4 outcomes, some known on arrival, some unavailable (perhaps all of them), in
groups or not, free or not; its reward is a table, a match or a function, and may be negative. A law may be full,
sparse, on a single outcome vector, or have impossible combinations.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from proband.distributions import Discrete
from proband.problem import Problem
from proband.rewards import Match, RewardFunction, Table
from proband.vocabulary import FloatArray, Reward, Test

RewardMaker = Callable[[np.random.Generator, list[Test], int], Reward | RewardFunction]


def random_problem(
    rng: np.random.Generator,
    *,
    kind: str | None = None,
    tests: int | None = None,
    max_tests: int = 5,
    max_outcomes: int = 4,
) -> Problem:
    """Return a random problem.

    Parameters
    ----------
    rng : numpy.random.Generator
    kind : str, optional
        Kind of the reward, a key of :data:`REWARDS`; by default any.
    tests : int, optional
        Number of tests; by default 1 to `max_tests`.
    max_tests, max_outcomes : int
        Largest number of tests, and of outcomes of a test.

    Examples
    --------
    >>> random_problem(np.random.default_rng(0), tests=3).d
    3
    """
    d = int(rng.integers(1, max_tests + 1)) if tests is None else tests
    pool = [_random_test(rng, i, max_outcomes) for i in range(d)]
    maker = REWARDS[kind] if kind is not None else list(REWARDS.values())[rng.integers(len(REWARDS))]
    n_decisions = int(rng.integers(1, 5))
    reward = maker(rng, pool, n_decisions)
    decisions = [] if isinstance(reward, Match) else [f"y{y}" for y in range(n_decisions)]
    return Problem(pool, decisions, reward, name="random", unit=str(rng.choice(["", "EUR"])))


def random_distribution(rng: np.random.Generator, problem: Problem, *, max_support: int | None = None) -> Discrete:
    """Return a random law of a problem's outcome vectors.

    Parameters
    ----------
    rng : numpy.random.Generator
    problem : Problem
    max_support : int, optional
        Largest number of outcome vectors; by default the whole product space, up to 2,048 of them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> random_distribution(rng, random_problem(rng), max_support=1)
    Discrete(1 outcome vectors of 5 tests)
    """
    limit = max(1, min(problem.size, 2048 if max_support is None else max_support))
    n = limit if rng.random() < 0.4 else int(rng.integers(1, limit + 1))
    rows = rng.integers(0, problem.k, size=(n, problem.d))
    if n == problem.size:
        grid = np.meshgrid(*(np.arange(k) for k in problem.k), indexing="ij")
        rows = np.stack([axis.reshape(-1) for axis in grid], axis=-1)
    weights = rng.exponential(size=n) ** rng.choice([1.0, 4.0])
    if rng.random() < 0.3:
        weights = np.ones(n)
    weights[1:][rng.random(n - 1) < rng.choice([0.0, 0.4])] = 0.0
    return Discrete.from_weights(rows, weights)


def random_states(rng: np.random.Generator, problem: Problem, n: int) -> FloatArray:
    """Return n random states, whether they can occur or not, shape (n, d).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> random_states(rng, random_problem(rng, tests=2), 5).shape
    (5, 2)
    """
    states = rng.integers(0, problem.k, size=(n, problem.d)).astype(np.float64)
    states[rng.random(states.shape) < rng.random((n, 1))] = np.nan
    return states


def _random_test(rng: np.random.Generator, i: int, max_outcomes: int) -> Test:
    outcomes = tuple(f"o{b}" for b in range(rng.integers(1, max_outcomes + 1)))
    place = rng.random()
    if place < 0.15:
        return Test(f"t{i}", outcomes=outcomes, on_arrival=True)
    cost = float(rng.choice([0.0, 0.125, rng.exponential(0.1), rng.exponential(1.0)]))
    available = bool(place < 0.85)
    if rng.random() < 0.5:
        return Test(f"t{i}", cost, outcomes=outcomes, available=available)
    reduced = cost * float(rng.choice([0.0, 1.0, rng.random()]))
    group = str(rng.choice(["blood", "urine"]))
    return Test(f"t{i}", cost, outcomes=outcomes, group=group, group_cost=reduced, available=available)


def _random_table(rng: np.random.Generator, tests: list[Test], n_decisions: int) -> Table:
    chosen = rng.permutation(len(tests))[: rng.integers(1, min(3, len(tests)) + 1)]
    shape = (*(tests[i].k for i in chosen), n_decisions)
    utilities = rng.normal(scale=2.0, size=shape)
    if rng.random() < 0.3:
        utilities = np.round(utilities)
    return Table([tests[i].name for i in chosen], utilities)


def _random_match(rng: np.random.Generator, tests: list[Test], n_decisions: int) -> Match:
    return Match()


def _random_function(rng: np.random.Generator, tests: list[Test], n_decisions: int) -> RewardFunction:
    slopes = rng.normal(size=(n_decisions, len(tests)))
    shifts = rng.normal(size=n_decisions)

    def f(x: FloatArray, y: int) -> FloatArray:
        return np.asarray(shifts[y] + np.sin(x @ slopes[y]) * 2.0)

    return f


REWARDS: dict[str, RewardMaker] = {
    "table": _random_table,
    "match": _random_match,
    "function": _random_function,
}
