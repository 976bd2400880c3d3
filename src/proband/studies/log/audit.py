"""An audit: what is held beside the log is compared with what the log says, by folding it anew.

Two things are held: the snapshot in the store, and the ledger of the process that asks, which may have been opened from
a snapshot that was altered, or before somebody put another log in the place of this one. Both are copied first; the log
is folded from its first entry; and where the fold comes to the position of a copy, the two must be equal.
"""

from __future__ import annotations

import threading

from proband.errors import TamperedError
from proband.studies.ledger.chain import Event
from proband.studies.ledger.ledger import Ledger
from proband.studies.log.fold import followed
from proband.studies.log.snapshots import NAME, Frozen, freeze, keep_snapshot, load, same
from proband.studies.stores.contract import Entry, Store

SNAPSHOT, HELD = "the snapshot kept beside the log", "what this process has of the study"


class Audit:
    """A comparison of what is held, in the store and by the process that asks (with its lock), with the log."""

    def __init__(self, store: Store, study: str, held: Ledger, lock: threading.RLock) -> None:
        self._store, self._study = store, study
        self._content = store.cached(study, NAME)
        kept = load(self._content) if self._content else None
        with lock:
            self._copies: dict[str, tuple[int, Frozen]] = {HELD: (held.position, freeze(held))}
        if kept is not None:
            self._copies[SNAPSHOT] = kept.position, freeze(kept)
        self._places = {position for position, _ in self._copies.values()}
        self._ledger: Ledger | None = None
        self._wrong: dict[str, int] = {}

    def fold(self, entry: Entry, event: Event) -> None:
        """Fold the next entry of the log, and compare."""
        self.compare(followed(self._ledger, entry, event))

    def compare(self, ledger: Ledger) -> None:
        """Compare what is held with a ledger that follows the log, entry by entry."""
        self._ledger = ledger
        if ledger.position not in self._places:
            return
        folded = freeze(ledger)
        for what, (position, frozen) in self._copies.items():
            if position == ledger.position and not same(frozen, folded):
                self._wrong[what] = position

    def settle(self) -> None:
        """Raise if something that is held differs from the log, after keeping a snapshot of the fold in its place."""
        altered = SNAPSHOT in self._wrong and self._store.cached(self._study, NAME) == self._content
        if altered and self._ledger is not None:
            keep_snapshot(self._store, self._study, self._ledger, threading.RLock())
        if self._wrong:
            told = " and ".join(f"{what}, as of entry {position}," for what, position in self._wrong.items())
            raise TamperedError(
                f"the log of study {self._study!r} is whole, but {told} is not what it says; it was altered, or the "
                "log was replaced since, and answers of whoever opened the study meanwhile may be wrong; the snapshot "
                "was made anew: open the study again at every station, and find out who can write to the store"
            )
