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

import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.cutting import checked_cuts, cut_names, place, place_of_text, stated_limits
from proband.errors import ProblemError, StateError, TableError
from proband.numerals import UNMARKED, Marks, number
from proband.showing import Shown
from proband.texts import check_plain

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LARGEST_CODE = 2**62
"""Outcome vectors are numbered below this, so that a number and an offset fit 64 bits."""

_OFFERING = "proband.tables.offering"
"""Where frames of others are made: in a layer above, by place."""

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


@dataclass(frozen=True, eq=False, repr=False)
class Records(Shown):
    """What was seen of subjects: one row each, NaN where a test was not run.

    Parameters
    ----------
    outcomes : array_like of shape (n, d)
        Outcome indices, NaN where a test was not run.
    counts : array_like of shape (n,), optional
        How many subjects showed each row; once each by default.
    chances : array_like of shape (n,), optional
        With which probability the policy that each subject met would have run every test on it: 1 where the plan
        itself does, the coin's probability where a coin decides, 0 where it never would, NaN where an operator went
        his own way. Agents that need it and are not told take the subjects for those of their own policies.
    tests : sequence of Test, optional
        What the columns are; those who read tables by name tell. Only frames and notebooks ask.

    Examples
    --------
    >>> records = Records([[0, 1], [1, float("nan")]], counts=[3, 1])
    >>> records.n, records.complete().n
    (4, 3)
    >>> records
    Records(4 subjects in 2 rows, 2 tests, 1 subject incomplete)
    """

    outcomes: FloatArray
    counts: IntArray
    chances: FloatArray | None
    tests: tuple[Test, ...] | None

    def __init__(
        self,
        outcomes: ArrayLike,
        counts: ArrayLike | None = None,
        chances: ArrayLike | None = None,
        *,
        tests: Sequence[Test] | None = None,
    ) -> None:
        rows = np.array(outcomes, dtype=np.float64)
        if rows.ndim != 2:
            raise TableError(f"records have shape {rows.shape}; they must be (subjects, tests); reshape them")
        given = np.ones(len(rows)) if counts is None else np.asarray(counts, dtype=np.float64)
        if (
            given.shape != (len(rows),)
            or not ((given >= 0) & (given < LARGEST_CODE) & (given == np.floor(given))).all()
        ):
            raise TableError(
                f"counts have shape {given.shape} and smallest {given.min(initial=0):g}; there must be one for each "
                f"of the {len(rows)} rows, a whole number of 0 or more; correct them"
            )
        numbers = given.astype(np.int64)
        rows.setflags(write=False)
        numbers.setflags(write=False)
        object.__setattr__(self, "outcomes", rows)
        object.__setattr__(self, "counts", numbers)
        object.__setattr__(self, "chances", None if chances is None else _checked_chances(chances, len(rows)))
        if tests is not None and len(tests) != rows.shape[1]:
            raise TableError(
                f"records have {rows.shape[1]} columns and {len(tests)} tests; there is one for each; name them all"
            )
        object.__setattr__(self, "tests", None if tests is None else tuple(tests))

    def __repr__(self) -> str:
        incomplete = self.n - int(self.counts[self.is_complete].sum())
        subjects = f"{self.n:,} subject{'s' * (self.n != 1)}"
        rows = "" if self.n == len(self) else f" in {len(self):,} rows"
        gaps = f", {incomplete:,} subject{'s' * (incomplete != 1)} incomplete" if incomplete else ""
        return f"Records({subjects}{rows}, {self.outcomes.shape[1]} tests{gaps})"

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Offer the records as an Arrow stream, by the names of their tests (with pyarrow)."""
        return importlib.import_module(_OFFERING).arrow_stream(self, requested_schema)

    def columns(self) -> dict[str, list[Any]]:
        """Return the records by the names of their tests: outcomes by name, None where a test was not run."""
        found: dict[str, list[Any]] = importlib.import_module(_OFFERING).columns(self)
        return found

    def to_pandas(self) -> Any:
        """Return a frame of pandas, which has to be installed: outcomes by name, as categories."""
        return importlib.import_module(_OFFERING).to_pandas(self)

    def __len__(self) -> int:
        return len(self.outcomes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Records):
            return NotImplemented
        if (self.chances is None) != (other.chances is None):
            return False
        same = self.chances is None or np.array_equal(self.chances, other.chances, equal_nan=True)  # type: ignore[arg-type]
        rows = np.array_equal(self.outcomes, other.outcomes, equal_nan=True)
        return same and rows and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]

    @property
    def n(self) -> int:
        """Number of subjects."""
        return int(self.counts.sum())

    @property
    def is_complete(self) -> NDArray[np.bool_]:
        """Whether every test of a row is known, shape (len(self),)."""
        return np.asarray(~np.isnan(self.outcomes).any(axis=1))

    def complete(self) -> Self:
        """Return the rows in which every test is known.

        Rows that a policy left incomplete are missing *because of what was seen*: a law estimated from the
        complete ones alone is biased, unless completeness was decided before looking.
        """
        return self.part(self.is_complete)

    def part(self, chosen: NDArray[np.bool_] | NDArray[np.int64] | slice) -> Self:
        """Return some of the rows."""
        chances = None if self.chances is None else self.chances[chosen]
        return type(self)(self.outcomes[chosen], self.counts[chosen], chances, tests=self.tests)

    @classmethod
    def joined(cls, parts: Sequence[Records]) -> Records:
        """Return the rows of one part after another; their chances, if every part tells them."""
        if len(parts) == 1:
            return parts[0]
        told = [part.chances for part in parts if part.chances is not None]
        chances = np.concatenate(told) if len(told) == len(parts) else None
        rows = np.vstack([part.outcomes for part in parts])
        return cls(rows, np.concatenate([part.counts for part in parts]), chances, tests=parts[0].tests)


def _checked_chances(chances: ArrayLike, n: int) -> FloatArray:
    given = np.array(chances, dtype=np.float64)
    if given.shape != (n,) or not (np.isnan(given) | ((given >= 0) & (given <= 1))).all():
        raise TableError(
            f"chances have shape {given.shape}; there must be one for each of the {n} rows, from 0 to 1, NaN where it "
            "is not known; correct them"
        )
    given.setflags(write=False)
    return given


def outcome_limits(tests: Sequence[Test]) -> FloatArray:
    """Return how many outcomes each test has, shape (d,); 0 for measured ones."""
    return np.array([0 if test.measured else test.k for test in tests], dtype=np.float64)


def as_states(states: ArrayLike, tests: Sequence[Test], limits: FloatArray | None = None) -> FloatArray:
    """Return `states` as an (n, d) array after checking that every entry is an outcome or NaN.

    Who checks often gives :func:`outcome_limits`.

    Examples
    --------
    >>> as_states([float("nan"), 1], [Test("length"), Test("weight")])
    array([[nan,  1.]])
    """
    rows = as_rows(states, len(tests))
    k = outcome_limits(tests) if limits is None else limits
    if k.all() and _all_outcomes(rows, k):
        return rows
    wrong = ~np.isnan(rows) & np.where(k > 0, (rows < 0) | (rows >= k) | (rows != np.floor(rows)), np.isinf(rows))
    if wrong.any():
        row, i = np.argwhere(wrong)[0]
        if tests[i].measured:
            raise StateError(
                f"state {row}: test {tests[i].name!r} has the value {rows[row, i]:g}; a measurement is a finite "
                "number, NaN when not known; correct it"
            )
        raise StateError(
            f"state {row}: test {tests[i].name!r} has the value {rows[row, i]:g}; outcomes are numbered "
            f"0 to {tests[i].k - 1}, NaN when not known; give one of these"
        )
    return rows


def _all_outcomes(rows: FloatArray, k: FloatArray) -> bool:
    """Return whether every entry is NaN or one of 0 ... k - 1; in pieces that a cache holds."""
    step = max(1, _CACHED // max(1, rows.shape[1]))
    for piece in (rows[start : start + step] for start in range(0, len(rows), step)):
        fits = np.minimum(np.maximum(np.rint(piece), 0.0), k - 1) == piece
        if not (fits | np.isnan(piece)).all():
            return False
    return True


_CACHED = 2**15
"""Numbers that a processor keeps at hand."""


def as_rows(states: ArrayLike, d: int) -> FloatArray:
    """Return `states` as an (n, d) array of numbers, whatever these are."""
    try:
        rows = np.atleast_2d(np.asarray(states, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise StateError(
            f"states are no array of numbers ({error}); a state has one outcome number for each of the {d} tests, NaN "
            "where it was not run; translate names with problem.state"
        ) from error
    if rows.ndim != 2 or rows.shape[1] != d:
        raise StateError(
            f"states have shape {np.shape(states)}; a state has one entry for each of the {d} tests; "
            f"give an array of shape (n, {d}), NaN where a test was not run"
        )
    return rows


def outcome_codes(rows: ArrayLike, tests: Sequence[Test]) -> IntArray:
    """Number complete outcome vectors in the product space: the last test counts fastest.

    Examples
    --------
    >>> outcome_codes([[0, 1], [1, 0]], [Test("length"), Test("weight")])
    array([1, 2])
    """
    codes = np.zeros(len(np.atleast_2d(rows)), dtype=np.int64)
    for column, test in zip(np.atleast_2d(rows).T, tests, strict=True):
        codes = codes * test.k + np.asarray(column, dtype=np.int64)
    return codes


def outcome_rows(codes: ArrayLike, tests: Sequence[Test]) -> FloatArray:
    """Return the outcome vectors with the given numbers; the inverse of :func:`outcome_codes`.

    Examples
    --------
    >>> outcome_rows([1, 2], [Test("length"), Test("weight")])
    array([[0., 1.],
           [1., 0.]])
    """
    rest = np.atleast_1d(np.asarray(codes, dtype=np.int64))
    rows = np.empty((len(rest), len(tests)))
    for i in range(len(tests) - 1, -1, -1):
        rest, rows[:, i] = np.divmod(rest, tests[i].k)
    return rows


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
