"""Random measured problems and Gaussian laws for tests: small, with every feature a problem may have."""

from __future__ import annotations

import numpy as np

from proband.distributions import Gaussian
from proband.problem import Problem
from proband.rewards import Piece, Projection, Score
from proband.vocabulary import FloatArray, Test


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
    pool = [_random_test(rng, i) for i in range(d)]
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


def _random_test(rng: np.random.Generator, i: int) -> Test:
    place, unit = rng.random(), str(rng.choice(["", "mm", "MPa"]))
    if place < 0.15:
        return Test(f"t{i}", outcomes=None, unit=unit, on_arrival=True)
    cost = float(rng.choice([0.0, 0.125, rng.exponential(0.1), rng.exponential(1.0)]))
    available = bool(place < 0.85)
    if rng.random() < 0.5:
        return Test(f"t{i}", cost, outcomes=None, unit=unit, available=available)
    reduced = cost * float(rng.choice([0.0, 1.0, rng.random()]))
    group = str(rng.choice(["blood", "urine"]))
    return Test(f"t{i}", cost, outcomes=None, unit=unit, group=group, group_cost=reduced, available=available)


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
