"""States and outcome vectors as arrays: checked, and numbered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.errors import StateError
from proband.vocabulary.test import Test

FloatArray = NDArray[np.float64]
"""An array of numbers, or of states, where NaN is what is not known."""
IntArray = NDArray[np.int64]
"""An array of whole numbers: tests, outcomes, actions, counts."""

LARGEST_CODE = 2**62
"""Outcome vectors are numbered below this, so that a number and an offset fit 64 bits."""

_CACHED = 2**15
"""Numbers that a processor keeps at hand."""


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
