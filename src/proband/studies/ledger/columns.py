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
    **dict.fromkeys(("rows", "paid"), _Kind(np.float64, np.nan, wide=True)),
    "when": _Kind(np.int64, 0, wide=True),
    **dict.fromkeys(("coin", "spent", "lease", "lease_end"), _Kind(np.float64, 0.0)),
    **dict.fromkeys(("arrived_at", "finished_at", "chance"), _Kind(np.float64, np.nan)),
    **dict.fromkeys(("policy", "arrived", "decided", "voided", "touched", "deviations"), _Kind(np.int64, 0)),
    **dict.fromkeys(("steady", "obeyed"), _Kind(np.bool_, 1)),
}


class Columns:
    """Arrays with one row for each subject, and lists of names beside them: (n, d) where they are wide, else (n,)."""

    rows: FloatArray  # what is known of each subject, revealed outcomes included
    paid: FloatArray  # what each run test cost; NaN where it was not run (known on arrival, revealed, or not known)
    when: IntArray  # the event that told each outcome; 0 where it is not known
    coin: FloatArray
    policy: IntArray  # the position of the log whose agent advises the subject
    arrived: IntArray  # the event of its arrival, and so on: 0 where there is none
    decided: IntArray
    voided: IntArray
    touched: IntArray  # the last event of the subject
    arrived_at: FloatArray  # in seconds since 1970
    finished_at: FloatArray
    spent: FloatArray
    chance: FloatArray  # with which its policy would have run every test (proband.studies.learning.acting)
    lease: FloatArray  # for how long the holder keeps the subject after each of its events
    lease_end: FloatArray  # until when that is
    deviations: IntArray  # how many tests were run against the advice
    steady: NDArray[np.bool_]  # whether everything that is known was told as advised, and never corrected
    obeyed: NDArray[np.bool_]  # whether the decision was the advised one

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
