"""The tree of errors: each names the value, the rule and the remedy, and subclasses a built-in too.

One table, :data:`CODES`, maps every error to the exit status of the command line and to an HTTP status.

Examples
--------
>>> from proband.errors import ProblemError, codes
>>> issubclass(ProblemError, ValueError)
True
>>> codes(ProblemError("cost is -1; a cost must be 0 or more; give the price of the test"))
Codes(exit=2, http=422)
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class ProbandError(Exception):
    """Base of every error that proband raises on purpose."""


class ProblemError(ProbandError, ValueError):
    """A problem breaks a rule: its tests, decisions or reward do not fit together."""


class ProblemFileError(ProblemError):
    """A problem file breaks a rule; the message begins with the file and the key.

    Attributes
    ----------
    mistakes : tuple of str
        Where several rules are broken, what would be said of each alone; else the message.
    """

    def __init__(self, message: str, mistakes: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.mistakes = tuple(mistakes) or (message,)


class TableError(ProbandError, ValueError):
    """A table of records or probabilities cannot be read as asked."""


class DistributionError(ProbandError, ValueError):
    """A distribution breaks a rule: its support, its probabilities, or its fit to a problem."""


class StateError(ProbandError, ValueError):
    """A state is no row of known outcomes of the problem's tests."""


class PolicyError(ProbandError, ValueError):
    """A policy cannot be used: a broken policy file, or an action that is not allowed in a state."""


class PlanError(ProbandError, ValueError):
    """A planner was asked for something that it cannot do."""


class AgentError(ProbandError, ValueError):
    """An agent was set up with values that make no sense."""


class ExperimentError(ProbandError, ValueError):
    """An experiment was asked for something that it cannot do, or its run cannot go on."""


class UnknownNameError(ProbandError, LookupError):
    """A name of a test, an outcome, a decision or an example that does not exist."""


class StudyError(ProbandError, ValueError):
    """A study was told something that does not fit what it knows."""


class UnknownStudyError(StudyError, LookupError):
    """There is no study of this name in the store."""


class StudyExistsError(StudyError):
    """There is a study of this name already."""


class ConflictError(StudyError):
    """Another writer was faster: the log is longer than expected, or has the key already."""


class HeldError(StudyError):
    """Another station is at work on the subject, and its lease has not run out."""


class KeyReusedError(StudyError):
    """An idempotency key came back with other content."""


class ClockError(StudyError):
    """The clock of a station or a service is wrong by decades: nothing is recorded with such a date."""


class StoreError(ProbandError, OSError):
    """A store cannot be opened, read or written: nothing was acknowledged that is not durable."""


class StoreBusyError(StoreError):
    """Others hold the store for longer than the deadline, or it is away; trying again later may help."""


class TamperedError(StudyError):
    """The chain of a log is broken: an entry was altered, reordered or dropped; or it says what no study writes."""


class TooLargeError(ProbandError, MemoryError):
    """The asked computation would not fit; the message says how large it is and what to use instead."""


class MissingExtraError(ProbandError, ImportError):
    """An optional part is not installed; the message says which one to install."""


class AccessError(ProbandError, PermissionError):
    """Somebody asks for what he may not do: another role, or a token for this study, is needed."""


class UnidentifiedError(AccessError):
    """Nobody knows who asks: there is no token, or none that is valid."""


class TooManyRequestsError(ProbandError, RuntimeError):
    """Somebody asks too often, or for too much at once."""


class RequestError(ProbandError, ValueError):
    """A request cannot be read as one: a field is missing or of the wrong type, or there is no such route."""


class MisdirectedError(RequestError):
    """A request is meant for another service: its host is not one of this service's names."""


class SlowRequestError(RequestError, TimeoutError):
    """A request did not arrive in time."""


class ServiceError(ProbandError, ConnectionError):
    """A service cannot be reached, does not answer in time, or cannot start as asked."""


class Codes(NamedTuple):
    """What an error means outside Python."""

    exit: int
    http: int


CODES: dict[type[ProbandError], Codes] = {
    ProbandError: Codes(exit=1, http=500),
    ProblemError: Codes(exit=2, http=422),
    ProblemFileError: Codes(exit=2, http=422),
    TableError: Codes(exit=2, http=422),
    DistributionError: Codes(exit=2, http=422),
    StateError: Codes(exit=2, http=422),
    PolicyError: Codes(exit=2, http=422),
    PlanError: Codes(exit=2, http=422),
    AgentError: Codes(exit=2, http=422),
    ExperimentError: Codes(exit=2, http=422),
    UnknownNameError: Codes(exit=2, http=404),
    StudyError: Codes(exit=2, http=422),
    UnknownStudyError: Codes(exit=2, http=404),
    StudyExistsError: Codes(exit=5, http=409),
    ConflictError: Codes(exit=5, http=409),
    HeldError: Codes(exit=5, http=409),
    KeyReusedError: Codes(exit=5, http=409),
    TamperedError: Codes(exit=5, http=409),
    ClockError: Codes(exit=6, http=503),
    StoreError: Codes(exit=6, http=503),
    StoreBusyError: Codes(exit=6, http=503),
    TooLargeError: Codes(exit=3, http=413),
    MissingExtraError: Codes(exit=4, http=501),
    AccessError: Codes(exit=7, http=403),
    UnidentifiedError: Codes(exit=7, http=401),
    TooManyRequestsError: Codes(exit=6, http=429),
    RequestError: Codes(exit=2, http=422),
    MisdirectedError: Codes(exit=2, http=421),
    SlowRequestError: Codes(exit=6, http=408),
    ServiceError: Codes(exit=6, http=503),
}


LONGEST_SHOWN = 200
"""Characters of a wrong value that a message shows."""


def shown(value: object) -> str:
    """Return a value as a message shows it, cut off where it is long.

    Examples
    --------
    >>> shown("left"), len(shown("left" * 1000))
    ("'left'", 203)
    """
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


MOST_TOLD = 10
"""Mistakes of a file that a message tells."""


def told(lines: Sequence[str], total: int, what: str) -> str:
    """Return one mistake as a sentence; several as a list, with how many more there are.

    Examples
    --------
    >>> print(told(["line 2: a", "line 3: b"], 14, "cells cannot be read"))
    14 cells cannot be read:
      line 2: a
      line 3: b
      and 12 more
    """
    if total == 1:
        return lines[0]
    more = [f"and {total - len(lines):,} more"] if total > len(lines) else []
    return "\n  ".join([f"{total:,} {what}:", *lines, *more])


def codes(error: ProbandError) -> Codes:
    """Return the exit and HTTP status of an error, by its nearest class in :data:`CODES`."""
    return next(CODES[kind] for kind in type(error).__mro__ if kind in CODES)


PROBLEM = "urn:proband:"
"""Begins the type of an error that a service answers with (RFC 9457); the name of its class follows."""


def as_problem(error: ProbandError) -> dict[str, Any]:
    """Return an error as a service tells it.

    Examples
    --------
    >>> told = as_problem(HeldError("subject 'bolt 17' is held by 'line 1'; wait"))
    >>> told["type"], told["status"], type(from_problem(told, 409))
    ('urn:proband:HeldError', 409, <class 'proband.errors.HeldError'>)
    """
    kind = next(kind for kind in type(error).__mro__ if kind.__module__ == __name__)
    title = (inspect.getdoc(kind) or kind.__name__).partition("\n")[0]
    return {"type": PROBLEM + kind.__name__, "title": title, "status": codes(error).http, "detail": str(error)}


def from_problem(content: Mapping[str, Any], status: int) -> ProbandError:
    """Return the error that a service tells of; one that is not known here is a :class:`ServiceError`."""
    named = str(content.get("type", "")).removeprefix(PROBLEM)
    detail = str(content.get("detail") or content.get("title") or f"the service answered with the status {status}")
    kind = next((kind for kind in CODES if kind.__name__ == named), None)
    return ServiceError(f"{detail} ({status})") if kind is None else kind(detail)
