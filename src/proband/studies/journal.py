"""The journal: a study's log in its store, and the ledger that follows it.

A write is one turn at the end of the log: hold off the others, fold what they wrote, look the key up, check the request
against the ledger, seal, append. Requests that others left in the inbox meanwhile are written in the same commit.
Should a writer get in between all the same, the store refuses and the turn is taken again. Every request has an
idempotency key, its own or a random one, so that a turn taken again never doubles an event.

The ledger is locked only while it is read or folded, never while the store is at work: whoever asks does not wait for
whoever writes.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import proband
from proband.errors import ConflictError, KeyReusedError, StoreError, TamperedError
from proband.studies import checks
from proband.studies.batch import Batch
from proband.studies.events import Event, as_seconds, unseal
from proband.studies.fold import fold, founded
from proband.studies.inbox import Slip, inbox_of
from proband.studies.ledger import Ledger
from proband.studies.requests import Request, answers
from proband.studies.snapshots import WORTH, keep_snapshot, load_snapshot, milestone_between, snapshot_position
from proband.studies.stores.contract import Entry, Store

TURNS = 1000
"""How often a write is begun anew when others get in between; a store that queues its writers needs one."""

ENTRIES = 20_000
"""Entries that are read at a time."""

PATIENCE = 60.0
"""Seconds to wait for a leader before taking a turn of one's own."""

LINGER = 0.01
"""Seconds that a leader waits for others at most; never more than half the time of a commit."""

SILENCE = 1.0
"""Seconds without news after which the store is asked, in case that somebody wrote without leaving any."""

NEWS = 64
"""Entries that a leader leaves for those who ask."""

GLANCE = 0.05
"""Seconds after which whoever waits looks whether the leader is still there."""

_LONG = ("imported",)
"""Requests that are too long for the inbox."""


class Journal:
    """A log and its ledger.

    Parameters
    ----------
    store : Store
    study : str
    actor, station : str
        Who writes.
    clock : callable
        Returns the time in seconds since 1970.
    """

    def __init__(self, store: Store, study: str, *, actor: str, station: str, clock: Callable[[], float]) -> None:
        self.store, self.study = store, study
        self.actor, self.station = actor, station
        self.clock = clock
        self.lock = threading.RLock()
        self._latest: deque[Entry] = deque(maxlen=NEWS)
        self._append_took = 0.0
        self._heard = 0.0
        self.ledger = self._open()
        self._inbox = inbox_of(store, study)
        self._check_news()

    def now(self) -> float:
        """Return the time as the log sees it: the clock's, but never before the last event."""
        return max(self.clock(), as_seconds(self.ledger.time))

    def catch_up(self) -> None:
        """Fold what others wrote."""
        self._heard = time.monotonic()
        while True:
            entries = self.store.read(self.study, self.ledger.position, ENTRIES)
            self._fold(entries)
            if len(entries) < ENTRIES:
                return

    def listen(self) -> None:
        """Fold what others wrote; where a leader left the news, without asking the store, which may be at work."""
        news = self._inbox.news(self.ledger.position)
        try:
            self._fold(news or [])
        except TamperedError:  # it was just being written
            news = None
        if news:
            self._heard = time.monotonic()
        elif news is None or time.monotonic() - self._heard > SILENCE:
            self.catch_up()

    def request(self, kind: str, subject: str | None, content: dict[str, Any], key: str | None) -> Request:
        """Return a request of this station."""
        chosen = uuid.uuid4().hex if key is None else checks.text("the key", key)
        return Request(
            self.study, kind, subject, content, chosen, key is not None, self.actor, self.station, proband.__version__,
            self.clock(), time.monotonic(),
        )  # fmt: skip

    def write(self, request: Request) -> Event:
        """Record a request and return its event, its first one if there are several; if its key is there, that one.

        Raises
        ------
        StaleError
            If the subject has changed since the request was made.
        """
        text = "" if request.kind in _LONG else request.to_text()
        for turn in range(TURNS):
            with self._inbox.waiting(text) as slip:
                try:
                    event = self._served(request, slip, again=turn > 0)
                except ConflictError:
                    event = None
            if event is not None:
                return event
            self._check_length()
        raise ConflictError(
            f"study {self.study!r} was changed by others {TURNS} times while this was being written; a store lets "
            "writers take turns; check the store"
        )

    def close(self) -> None:
        """Leave the inbox, and keep a snapshot if the log has grown by enough since the last one."""
        self._inbox.close()
        if self.ledger.position - snapshot_position(self.store, self.study) >= WORTH:
            keep_snapshot(self.store, self.study, self.ledger, self.lock)

    def _open(self) -> Ledger:
        ledger = load_snapshot(self.store, self.study)
        if ledger is None:
            [first] = self.store.read(self.study, 0, 1)
            ledger = founded(first, unseal(first))
        self.ledger = ledger
        self.catch_up()
        return ledger

    def _check_news(self) -> None:
        """Take away news that are ahead of the log: somebody put an older copy of the store in its place."""
        news = self._inbox.news(self.ledger.position)
        if news and news[-1].number > self.store.length(self.study):
            self._inbox.forget()

    def _check_length(self) -> None:
        """Raise if the log is shorter than what was read of it."""
        length = self.store.length(self.study)
        if length < self.ledger.position:
            raise TamperedError(
                f"entry {length + 1} is missing: the log of study {self.study!r} has {length} entries, and had "
                f"{self.ledger.position}; was an older copy put in its place? compare with an export, and open the "
                "study again"
            )

    def _fold(self, entries: list[Entry]) -> None:
        if entries:
            with self.lock:
                position = self.ledger.position
                fold(self.ledger, entries)
                self._latest.extend(entry for entry in entries if entry.number > position)

    def _served(self, request: Request, slip: Slip, *, again: bool) -> Event | None:
        """Wait until a leader has recorded the request, or lead; None if that has to be done again."""
        given_up = time.monotonic() + PATIENCE
        while not slip.taken:
            with self._inbox.leading(slip) as served:
                if served is not None and not slip.taken:
                    return self._lead(request, slip, served, again=again)
            if time.monotonic() > given_up:  # the leader was stopped half-way: the store says what to do
                return self._lead(request, slip, [], again=again)
            slip.wait(GLANCE)
        self.listen()
        with self.lock:
            own = next((entry for entry in reversed(self._latest) if entry.key == request.key), None)
        return self._recorded(request) if own is None else unseal(own)

    def _lead(self, request: Request, slip: Slip, served: list[Slip], *, again: bool) -> Event:
        """Take a turn at the log, and write the own request and those of others, which are added to `served`."""
        with self.store.exclusive(self.study):
            return self._write_together(request, slip, served, again=again)

    def _write_together(self, request: Request, slip: Slip, served: list[Slip], *, again: bool) -> Event:
        self.catch_up()
        recorded = self._recorded(request) if request.keyed or again else None
        if recorded is not None:
            return recorded
        self._inbox.gather(min(LINGER, self._append_took / 2))
        others = [] if again else self._others(slip)
        with self.lock:
            batch, before = Batch(self.ledger), self.ledger.position
            batch.add(request)
            taken = [other for other, asked in others if batch.takes(asked)]
        began = time.monotonic()
        try:
            self.store.append(self.study, batch.entries, before)
        except StoreError:
            if not self._got_in(request):
                raise
        self._append_took = time.monotonic() - began
        self._fold(batch.entries)
        with self.lock:
            latest = list(self._latest)
        self._inbox.publish(latest)
        for other in taken:
            other.take()
        served += taken
        if milestone_between(before, before + len(batch.entries)):
            keep_snapshot(self.store, self.study, self.ledger, self.lock)
        return unseal(batch.entries[0])

    def _others(self, slip: Slip) -> list[tuple[Slip, Request]]:
        """Return the requests of others that can be taken along: about this study, by this version, and new."""
        found = []
        for other in self._inbox.others(slip):
            with suppress(ValueError, TypeError):  # of another version, or of a writer that keeps it to itself
                asked = Request.from_text(other.text)
                ours = (asked.study, asked.version) == (self.study, proband.__version__)
                if ours and not (asked.keyed and self.store.find(self.study, asked.key)):
                    found.append((other, asked))
        return found

    def _got_in(self, request: Request) -> bool:
        """Return whether an append of uncertain end was recorded after all."""
        try:
            return self.store.find(self.study, request.key) is not None
        except StoreError:
            return False

    def _recorded(self, request: Request) -> Event | None:
        """Return the event that was recorded under a request's key, if it answers the request."""
        found = self.store.find(self.study, request.key)
        if found is None:
            return None
        event = unseal(found)
        if not answers(request, event):
            of = f" of subject {event.subject!r}" if event.subject else ""
            raise KeyReusedError(
                f"the key {request.key!r} was used for {event.kind!r}{of} (entry {event.number}) and comes back with "
                "other content; a key stands for one request; take a new key"
            )
        return event
