"""What was seen of subjects, as arrays."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.errors import TableError
from proband.showing import Shown
from proband.vocabulary.states import LARGEST_CODE, FloatArray, IntArray
from proband.vocabulary.test import Test

_OFFERING = "proband.tables.offering"
"""Where frames of others are made: in a layer above, by place."""


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
        if self.chances is None or other.chances is None:
            same = self.chances is other.chances
        else:
            same = np.array_equal(self.chances, other.chances, equal_nan=True)
        rows = np.array_equal(self.outcomes, other.outcomes, equal_nan=True)
        return same and rows and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]

    @property
    def n(self) -> int:
        """Number of subjects."""
        return int(self.counts.sum())

    @property
    def subjects(self) -> FloatArray:
        """A row for each subject: each record as often as it was seen, shape (n, d)."""
        return np.repeat(self.outcomes, self.counts, axis=0)

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
