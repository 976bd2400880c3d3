from __future__ import annotations

import math

import numpy as np
import pytest
from tests.studies.crowd import PROBLEMS, law_of

from proband import Discrete, Problem, Records
from proband.agents import Setting, build_agent
from proband.policies import branches, follow
from proband.studies.learning import acting
from proband.vocabulary import FloatArray, Policy


def learned(problem: Problem, agent: str, subjects: int = 100) -> tuple[Policy, FloatArray]:
    """A policy after some complete subjects, and all outcome vectors."""
    law = law_of(problem, np.random.default_rng(4))
    assert isinstance(law, Discrete)
    one = build_agent(agent, Setting(problem, seed=3))
    one.learn(Records(law.sample(np.random.default_rng(5), subjects)))
    return one.policy(), law.support


@pytest.mark.parametrize("agent", ["test-everything", "greedy", "leaf-completion", "safe-leaf-completion"])
@pytest.mark.parametrize("name", ["bolts", "gout", "vector"])
def test_subjects_treated_as_advised_have_the_policys_chance(agent: str, name: str) -> None:
    problem = PROBLEMS[name]()
    policy, support = learned(problem, agent)
    ways = branches(problem, policy, support)
    completing = ways[1][0] if len(ways) > 1 else np.zeros(len(support))
    for u in (0.0, 0.01, 0.5, 0.999):
        episodes = follow(problem, policy, support, coins=np.full(len(support), u))
        stops = ways[0][1].states
        for row, stop, q in zip(episodes.states, stops, completing, strict=True):
            open_leaf = bool(np.isnan(stop[problem.operable]).any())
            expected = q if open_leaf else 1.0
            for steady in (True, False):
                assert acting.chance(problem, policy, row, u, steady=steady) == expected


def test_subjects_treated_otherwise_have_no_known_chance() -> None:
    problem = PROBLEMS["bolts"]()
    policy, support = learned(problem, "safe-leaf-completion")
    coins = np.full(len(support), 0.5)
    states = follow(problem, policy, support, coins=coins).states
    for state, x in zip(states, support, strict=True):
        for i in np.flatnonzero(np.isnan(state)):
            more = state.copy()
            more[i] = x[i]
            assert math.isnan(acting.chance(problem, policy, more, 0.5, steady=False))
        for i in np.flatnonzero(~np.isnan(state)):
            less = state.copy()
            less[i] = np.nan
            assert math.isnan(acting.chance(problem, policy, less, 0.5, steady=False))


@pytest.mark.parametrize("agent", ["greedy", "safe-leaf-completion"])
def test_on_the_path_the_order_of_the_tests_does_not_matter(agent: str) -> None:
    problem = PROBLEMS["bolts"]()
    policy, support = learned(problem, agent)
    for u in (0.0, 0.5):
        for x in support:
            state = np.full(problem.d, np.nan)
            while True:
                advised = acting.action(problem, policy, state, u, steady=True)
                assert acting.action(problem, policy, state, u, steady=False) == advised
                if advised >= problem.d:
                    break
                state[advised] = x[advised]


def test_off_the_path_all_that_is_known_is_used() -> None:
    problem = PROBLEMS["bolts"]()
    policy, _ = learned(problem, "safe-leaf-completion")
    plan = acting.plan_of(policy)
    for known in ({"ultrasonic": "crack"}, {"ultrasonic": "ok"}, {"ultrasonic": "crack", "weight": "heavy"}):
        state = problem.state(known)
        chosen = acting.action(problem, policy, state, 0.999, steady=False)
        if chosen >= problem.d:
            assert chosen == plan.decider.decide(state)[0][0]  # type: ignore[attr-defined]
        else:
            assert np.isnan(state[chosen])
    assert acting.action(problem, policy, problem.state({"ultrasonic": "crack"}), 0.999, steady=False) == (
        problem.decision_action("fail")
    )
