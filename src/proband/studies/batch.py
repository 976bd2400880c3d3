"""A batch: entries that are written together, chained to the end of the log.

Times never decrease along a log: an event has the time of the station's clock or that of the event before, whichever
is later, and says by how much the clock was behind if that is more than a second.
"""

from __future__ import annotations

from proband.errors import ProbandError
from proband.studies.events import Event, as_seconds, as_time, seal
from proband.studies.ledger import Ledger
from proband.studies.requests import Draft, Request, StaleError, Touches, drafts_of
from proband.studies.rules import check
from proband.studies.stores.contract import Entry

TOLERATED = 1.0
"""Seconds that a clock may be behind without a word."""


class Batch:
    """Entries that are written together.

    Attributes
    ----------
    entries : list of Entry
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._touches = Touches()
        self._hash, self._time = ledger.hash, ledger.time
        self.entries: list[Entry] = []

    def add(self, request: Request) -> None:
        """Add a request; raise, and add nothing, if it is wrong or stale."""
        clock = request.now
        drafts = drafts_of(self._ledger, request, self._touches, max(clock, as_seconds(self._time)))
        sealed = self._sealed(request, drafts, clock)
        self._touches.add(request, drafts)
        self.entries += sealed
        self._hash, self._time = sealed[-1].hash, max(as_time(clock), self._time)

    def takes(self, request: Request) -> bool:
        """Add another one's request, unless anything is wrong with it: then its owner will be told."""
        try:
            self.add(request)
        except (ProbandError, StaleError, LookupError, TypeError, ValueError):  # a peer may send anything
            return False
        return True

    def _sealed(self, request: Request, drafts: list[Draft], clock: float) -> list[Entry]:
        number, previous, sealed = self._ledger.position + len(self.entries), self._hash, []
        behind = round(as_seconds(self._time) - clock, 3)
        late = {"clock_behind": behind} if behind > TOLERATED else {}
        time = max(as_time(clock), self._time)
        for draft in drafts:
            number += 1
            event = Event(
                number, request.kind, draft.subject, {**draft.data, **late}, time, request.actor, request.station,
                request.version, request.key + draft.suffix, previous,
            )  # fmt: skip
            check(self._ledger, event)  # what is written can be read
            sealed.append(seal(event))
            previous = sealed[-1].hash
        return sealed
