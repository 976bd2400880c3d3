"""Random problems and laws that reach into the corners: ties, free tests, groups, context, gold standards.

A problem has 1 to 5 tests with 1 to 4 outcomes, some known on arrival, some unavailable (perhaps all of them), in
groups or not, free or not; its reward is a table, a match or a function, and may be negative. A law may be full,
sparse, on a single outcome vector, or have impossible combinations. Measured problems have projections as rewards,
with jumps and slopes, and Gaussian laws, now and then singular ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from proband.distributions import Discrete, Gaussian
from proband.problem import Problem
from proband.rewards import Match, Piece, Projection, RewardFunction, Score, Table
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
        rows = np.indices(problem.k.tolist()).reshape(problem.d, -1).T
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


def random_measured_problem(
    rng: np.random.Generator, *, tests: int | None = None, max_tests: int = 4, scores: int = 1
) -> Problem:
    """Return a random problem of measured tests with a projection reward.

    The reward has jumps and slopes; tests may be free, of groups, known on arrival or unavailable.

    Parameters
    ----------
    rng : numpy.random.Generator
    tests : int, optional
        Number of tests; by default 1 to `max_tests`.
    max_tests : int
        Largest number of tests.
    scores : int, default 1
        Number of scores, 1 or 2.

    Examples
    --------
    >>> problem = random_measured_problem(np.random.default_rng(0), tests=3)
    >>> problem.d, problem.measured
    (3, True)
    """
    d = int(rng.integers(1, max_tests + 1)) if tests is None else tests
    pool = [_random_test(rng, i, None) for i in range(d)]
    decisions = [f"y{y}" for y in range(rng.integers(1, 4))]
    rows = [_random_score(rng, f"z{n}", pool) for n in range(scores)]
    pieces = [_random_piece(rng, y, rows) for y in decisions for _ in range(rng.integers(y == decisions[0], 4))]
    return Problem(pool, decisions, Projection(rows, pieces), name="random", unit=str(rng.choice(["", "EUR"])))


def random_gaussian(rng: np.random.Generator, problem: Problem) -> Gaussian:
    """Return a random Gaussian law of a problem's tests; now and then a singular one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> problem = random_measured_problem(rng, tests=3)
    >>> random_gaussian(rng, problem)
    Gaussian(3 tests)
    """
    d = problem.d
    factors = int(rng.integers(1, d + 1))
    loadings = rng.normal(size=(d, factors)) * rng.choice([0.5, 1.0])
    own = rng.choice([0.05, 0.5, 1.0]) * rng.exponential(size=d)
    own[rng.random(d) < 0.1] = 0.0
    loadings[rng.random(d) < 0.1] = 0.0
    scale = 3.0 ** rng.uniform(-1, 1, size=d)
    covariance = (loadings @ loadings.T + np.diag(own)) * np.outer(scale, scale)
    return Gaussian(rng.normal(size=d) * scale, covariance)


def random_measured_states(rng: np.random.Generator, law: Gaussian, n: int) -> FloatArray:
    """Return n random states: outcomes of the law and some far from it, with gaps, shape (n, d).

    Examples
    --------
    >>> random_measured_states(np.random.default_rng(0), Gaussian([0, 0], [[1, 0], [0, 1]]), 5).shape
    (5, 2)
    """
    states = law.sample(rng, n)
    far = rng.random(n) < 0.2
    states[far] += rng.normal(scale=5.0, size=(int(far.sum()), law.d))
    states[rng.random(states.shape) < rng.random((n, 1))] = np.nan
    return states


def instance_text(problem: Problem, law: Discrete | Gaussian) -> str:
    """Return an instance, for the message of a check that it broke."""
    parts = ("support", "probabilities") if isinstance(law, Discrete) else ("mean", "covariance")
    return "\n".join([str(problem), *(f"{part} {getattr(law, part).tolist()}" for part in parts)])


def _random_test(rng: np.random.Generator, i: int, max_outcomes: int | None) -> Test:
    kind: dict[str, Any]
    if max_outcomes is None:
        place, kind = rng.random(), {"outcomes": None, "unit": str(rng.choice(["", "mm", "MPa"]))}
    else:
        kind = {"outcomes": tuple(f"o{b}" for b in range(rng.integers(1, max_outcomes + 1)))}
        place = rng.random()
    if place < 0.15:
        return Test(f"t{i}", on_arrival=True, **kind)
    cost = float(rng.choice([0.0, 0.125, rng.exponential(0.1), rng.exponential(1.0)]))
    kind["available"] = bool(place < 0.85)
    if rng.random() < 0.5:
        return Test(f"t{i}", cost, **kind)
    reduced = cost * float(rng.choice([0.0, 1.0, rng.random()]))
    return Test(f"t{i}", cost, group=str(rng.choice(["blood", "urine"])), group_cost=reduced, **kind)


def _random_table(rng: np.random.Generator, tests: list[Test], n_decisions: int) -> Table:
    chosen = rng.permutation(len(tests))[: rng.integers(1, min(3, len(tests)) + 1)]
    shape = (*(tests[i].k for i in chosen), n_decisions)
    utilities = rng.normal(scale=2.0, size=shape)
    if rng.random() < 0.3:
        utilities = np.round(utilities)
    return Table([tests[i].name for i in chosen], utilities)


def _random_function(rng: np.random.Generator, tests: list[Test], n_decisions: int) -> RewardFunction:
    slopes = rng.normal(size=(n_decisions, len(tests)))
    shifts = rng.normal(size=n_decisions)

    def f(x: FloatArray, y: int) -> FloatArray:
        return np.asarray(shifts[y] + np.sin(x @ slopes[y]) * 2.0)

    return f


def _random_score(rng: np.random.Generator, name: str, tests: list[Test]) -> Score:
    weights = rng.normal(size=len(tests)) * (rng.random(len(tests)) < 0.7)
    weights[rng.integers(len(tests))] = rng.choice([-1.0, 1.0])
    named = {test.name: float(weight) for test, weight in zip(tests, weights, strict=True) if weight}
    return Score(name, named, offset=float(rng.choice([0.0, rng.normal()])))


def _random_piece(rng: np.random.Generator, decision: str, scores: list[Score]) -> Piece:
    when: dict[str, tuple[float | None, float | None]] = {}
    slope: dict[str, float] = {}
    for score in scores:
        low = float(np.round(rng.normal(scale=1.5), 1))
        high = low + float(np.round(0.1 + rng.exponential(2.0), 1))
        kinds: list[tuple[float | None, float | None]] = [(low, high), (low, None), (None, high), (None, None)]
        when[score.name] = kinds[rng.integers(len(kinds))]
        if rng.random() < 0.4:
            slope[score.name] = float(rng.normal())
    at = {name: float(np.round(rng.normal(), 1)) for name in slope}
    return Piece(decision, float(np.round(rng.normal(scale=2.0), 2)), when=when, slope=slope, at=at)


REWARDS: dict[str, RewardMaker] = {
    "table": _random_table,
    "match": lambda rng, tests, n_decisions: Match(),
    "function": _random_function,
}
"""What draws a random reward of each kind, by its name."""
