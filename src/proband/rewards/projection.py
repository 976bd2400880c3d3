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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from proband.checking import FieldTypes, Findings, mistake
from proband.errors import ProblemError, shown
from proband.rewards.base import BaseReward
from proband.rewards.scores import Piece, Score
from proband.vocabulary import FloatArray, IntArray, Kind, Test

if TYPE_CHECKING:
    from proband.piecewise import PiecewiseLinear

MOST_SCORES = 2


@dataclass(frozen=True, init=False)
class Projection(BaseReward):
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
    name = "projection"
    fields: ClassVar[FieldTypes] = {"scores": list, "pieces": list}

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
        super().check(tests, decisions)
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

    def depends_on(self, tests: Sequence[Test]) -> IntArray:
        """Return the tests that a score weighs."""
        return np.flatnonzero(self.matrix(tests).any(axis=0))

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

    def matrix(self, tests: Sequence[Test]) -> FloatArray:
        """Return A, shape (scores, d)."""
        return np.array([score.row(tests) for score in self.scores])

    @property
    def offsets(self) -> FloatArray:
        """Return b, shape (scores,)."""
        return np.array([score.offset for score in self.scores])

    def line(self, decisions: Sequence[str]) -> PiecewiseLinear:
        """Return the reward of each decision as a function of the only score."""
        from proband.piecewise import PiecewiseLinear  # compiled: not for those who only read the reward

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

    @classmethod
    def from_dict(
        cls, content: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str], *, source: str
    ) -> Self:
        """Build the reward from its table in a problem file."""
        found = Findings(source)
        rows = {key: found.of(_rows, source, content, key) or [] for key in ("scores", "pieces")}
        own = [test.name for test in tests]
        scores = [
            found.of(Score.from_dict, row, own, source=source, key=f"reward.scores[{n}]")
            for n, row in enumerate(rows["scores"])
        ]
        names = [row["name"] for row in rows["scores"] if isinstance(row.get("name"), str)]
        known = bool(names) and len(names) == len(rows["scores"])  # else nobody knows what pieces may name
        pieces = [
            found.of(Piece.from_dict, row, names, decisions, source=source, key=f"reward.pieces[{n}]")
            for n, row in enumerate(rows["pieces"] if known else ())
        ]
        found.check()
        return cls([score for score in scores if score], [piece for piece in pieces if piece])

    def to_dict(self, tests: Sequence[Test], decisions: Sequence[str]) -> dict[str, Any]:
        """Return the reward's table in a problem file."""
        scores, pieces = ([part.to_dict() for part in parts] for parts in (self.scores, self.pieces))
        return {"scores": scores, "pieces": pieces}


def _rows(source: str, content: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    rows = content.get(key)
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise mistake(
            source, f"reward.{key}", f"it is {shown(rows)}; a projection needs a list of tables; write [[reward.{key}]]"
        )
    return list(rows)


def _cells(knots: FloatArray, interval: tuple[float, float]) -> slice:
    """Return the cells between knots that an interval covers, both of its ends being knots or infinite."""
    low, high = interval
    first = np.searchsorted(knots, low, side="right")
    return slice(int(first), len(knots) + 1 if math.isinf(high) else int(np.searchsorted(knots, high, side="right")))
