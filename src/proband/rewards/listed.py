"""Rewards f(x, y) of a decision y on a subject with outcomes x, and how they reduce over missing tests.

When tests were skipped, f is not known but its expectation is: with the rows x that agree with a state and
their probabilities p, the (unnormalised) value of deciding now is

* for a table or a function: max_y Σ_x p(x) f(x, y);
* for match, f = 1{x = y} (Section 2 of the paper, its experiment): max_x p(x), without enumerating Π k_i decisions.

Examples
--------
>>> from proband import Test
>>> tests = [Test("crack", 1.0, outcomes=("none", "deep"))]
>>> reward = Table(["crack"], [[1.0, -0.2], [-20.0, -0.2]])
>>> reward.payoff(tests, ("pass", "fail"), np.array([[0.0], [1.0]]))
array([[  1. ,  -0.2],
       [-20. ,  -0.2]])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import ProblemError
from proband.vocabulary import LARGEST_CODE, FloatArray, IntArray, Kind, Pooling, Test, outcome_codes

RewardFunction = Callable[[FloatArray, int], ArrayLike]


@dataclass(frozen=True, eq=False)
class Table:
    """A utility for each combination of target outcomes and each decision (confusion costs).

    Parameters
    ----------
    targets : sequence of str
        Names of the tests on which the reward depends.
    utilities : array_like of shape (k_1, ..., k_j, decisions)
        One axis for each target, in their order, then one for the decisions.
    """

    targets: tuple[str, ...]
    utilities: FloatArray

    kind = Kind.LISTED
    pooling = Pooling.SUM

    def __init__(self, targets: Sequence[str], utilities: ArrayLike) -> None:
        if isinstance(targets, str):
            raise ProblemError(f"targets are {targets!r}; they must be a list of names; write [{targets!r}]")
        table = np.array(utilities, dtype=np.float64)
        if not np.isfinite(table).all():
            raise ProblemError("a utility is not finite; utilities must be finite numbers; replace NaN and infinities")
        table.setflags(write=False)
        object.__setattr__(self, "targets", tuple(targets))
        object.__setattr__(self, "utilities", table)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self.targets == other.targets and np.array_equal(self.utilities, other.utilities)

    def __hash__(self) -> int:
        return hash((self.targets, self.utilities.tobytes()))

    def check(self, tests: Sequence[Test], decisions: Sequence[str]) -> None:
        """Raise if the targets are no tests, or the table has not one entry for each combination."""
        _need_decisions(decisions)
        names = [test.name for test in tests]
        unknown = [target for target in self.targets if target not in names]
        if not self.targets or unknown or len(set(self.targets)) < len(self.targets):
            raise ProblemError(
                f"the reward's targets are {list(self.targets)}; they must be one or more different tests of "
                f"{names}; correct {unknown or 'the list'}"
            )
        shape = (*(tests[names.index(target)].k for target in self.targets), len(decisions))
        if self.utilities.shape != shape:
            raise ProblemError(
                f"the utilities have shape {self.utilities.shape}; with targets {list(self.targets)} and "
                f"{len(decisions)} decisions it must be {shape}; give one number for each combination"
            )

    def payoff(self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray) -> FloatArray:
        """Return f(x, y) for every row and decision, shape (n, decisions)."""
        names = [test.name for test in tests]
        columns = tuple(rows[:, names.index(target)].astype(np.int64) for target in self.targets)
        return self.utilities[columns]

    def realised(
        self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray, chosen: IntArray
    ) -> FloatArray:
        """Return f(x, y) for each row and its chosen decision, shape (n,)."""
        return np.take_along_axis(self.payoff(tests, decisions, rows), chosen[:, None], axis=1)[:, 0]


@dataclass(frozen=True)
class Match:
    """f = 1{x = y}: name the whole outcome vector; decisions are the numbers of outcome vectors.

    See Also
    --------
    proband.vocabulary.outcome_codes : how outcome vectors are numbered.
    """

    kind = Kind.LISTED
    pooling = Pooling.MAXIMUM

    def check(self, tests: Sequence[Test], decisions: Sequence[str]) -> None:
        """Raise if decisions were named, or the outcome vectors are too many to be numbered."""
        if decisions:
            raise ProblemError(
                f"the reward is match and decisions are {list(decisions)}; a match decides on the whole outcome "
                "vector; leave decisions out"
            )
        size = math.prod(test.k for test in tests)
        if size > LARGEST_CODE:
            raise ProblemError(
                f"the tests have about 2^{size.bit_length() - 1} outcome vectors; match numbers at most 2^62 of them; "
                "use a table over fewer target tests"
            )

    def payoff(self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray) -> FloatArray:
        """Return a single column of ones, shape (n, 1): the maximum over rows does the rest."""
        return np.ones((len(rows), 1))

    def realised(
        self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray, chosen: IntArray
    ) -> FloatArray:
        """Return 1 where the chosen outcome vector is the row, shape (n,)."""
        return np.asarray(outcome_codes(rows, tests) == chosen, dtype=np.float64)


@dataclass(frozen=True)
class Function:
    """Any Python function ``f(x, y)``, evaluated in bulk.

    Parameters
    ----------
    function : callable
        Gets an array x of shape (n, d) with outcome numbers and the number y of a decision; returns n rewards.
        Wrap a function of one outcome vector with :func:`rowwise`.
    """

    function: RewardFunction

    kind = Kind.LISTED
    pooling = Pooling.SUM

    def check(self, tests: Sequence[Test], decisions: Sequence[str]) -> None:
        """Raise if there is nothing to decide."""
        _need_decisions(decisions)

    def payoff(self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray) -> FloatArray:
        """Return f(x, y) for every row and decision, shape (n, decisions): one call for each decision."""
        return np.stack([self._column(rows, y) for y in range(len(decisions))]).T

    def realised(
        self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray, chosen: IntArray
    ) -> FloatArray:
        """Return f(x, y) for each row and its chosen decision, shape (n,)."""
        rewards = np.empty(len(rows))
        for y in np.unique(chosen):
            rewards[chosen == y] = self._column(rows[chosen == y], int(y))
        return rewards

    def _column(self, rows: FloatArray, y: int) -> FloatArray:
        column = np.asarray(self.function(rows, y), dtype=np.float64)
        if column.shape != (len(rows),):
            raise ProblemError(
                f"the reward function returned shape {column.shape} for {len(rows)} rows; it must return one "
                "number for each row; wrap a function of a single vector with proband.rewards.rowwise"
            )
        if not np.isfinite(column).all():
            raise ProblemError(
                f"the reward function returned {column[~np.isfinite(column)][0]} for decision {y}; rewards must "
                "be finite; correct the function"
            )
        return column


@dataclass(frozen=True)
class Unstated:
    """Stands for a reward that a policy file does not hold: a Python function, or a class of one's own.

    A policy acts without its reward; planning and evaluating need the real one.

    Parameters
    ----------
    of : str
        The name of the class of the real one.
    """

    of: str = "Function"

    kind = Kind.LISTED
    pooling = Pooling.SUM

    def check(self, tests: Sequence[Test], decisions: Sequence[str]) -> None:
        """Raise if there is nothing to decide."""
        _need_decisions(decisions)

    def payoff(self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray) -> FloatArray:
        """Raise: the reward is not known here."""
        raise ProblemError(
            f"the reward was a {self.of} of the program, and is not in the file; give the problem its reward again"
        )

    def realised(
        self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray, chosen: IntArray
    ) -> FloatArray:
        """Raise: the reward is not known here."""
        return self.payoff(tests, decisions, rows)


def rowwise(function: Callable[[FloatArray, int], float]) -> RewardFunction:
    """Turn a function of one outcome vector into one that works in bulk.

    Examples
    --------
    >>> f = rowwise(lambda x, y: 1.0 if x[0] == y else 0.0)
    >>> f(np.array([[0.0], [1.0]]), 1)
    array([0., 1.])
    """

    def bulk(rows: FloatArray, y: int) -> FloatArray:
        return np.array([function(row, y) for row in rows], dtype=np.float64)

    return bulk


def _need_decisions(decisions: Sequence[str]) -> None:
    if not decisions:
        raise ProblemError('decisions are missing; name one or more, such as ("pass", "fail")')
