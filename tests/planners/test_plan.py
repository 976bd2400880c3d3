from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

from proband import Discrete, Plan, Problem, Test, evaluate, plan
from proband.errors import StateError
from proband.policies import Decider, follow
from proband.rewards import Table
from proband.testing import BruteForce, exhaustive_value, random_distribution, random_problem, random_states
from proband.vocabulary import IntArray

NAN = float("nan")


@pytest.mark.parametrize("kind", ["table", "match", "function"])
def test_explanations_are_recomputed_by_brute_force(kind: str, rng: np.random.Generator) -> None:
    for _ in range(20):
        problem = random_problem(rng, kind=kind, max_outcomes=3)
        law = random_distribution(rng, problem)
        best, brute_force = plan(problem, law), BruteForce(problem, law)
        for state in list(brute_force.states())[:25]:
            row = np.array([NAN if b is None else b for b in state])
            why = best.explain(row)
            values = brute_force.action_values(state)
            listed = {other.action: other.value for other in why.alternatives}
            if kind == "match":
                decisions = [a for a in listed if a >= problem.d]
                assert len(decisions) <= 1
                assert {a for a in values if a < problem.d} == {a for a in listed if a < problem.d}
            else:
                assert set(listed) == set(values)
            assert listed == pytest.approx({a: values[a] for a in listed}, abs=1e-12)
            check_ranking(best.values(row)[0], why)
            assert why.probability == pytest.approx(law.mass(row)[0])
            assert why.action == best.act(row)[0]


def check_ranking(value: float, why: object) -> None:
    alternatives = why.alternatives  # type: ignore[attr-defined]
    assert alternatives[0].loss == 0
    assert alternatives[0].value == pytest.approx(value, abs=1e-12)
    losses = [other.loss for other in alternatives]
    assert losses == sorted(losses)
    for other in alternatives:
        assert other.loss == pytest.approx(alternatives[0].value - other.value, abs=1e-15)
    chosen = next(other for other in alternatives if other.action == why.action)  # type: ignore[attr-defined]
    assert chosen.loss <= 1e-12


def test_one_state_is_explained_at_a_time(problem: Problem, law: Discrete) -> None:
    best = plan(problem, law)
    for states in (np.empty((0, 2)), np.full((2, 2), NAN)):
        with pytest.raises(StateError):
            best.explain(states)


def test_figures_are_those_of_evaluate(rng: np.random.Generator) -> None:
    for _ in range(20):
        problem = random_problem(rng)
        best = plan(problem, random_distribution(rng, problem))
        figures = evaluate(problem, best.distribution, best)
        assert best.evaluation == figures
        assert best.expected_cost == figures.cost
        assert best.expected_tests == figures.tests
        assert best.decision_probabilities == figures.decisions
        assert sum(figures.decisions.values()) == pytest.approx(1)
        shares = list(figures.decisions.values())
        assert shares == sorted(shares, reverse=True)
        assert best.gap == pytest.approx(0)


def test_every_state_has_a_value_and_an_explanation(rng: np.random.Generator) -> None:
    for _ in range(20):
        problem = random_problem(rng)
        best = plan(problem, random_distribution(rng, problem, max_support=2))
        states = random_states(rng, problem, 15)
        assert np.isfinite(best.values(states)).all()
        for state in states:
            why = best.explain(state)
            assert why.alternatives[0].loss == 0
            assert all(np.isfinite(other.value) for other in why.alternatives)


@pytest.mark.parametrize("kind", ["table", "match", "function"])
def test_a_plan_from_one_law_is_evaluated_under_another(kind: str, rng: np.random.Generator) -> None:
    """A plan made from data meets outcome vectors that the data never had."""
    for _ in range(20):
        problem = random_problem(rng, kind=kind)
        best = plan(problem, random_distribution(rng, problem, max_support=5))
        truth = random_distribution(rng, problem)
        figures = evaluate(problem, truth, best)
        assert figures.value == pytest.approx(exhaustive_value(problem, truth, best), abs=1e-12)
        assert figures.value <= plan(problem, truth).value + 1e-12
        followed = evaluate(problem, truth, Only(best))
        assert figures.value == pytest.approx(followed.value, abs=1e-12)
        assert figures.cost == pytest.approx(followed.cost, abs=1e-12)
        assert figures.tests == pytest.approx(followed.tests, abs=1e-12)
        assert figures.decisions == pytest.approx(followed.decisions, abs=1e-12)


class Only:
    """A plan seen as a policy alone: no shortcut is taken."""

    def __init__(self, best: Plan) -> None:
        self.act = best.act


class Stepwise:
    """The same policy without a way of its own to run subjects."""

    def __init__(self, policy: Plan) -> None:
        self.policy = policy

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        return self.policy.act(states)


@pytest.mark.parametrize("seed", range(40))
def test_subjects_run_down_a_tree_as_step_by_step(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    law = random_distribution(rng, problem)
    for method in ("sparse", "lookahead"):
        made = plan(problem, law, method=method)
        quick, slow = follow(problem, made, law.support), follow(problem, Stepwise(made), law.support)
        assert np.array_equal(quick.states, slow.states, equal_nan=True)
        assert np.array_equal(quick.actions, slow.actions)
        assert np.array_equal(quick.costs, slow.costs)  # to the last bit
        assert np.array_equal(quick.tests, slow.tests)
        assert made.value == evaluate(problem, law, Stepwise(made)).value


@pytest.mark.parametrize("seed", range(40))
def test_a_decision_for_known_rows_is_the_decision(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    law = random_distribution(rng, problem)
    decider = Decider(problem, law)
    for row in law.support[:5]:
        state = problem.states(np.where(rng.random(problem.d) < 0.5, row, np.nan))[0]
        actions, values = decider.decide(state)
        found = decider.decide_at(state, np.flatnonzero(law.agrees(state)))
        assert found == (int(actions[0]), float(values[0]))
    state = problem.states(np.zeros(problem.d))[0]
    actions, values = decider.decide(state)
    assert decider.decide_at(state, np.flatnonzero(law.agrees(state))) == (int(actions[0]), float(values[0]))


@pytest.mark.parametrize("method", ["sparse", "rollout", "gain"])
def test_a_tree_is_made_in_one_walk(method: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Support rows are handed down: to look for them anew at every node takes minutes where trees are large."""
    rows = np.unique((rng.random((200, 10)) < 0.5).astype(float), axis=0)
    rows[:, -1] = rows[:, :3].sum(axis=1) > 1
    tests = [Test(f"t{i}", 5.0 if i == 9 else 0.01) for i in range(10)]
    problem = Problem(tests, ["no", "yes"], Table(["t9"], [[1, 0], [0, 1]]))
    best = plan(problem, Discrete.from_weights(rows, np.ones(len(rows))), method=method)
    whole = best.tree()
    assert sum(1 for _ in whole.nodes()) > 5
    for row in rows[:20]:
        state = np.where(rng.random(10) < 0.5, row, np.nan)
        node = whole.node(state)
        assert node.action == best.act(state)[0]
    why = best.explain(problem.state())
    assert whole.root.alternatives == why.alternatives
    for name in ("agrees", "cells"):
        monkeypatch.setattr(Discrete, name, lambda *_: pytest.fail("somebody looked for rows"))
    assert best.tree() == whole
