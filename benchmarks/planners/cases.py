"""The instances that every planner of the benchmark solves."""

import numpy as np

from proband import Discrete, Problem, Test

COST = 0.02


def majority(d: int, *, cost: float = COST, seed: int = 0) -> tuple[Problem, Discrete]:
    """d binary tests, P drawn from a Pareto law, and two decisions: do more than half of the tests show 1?"""
    rows = ((np.arange(2**d)[:, None] >> np.arange(d)) & 1).astype(np.float64)
    weights = np.random.default_rng(seed).pareto(np.log(5) / np.log(4), 2**d) + 1
    problem = Problem(
        [Test(f"t{i}", cost) for i in range(d)], ["no", "yes"], lambda x, y: (x @ np.ones(d) > d / 2) == y
    )
    return problem, Discrete(rows, weights / weights.sum())
