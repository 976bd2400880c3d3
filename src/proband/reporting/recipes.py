"""What a report needs to know of a plan: how to make it again, at other prices and from other rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Discrete, Distribution
from proband.errors import PlanError
from proband.fitting.leaves import with_counts
from proband.planners import Plan
from proband.planners.validation import Validation
from proband.policies import Tree
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Kind, Policy, Records


class Recipe(Protocol):
    """A plan, and the way in which it was made."""

    @property
    def problem(self) -> Problem:
        """What was planned."""
        ...

    @property
    def records(self) -> Records | None:
        """The rows from which the law was learned; None where it was given."""
        ...

    @property
    def plan(self) -> Plan:
        """The plan."""
        ...

    @property
    def tree(self) -> Tree:
        """The plan as a tree."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What is to be said of the data."""
        ...

    @property
    def in_sample(self) -> float:
        """What the plan brings to the rows that it was made from, or under the law that was given."""
        ...

    @property
    def validation(self) -> Validation | None:
        """What plans made in this way bring to rows that they have not seen."""
        ...

    def again(self, problem: Problem | None = None, records: Records | None = None) -> Recipe:
        """Return the same way to plan, on other prices or other rows."""
        ...

    def taught(self, rows: IntArray) -> tuple[Recipe, FloatArray]:
        """Return the same way to plan from some of the rows alone, all that is chosen chosen again.

        Rows are numbers of subjects, each record counted as often as it was seen. With the recipe come all subjects
        (n, d) in the outcomes of its own problem, whose cuts may be others.
        """
        ...


@dataclass(frozen=True)
class Planned:
    """A law, and a way to plan with it.

    Parameters
    ----------
    problem : Problem
    law : Distribution
    make : callable
        From a problem and a law to a plan.
    records : Records, optional
        From which the law was learned.
    learn : callable, optional
        From records to a law; needed with records.
    notes : sequence of str
    validation : Validation, optional
        What plans made in this way bring to rows that they have not seen.
    """

    problem: Problem
    law: Distribution
    make: Callable[[Problem, Distribution], Plan]
    records: Records | None = None
    learn: Callable[[Records], Distribution] | None = None
    notes: Sequence[str] = field(default=())
    validation: Validation | None = None

    def __post_init__(self) -> None:
        if (self.records is None) != (self.learn is None):
            raise PlanError("records and learn go together: rows, and how they become a law; give both, or neither")

    @cached_property
    def plan(self) -> Plan:
        """The plan."""
        return self.make(self.problem, self.law)

    @cached_property
    def tree(self) -> Tree:
        """The plan as a tree; of a law that was learned with what each leaf rests on."""
        tree = self.plan.tree()
        return tree if self.records is None else with_counts(tree, self.records)

    @property
    def in_sample(self) -> float:
        """What the plan brings under its law."""
        return self.plan.value

    def again(self, problem: Problem | None = None, records: Records | None = None) -> Self:
        """Return the same way to plan, on other prices or other rows."""
        law = self.law
        if records is not None:
            assert self.learn is not None
            law = self.learn(records)
        kept = self.records if records is None else records
        return type(self)(self.problem if problem is None else problem, law, self.make, kept, self.learn, self.notes)

    def taught(self, rows: IntArray) -> tuple[Self, FloatArray]:
        """Return the same way to plan from some of the rows alone, and all rows."""
        assert self.records is not None
        every = self.records.subjects
        return self.again(records=Records(every[rows])), every


@dataclass(frozen=True)
class Acting:
    """A policy that only acts: what its tests cost is for others to say, at their prices."""

    policy: Policy

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return the policy's action in each state (n, d): shape (n,)."""
        return self.policy.act(states, coins)


def law_of(plan: Plan) -> Discrete:
    """Return the law that a plan of listed outcomes was made for."""
    law = plan.distribution
    assert isinstance(law, Discrete)
    return law


def check_listed(problem: Problem) -> None:
    """Raise unless outcomes are listed: only then is a plan a tree."""
    if problem.kind is not Kind.LISTED:
        raise PlanError(
            f"the problem is one of {problem.kind.value}; reports are about trees of listed outcomes; look at the plan "
            "with proband plan --plot, or bin the measurements (proband.binning)"
        )


def folds_of(n: int, folds: int) -> IntArray:
    """Return into which fold each of n rows is dealt, always alike."""
    return np.asarray(np.random.default_rng(0).permutation(np.arange(n) % folds))
