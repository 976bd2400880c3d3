"""Whatever is known of a subject, the answer is the best one under the law, within the limits."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from proband import Discrete, Problem, Test, plan
from proband.errors import PolicyError, StateError
from proband.planners.continuing import continue_from, not_asked, refuse_unavailable
from proband.policies import Tree, origin
from proband.rewards import Table
from proband.testing import BruteForce, random_distribution, random_problem, random_states
from proband.testing.brute_force import test_cost as price_of


class Limited:
    """What is best within limits, by plain recursion over single outcome vectors."""

    def __init__(self, problem: Problem, law: Discrete) -> None:
        self.problem, self.law, self.free = problem, law, BruteForce(problem, law)

    def values(self, state: tuple, tests: float, money: float) -> dict[int, float]:
        """Return the value of every action that breaks no limit in a state whose context is known."""
        d = self.problem.d
        values = {a: value for a, value in self.free.action_values(state).items() if a >= d}
        for i in self.problem.operable.tolist():
            price = price_of(self.problem, state, i)
            if state[i] is not None or tests < 1 or price > money + 1e-12:
                continue
            after = [(*state[:i], b, *state[i + 1 :]) for b in range(self.problem.tests[i].k)]
            mass = self.law.mass([[math.nan if b is None else b for b in row] for row in after])
            below = [(p, row) for p, row in zip(mass, after, strict=True) if p > 0]
            mean = sum(p * max(self.values(row, tests - 1, money - price).values()) for p, row in below) / mass.sum()
            values[i] = mean - price
        return values


def cases(seed: int, n: int = 12) -> tuple[Problem, Discrete, np.ndarray]:
    """Return a random problem, its law, and random states with all that is known on arrival."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind=["table", "match", "function"][seed % 3])
    law = random_distribution(rng, problem)
    states = problem.states(random_states(rng, problem, n))
    states[:, problem.context] = law.sample(rng, n)[:, problem.context]
    return problem, law, states


@pytest.mark.parametrize("method", ["dense", "sparse"])
@pytest.mark.parametrize("seed", range(12))
def test_the_answer_is_that_of_the_exact_plan_in_every_state(seed: int, method: str) -> None:
    problem, law, states = cases(seed)
    exact, tree = plan(problem, law, method="dense"), plan(problem, law, method=method).tree()
    for state in states:
        found, why = continue_from(tree, state), exact.explain(state)
        assert found.value == pytest.approx(exact.values(state)[0])
        assert found.explanation.probability == pytest.approx(why.probability)
        if why.probability > 0:
            wanted = {each.action: each.value for each in why.alternatives}
            assert {each.action: each.value for each in found.explanation.alternatives} == pytest.approx(wanted)
            assert not any(each.at_most for each in found.explanation.alternatives)
        else:
            assert found.explanation.action == why.action


@pytest.mark.parametrize("seed", range(12))
def test_within_limits_nothing_is_promised_and_nothing_offered_that_breaks_them(seed: int) -> None:
    problem, law, states = cases(seed)
    rng, plain = np.random.default_rng(seed), Limited(problem, law)
    max_tests, budget = [(1, None), (2, None), (None, float(rng.uniform(0, 1))), (2, float(rng.uniform(0, 1)))][
        seed % 4
    ]
    tree = plan(problem, law, max_tests=max_tests, budget=budget).tree()
    for state in states[law.mass(states) > 0]:
        found = continue_from(tree, state)
        run = [i for i in problem.operable if not np.isnan(state[i])]
        used = [i for i in tree.used(state) if i in run]
        order = np.array([*used, *(i for i in problem.cheapest_order if i in run and i not in used)], dtype=int)
        spent = problem.prices.adding(np.zeros((1, problem.d), dtype=bool), order)[0]
        tests = math.inf if max_tests is None else max(0, max_tests - len(run))
        money = math.inf if budget is None else max(0.0, budget - spent)
        wanted = plain.values(plain.free.state(state), tests, money)
        assert found.value == pytest.approx(max(wanted.values()))
        check_offers(found.explanation.alternatives, wanted, problem)


def check_offers(alternatives, wanted: dict[int, float], problem: Problem) -> None:
    """What is offered is allowed; it is worth what is said, or more where that is marked."""
    offered = {each.action for each in alternatives if each.action < problem.d}
    assert offered == {action for action in wanted if action < problem.d}
    for each in alternatives:
        if each.at_most:
            assert each.value <= wanted[each.action] + 1e-9
        else:
            assert each.value == pytest.approx(wanted.get(each.action, 0.0))


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_nodes_of_cut_and_limited_trees_offer_what_the_limit_allows(seed: int, depth: int) -> None:
    problem, law, _ = cases(seed)
    plain = Limited(problem, law)
    for tree in (plan(problem, law).tree(depth=depth), plan(problem, law, max_tests=depth).tree()):
        stack = [(tree.root, problem.state(), depth)]
        while stack:
            node, state, left = stack.pop()
            reads = node.action < problem.d and problem.tests[node.action].on_arrival
            after = problem.after(state, node.action) if node.children else ()
            stack += [(child, row, left - (not reads)) for child, row in zip(node.children, after, strict=True)]
            if node.probability <= 0 or reads:
                continue
            wanted = plain.values(plain.free.state(state), left, math.inf)
            offered = [each for each in node.alternatives if each.action != node.action]
            chosen = [each for each in node.alternatives if each.action == node.action]
            assert len(chosen) == 1
            assert not chosen[0].at_most
            assert chosen[0].value == pytest.approx(node.value)
            check_offers(offered, {a: v for a, v in wanted.items() if a != node.action}, problem)


@pytest.mark.parametrize("method", ["dense", "sparse", "myopic", "gain"])
@pytest.mark.parametrize("seed", range(6))
def test_nodes_of_any_plan_say_which_values_may_be_higher(seed: int, method: str) -> None:
    problem, law, _ = cases(seed)
    plain, tree = BruteForce(problem, law), plan(problem, law, method=method).tree()
    stack = [(tree.root, problem.state())]
    while stack:
        node, state = stack.pop()
        after = problem.after(state, node.action) if node.children else ()
        stack += list(zip(node.children, after, strict=True))
        if node.probability > 0:
            others = [each for each in node.alternatives if each.action != node.action]
            wanted = {a: v for a, v in plain.action_values(state).items() if a != node.action}
            assert {each.at_most for each in others if each.action < problem.d} <= {method != "dense"}
            check_offers(others, wanted, problem)


def bolts() -> tuple[Problem, Discrete]:
    problem = Problem(
        [Test("visual", 0.05), Test("weight", 0.1), Test("crack", 0.3)],
        ["pass", "fail"],
        Table(["crack"], [[1, 0], [-4, 0]]),
    )
    rows = np.indices((2, 2, 2)).reshape(3, -1).T
    return problem, Discrete.from_weights(rows, [30, 3, 4, 3, 5, 4, 1, 12])


def test_a_file_keeps_the_law_and_the_limits(tmp_path: Path) -> None:
    problem, law = bolts()
    tree = plan(problem, law, max_tests=2, budget=0.4).tree()
    tree.save(tmp_path / "policy.json")
    again = Tree.load(tmp_path / "policy.json")
    assert again == tree
    assert again.origin is not None
    assert again.origin.law is not None
    assert (again.origin.method, again.origin.max_tests, again.origin.budget) == ("sparse", 2, 0.4)
    assert np.array_equal(again.origin.law.support, law.support)
    assert again.origin.law.probabilities == pytest.approx(law.probabilities)
    assert any(each.at_most for node in again.nodes() for each in node.alternatives)
    state = problem.state({"weight": "1"})
    assert continue_from(again, state).value == pytest.approx(continue_from(tree, state).value)


def test_a_law_that_is_too_large_or_useless_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, law = bolts()
    of_program = Problem(problem.tests, problem.decisions, lambda x, y: (x[:, 2] == y) * 1.0)
    plan(of_program, law).tree().save(tmp_path / "function.json")
    monkeypatch.setattr(origin, "MOST_KEPT", 23)
    plan(problem, law).tree().save(tmp_path / "large.json")
    for name in ("function", "large"):
        tree = Tree.load(tmp_path / f"{name}.json")
        beyond = next(
            state for state in (problem.state({test.name: "1"}) for test in problem.tests) if not_asked(tree, state)
        )
        with pytest.raises(PolicyError, match=r"keeps no law by which it could be used .*; leave it out"):
            continue_from(tree, beyond)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("law", {"support": ["0 0 9"], "probabilities": [1.0]}),
        ("law", {"support": ["0 0"], "probabilities": [1.0]}),
        ("law", {"support": ["0 0 x"], "probabilities": [1.0]}),
        ("law", {"support": ["0 0 0"], "probabilities": [0.5]}),
        ("law", {"support": "0 0 0"}),
        ("law", None),
        ("made", None),
        ("made", {"method": "dense", "max_tests": -1, "budget": None}),
        ("made", {"method": "dense", "max_tests": None, "budget": "much"}),
        ("made", {"method": "dense", "max_tests": None, "budget": math.inf}),
        ("made", {"method": "dense", "max_tests": 1.5, "budget": None}),
    ],
)
def test_a_damaged_law_is_refused(tmp_path: Path, key: str, value: object) -> None:
    problem, law = bolts()
    content = plan(problem, law).tree().to_dict() | {key: value}
    (tmp_path / "policy.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(PolicyError, match="it is no policy"):
        Tree.load(tmp_path / "policy.json")


def test_what_only_history_knows_is_refused() -> None:
    problem = Problem([Test("a", 0.1), Test("label", available=False)], ["n", "y"], Table(["label"], [[1, 0], [0, 1]]))
    with pytest.raises(StateError, match="'label' is known from history alone"):
        refuse_unavailable(problem, problem.state({"label": "1"}))
    refuse_unavailable(problem, problem.state({"a": "1"}))
