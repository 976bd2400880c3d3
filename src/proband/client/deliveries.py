"""What a station has to tell, kept on its disk until the service has it: in order, once.

A write goes into a file first (SQLite, synced), with an idempotency key of its own, and is accepted from then on: the
station may lose power, the service be away for a day. It is delivered in the order in which it was accepted; the next
one goes when the one before was answered. An answer that got lost does no harm, for the key comes back.

What the service refuses (a test that was told before, a subject that another station holds) stands no longer in the
way, and is not lost either: it is kept with the reason, to be looked at, and may be sent again. As long as nobody knows
the station (its token has ended), everything waits.

The events have the times of their delivery.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from proband.client.remote import Outcome, RemoteStudy, new_key, plain, told
from proband.errors import (
    AccessError,
    ProbandError,
    ServiceError,
    StoreError,
    StudyError,
    TooManyRequestsError,
    UnknownNameError,
)
from proband.studies import Advice

WAITING, DELIVERED, REFUSED = "waiting", "delivered", "refused"
LATER = (ServiceError, StoreError, AccessError, TooManyRequestsError)
"""What is no fault of the write itself: it is sent again later."""

PAUSE = 2.0
"""Seconds after which a service that was away is tried again."""

KEPT = 1000
"""Deliveries that are remembered."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS deliveries (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, study TEXT NOT NULL, subject TEXT,
    verb TEXT NOT NULL, content TEXT NOT NULL, state TEXT NOT NULL, answer TEXT, accepted REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS waiting ON deliveries (number) WHERE state = 'waiting';
"""
_FIELDS = "number, key, study, subject, verb, content, state, answer"


@dataclass(frozen=True)
class Delivery:
    """A write that was accepted.

    Attributes
    ----------
    number : int
        1, 2, ... in the order in which they were accepted.
    key : str
        Its idempotency key.
    study, subject, verb : str
        What is to be done, and with whom; a take may name nobody.
    content : dict
        As it is sent.
    state : str
        "waiting", "delivered" or "refused".
    answer : str or None
        What the service answered, as JSON, or why it refused.
    """

    number: int
    key: str
    study: str
    subject: str | None
    verb: str
    content: dict[str, Any]
    state: str
    answer: str | None


class StationQueue:
    """The writes of a station in one study, delivered when the service is there.

    Parameters
    ----------
    path : path
        A file on a local disk; it is made for its owner alone.
    study : RemoteStudy
    background : bool
        Whether a thread delivers; otherwise :meth:`deliver` does.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from proband.client import Service, StationQueue
    >>> away = Service("http://127.0.0.1:1", station="line 1", patience=0.0)
    >>> with (
    ...     TemporaryDirectory() as folder,
    ...     StationQueue(f"{folder}/queue.db", away.study("bolts"), background=False) as queue,
    ... ):
    ...     _ = queue.arrive("bolt 17")
    ...     _ = queue.tell("bolt 17", "visual", "clean")
    ...     queue.deliver(), [(each.verb, each.state) for each in queue.waiting()]
    (0, [('arrive', 'waiting'), ('tell', 'waiting')])
    """

    def __init__(self, path: str | os.PathLike[str], study: RemoteStudy, *, background: bool = True) -> None:
        self._path, self._study = Path(path), study
        self._lock, self._delivering = threading.Lock(), threading.Lock()
        self._news, self._change, self._closed = threading.Event(), threading.Condition(), False
        self.trouble: str | None = None  # why nothing is delivered at present
        self._open()
        self._thread = threading.Thread(target=self._work, name="proband deliveries", daemon=True)
        if background:
            self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def arrive(self, subject: str, known: Mapping[str, Outcome] | None = None) -> Delivery:
        """Let a subject arrive; it is named here, so that what follows can speak of it."""
        return self._accept("arrive", None, {"subject": subject, "known": dict(known or {})}, about=subject)

    def tell(self, subject: str, test: str | Mapping[str, Outcome], outcome: Outcome | None = None) -> Delivery:
        """Tell what tests showed."""
        return self._accept("tell", subject, {"outcomes": told(test, outcome)})

    def decide(self, subject: str, decision: str | Mapping[str, str] | None = None) -> Delivery:
        """Decide on a subject; without a decision, as advised when it is delivered."""
        return self._accept("decide", subject, {"decision": plain(decision)})

    def take(self, subject: str, *, at_once: bool = False) -> Delivery:
        """Take over a subject."""
        return self._accept("take", None, {"subject": subject, "at_once": at_once}, about=subject)

    def correct(self, subject: str, test: str, outcome: Outcome | None, *, reason: str) -> Delivery:
        """Correct an outcome."""
        return self._accept("correct", subject, {"test": test, "outcome": outcome, "reason": reason})

    def void(self, subject: str, *, reason: str) -> Delivery:
        """Take a subject out of the study."""
        return self._accept("void", subject, {"reason": reason})

    def reveal(self, subject: str, outcomes: Mapping[str, Outcome]) -> Delivery:
        """Tell what came to light about a finished subject."""
        return self._accept("reveal", subject, {"outcomes": dict(outcomes)})

    def ask(self, subject: str) -> Advice:
        """Return what to do next with a subject, once everything before was delivered; the service must be there."""
        self.deliver()
        if any(each.subject == subject for each in self.waiting()):
            raise ServiceError(
                f"what was told of {subject!r} waits for the service ({self.trouble}); go on as the plan on paper "
                "says, or wait"
            )
        return self._study.ask(subject)

    def deliver(self) -> int:
        """Deliver what waits, as far as the service takes it; return how many were answered."""
        done = 0
        with self._delivering:
            while not self._closed and (first := next(iter(self._select(WAITING, 1)), None)) is not None:
                if not self._send(first):
                    break
                done += 1
        return done

    def waiting(self) -> list[Delivery]:
        """Return what was accepted and not yet answered, in order."""
        return self._select(WAITING)

    def refused(self) -> list[Delivery]:
        """Return what the service refused, with the reasons."""
        return self._select(REFUSED)

    def delivery(self, number: int) -> Delivery:
        """Return a delivery by its number."""
        with self._connection() as connection:
            row = connection.execute(f"SELECT {_FIELDS} FROM deliveries WHERE number = ?", (number,)).fetchone()
        if row is None:
            raise UnknownNameError(
                f"there is no delivery {number} in {self._path}; {KEPT:,} are remembered; look it up"
            )
        return _delivery(row)

    def again(self, number: int) -> None:
        """Send again what was refused, in its old place."""
        self._mark(self.delivery(number), WAITING, None, was=REFUSED)
        self._news.set()

    def wait(self, delivery: Delivery, seconds: float = 60.0) -> Delivery:
        """Return a delivery once it was answered, or as it stands after some seconds."""
        end = time.monotonic() + seconds
        while (found := self.delivery(delivery.number)).state == WAITING and time.monotonic() < end:
            with self._change:
                self._change.wait(min(0.5, max(0.0, end - time.monotonic())))
        return found

    def close(self) -> None:
        """Deliver no more; what waits stays in the file."""
        self._closed = True
        self._news.set()
        if self._thread.is_alive():
            self._thread.join(self._study._transport.timeout)
        with self._lock:
            self._database.close()

    def _accept(self, verb: str, subject: str | None, content: dict[str, Any], about: str | None = None) -> Delivery:
        name = subject if about is None else about
        if not isinstance(name, str) or not name:
            raise StudyError(f"the subject is {name!r}; what is delivered later needs its name; give it one")
        try:
            key, text = new_key(), json.dumps(content, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise StudyError(f"this cannot be told as JSON ({error}); use texts and finite numbers") from error
        with self._connection() as connection:
            number = connection.execute(
                "INSERT INTO deliveries (accepted, key, study, subject, verb, content, state) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (time.time(), key, self._study.name, name, verb, text, WAITING),
            ).lastrowid
        self._news.set()
        return Delivery(int(number or 0), key, self._study.name, name, verb, content, WAITING, None)

    def _send(self, delivery: Delivery) -> bool:
        """Send one; False if it is to be tried again later."""
        place = None if delivery.verb in ("arrive", "take") else delivery.subject
        try:
            answer = json.dumps(self._study.send(delivery.verb, place, delivery.content, delivery.key, patience=0.0))
        except LATER as error:
            self.trouble = str(error)
            return False
        except ProbandError as error:
            self._mark(delivery, REFUSED, f"{type(error).__name__}: {error}")
        else:
            self._mark(delivery, DELIVERED, answer)
        self.trouble = None
        return True

    def _work(self) -> None:
        while not self._closed:
            self._news.clear()
            try:
                self.deliver()
            except StoreError as error:  # its own disk: it is tried again as well
                self.trouble = str(error)
            self._news.wait(PAUSE if self.trouble else None)

    def _mark(self, delivery: Delivery, state: str, answer: str | None, *, was: str = WAITING) -> None:
        with self._connection() as connection:
            change = "UPDATE deliveries SET state = ?, answer = ? WHERE number = ? AND state = ?"
            connection.execute(change, (state, answer, delivery.number, was))
            connection.execute(
                "DELETE FROM deliveries WHERE state = ? AND number <= ?", (DELIVERED, delivery.number - KEPT)
            )
        with self._change:
            self._change.notify_all()

    def _select(self, state: str, most: int = -1) -> list[Delivery]:
        with self._connection() as connection:
            rows = connection.execute(
                f"SELECT {_FIELDS} FROM deliveries WHERE state = ? AND study = ? ORDER BY number LIMIT ?",
                (state, self._study.name, most),
            ).fetchall()
        return [_delivery(row) for row in rows]

    def _open(self) -> None:
        try:
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise StoreError(
                f"{self._path}: the queue cannot be opened ({error.strerror}); check the path and its folder"
            ) from error
        self._database = sqlite3.connect(self._path, timeout=20.0, isolation_level=None, check_same_thread=False)
        with self._connection() as connection:
            connection.execute("PRAGMA synchronous = FULL")
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Lend the database; what is written is synced when the statement ends."""
        with self._lock:
            try:
                yield self._database
            except sqlite3.Error as error:
                raise StoreError(
                    f"{self._path}: the queue cannot be used ({error}); nothing of this was accepted; check the disk"
                ) from error


def _delivery(row: tuple[Any, ...]) -> Delivery:
    number, key, study, subject, verb, content, state, answer = row
    return Delivery(number, key, study, subject, verb, json.loads(content), state, answer)
