from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from proband import Discrete, Problem, Test, plan
from proband.policies import follow
from proband.rewards import Match, Table
from proband.vocabulary import outcome_rows


def make_problem(k, cost=0.1):
    tests = [Test(f"t{i}", cost, outcomes=[str(b) for b in range(n)]) for i, n in enumerate(k)]
    if math.prod(k) <= 2**62:
        return Problem(tests, (), Match())
    return Problem(tests, ["no", "yes"], Table(["t0"], np.eye(k[0], 2)))


def random_law(problem, rng, shape=0.6):
    rows = outcome_rows(np.arange(problem.size), problem.tests)
    return Discrete.from_weights(rows, rng.gamma(shape, size=len(rows)) + 1e-3)


def hide(rows, rng, share=0.4):
    """Missing completely at random, any pattern."""
    return np.where(rng.random(rows.shape) < share, np.nan, rows)


def policy_states(problem, rng, n, policies=3, complete=0.3):
    """Final states under plans for wrong laws, some completed by a coin: missing at random, leaves of several trees."""
    truth = random_law(problem, rng)
    states = []
    for _ in range(policies):
        rows = truth.sample(rng, n)
        seen = follow(problem, plan(problem, random_law(problem, rng)), rows).states
        coin = rng.random(n) < complete
        seen[coin] = rows[coin]
        states.append(seen)
    return np.vstack(states)


SOURCES = {
    "patterns": lambda problem, rng: hide(random_law(problem, rng).sample(rng, 60), rng),
    "policies": lambda problem, rng: policy_states(problem, rng, 40),
}


@pytest.fixture
def kit():
    return SimpleNamespace(
        make_problem=make_problem, random_law=random_law, hide=hide, policy_states=policy_states, sources=SOURCES
    )
