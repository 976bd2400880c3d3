"""Algorithm 1 as the paper writes it, with normalised posteriors: slow, plain, and no code shared with planners.

    v(s) = max( max_y E[f(x, y) | s],  max_i  -c_i(s) + E[v(s with x_i filled in) | s] )

A state is a tuple with None where a test was not run, a posterior is a list of (x, p), a number is a Python float.
Tests known on arrival are filled in first and cost nothing; unavailable tests are never filled in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache, partial

import numpy as np

from proband.distributions import Discrete
from proband.problem import Problem
from proband.rewards import Match, Table
from proband.vocabulary import NEVER, Policy

Outcomes = tuple[int, ...]
State = tuple[int | None, ...]
Posterior = list[tuple[Outcomes, float]]


class BruteForce:
    """The exact values of every state, by plain recursion.

    Parameters
    ----------
    problem : Problem
    distribution : Discrete
        A law with few outcome vectors: the recursion visits every state that can occur.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 0.1)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> round(BruteForce(problem, Discrete([[0], [1]], [0.75, 0.25])).value(), 3)
    0.65
    """

    def __init__(self, problem: Problem, distribution: Discrete) -> None:
        self.problem = problem
        self.law: Posterior = _as_posterior(distribution)
        self._reward = cache(partial(reward, problem))
        self._known: dict[State, dict[int, float]] = {}

    def value(self, state: Sequence[float | None] | None = None) -> float:
        """Return v(s): the expected remaining reward of the best policy; by default that of a new subject."""
        return max(self.action_values(state).values())

    def action_values(self, state: Sequence[float | None] | None = None) -> dict[int, float]:
        """Return the value of every possible action in a state of positive probability.

        While a test known on arrival is missing, the only action is the first such test. For a match reward, only
        outcome vectors that can still occur are listed; all other decisions are worth nothing.
        """
        key = self.state(state)
        posterior = [(x, p) for x, p in self.law if all(b is None or b == x[i] for i, b in enumerate(key))]
        if not posterior:
            raise ValueError(f"the state {key} has probability zero; brute force values possible states only")
        total = math.fsum(p for _, p in posterior)
        return self._action_values(key, [(x, p / total) for x, p in posterior])

    def state(self, state: Sequence[float | None] | None = None) -> State:
        """Return a state as a tuple with None for what is not known; unavailable tests are never known."""
        if state is None:
            return (None,) * self.problem.d
        return tuple(
            None if b is None or math.isnan(b) or not test.available else int(b)
            for test, b in zip(self.problem.tests, state, strict=True)
        )

    def states(self) -> Iterator[State]:
        """Yield every state of positive probability, with the context known or not."""
        seen: set[State] = set()
        free = [i for i, test in enumerate(self.problem.tests) if test.available]
        for x, _ in self.law:
            for subset in range(2 ** len(free)):
                chosen = {i for bit, i in enumerate(free) if subset >> bit & 1}
                key = tuple(b if i in chosen else None for i, b in enumerate(x))
                if key not in seen:
                    seen.add(key)
                    yield key

    def _action_values(self, state: State, posterior: Posterior) -> dict[int, float]:
        if state not in self._known:
            self._known[state] = self._solve(state, posterior)
        return self._known[state]

    def _solve(self, state: State, posterior: Posterior) -> dict[int, float]:
        tests = self.problem.tests
        for i, test in enumerate(tests):
            if test.on_arrival and state[i] is None:
                return {i: self._mean_after(state, posterior, i)}
        values = self._decision_values(posterior)
        for i, test in enumerate(tests):
            if test.available and state[i] is None:
                values[i] = self._mean_after(state, posterior, i) - test_cost(self.problem, state, i)
        return values

    def _mean_after(self, state: State, posterior: Posterior, test: int) -> float:
        """Return E[v(s with x_i filled in) | s]."""
        branches: dict[int, Posterior] = {}
        for x, p in posterior:
            branches.setdefault(x[test], []).append((x, p))
        terms = []
        for outcome, branch in branches.items():
            weight = math.fsum(p for _, p in branch)
            below = (*state[:test], outcome, *state[test + 1 :])
            terms.append(weight * max(self._action_values(below, [(x, p / weight) for x, p in branch]).values()))
        return math.fsum(terms)

    def _decision_values(self, posterior: Posterior) -> dict[int, float]:
        """Return E[f(x, y) | s] for every decision y, by action."""
        d = self.problem.d
        if isinstance(self.problem.reward, Match):
            return {d + _code(self.problem, x): p for x, p in posterior}
        return {
            d + y: math.fsum(p * self._reward(x, y) for x, p in posterior) for y in range(len(self.problem.decisions))
        }


def reward(problem: Problem, x: Outcomes, y: int) -> float:
    """Return f(x, y) of one outcome vector and the number of a decision.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> reward(Problem([Test("length", 1.0), Test("weight", 1.0)], reward=Match()), (1, 0), 2)
    1.0
    """
    if isinstance(problem.reward, Match):
        return 1.0 if _code(problem, x) == y else 0.0
    if isinstance(problem.reward, Table):
        names = [test.name for test in problem.tests]
        return float(problem.reward.utilities[(*(x[names.index(target)] for target in problem.reward.targets), y)])
    row = np.array([x], dtype=np.float64)
    return float(problem.reward.realised(problem.tests, problem.decisions, row, np.array([y]))[0])


def test_cost(problem: Problem, state: State, test: int) -> float:
    """Return what a test costs in a state: the lower price once another run test of its group is known."""
    own = problem.tests[test]
    opened = any(
        own.group is not None and other.group == own.group and other.available and state[j] is not None
        for j, other in enumerate(problem.tests)
        if j != test
    )
    return own.group_cost if opened and own.group_cost is not None else own.cost


vars(test_cost)["__test__"] = False  # pytest would take it for a test


def exhaustive_value(problem: Problem, distribution: Discrete, policy: Policy) -> float:
    """Return the expected total reward of a policy: every outcome vector alone, one action at a time.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test
    >>> from proband.policies import test_everything
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 0.1)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> round(exhaustive_value(problem, Discrete([[0], [1]], [0.75, 0.25]), test_everything(problem)), 3)
    0.65
    """
    terms = [p * _total_reward(problem, policy, x) for x, p in _as_posterior(distribution)]
    return math.fsum(terms)


def perfect_information(problem: Problem, distribution: Discrete) -> float:
    """Return E[max_y f(x, y)], what a clairvoyant earns who needs no test; no policy earns more.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test
    >>> perfect_information(Problem([Test("length", 1.0)], reward=Match()), Discrete([[0], [1]], [0.5, 0.5]))
    1.0
    """
    if isinstance(problem.reward, Match):
        return 1.0
    return math.fsum(
        p * max(reward(problem, x, y) for y in range(len(problem.decisions))) for x, p in _as_posterior(distribution)
    )


def _total_reward(problem: Problem, policy: Policy, x: Outcomes) -> float:
    state: list[int | None] = [b if test.on_arrival else None for test, b in zip(problem.tests, x, strict=True)]
    paid = 0.0
    for _ in range(problem.d + 1):
        row = np.array([[math.nan if b is None else b for b in state]])
        action = int(policy.act(row, NEVER)[0])
        if action >= problem.d:
            return reward(problem, x, action - problem.d) - paid
        paid += test_cost(problem, tuple(state), action)
        state[action] = x[action]
    raise AssertionError(f"the policy did not decide on the outcome vector {x} after {problem.d} tests")


def _as_posterior(distribution: Discrete) -> Posterior:
    return [
        (tuple(int(b) for b in row), p)
        for row, p in zip(distribution.support.tolist(), distribution.probabilities.tolist(), strict=True)
    ]


def _code(problem: Problem, x: Outcomes) -> int:
    code = 0
    for test, b in zip(problem.tests, x, strict=True):
        code = code * len(test.names) + b
    return code
