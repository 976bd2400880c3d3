"""What a user may ask of a planner, beside the problem and the law."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from proband.errors import PlanError
from proband.vocabulary import Kind

Progress = Callable[[Any], Any]

P = TypeVar("P", bound=Callable[..., Any])


def serves(*kinds: Kind) -> Callable[[P], P]:
    """Mark a planner with the kinds of problems that it plans; without a mark it is trusted with all.

    Examples
    --------
    >>> @serves(Kind.LISTED)
    ... def plan_nothing(problem, distribution, options): ...
    >>> kinds_of(plan_nothing)
    frozenset({<Kind.LISTED: 'listed outcomes'>})
    """

    def mark(planner: P) -> P:
        vars(planner)["kinds"] = frozenset(kinds)
        return planner

    return mark


def kinds_of(planner: Callable[..., Any]) -> frozenset[Kind]:
    """Return the kinds of problems that a planner serves."""
    kinds: frozenset[Kind] = getattr(planner, "kinds", frozenset(Kind))
    return kinds


@dataclass(frozen=True)
class Standing:
    """How far a search has come: reported while it runs."""

    seconds: float
    value: float
    bound: float


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
    """

    max_tests: int | None = None
    budget: float | None = None
    time_limit: float | None = None
    memory_limit: float | None = None
    steps: int = 2
    progress: Progress | None = None
    tolerance: float | None = None
    device: str | None = None

    def __post_init__(self) -> None:
        for name in ("max_tests", "budget", "time_limit", "memory_limit"):
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

    def refuse_limits_per_subject(self, method: str) -> None:
        """Raise if a limit per subject was asked of a planner that has none."""
        if self.max_tests is not None or self.budget is not None:
            raise PlanError(
                f"max_tests is {self.max_tests} and budget is {self.budget}; the {method} planner has no limits per "
                'subject; use method="sparse", or leave them out'
            )
