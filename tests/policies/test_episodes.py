from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from proband import Discrete, Problem, Test, evaluate
from proband.errors import DistributionError, PolicyError
from proband.policies import DecideNow, follow, test_everything
from proband.rewards import Table

NAN = float("nan")


class Acting:
    """A policy from a function of states."""

    def __init__(self, function: Callable[[np.ndarray], object]) -> None:
        self.function = function

    def act(self, states: np.ndarray, coins: object = None) -> object:
        return self.function(np.asarray(states))


def test_what_happens_to_subjects(problem: Problem) -> None:
    rows = np.array([[0.0, 1.0], [1.0, 0.0]])

    def rusty_only(states: np.ndarray) -> np.ndarray:
        actions = np.full(len(states), 2)
        actions[np.isnan(states[:, 0])] = 0
        actions[(states[:, 0] == 1) & np.isnan(states[:, 1])] = 1
        return actions

    episodes = follow(problem, Acting(rusty_only), rows)  # type: ignore[arg-type]
    assert np.array_equal(episodes.states, [[0, NAN], [1, 0]], equal_nan=True)
    assert episodes.actions.tolist() == [2, 2]
    assert episodes.costs == pytest.approx([0.1, 0.7])
    assert episodes.tests.tolist() == [1, 2]


def test_nobody(problem: Problem) -> None:
    episodes = follow(problem, DecideNow(problem, "pass"), np.empty((0, 2)))
    assert episodes.actions.shape == (0,)


def test_context_is_known_and_free() -> None:
    problem = Problem([Test("a", 1.0), Test("age", on_arrival=True)], ["y", "z"], Table(["age"], [[1, 0], [0, 1]]))
    episodes = follow(problem, test_everything(problem), np.array([[0.0, 1.0]]))
    assert (episodes.costs.tolist(), episodes.tests.tolist()) == ([1.0], [1])


@pytest.mark.parametrize(
    "function",
    [
        lambda states: np.full(len(states), -1),
        lambda states: np.full(len(states), -10),
        lambda states: np.full(len(states), 0),  # again and again
        lambda states: np.full(len(states), 4),
        lambda states: np.full(len(states), 10**9),
        lambda states: np.full(len(states), 2.7),
        lambda states: np.full(len(states), NAN),
        lambda states: np.full((len(states), 1), 2),
        lambda states: np.full(len(states) + 1, 2),
        lambda states: 2,
        lambda states: None,
    ],
)
def test_actions_that_are_not_allowed(problem: Problem, law: Discrete, function: Callable[..., object]) -> None:
    with pytest.raises(PolicyError, match=r"the policy (chose|gave)"):
        evaluate(problem, law, Acting(function))  # type: ignore[arg-type]


@pytest.mark.parametrize("test", [Test("x", on_arrival=True), Test("x", available=False)])
def test_tests_that_cannot_be_run(test: Test) -> None:
    problem = Problem([test, Test("a", 1.0)], ["y"], Table(["a"], [[1.0], [0.0]]))
    with pytest.raises(PolicyError, match="the policy chose action 0"):
        evaluate(problem, Discrete([[0, 0]], [1.0]), Acting(lambda s: np.zeros(len(s), dtype=int)))  # type: ignore[arg-type]


def test_an_evaluation_adds_up(problem: Problem, law: Discrete) -> None:
    figures = evaluate(problem, law, test_everything(problem))
    assert figures.value == pytest.approx(figures.reward - figures.cost)
    assert figures.reward == pytest.approx(0.75)
    assert figures.cost == pytest.approx(0.7)
    assert figures.tests == 2.0
    assert list(figures.decisions) == ["pass", "fail"]
    assert figures.decisions == pytest.approx({"pass": 0.75, "fail": 0.25})
    with pytest.raises(DistributionError):
        evaluate(problem, Discrete([[0]], [1.0]), test_everything(problem))
