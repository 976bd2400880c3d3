"""What a user may ask of a planner, beside the problem and the law."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeVar

from proband.errors import PlanError
from proband.planners.progress import Report
from proband.vocabulary import Kind

P = TypeVar("P", bound=Callable[..., Any])


def serves(*kinds: Kind, takes: Collection[str] = ()) -> Callable[[P], P]:
    """Mark a planner with the kinds of problems that it plans; without a mark it is trusted with all.

    Parameters
    ----------
    *kinds : Kind
    takes : collection of str
        Those of :data:`SPECIAL` options that it knows; any other planner that is asked for one is refused.

    Examples
    --------
    >>> @serves(Kind.LISTED)
    ... def plan_nothing(problem, distribution, options): ...
    >>> kinds_of(plan_nothing)
    frozenset({<Kind.LISTED: 'listed outcomes'>})
    """

    def mark(planner: P) -> P:
        vars(planner).update(kinds=frozenset(kinds), takes=frozenset(takes))
        return planner

    return mark


def kinds_of(planner: Callable[..., Any]) -> frozenset[Kind]:
    """Return the kinds of problems that a planner serves."""
    kinds: frozenset[Kind] = getattr(planner, "kinds", frozenset(Kind))
    return kinds


SPECIAL = {
    "node_penalty": "a penalty of nodes needs a search over the support",
    "warm": "only a search over the support starts from a plan",
}
"""Options that few planners know, and why that is."""


def refuse_special(method: str, planner: Callable[..., Any], options: Options) -> None:
    """Raise if a planner was asked for a special option that it does not take."""
    for name in options.special:
        if name not in getattr(planner, "takes", ()):
            given = f"{name} is {options.node_penalty}" if name == "node_penalty" else "a plan to start from is given"
            raise PlanError(f'{given}; the {method} planner knows none; use method="sparse", or leave it out')


@dataclass(frozen=True)
class Options:
    """Limits and wishes; every planner uses those that concern it and refuses those it cannot meet.

    Attributes
    ----------
    max_tests : int, optional
        Most tests to run on a subject.
    budget : float, optional
        Most to pay for the tests of a subject.
    time_limit : float, optional
        Seconds after which a search returns its best plan and its bound.
    memory_limit : float, optional
        Bytes that may be used.
    steps : int
        How many tests look-ahead looks ahead.
    tolerance : float, optional
        In units of the reward: by how much the value of a Gaussian plan may be off for numerical reasons, or the gap at
        which the search for a set ends.
    progress : callable, optional
        Called with a :class:`~proband.planners.progress.Progress` now and then; a search that is answered False ends.
    device : {"cpu", "gpu"}, optional
        Where a dense plan is made, if the planner is not named.
    node_penalty : float
        What every test node of the tree costs, in units of the reward of a subject, in the choice of the plan.
    warm : Plan, optional
        A plan to start from.
    """

    max_tests: int | None = None
    budget: float | None = None
    time_limit: float | None = None
    memory_limit: float | None = None
    steps: int = 2
    progress: Report | None = None
    tolerance: float | None = None
    device: str | None = None
    node_penalty: float = 0.0
    warm: object | None = None

    def __post_init__(self) -> None:
        for name in ("max_tests", "budget", "time_limit", "memory_limit", "node_penalty"):
            value = getattr(self, name)
            if value is not None and (math.isnan(value) or value < 0):
                raise PlanError(f"{name} is {value}; it must be 0 or more; give a limit, or leave it out")
        if self.max_tests is not None and self.max_tests != int(self.max_tests):
            raise PlanError(f"max_tests is {self.max_tests}; it must be a whole number; round it")
        if self.tolerance is not None and not 0 < self.tolerance < math.inf:
            raise PlanError(f"tolerance is {self.tolerance}; it must be above 0 and finite; give one, or leave it out")
        if self.device not in (None, "cpu", "gpu"):
            raise PlanError(f"device is {self.device!r}; devices are cpu and gpu; choose one")
        if self.steps < 1:
            raise PlanError(f"steps is {self.steps}; look-ahead looks 1 or more tests ahead; give 1 or more")

    @property
    def special(self) -> list[str]:
        """Names of the `SPECIAL` options that were given."""
        return ["node_penalty"] * (self.node_penalty > 0) + ["warm"] * (self.warm is not None)

    def refuse_limits_per_subject(self, method: str) -> None:
        """Raise if a limit per subject was asked of a planner that has none."""
        if self.max_tests is not None or self.budget is not None:
            raise PlanError(
                f"max_tests is {self.max_tests} and budget is {self.budget}; the {method} planner has no limits per "
                'subject; use method="sparse", or leave them out'
            )
