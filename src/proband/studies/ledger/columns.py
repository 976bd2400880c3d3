"""The subjects of a study as columns: one row for each subject, in order of arrival.

Most questions about a study are about all of its subjects at once (what was learned, what it cost, a table for a
spreadsheet), so subjects are kept as arrays that grow, and a subject becomes an object only when somebody asks for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proband.vocabulary import FloatArray, IntArray

_SMALLEST = 64


class _Kind(NamedTuple):
    type: type[Any]
    fill: float
    wide: bool = False


ARRAYS: dict[str, _Kind] = {
    "rows": _Kind(np.float64, np.nan, wide=True),
    "paid": _Kind(np.float64, np.nan, wide=True),
    "when": _Kind(np.int64, 0, wide=True),
    "coin": _Kind(np.float64, 0.0),
    "policy": _Kind(np.int64, 0),
    "arrived": _Kind(np.int64, 0),
    "decided": _Kind(np.int64, 0),
    "voided": _Kind(np.int64, 0),
    "touched": _Kind(np.int64, 0),
    "arrived_at": _Kind(np.float64, np.nan),
    "finished_at": _Kind(np.float64, np.nan),
    "spent": _Kind(np.float64, 0.0),
    "chance": _Kind(np.float64, np.nan),
    "lease": _Kind(np.float64, 0.0),
    "lease_end": _Kind(np.float64, 0.0),
    "deviations": _Kind(np.int64, 0),
    "steady": _Kind(np.bool_, 1),
    "obeyed": _Kind(np.bool_, 1),
}


class Columns:
    """Arrays with one row for each subject, and lists of names beside them.

    Attributes
    ----------
    rows : FloatArray of shape (n, d)
        What is known of each subject, revealed outcomes included.
    paid : FloatArray of shape (n, d)
        What each run test cost; NaN where it was not run (known on arrival, revealed, or not known).
    when : IntArray of shape (n, d)
        The event that told each outcome; 0 where it is not known.
    coin : FloatArray of shape (n,)
    policy : IntArray of shape (n,)
        The position of the log whose agent advises the subject.
    arrived, decided, voided, touched : IntArray of shape (n,)
        Events: arrival, decision, voiding, and the last one of the subject; 0 where there is none.
    arrived_at, finished_at : FloatArray of shape (n,)
        Times of arrival and decision, in seconds since 1970.
    spent : FloatArray of shape (n,)
    chance : FloatArray of shape (n,)
        The probability that the subject's policy would have run every test (:mod:`proband.studies.learning.acting`).
    lease, lease_end : FloatArray of shape (n,)
        For how long the holder keeps the subject after each of its events, and until when.
    deviations : IntArray of shape (n,)
        How many tests were run against the advice.
    steady : array of bool of shape (n,)
        Whether everything that is known was told as advised, and never corrected.
    obeyed : array of bool of shape (n,)
        Whether the decision was the advised one.
    names, holders : list of str
    decisions : list of str or None
    """

    rows: FloatArray
    paid: FloatArray
    when: IntArray
    coin: FloatArray
    policy: IntArray
    arrived: IntArray
    decided: IntArray
    voided: IntArray
    touched: IntArray
    arrived_at: FloatArray
    finished_at: FloatArray
    spent: FloatArray
    chance: FloatArray
    lease: FloatArray
    lease_end: FloatArray
    deviations: IntArray
    steady: NDArray[np.bool_]
    obeyed: NDArray[np.bool_]

    def __init__(self, d: int) -> None:
        self.names: list[str] = []
        self.holders: list[str] = []
        self.decisions: list[str | None] = []
        for name, kind in ARRAYS.items():
            shape = (_SMALLEST, d) if kind.wide else (_SMALLEST,)
            setattr(self, name, np.full(shape, kind.fill, dtype=kind.type))

    def __len__(self) -> int:
        return len(self.names)

    def add(self, name: str, holder: str) -> int:
        """Add a subject and return its row."""
        i = len(self.names)
        if i == len(self.rows):
            self._grow(2 * i)
        self.names.append(name)
        self.holders.append(holder)
        self.decisions.append(None)
        return i

    def content(self) -> dict[str, NDArray[Any]]:
        """Return the arrays, without the room that they keep for growing."""
        return {name: getattr(self, name)[: len(self)] for name in ARRAYS}

    def fill(
        self, content: dict[str, NDArray[Any]], names: list[str], holders: list[str], decisions: list[str | None]
    ) -> None:
        """Take the arrays of :meth:`content` and the lists."""
        self.names, self.holders, self.decisions = names, holders, decisions
        for name, kind in ARRAYS.items():
            setattr(self, name, np.ascontiguousarray(content[name], dtype=kind.type))
        self._grow(max(_SMALLEST, 2 * len(names)))

    def _grow(self, room: int) -> None:
        for name, kind in ARRAYS.items():
            old = getattr(self, name)
            new = np.full((room, *old.shape[1:]), kind.fill, dtype=kind.type)
            new[: len(old)] = old
            setattr(self, name, new)
