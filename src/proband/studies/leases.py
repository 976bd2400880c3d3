"""Leases: for how long a station keeps a subject, by what this station has seen pass.

The dates of a log are those of many clocks, and one that is wrong must not keep a subject for years. An event that
came in while this station had the study open is as old as this station has seen, by a clock that nobody sets. Of what
was there before, the log has to tell the age; but here, too, a lease is over when this station has seen all of it pass.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from proband.studies.ledger import Ledger

MOST_MARKS = 10_000


class Leases:
    """What one station knows of leases.

    Parameters
    ----------
    ledger : Ledger
    clock : callable
        Returns the time in seconds since 1970.
    steady : callable
        Returns seconds that pass evenly, whatever the clock is set to.
    """

    def __init__(self, ledger: Ledger, clock: Callable[[], float], steady: Callable[[], float]) -> None:
        self._ledger, self._clock, self._steady = ledger, clock, steady
        self._opened = ledger.position
        self._positions, self._times = [ledger.position], [steady()]

    def saw(self, position: int) -> None:
        """Mark that the log has come to a position."""
        self._positions.append(position)
        self._times.append(self._steady())
        if len(self._positions) == MOST_MARKS:  # without a mark, an event counts as seen at the next one
            del self._positions[::2], self._times[::2]

    def over(self, i: int) -> bool:
        """Return whether the lease of the subject in a row has run out."""
        columns = self._ledger.columns
        number = int(columns.touched[i])
        seen = self._times[bisect_left(self._positions, number)]
        if self._steady() - seen >= columns.lease[i]:
            return True
        return number <= self._opened and bool(self._clock() >= columns.lease_end[i])
