"""What leaf completion asks of a kind of problem: where plans stop, what that may lose, and what vetoes a plan.

The parts of a kind are passed in (:data:`proband.agents.leaf_completion.LEAVES`); a planner that works in another way,
with a time limit or on part of the states, comes with leaves of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from proband.agents.estimates import PerSubject, Planner
from proband.planners import Plan
from proband.policies import Completion, Extra
from proband.vocabulary import FloatArray, IntArray, Policy


@dataclass(frozen=True)
class Stops:
    """The leaves of a plan (`base`): where it stops, as states or as sets of tests in bit masks.

    Of each leaf how often the plan stops there (`mass`), what that may lose a subject (`loss`), what completing all of
    them would cost (`kappa`), how many complete subjects tell about it, 1 at least (`n`), and whether a test remains
    (`open`), each of shape (leaves,).
    """

    base: Policy
    where: NDArray[Any]
    mass: FloatArray
    loss: FloatArray
    kappa: FloatArray
    n: FloatArray | float
    open: NDArray[np.bool_]


class Reference(Protocol):
    """What is known of the law from complete subjects and their chances alone, whatever an estimator says.

    Its own plans keep to `limits`, where there are any.
    """

    limits: PerSubject

    def add(self, rows: FloatArray, chances: FloatArray, counts: IntArray, *, lowest: float, subjects: int) -> None:
        """Learn from distinct complete rows (n, d), seen `counts` (n,) times, with their chances (n,).

        The floor was `lowest`; of `subjects`, complete or not, the chance is known.
        """
        ...

    def against_distribution(self, distribution: Any, planner: Planner, t: int) -> Plan | None:
        """Return the plan to play instead of any plan of a law, or None."""
        ...

    def against_plan(self, plan: Policy) -> Plan | None:
        """Return the plan to play instead of another one, or None."""
        ...


class Leaves(Protocol):
    """How leaf completion looks at the plans of one kind of problem.

    Attributes
    ----------
    parameters : float
        K: how many numbers a law has; floor and cap grow with its third root.
    floor, safe_floor, threshold : float
        Constants of the floor, without safeguards and with, and of the veto, unless others are given.
    surest : float
        The largest probability of a coin.
    ahead, first, growth, expected : float, int, float, int
        How far to plan exploration, the subjects tested completely at the beginning, and by which share the number of
        subjects grows between two plans, unless others are given; how many subjects are expected at least.
    memoryless : bool
        Whether plan and coins follow from what was learned, and not from what an agent did before.
    reference : callable
        From problem, estimator, `threshold`, `floor` and `seed` to the reference of an agent.
    """

    parameters: float
    floor: float
    safe_floor: float
    threshold: float
    surest: float
    ahead: float
    first: int
    growth: float
    expected: int
    memoryless: bool
    reference: Callable[..., Reference]

    def look(self, estimator: Any, planner: Planner, rng: np.random.Generator, t: int) -> Stops:
        """Return the plan to play after t subjects, and where it stops."""
        ...

    def completion(self, stops: Stops, chances: FloatArray, lowest: float) -> Completion:
        """Return with which probability subjects are completed: `chances` (leaves,), and `lowest` at other leaves."""
        ...

    def within(self, allowed: float, left: int) -> tuple[int, float]:
        """Return length and largest coin of a block of `left` subjects that may complete `allowed` beyond the floor."""
        ...

    def extra(
        self, estimator: Any, stops: Stops, rng: np.random.Generator, *, ahead: float, left: int, allowed: float
    ) -> Extra | None:
        """Return a part of the tests to be bought of some subjects of a block of `left`; `ahead` are to come.

        In expectation a subject may pay for it `allowed` times what is at stake.
        """
        ...
