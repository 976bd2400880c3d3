"""What a plan is: a policy with values that can explain itself, whatever planner made it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.distributions import Solvable
from proband.errors import PlanError, StateError
from proband.planners.evaluation import Evaluation, evaluate
from proband.policies.nodes import Alternative
from proband.policies.tree import Tree
from proband.problem import Problem
from proband.quantities import amount, number
from proband.showing import Shown
from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True)
class Explanation:
    """Why a plan acts as it does in a state.

    Attributes
    ----------
    action : int
        What the plan does.
    probability : float
        Probability of the state; where it is zero, the decision is that for the most similar outcome vectors.
    alternatives : tuple of Alternative
        Every possible action with its value and by how much it loses to the best, best first; what would break a limit
        of the plan is not possible. For a match reward the only decision listed is the best one.
    beliefs : tuple
        What is believed of each score (:class:`~proband.planners.gaussian.plan.Belief`), where there are scores.
    """

    action: int
    probability: float
    alternatives: tuple[Alternative, ...]
    beliefs: tuple[Any, ...] = ()


def ranked(scores: Mapping[int, float], action: int, *, at_most: Collection[int] = ()) -> tuple[Alternative, ...]:
    """Return actions with their values and what they lose, best first; of equal ones the plan's `action`.

    `at_most` are those that may be worth more (:class:`~proband.policies.nodes.Alternative`).
    """
    best = max(scores.values())
    order = sorted(scores, key=lambda a: (-scores[a], a != action, a))
    return tuple(Alternative(a, scores[a], best - scores[a], a in at_most) for a in order)


class Plan(Shown, ABC):
    """A policy for one problem and law.

    Attributes
    ----------
    problem : Problem
    distribution : Discrete or Gaussian
        The law that was solved for (:meth:`proband.distributions.Distribution.solvable`).
    value : float
        Expected total reward of a new subject under the plan.
    bound : float
        No policy has a larger expected total reward than this; equal to `value` where the plan is exact.
    error : float
        By how much `value` may be off for numerical reasons, an estimate; 0 where sums are exact up to rounding.
    method : str
        The planner that made it.
    explain_choice : str
        Why this planner was chosen.
    max_tests, budget : optional
        The limits for each subject within which it was made.
    """

    method: str
    value: float
    bound: float
    error: float = 0.0
    explain_choice: str = "asked for by name"
    max_tests: int | None = None
    budget: float | None = None

    def __init__(self, problem: Problem, distribution: Solvable) -> None:
        self.problem = problem
        self.distribution = distribution

    def __repr__(self) -> str:
        named = f"{self.problem.name!r}: " * bool(self.problem.name)
        gap = f", at most {number(self.gap, 3)} below the best" if self.gap > 1e-9 else ""
        value = amount(self.value, self.problem.unit)
        return f"{type(self).__name__}({named}value {value} a subject{gap}, by {self.method})"

    @property
    def gap(self) -> float:
        """How much better than this plan the best one can be, at most."""
        return self.bound - self.value

    @abstractmethod
    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return the plan's action in each state (n, d): shape (n,)."""

    @abstractmethod
    def values(self, states: ArrayLike) -> FloatArray:
        """Return the expected remaining reward of following the plan from each state, shape (n,)."""

    @abstractmethod
    def explain(self, state: ArrayLike) -> Explanation:
        """Return every possible action in a state with its value and what it loses to the best."""

    @cached_property
    def evaluation(self) -> Evaluation:
        """Expected reward, cost, number of tests, probability of each decision."""
        return evaluate(self.problem, self.distribution, self)

    @property
    def expected_cost(self) -> float:
        """Expected costs paid for a new subject."""
        return self.evaluation.cost

    @property
    def expected_tests(self) -> float:
        """Expected number of tests run on a new subject."""
        return self.evaluation.tests

    @property
    def decision_probabilities(self) -> dict[str, float]:
        """Probability of each decision for a new subject."""
        return self.evaluation.decisions

    def tree(self, *, depth: int | None = None) -> Tree:
        """Return the plan as a decision tree (:meth:`DiscretePlan.tree`); raise where outcomes are measured."""
        raise PlanError(
            "the tests are measured, so the plan is no tree of outcomes; look at its regions (proband plan --plot), or "
            "bin the measurements (proband.binning)"
        )

    def one_state(self, state: ArrayLike) -> FloatArray:
        """Return one state to be explained, checked, shape (d,)."""
        rows = self.problem.states(state)
        if len(rows) != 1:
            raise StateError(f"{len(rows)} states are given; one state is explained at a time; give one row")
        return np.asarray(rows[0])

    def missing_context(self, rows: FloatArray) -> tuple[IntArray, NDArray[np.bool_]]:
        """Return actions with the first missing test known on arrival filled in, and where none is missing."""
        actions = np.full(len(rows), -1, dtype=np.int64)
        for i in self.problem.context[::-1]:
            actions[np.isnan(rows[:, i])] = i
        return actions, actions < 0
