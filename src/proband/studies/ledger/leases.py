"""Leases: for how long a station keeps a subject, by what this station has seen pass.

The dates of a log are those of many clocks, and one that is wrong must not keep a subject for years, or take it away
at once. By a clock that nobody sets, this station knows of every event when it saw it first, and when it saw the log
without it: the age of the event lies in between. A lease that is shorter has run out, one that is longer has not, and
only for what lies in between the dates decide: that of the event, by the clock of the station that wrote it, and the
time here.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable

from proband.studies.ledger.ledger import Ledger

Seconds = Callable[[], float]
"""What tells seconds: since 1970 (a clock), or such that pass evenly, whatever the clock is set to."""

SPACING = 1.0
"""Seconds between two marks: an event may seem to be younger by as much."""

MOST_MARKS = 500_000
"""Marks that are kept: those of a week at least."""


class Leases:
    """What one station knows of leases, by its clock and by seconds that pass evenly, whatever the clock is set to."""

    def __init__(self, ledger: Ledger, clock: Seconds, steady: Seconds) -> None:
        self._ledger, self._clock, self._steady = ledger, clock, steady
        self._positions, self._times = array("q", [ledger.position]), array("d", [steady()])

    def saw(self, position: int) -> None:
        """Mark that the log has come to a position."""
        now = self._steady()
        if len(self._times) > 1 and now - self._times[-2] < SPACING:
            self._positions[-1], self._times[-1] = position, now
            return
        if len(self._times) == MOST_MARKS:
            del self._positions[: MOST_MARKS // 2], self._times[: MOST_MARKS // 2]
        self._positions.append(position)
        self._times.append(now)

    def over(self, i: int) -> bool:
        """Return whether the lease of the subject in a row has run out."""
        columns, now = self._ledger.columns, self._steady()
        lease, mark = float(columns.lease[i]), bisect_left(self._positions, int(columns.touched[i]))
        if now - self._times[mark] >= lease:
            return True
        oldest = now - self._times[mark - 1] if mark else math.inf
        return oldest >= lease and self._clock() >= float(columns.lease_end[i])
