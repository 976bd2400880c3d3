"""The parts of a projection reward: linear combinations of measurements, and pieces of what a decision brings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from proband.checking import NUMBER, FieldTypes, Findings, check_fields, check_names_in, mistake
from proband.errors import ProblemError, shown
from proband.texts import check_plain
from proband.vocabulary import FloatArray, Test

_SCORE: FieldTypes = {"name": str, "weights": dict, "offset": NUMBER, "unit": str}
_PIECE: FieldTypes = {"decision": str, "value": NUMBER, "when": dict, "slope": dict, "at": dict}


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

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], tests: Sequence[str], *, source: str, key: str) -> Self:
        """Build the score from its table in a problem file."""
        check_fields(source, key, content, _SCORE, required=("name", "weights"))
        check_names_in(source, f"{key}.weights", content["weights"], tests, "a test")
        try:
            return cls(content["name"], content["weights"], content.get("offset", 0.0), content.get("unit", ""))
        except ProblemError as error:
            raise mistake(source, key, str(error)) from error

    def to_dict(self) -> dict[str, Any]:
        """Return the score's table in a problem file."""
        return {"name": self.name, "weights": dict(self.weights), "offset": self.offset, "unit": self.unit}


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

    @classmethod
    def from_dict(
        cls, content: Mapping[str, Any], scores: Sequence[str], decisions: Sequence[str], *, source: str, key: str
    ) -> Self:
        """Build the piece from its table in a problem file."""
        check_fields(source, key, content, _PIECE, required=("decision",))
        tables = {part: content.get(part, {}) for part in ("when", "slope", "at")}
        found, decision = Findings(source), content["decision"]
        for part, table in tables.items():
            found.passes(check_names_in, source, f"{key}.{part}", table, scores, "a score")
        if decision not in decisions:
            said = f"it is {decision!r}; decisions are {', '.join(decisions)}; choose one"
            found.add(mistake(source, f"{key}.decision", said))
        found.check()
        try:
            return cls(decision, content.get("value", 0.0), **tables)
        except ProblemError as error:
            raise mistake(source, key, str(error)) from error

    def to_dict(self) -> dict[str, Any]:
        """Return the piece's table in a problem file, defaults left out."""
        content: dict[str, Any] = {"decision": self.decision, "value": self.value}
        if self.when:
            content["when"] = {name: list(limits) for name, limits in self.when.items()}
        return content | {key: dict(getattr(self, key)) for key in ("slope", "at") if getattr(self, key)}


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
