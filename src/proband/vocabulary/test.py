"""One test of the pool: its name, its price, its outcomes, and every rule that these keep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from proband.cutting import checked_cuts, cut_names, place, place_of_text, stated_limits
from proband.errors import ProblemError
from proband.numerals import UNMARKED, Marks, number
from proband.texts import check_plain

DEFAULT_OUTCOMES = ("0", "1")


@dataclass(frozen=True)
class Test:
    """One test of the pool: its name, its price and its possible outcomes.

    Parameters
    ----------
    name : str
        How people call it.
    cost : float, default 0
        Price of running it, in the units of the reward.
    outcomes : sequence of str or None, default ("0", "1")
        Names of the possible outcomes; in states and supports they are numbered 0, 1, ... in this order. None for a
        measured test, whose outcome is a number.
    unit : str, default ""
        Of what is measured ("mm", "MPa"), for people; only with ``outcomes=None`` or with `cuts`.
    group : str, optional
        Tests of one group share a preparation: once another test of the group was run on the subject, this
        one costs `group_cost` instead of `cost`.
    group_cost : float, optional
        The reduced price; needed with `group`.
    on_arrival : bool, default False
        Known when the subject arrives, at no cost (context): comes before any other test.
    available : bool, default True
        False for a test that only history has (a gold standard): never run, yet part of x, so that the reward
        may depend on it.
    cuts : sequence of float, optional
        Where a number is cut into outcomes, one more than there are cuts; a cut itself belongs to the outcome above it.
        The outcomes are called by their limits, unless `outcomes` names them, from the lowest to the highest.
    choose_cuts : bool, default False
        The outcomes are numbers, and where they are cut is chosen when the problem is fitted to past subjects
        (:func:`proband.fit`); nothing else can be done with the test until then.

    Examples
    --------
    >>> glucose = Test("glucose", 17.61, outcomes=("low", "high"), group="blood", group_cost=15.51)
    >>> glucose.k
    2
    >>> Test("length", 0.2, outcomes=None, unit="mm").measured
    True
    >>> Test("hardness", 0.1, cuts=[60, 75], unit="HRC").names
    ('< 60 HRC', '60 to 75 HRC', '>= 75 HRC')
    """

    __test__ = False  # pytest would take the class for a test case

    name: str
    cost: float = 0.0
    outcomes: Sequence[str] | None = DEFAULT_OUTCOMES
    group: str | None = None
    group_cost: float | None = None
    on_arrival: bool = False
    available: bool = True
    unit: str = ""
    cuts: Sequence[float] | None = None
    choose_cuts: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ProblemError(f"the name of a test is {self.name!r}; it must be a non-empty text; name the test")
        check_plain("the name of a test", self.name, ProblemError)
        if self.cuts is not None:
            object.__setattr__(self, "cuts", checked_cuts(self.name, self.cuts))
        object.__setattr__(self, "outcomes", self._checked_outcomes())
        object.__setattr__(self, "cost", self._checked_cost("cost", self.cost))
        self._check_group()
        self._check_kind()

    @property
    def measured(self) -> bool:
        """Whether the outcome is a number that is measured, not one of a list."""
        return self.outcomes is None and not self.choose_cuts

    @property
    def names(self) -> Sequence[str]:
        """The names of the outcomes; raises for a measured test, which has none."""
        if self.choose_cuts:
            raise ProblemError(
                f"test {self.name!r}: where its numbers are cut is still to be chosen; here its outcomes are needed; "
                "fit the problem to past subjects (proband fit, proband.fit) and go on with what that writes, or give "
                "cuts = [..]"
            )
        if self.outcomes is None:
            raise ProblemError(
                f"test {self.name!r} is measured; here a list of outcomes is needed; use a Gaussian law, or bin the "
                "measurements with proband.binning"
            )
        return self.outcomes

    @property
    def k(self) -> int:
        """Number of possible outcomes; raises for a measured test."""
        return len(self.names)

    @property
    def operable(self) -> bool:
        """Whether the test can be chosen: available, and not already known on arrival."""
        return self.available and not self.on_arrival

    def read(self, given: str | float, *, marks: Marks = UNMARKED) -> float:
        """Return an outcome as it stands in a state: the number of a named one, where a number was cut, or the number.

        Raises ValueError, with the reason, for what is no outcome of the test.

        Examples
        --------
        >>> hardness = Test("hardness", 0.1, cuts=[60, 75], unit="HRC")
        >>> hardness.read(63.2), hardness.read("63,2 HRC"), hardness.read(">= 75 HRC")
        (1.0, 1.0, 2.0)
        """
        if self.outcomes is not None and given in self.outcomes:
            return float(self.outcomes.index(given))
        if isinstance(given, str):
            if self.cuts is not None:
                return float(place_of_text(self.cuts, given, unit=self.unit, marks=marks))
            numeric = self.measured or self.choose_cuts
            value = number(given, unit=self.unit, marks=marks) if numeric else math.nan
        else:
            value = float(given)
        if not math.isfinite(value) or not (self.measured or self.choose_cuts or self.cuts):
            raise ValueError(f"{given!r} is no outcome")
        return float(place(self.cuts, value)) if self.cuts else value

    def _checked_outcomes(self) -> tuple[str, ...] | None:
        if self.choose_cuts:
            self._check_choice()
        listed = self.outcomes is not None and self.cuts is None and not self.choose_cuts
        if not isinstance(self.unit, str) or (self.unit and listed):
            raise ProblemError(
                f"test {self.name!r}: unit is {self.unit!r} and outcomes are {self.outcomes!r}; a unit is a text and "
                "belongs to a measured test, or to one whose numbers are cut (cuts); drop the unit, or the outcomes"
            )
        check_plain(f"test {self.name!r}: the unit", self.unit, ProblemError)
        if self.cuts is not None:
            return self._cut_outcomes(self.cuts)
        if self.outcomes is None or self.choose_cuts:
            return None
        return self._listed_outcomes(self.outcomes)

    def _check_choice(self) -> None:
        if self.choose_cuts is not True or self.cuts is not None or self.outcomes not in (None, DEFAULT_OUTCOMES):
            raise ProblemError(
                f"test {self.name!r}: choose_cuts is {self.choose_cuts!r}, cuts are {self.cuts} and outcomes "
                f"{self.outcomes}; where cuts are to be chosen (true) neither cuts nor outcomes are given; drop them"
            )

    def _cut_outcomes(self, cuts: Sequence[float]) -> tuple[str, ...]:
        if self.outcomes is None:
            raise ProblemError(
                f"test {self.name!r}: it is measured and has cuts; cuts make listed outcomes of numbers; drop one of "
                "the two"
            )
        if self.outcomes is DEFAULT_OUTCOMES:
            return cut_names(cuts, self.unit)
        outcomes = self._listed_outcomes(self.outcomes)
        if len(outcomes) != len(cuts) + 1:
            raise ProblemError(
                f"test {self.name!r}: it has {len(cuts)} cuts and {len(outcomes)} outcomes; there is one outcome more "
                "than there are cuts, from the lowest to the highest; name them all, or drop outcomes"
            )
        for b, outcome in enumerate(outcomes):
            self._check_cut_name(cuts, b, outcome)
        return outcomes

    def _check_cut_name(self, cuts: Sequence[float], b: int, outcome: str) -> None:
        """Raise if the name of an outcome is a number, or states limits, that mean something else."""
        found = stated_limits(outcome, self.unit)
        low, high = (-math.inf, *cuts)[b], (*cuts, math.inf)[b]
        if found is not None and found != (low, high) and not low <= found[0] == found[1] < high:
            raise ProblemError(
                f"test {self.name!r}: its outcome number {b + 1} is called {outcome!r}, but by the cuts {list(cuts)} "
                f"it is {cut_names(cuts, self.unit)[b]!r}; rename it, or drop outcomes"
            )

    def _listed_outcomes(self, given: Sequence[str]) -> tuple[str, ...]:
        outcomes = given if isinstance(given, str) else tuple(given)
        if isinstance(outcomes, str) or not all(isinstance(o, str) and o.strip() for o in outcomes):
            raise ProblemError(
                f"test {self.name!r}: outcomes are {self.outcomes!r}; they must be non-empty texts; "
                'write a list such as ["ok", "cracked"]'
            )
        for outcome in outcomes:
            check_plain(f"test {self.name!r}: an outcome", outcome, ProblemError)
        if len(outcomes) < 1:
            raise ProblemError(f"test {self.name!r}: it has no outcomes; a test needs one or more; list them")
        if len(set(outcomes)) < len(outcomes):
            raise ProblemError(
                f"test {self.name!r}: outcomes {list(outcomes)} repeat a name; names must differ; rename one"
            )
        return outcomes

    def _checked_cost(self, key: str, value: float) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise ProblemError(f"test {self.name!r}: {key} is {value!r}; it must be a number; give the price")
        try:
            price = float(value)
        except OverflowError:  # a whole number of hundreds of digits
            price = math.inf
        if not math.isfinite(price) or price < 0:
            raise ProblemError(
                f"test {self.name!r}: {key} is {price:g}; a cost must be finite and 0 or more; give the price"
            )
        return price

    def _check_group(self) -> None:
        if (self.group is None) != (self.group_cost is None):
            raise ProblemError(
                f"test {self.name!r}: group is {self.group!r} and group_cost is {self.group_cost!r}; "
                "the two go together; give both, or neither"
            )
        if self.group is None or self.group_cost is None:
            return
        if not isinstance(self.group, str) or not self.group.strip():
            raise ProblemError(f"test {self.name!r}: group is {self.group!r}; it must be a non-empty text; name it")
        check_plain(f"test {self.name!r}: the group", self.group, ProblemError)
        object.__setattr__(self, "group_cost", self._checked_cost("group_cost", self.group_cost))
        if self.group_cost > self.cost:
            raise ProblemError(
                f"test {self.name!r}: group_cost {self.group_cost} exceeds cost {self.cost}; the price within an "
                "opened group is the lower one; swap them"
            )

    def _check_kind(self) -> None:
        for key in ("on_arrival", "available"):
            if not isinstance(getattr(self, key), bool):
                raise ProblemError(f"test {self.name!r}: {key} is {getattr(self, key)!r}; it must be true or false")
        if self.on_arrival and not self.available:
            raise ProblemError(
                f"test {self.name!r}: on_arrival is true and available is false; a test known on arrival is "
                "available; drop one of the two"
            )
        if self.on_arrival and (self.cost != 0 or self.group is not None):
            raise ProblemError(
                f"test {self.name!r}: it is known on arrival and has cost {self.cost}, group {self.group!r}; "
                "what is known on arrival is free and opens no group; drop cost and group"
            )
