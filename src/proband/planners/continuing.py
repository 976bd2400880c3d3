"""What is best for a subject of whom something is known, however it came to be known.

A tree knows what to do where its own questions lead. Whoever knows more, or something else, has another posterior: the
law is conditioned on all that is known, known tests are as if known on arrival, groups that they opened are open,
limits are what is left of them, and what follows is planned anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Discrete
from proband.errors import PolicyError, StateError
from proband.planners.choice import plan
from proband.planners.plans import Explanation, ranked
from proband.planners.progress import Report
from proband.planners.room import Room, room_after
from proband.policies import Decider, Tree
from proband.problem import Problem
from proband.vocabulary import FloatArray, Pooling, Test


@dataclass(frozen=True)
class Continuation:
    """What to do with a subject, and why.

    Attributes
    ----------
    explanation : Explanation
    value : float
        Expected remaining reward.
    gap : float
        How much better the best continuation may be, at most.
    """

    explanation: Explanation
    value: float
    gap: float = 0.0


def continue_from(
    tree: Tree, state: ArrayLike, *, method: str | None = None, progress: Report | None = None
) -> Continuation:
    """Return what is best in a state under the law that a tree was made with, within its limits.

    Parameters
    ----------
    tree : Tree
    state : array_like of shape (d,)
        What is known of the subject. Every test that can be run and is known counts as run.
    method : str, optional
        A planner; by default chosen by size.
    progress : callable, optional
        Called now and then by a search.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test, plan
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("a", 0.1), Test("b", 0.3)], ["no", "yes"], Table(["b"], [[1, 0], [0, 1]]))
    >>> tree = plan(problem, Discrete([[0, 0], [1, 1]], [0.5, 0.5])).tree()
    >>> problem.action_name(tree.root.action)
    'a'
    >>> found = continue_from(tree, problem.state({"b": "1"}))
    >>> problem.action_name(found.explanation.action), found.value
    ('yes', 1.0)
    """
    problem, origin = tree.problem, tree.origin
    [row] = problem.states(state)
    if origin is None or origin.law is None:
        raise PolicyError(
            f"{_names(problem, not_asked(tree, row))} is known, the policy does not ask for it on the way here, and "
            "its file keeps no law by which it could be used (the file is an older one, the law too large, or the "
            "reward a function of a program); leave it out, or plan again and write the policy anew"
        )
    if origin.law.mass(row)[0] <= 0:
        return _unseen(problem, origin.law, row)
    room = room_left(tree, row)
    best = plan(
        _narrowed(problem, row),
        origin.law.condition(row),
        max_tests=None if math.isinf(room.tests) else int(room.tests),
        budget=None if math.isinf(room.money) else room.money,
        method=method,
        progress=progress,
    )
    why = replace(best.explain(row), probability=float(origin.law.mass(row)[0]))
    return Continuation(why, float(best.values(row)[0]), best.gap)


def not_asked(tree: Tree, state: ArrayLike) -> list[int]:
    """Return the known tests that a tree does not ask for on its way to a state."""
    [row], used = tree.problem.states(state), tree.used(state)
    return [i for i in range(tree.problem.d) if not np.isnan(row[i]) and i not in used]


def room_left(tree: Tree, row: FloatArray) -> Room:
    """Return what the limits of a tree leave in a state: known tests count as run, wherever they are known from."""
    if tree.origin is None:
        return Room()
    limits = tree.origin
    return room_after(tree.problem, _bought(tree, row), max_tests=limits.max_tests, budget=limits.budget)


def refuse_unavailable(problem: Problem, state: FloatArray) -> None:
    """Raise if a state tells of a test that only history has."""
    told = [i for i, test in enumerate(problem.tests) if not test.available and not np.isnan(state[i])]
    if told:
        raise StateError(
            f"{_names(problem, told)} is known from history alone (available = false), and no policy may use it; leave "
            "it out, or make it available in the problem file and plan again"
        )


def _names(problem: Problem, tests: Sequence[int]) -> str:
    return " and ".join(repr(problem.tests[i].name) for i in tests)


def _bought(tree: Tree, row: FloatArray) -> list[int]:
    """Return the known tests in the order in which the tree asks for them, then the others, in the cheapest order."""
    used = tree.used(row)
    return [*used, *(int(i) for i in tree.problem.cheapest_order if not np.isnan(row[i]) and i not in used)]


def _narrowed(problem: Problem, row: FloatArray) -> Problem:
    """Return the problem of what is left: known tests are given, at no cost, and have opened their groups."""
    costs = problem.costs(row)[0]

    def left(i: int, test: Test) -> Test:
        if not test.operable:
            return test
        if not np.isnan(row[i]):
            return replace(test, cost=0.0, group=None, group_cost=None, on_arrival=True)
        return replace(test, cost=float(costs[i]))

    tests = [left(i, test) for i, test in enumerate(problem.tests)]
    return Problem(tests, problem.decisions, problem.reward, name=problem.name, unit=problem.unit)


def _unseen(problem: Problem, law: Discrete, row: FloatArray) -> Continuation:
    """Decide where the law has never seen anything like it, as for the most similar subjects."""
    decider = Decider(problem, law)
    actions, values = decider.decide(row)
    action, value = int(actions[0]), float(values[0])
    scores = {action: value}
    if problem.reward.pooling is Pooling.SUM:
        scores |= {problem.d + y: float(each) for y, each in enumerate(decider.values_of(row))}
    return Continuation(Explanation(action, 0.0, ranked(scores, action)), value)
