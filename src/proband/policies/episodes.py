"""Subjects through a policy, in bulk: the horizontal sequence of the paper, for many subjects at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import PolicyError
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy


@dataclass(frozen=True)
class Episodes:
    """What a policy did to n subjects.

    Attributes
    ----------
    states : FloatArray of shape (n, d)
        What was known in the end.
    actions : IntArray of shape (n,)
        The decisions, as actions (d, d + 1, ...).
    costs : FloatArray of shape (n,)
        The costs paid.
    tests : IntArray of shape (n,)
        How many tests were run (those known on arrival do not count).
    """

    states: FloatArray
    actions: IntArray
    costs: FloatArray
    tests: IntArray


@runtime_checkable
class Runner(Protocol):
    """A policy that has a faster way of its own to take subjects from arrival to decision."""

    def run(self, rows: FloatArray) -> Episodes:
        """Return what the policy does to subjects with complete outcome vectors (n, d)."""
        ...


def follow(
    problem: Problem,
    policy: Policy,
    rows: FloatArray,
    *,
    start: FloatArray | None = None,
    coins: FloatArray | None = None,
) -> Episodes:
    """Run the policy on subjects whose complete outcome vectors are `rows`, shape (n, d).

    With `start`, a state that agrees with all of them, only what happens from there on is counted. `coins`, shape
    (n,), are the subjects'; a policy that tosses them (:mod:`proband.policies.completing`) cannot do without.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test
    >>> from proband.policies import test_everything
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 2.0)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> law = Discrete([[0], [1]], [0.97, 0.03])
    >>> follow(problem, test_everything(problem, law), law.support).costs
    array([2., 2.])
    """
    if start is None and isinstance(policy, Runner):
        return policy.run(rows)
    n = len(rows)
    states = np.full((n, problem.d), np.nan) if start is None else np.tile(start, (n, 1))
    states[:, problem.context] = rows[:, problem.context]
    actions = np.zeros(n, dtype=np.int64)
    costs, tests = np.zeros(n), np.zeros(n, dtype=np.int64)
    active = np.arange(n)
    for _ in range(len(problem.operable) + 1):
        chosen = _as_actions(policy.act(states[active], None if coins is None else coins[active]), len(active))
        _check_actions(problem, states[active], chosen)
        testing = chosen < problem.d
        actions[active[~testing]] = chosen[~testing]
        active, chosen = active[testing], chosen[testing]
        if not len(active):
            break
        costs[active] += np.take_along_axis(problem.costs(states[active]), chosen[:, None], axis=1)[:, 0]
        tests[active] += 1
        states[active, chosen] = rows[active, chosen]
    return Episodes(states, actions, costs, tests)


def _as_actions(given: ArrayLike, n: int) -> IntArray:
    actions = np.asarray(given)
    if actions.shape != (n,) or (n and not np.issubdtype(actions.dtype, np.integer)):
        raise PolicyError(
            f"the policy gave {actions.dtype} of shape {actions.shape} for {n} states; it must give one integer for "
            "each; correct the policy"
        )
    return actions.astype(np.int64)


def _check_actions(problem: Problem, states: FloatArray, actions: IntArray) -> None:
    operable = np.zeros(problem.d, dtype=np.bool_)
    operable[problem.operable] = True
    tests = np.clip(actions, 0, problem.d - 1)
    allowed = operable[tests] & np.isnan(np.take_along_axis(states, tests[:, None], axis=1)[:, 0])
    wrong = np.where(actions < problem.d, ~allowed | (actions < 0), actions >= problem.d + problem.n_decisions)
    if wrong.any():
        n = int(np.flatnonzero(wrong)[0])
        raise PolicyError(
            f"the policy chose action {actions[n]} in the state {states[n].tolist()}; it must choose a test that was "
            f"not run and can be, or a decision (from {problem.d} on); correct the policy"
        )
