"""What the service takes in and for how long, in one place; ``docs/service.md`` lists it."""

from __future__ import annotations

from dataclasses import dataclass

from proband.files import LARGEST_PROBLEM_FILE


@dataclass(frozen=True)
class Limits:
    """Bounds of what anybody can ask of the service.

    Attributes
    ----------
    body, upload, log : int
        Bytes of an ordinary request, of one with past records or a problem, and of an exported study.
    head : int
        Bytes of a request's line and headers.
    head_seconds, body_seconds, upload_seconds : float
        In which time they must have arrived.
    idle_seconds : float
        For how long a connection is kept between two requests.
    answer_seconds, long_seconds : float
        For how long an answer is waited for; for exports, imports and reports the second.
    connections : int
        That are open at once; with more, the service is busy.
    threads, side_by_side : int
        Calls at work at once, in all, and for one study; the others wait. Quick calls and those that may take long
        are counted apart.
    waiting : int
        Calls that may wait; with more, the service is busy.
    uploads : int
        Large requests that are taken in at once.
    streams, streams_each : int
        Event streams open at once, in all, and for one user.
    failures, log_ins : int
        Wrong tokens, and log-ins, a minute from one address.
    session_seconds : float
        For how long a log-in lasts.
    page : int
        Entries of a page at most.
    memory : int or None
        Bytes that the process may take before it closes studies that nobody has used for long.
    """

    body: int = 2**20
    upload: int = 4 * LARGEST_PROBLEM_FILE
    log: int = 2**30
    head: int = 2**16
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    upload_seconds: float = 600.0
    idle_seconds: float = 75.0
    answer_seconds: float = 30.0
    long_seconds: float = 600.0
    connections: int = 1000
    threads: int = 64
    side_by_side: int = 4
    waiting: int = 1000
    uploads: int = 2
    streams: int = 200
    streams_each: int = 20
    failures: int = 20
    log_ins: int = 60
    session_seconds: float = 12 * 3600.0
    page: int = 1000
    memory: int | None = None
