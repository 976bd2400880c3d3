"""The paper's words on one page.

Subjects t = 1, 2, ... arrive. Each hides a vector x of d test outcomes, drawn independently from an unknown
law P. For each subject an agent runs tests one at a time, pays for them, then takes a decision y; the subject
brings f(x, y) minus the costs paid (Chen and Al Kontar, "Online Learning of Optimal Sequential Testing
Policies", Section 2).

========================  ==================================================================================
paper                     here
========================  ==================================================================================
d, c_i                    number of tests, :attr:`Test.cost`
x                         outcome vector: a row of d floats, each the index of an outcome (0 ... k_i - 1), or
                          the number that was measured
s, NA                     state: an outcome vector with NaN where a test was not run
A = [d] ∪ Y               action: an integer, 0 ... d-1 a test, d ... a decision
y, Y, f                   decision, :attr:`Problem.decisions`, :class:`Reward`
P, P̂, size of P          :class:`~proband.distributions.Distribution`, its estimate, the size of its support
π                         :class:`Policy`
v(s), Q(s, i)             value of a state, value of running test i in it
T, R_T                    horizon, cumulative regret
========================  ==================================================================================

A state is not a class and an action is not a class: arrays go through everything in bulk. People's names for
tests, outcomes and decisions live in :class:`Test` and :class:`proband.Problem` and are translated at the edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Protocol, runtime_checkable

from numpy.typing import ArrayLike

from proband.vocabulary.records import Records
from proband.vocabulary.states import (
    LARGEST_CODE,
    FloatArray,
    IntArray,
    as_rows,
    as_states,
    outcome_codes,
    outcome_limits,
    outcome_rows,
)
from proband.vocabulary.test import DEFAULT_OUTCOMES, Test

__all__ = [
    "DEFAULT_OUTCOMES",
    "LARGEST_CODE",
    "NEVER",
    "FloatArray",
    "IntArray",
    "Kind",
    "Policy",
    "Pooling",
    "Records",
    "Reward",
    "Test",
    "as_rows",
    "as_states",
    "outcome_codes",
    "outcome_limits",
    "outcome_rows",
]


class Kind(Enum):
    """The kind of a problem, which its reward decides: what is planned, evaluated and learned depends on it alone."""

    LISTED = "listed outcomes"
    SCORES = "measured outcomes and scores"
    SETS = "sets of measurements"


class Pooling(Enum):
    """How a reward pools over the outcome vectors that agree with a state."""

    SUM = "sum"
    MAXIMUM = "maximum"


@runtime_checkable
class Reward(Protocol):
    """f(x, y), and how it reduces over the tests that were not run.

    With weights p over rows x, the value of deciding now (unnormalised) is ``max_j pool(p * payoff[:, j])``: a
    sum over the rows for tables, a maximum for f = 1{x = y}, whose decisions are never enumerated.
    """

    @property
    def kind(self) -> Kind:
        """What problems with this reward are."""
        ...

    @property
    def pooling(self) -> Pooling:
        """Sum, or maximum."""
        ...

    def check(self, tests: Sequence[Test], decisions: Sequence[str]) -> None:
        """Raise :class:`ProblemError` if the reward does not fit these tests and decisions."""
        ...

    def payoff(self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray) -> FloatArray:
        """Return the columns to be pooled, shape (n, columns)."""
        ...

    def realised(
        self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray, chosen: IntArray
    ) -> FloatArray:
        """Return f(x, y) for each row and the decision chosen for it (numbered from 0), shape (n,)."""
        ...


NEVER = 1.0
"""A coin that falls nowhere: for asking what a policy does when it does not explore."""


@runtime_checkable
class Policy(Protocol):
    """A map from states to actions, pure and in bulk.

    A subject brings a coin, a number u that is uniform on [0, 1) and drawn once: it decides where a policy that
    explores by chance goes on (:mod:`proband.policies.completing`). Whoever drives a policy hands the coin on, for he
    cannot know which policies look at it: most do not, and one that does refuses to act without.
    """

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return one action for each row of `states` (n, d) and coin, (n,) or one for all: shape (n,)."""
        ...
