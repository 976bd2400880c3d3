"""The journal: a study's log in its store, and the ledger that follows it.

A write is one turn at the end of the log: hold off the others, fold what they wrote, look the key up, check the request
against the ledger, seal, append. Should a writer get in between all the same, the store refuses and the turn is taken
again. Every request has an idempotency key, its own or a random one, so that a turn taken again never doubles an event.

The ledger is locked only while it is read or folded, never while the store is at work: whoever asks does not wait for
whoever writes.

Times never decrease along a log: an event has the time of the station's clock or that of the event before, whichever
is later, and says by how much the clock was behind if that is more than a second.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self

import proband
from proband.errors import ConflictError, KeyReusedError, StoreBusyError, StoreError, StudyError, TamperedError
from proband.studies.events import EVENTS, checks
from proband.studies.events.kind import PART, Request
from proband.studies.ledger.chain import Event, as_seconds, as_time, moment, seal, unseal
from proband.studies.ledger.leases import Leases, Seconds
from proband.studies.ledger.ledger import Ledger
from proband.studies.ledger.subject import Subject, subject_of
from proband.studies.log.fold import ENTRIES, begun, check, fold, read_entries
from proband.studies.log.snapshots import WORTH, keep_snapshot, load_snapshot, next_milestone, snapshot_position
from proband.studies.stores.contract import Entry, Foresees, Store
from proband.studies.stores.patience import within

TURNS = 1000
"""How often a write is begun anew when others get in between; a store that queues its writers needs one."""

GLANCE = 1.0
"""Seconds for which a question waits for news from a store that others hold; then it is answered without."""

MOMENT = 5.0
"""Seconds for what is done on the side: looking up how a write ended, and keeping a snapshot."""

TOLERATED = 1.0
"""Seconds that a clock may be behind without a word."""


class Journal:
    """A log and its ledger, for an actor at a station."""

    def __init__(self, store: Store, study: str, *, actor: str, station: str, clock: Seconds, steady: Seconds) -> None:
        self.store, self.study = store, study
        self.actor, self.station = actor, station
        self.clock = clock
        self.lock = threading.RLock()
        self.ledger = _opened(store, study)
        self.leases = Leases(self.ledger, clock, steady)
        self._milestone = next_milestone(self.ledger.position)
        self._closed = threading.Event()
        self._foresees = store if isinstance(store, Foresees) else None

    @property
    def closed(self) -> bool:
        """Whether the study was closed."""
        return self._closed.is_set()

    def speaking(self, actor: str, station: str) -> Self:
        """Return this journal for another actor at another station: they share the ledger, and are closed together."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other.actor, other.station = actor, station
        return other

    def shut(self) -> None:
        """Do nothing any more."""
        self._closed.set()

    def check_open(self) -> None:
        """Raise if the study was closed."""
        if self.closed:
            raise StudyError(f"study {self.study!r} was closed; a closed study does nothing; open it again")

    def refresh(self) -> Ledger:
        """Return the ledger of an open study, after folding what others wrote."""
        self.check_open()
        self.catch_up()
        return self.ledger

    def subject(self, name: str) -> Subject:
        """Return a subject as it stands here."""
        with self.lock:
            return subject_of(self.ledger, self.ledger.row_of(name))

    def catch_up(self) -> None:
        """Fold what others wrote; raise if what was read before is there no more."""
        while True:
            with self.lock:
                own, last = self.ledger.position, self.ledger.hash
            entries = self.store.read(self.study, own - 1, ENTRIES)  # with the last one that is known
            if not entries:
                self._check_length()
            self._check_last(entries[:1], own, last)
            self._fold(entries[1:])
            if len(entries) < ENTRIES:
                return

    def glance(self) -> None:
        """Fold what others wrote, unless the store is held or away: then what is known here has to do."""
        with suppress(StoreBusyError), within(GLANCE):
            self.catch_up()

    def request(
        self, kind: str, subject: str | None, content: dict[str, Any], key: str | None, *, further: int = 0
    ) -> Request:
        """Return a request of this station."""
        chosen = uuid.uuid4().hex if key is None else checks.text("the key", key)
        return Request(kind, subject, content, chosen, key is not None, self.station, further)

    def write(self, request: Request) -> Event:
        """Record a request and return its event, its first one if there are several; if its key is there, that one.

        A request whose subject has changed since it was made is stale (:class:`StaleError`).
        """
        for turn in range(TURNS):
            try:
                return self._write(request, again=turn > 0)
            except ConflictError:
                self._check_length()
        raise ConflictError(
            f"study {self.study!r} was changed by others {TURNS} times while this was being written; a store lets "
            "writers take turns; check the store"
        )

    def close(self) -> None:
        """Do nothing any more, and keep a snapshot if the log has grown by enough since the last one."""
        self.shut()
        with within(GLANCE):
            if self.ledger.position - snapshot_position(self.store, self.study) >= WORTH:
                keep_snapshot(self.store, self.study, self.ledger, self.lock)

    def _check_length(self) -> None:
        """Raise if the log is shorter than what was read of it."""
        length = self.store.length(self.study)
        if length < self.ledger.position:
            raise TamperedError(
                f"entry {length + 1} is missing: the log of study {self.study!r} has {length} entries, and had "
                f"{self.ledger.position}; was an older copy put in its place? compare with an export, and open the "
                "study again"
            )

    def _check_last(self, there: list[Entry], number: int, last: str) -> None:
        """Raise if the log does not have the entry on which the next one is to be built.

        Others may have read what a server had not synced, and lost when it died.
        """
        if [entry.hash for entry in there] != [last]:
            raise TamperedError(
                f"entry {number} of study {self.study!r} is not the one that was read: its database was put back, or "
                "died before it had synced it; open the study again, and compare with an export"
            )

    def _fold(self, entries: list[Entry]) -> None:
        if entries:
            with self.lock:
                fold(self.ledger, entries)
                self.leases.saw(self.ledger.position)

    def _write(self, request: Request, *, again: bool) -> Event:
        """Take a turn at the log."""
        entries: list[Entry] = []
        try:
            with self._turn(request.key if request.keyed or again else None) as found:
                if found is not None:
                    return self._recorded(request, found)
                with self.lock:
                    before, entries = self.ledger.position, self._sealed(request)
                if again:
                    self._check_keys(entries[1:])
                self.store.append(self.study, entries, before)
        except StoreError as error:
            if not entries:
                raise
            self._check_recorded(entries[0], error)
        self._fold(entries)
        self._keep_snapshot(before, before + len(entries))
        return unseal(entries[0])

    def _keep_snapshot(self, before: int, after: int) -> None:
        """Keep a snapshot if the own events passed a place where one is due."""
        if self._milestone <= before:  # others passed it, and made one
            self._milestone = next_milestone(before)
        if self._milestone <= after:
            with within(MOMENT):
                keep_snapshot(self.store, self.study, self.ledger, self.lock)

    def _sealed(self, request: Request) -> list[Entry]:
        """Return the entries of a request, chained to the end of the log; raise if it is wrong or stale."""
        ledger, clock = self.ledger, moment(self.clock())
        behind = round(as_seconds(ledger.time) - clock, 3)
        late = {"clock_behind": behind} if behind > TOLERATED else {}
        time, previous, entries = max(as_time(clock), ledger.time), ledger.hash, list[Entry]()
        drafts = EVENTS[request.kind].draft(ledger, request, self.leases)
        for n, draft in enumerate(drafts, start=1):
            key = request.key if n == 1 else f"{request.key}{PART}{n}"
            event = Event(
                ledger.position + n, request.kind, draft.subject, {**draft.data, **late}, time, self.actor,
                self.station, proband.__version__, key, previous,
            )  # fmt: skip
            check(ledger, event)  # what is written can be read
            entries.append(seal(event))
            previous = entries[-1].hash
        return entries

    def _check_recorded(self, entry: Entry, error: StoreError) -> None:
        """Look up whether an append of uncertain end was recorded; raise if it was not, or nobody can know."""
        known = found = None
        with suppress(StoreError), within(MOMENT):
            found, known = self.store.find(self.study, entry.key), True
        if found is None and known and not isinstance(error, StoreBusyError):
            raise error
        if found is None:
            raise type(error)(
                f"{error}; should it be recorded all the same, another try with the key {entry.key!r} does not record "
                "it twice"
            ) from error
        if found.hash != entry.hash:  # somebody else was faster with this key
            raise ConflictError(str(error)) from error

    @contextmanager
    def _turn(self, key: str | None) -> Iterator[Entry | None]:
        """Hold off other writers, fold what they wrote, and give what was recorded under a key."""
        if self._foresees is None:
            with self.store.exclusive(self.study):
                self.catch_up()
                yield None if key is None else self.store.find(self.study, key)
            return
        with self.lock:
            own, last = self.ledger.position, self.ledger.hash
        with self._foresees.turn(self.study, own - 1, ENTRIES, key) as (entries, found):
            self._check_last(entries[:1], own, last)
            self._fold(entries[1:])
            if len(entries) == ENTRIES:
                self.catch_up()
            yield found

    def _recorded(self, request: Request, found: Entry) -> Event:
        """Return the event that was recorded under a request's key; raise unless it answers the request."""
        events = [unseal(entry) for entry in (found, *self.store.read(self.study, found.number, request.further))]
        if not _answers(request, events):
            of = f" of subject {events[0].subject!r}" if events[0].subject else ""
            at = "" if events[0].station == request.station else f" at {events[0].station!r}"
            raise KeyReusedError(
                f"the key {request.key!r} was used for {events[0].kind!r}{of}{at} (entry {found.number}) and comes "
                "back with other content; a key stands for one request; take a new key"
            )
        return events[0]

    def _check_keys(self, entries: list[Entry]) -> None:
        """Raise if somebody chose a key that stands for a further event of this request."""
        for entry in entries:
            if self.store.find(self.study, entry.key) is not None:
                raise KeyReusedError(
                    f"the key {entry.key!r} was used already, and this request needs it for one of its events; a key "
                    "stands for one request; take a new key"
                )


def _opened(store: Store, study: str) -> Ledger:
    """Return the ledger of a study, as its log stands."""
    ledger = load_snapshot(store, study)
    if ledger is None:
        [first] = store.read(study, 0, 1)
        ledger = begun(first, unseal(first))
    fold(ledger, read_entries(store, study, after=ledger.position))
    return ledger


def _answers(request: Request, events: list[Event]) -> bool:
    """Return whether a recorded event, which others may follow in the log, answers a request."""
    event = events[0]
    own = [event.data, *(other.data for other in events[1:] if other.key.startswith(request.key + PART))]
    named = request.subject == event.subject
    if request.subject is None:  # whoever comes next: another station, with a key of the same name, means another one
        named = event.subject is None or event.station == request.station
    return event.kind == request.kind and named and EVENTS[request.kind].same(request.content, own)
