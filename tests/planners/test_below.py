"""Values below given states: those of the dense planner where the tables hold everything, lower bounds elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from proband.distributions import Discrete
from proband.instances import paper_discrete
from proband.planners import below, plan
from proband.planners.below import values_below
from proband.planners.dense import solve_many
from proband.planners.layout import layout_of
from proband.policies import follow
from proband.problem import Problem
from proband.testing.random_instances import random_distribution, random_problem
from proband.vocabulary import outcome_rows


def leaves_of(problem: Problem, law: Discrete, support: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where the plan of a law stops, and which row stops where."""
    states = follow(problem, plan(problem, law, method="dense"), support).states
    _, first, of_row = np.unique(layout_of(problem).number(states), return_index=True, return_inverse=True)
    return states[first], of_row.reshape(-1)


def exact(problem: Problem, states: np.ndarray, support: np.ndarray, laws: np.ndarray) -> np.ndarray:
    layout = layout_of(problem)
    solutions = solve_many(layout, support, laws, problem.payoff(support))
    return np.array([solution.values[layout.number(states)] for solution in solutions])


@pytest.mark.parametrize("seed", range(40))
def test_small_tables_are_exact(seed: int) -> None:
    """With context, groups, unavailable tests, tables and matches, at the leaves of another law and at arrival."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    law = random_distribution(rng, problem)
    support = outcome_rows(np.arange(problem.size), problem.tests)
    laws = rng.dirichlet(np.full(len(support), 0.3), size=3)
    for states, of_row in (leaves_of(problem, law, support), arrivals(problem, support)):
        found = values_below(problem, states, support, of_row, laws)
        assert found == pytest.approx(exact(problem, states, support, laws), abs=1e-12)


def arrivals(problem: Problem, support: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    states = np.full_like(support, np.nan)
    states[:, problem.context] = support[:, problem.context]
    _, first, of_row = np.unique(layout_of(problem).number(states), return_index=True, return_inverse=True)
    return states[first], of_row.reshape(-1)


@pytest.mark.parametrize("most", [1, 2_000, 20_000])
@pytest.mark.parametrize("tables", [0, 3, 256])
def test_fewer_states_give_lower_bounds(most: int, tables: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(below, "MOST_TABLES", tables)
    instance = paper_discrete(np.random.default_rng(3), d=8)
    problem, support = instance.problem, outcome_rows(np.arange(2**8), instance.problem.tests)
    laws = np.random.default_rng(4).dirichlet(np.full(2**8, 0.1), size=4)
    states, of_row = leaves_of(problem, instance.distribution, support)
    best = exact(problem, states, support, laws)
    found = values_below(problem, states, support, of_row, laws, most_states=most)
    at_once = np.array([[law[of_row == s].max() for s in range(len(states))] for law in laws])
    assert (found <= best + 1e-12).all()
    assert (found >= at_once - 1e-12).all()
    if tables == 256:
        share = (found - at_once).sum() / (best - at_once).sum()
        assert share > {1: 0.5, 2_000: 0.6, 20_000: 0.9}[most]
