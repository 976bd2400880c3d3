"""Rewards of measurements x that depend on one or two linear combinations z = A x + b, piecewise linearly.

Specification limits, weighted scores and asymmetric losses are of this kind. A :class:`Score` is one row of A; the
reward of a decision is the sum of its :class:`Piece` s that contain z,

    f(x, y) = Σ over pieces of y with low ≤ z < high of  value + slope · (z − at).

Jumps are allowed. Under a Gaussian law the belief about z is Gaussian, its covariance depends on which tests were run
only, and the expectation of f has a closed form: planning lives on (tested set) × (posterior mean of z).

Examples
--------
>>> from proband import Problem, Test
>>> margin = Score("margin", {"strength": 1.0, "load": -1.2}, unit="MPa")
>>> reward = Projection(
...     [margin],
...     [Piece("pass", 1.0, when={"margin": (0, None)}), Piece("pass", -20.0, when={"margin": (None, 0)})],
... )
>>> tests = [Test("strength", 3.0, outcomes=None, unit="MPa"), Test("load", 1.0, outcomes=None, unit="MPa")]
>>> problem = Problem(tests, ["pass", "fail"], reward, unit="EUR")
>>> problem.payoff(np.array([[130.0, 100.0], [110.0, 100.0]]))
array([[  1.,   0.],
       [-20.,   0.]])
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from proband.errors import ProblemError, shown
from proband.piecewise import PiecewiseLinear
from proband.texts import check_plain
from proband.vocabulary import FloatArray, IntArray, Kind, Pooling, Test

MOST_SCORES = 2


@dataclass(frozen=True)
class Score:
    """A linear combination of measurements, z = Σ weight · x + offset.

    Parameters
    ----------
    name : str
        How people call it.
    weights : mapping of str to float
        By name of the test; 0 where a test is left out.
    offset : float, default 0
    unit : str, default ""
    """

    name: str
    weights: Mapping[str, float]
    offset: float = 0.0
    unit: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ProblemError(f"the name of a score is {self.name!r}; it must be a non-empty text; name it")
        check_plain("the name of a score", self.name, ProblemError)
        check_plain(f"score {self.name!r}: the unit", self.unit, ProblemError)
        numbers = {name: _number(f"score {self.name!r}: the weight of {name!r}", w) for name, w in self.weights.items()}
        if not any(numbers.values()):
            raise ProblemError(
                f"score {self.name!r}: its weights are {dict(self.weights)}; at least one must differ from 0; add it"
            )
        object.__setattr__(self, "weights", numbers)
        object.__setattr__(self, "offset", _number(f"score {self.name!r}: the offset", self.offset))

    def row(self, tests: Sequence[Test]) -> FloatArray:
        """Return the weight of every test, shape (d,)."""
        return np.array([self.weights.get(test.name, 0.0) for test in tests])


@dataclass(frozen=True)
class Piece:
    """A linear piece of the reward of one decision.

    Parameters
    ----------
    decision : str
    value : float
        The reward where z = `at`.
    when : mapping of str to (low, high), optional
        For a score the interval low ≤ z < high in which the piece counts; None or infinity for no limit. Everywhere,
        if a score is left out.
    slope : mapping of str to float, optional
        Change of the reward per unit of a score; 0 by default.
    at : mapping of str to float, optional
        Where the slopes are anchored; 0 by default.
    """

    decision: str
    value: float = 0.0
    when: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    slope: Mapping[str, float] = field(default_factory=dict)
    at: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        where = f"piece of decision {self.decision!r}"
        object.__setattr__(self, "value", _number(f"{where}: the value", self.value))
        for key in ("slope", "at"):
            numbers = {name: _number(f"{where}: {key} of {name!r}", n) for name, n in getattr(self, key).items()}
            object.__setattr__(self, key, numbers)
        object.__setattr__(self, "when", {name: _interval(where, name, given) for name, given in self.when.items()})

    @property
    def intercept(self) -> float:
        """The piece's value at z = 0."""
        return self.value - sum(slope * self.at.get(name, 0.0) for name, slope in self.slope.items())

    def interval(self, score: str) -> tuple[float, float]:
        """Return where the piece counts, with infinities for no limit."""
        low, high = self.when.get(score, (None, None))
        return -math.inf if low is None else low, math.inf if high is None else high


@dataclass(frozen=True, init=False)
class Projection:
    """A piecewise-linear reward of one or two scores.

    Parameters
    ----------
    scores : sequence of Score
        The rows of A, one or two.
    pieces : sequence of Piece
        Those of a decision that contain z are added; a decision without pieces brings 0.
    """

    scores: tuple[Score, ...]
    pieces: tuple[Piece, ...]

    kind = Kind.SCORES
    pooling = Pooling.SUM

    def __init__(self, scores: Sequence[Score], pieces: Sequence[Piece]) -> None:
        object.__setattr__(self, "scores", tuple(scores))
        object.__setattr__(self, "pieces", tuple(pieces))
        names = [score.name for score in self.scores]
        if not 1 <= len(names) <= MOST_SCORES or len(set(names)) < len(names):
            raise ProblemError(
                f"the reward's scores are {names}; a projection has one or two, with different names; for more, bin "
                "the measurements (proband.binning)"
            )
        if not self.pieces:
            raise ProblemError("the reward has no pieces; a projection needs one or more; add what a decision brings")
        for piece in self.pieces:
            unknown = sorted({*piece.when, *piece.slope, *piece.at} - set(names))
            if unknown:
                raise ProblemError(
                    f"piece of decision {piece.decision!r}: {unknown} are no scores; scores are {names}; correct them"
                )

    def check(self, tests: Sequence[Test], decisions: Sequence[str]) -> None:
        """Raise if tests or decisions do not fit."""
        if not decisions:
            raise ProblemError('decisions are missing; name one or more, such as ("pass", "fail")')
        names = {test.name: None for test in tests}
        listed = [test.name for test in tests if not test.measured]
        if listed:
            raise ProblemError(
                f"the reward is a projection and the tests {listed} list outcomes; it needs measured tests; leave "
                "their outcomes out and say that they are measured, or use a table"
            )
        for score in self.scores:
            unknown = [name for name in score.weights if name not in names]
            if unknown:
                raise ProblemError(f"score {score.name!r} weighs {unknown}; tests are {list(names)}; correct the names")
        unknown = sorted({piece.decision for piece in self.pieces} - set(decisions))
        if unknown:
            raise ProblemError(f"pieces are of the decisions {unknown}; decisions are {list(decisions)}; correct them")

    def payoff(self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray) -> FloatArray:
        """Return f(x, y) for every row and decision, shape (n, decisions)."""
        z = rows @ self.matrix(tests).T + self.offsets
        payoff = np.zeros((len(rows), len(decisions)))
        for piece in self.pieces:
            inside = np.ones(len(rows), dtype=np.bool_)
            amount = np.full(len(rows), piece.intercept)
            for score, column in zip(self.scores, z.T, strict=True):
                low, high = piece.interval(score.name)
                inside &= (column >= low) & (column < high)
                amount += piece.slope.get(score.name, 0.0) * column
            payoff[:, list(decisions).index(piece.decision)] += np.where(inside, amount, 0.0)
        return payoff

    def realised(
        self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray, chosen: IntArray
    ) -> FloatArray:
        """Return f(x, y) for each row and its chosen decision, shape (n,)."""
        return np.take_along_axis(self.payoff(tests, decisions, rows), chosen[:, None], axis=1)[:, 0]

    def matrix(self, tests: Sequence[Test]) -> FloatArray:
        """Return A, shape (scores, d)."""
        return np.array([score.row(tests) for score in self.scores])

    @property
    def offsets(self) -> FloatArray:
        """Return b, shape (scores,)."""
        return np.array([score.offset for score in self.scores])

    def line(self, decisions: Sequence[str]) -> PiecewiseLinear:
        """Return the reward of each decision as a function of the only score."""
        knots, intercepts, slopes = self.cells(decisions)
        return PiecewiseLinear(knots[0], intercepts, slopes[..., 0])

    def cells(self, decisions: Sequence[str]) -> tuple[list[FloatArray], FloatArray, FloatArray]:
        """Return the reward on the cells into which all limits cut the scores.

        Returns
        -------
        knots : list of FloatArray
            For each score the limits that occur, sorted; m of them make m + 1 cells.
        intercepts : FloatArray of shape (decisions, m_1 + 1, ...)
        slopes : FloatArray of shape (decisions, m_1 + 1, ..., scores)
        """
        names = [score.name for score in self.scores]
        limits = [[limit for piece in self.pieces for limit in piece.interval(name)] for name in names]
        knots = [np.unique([limit for limit in each if math.isfinite(limit)]) for each in limits]
        shape = (len(decisions), *(len(each) + 1 for each in knots))
        intercepts, slopes = np.zeros(shape), np.zeros((*shape, len(names)))
        for piece in self.pieces:
            inside = [_cells(each, piece.interval(name)) for each, name in zip(knots, names, strict=True)]
            where: tuple[Any, ...] = (list(decisions).index(piece.decision), *inside)
            intercepts[where] += piece.intercept
            slopes[where] += [piece.slope.get(name, 0.0) for name in names]
        return knots, intercepts, slopes


def _cells(knots: FloatArray, interval: tuple[float, float]) -> slice:
    """Return the cells between knots that an interval covers, both of its ends being knots or infinite."""
    low, high = interval
    first = np.searchsorted(knots, low, side="right")
    return slice(int(first), len(knots) + 1 if math.isinf(high) else int(np.searchsorted(knots, high, side="right")))


def _number(what: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ProblemError(f"{what} is {value!r}; it must be a number; correct it")
    try:
        number = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        raise ProblemError(f"{what} is {number}; it must be finite; correct it")
    return number


def _interval(where: str, name: str, given: Sequence[float | None]) -> tuple[float | None, float | None]:
    try:
        low, high = given
        lower, upper = -math.inf if low is None else float(low), math.inf if high is None else float(high)
    except (TypeError, ValueError, OverflowError) as error:
        raise ProblemError(
            f"{where}: when.{name} is {shown(given)}; it must be [low, high]; give two numbers"
        ) from error
    if not lower < upper:
        raise ProblemError(f"{where}: when.{name} is {list(given)}; low must be below high; correct the limits")
    return None if math.isinf(lower) else lower, None if math.isinf(upper) else upper
