"""PostgreSQL's errors in the words of a store: which of them pass by themselves, and what helps against the others."""

from __future__ import annotations

import psycopg

from proband.errors import StoreError

_PASSING = ("08", "57P01", "57P02", "57P03", "53300", "40001", "40P01", "25P03")
_STARTING = (
    "starting up",
    "shutting down",
    "terminating connection",
    "recovery",
    "not yet accepting",
    "too many",
    "connection slots",
)
_TO_LOG_IN = "give the right one in PGPASSWORD, in ~/.pgpass or in a service file"
_REFUSALS = {
    "password authentication failed": f"the password of this user is wrong, or has run out; {_TO_LOG_IN}",
    "no password supplied": f"a password is asked for, and none was given; {_TO_LOG_IN}",
    "pg_hba.conf": "the server lets nobody in from here under this name; ask for a line in its pg_hba.conf",
    'database "': "there is no such database; create it with createdb, or correct the address",
    'role "': "there is no such user; create it with createuser, or correct the address",
    "definition of service": "there is no such service; add it to ~/.pg_service.conf, or correct its name",
}
"""What stands in the message when a server, or the library before it asks one, lets nobody in: it has no code then."""
_EXPLANATIONS = {
    "53100": "the disk is full; nothing of this write was acknowledged; make room and do it again",
    "55P03": "others hold it for longer than the deadline; look for a session that was stopped while it wrote",
    "25006": "it can only be read; give the address of the server that takes writes",
    "42501": "the role lacks a right; grant CREATE on the schema once, then SELECT, INSERT and UPDATE",
    "42P01": "its tables are gone; put back a copy, or import the last export of its studies",
}


def passing(error: psycopg.Error) -> bool:
    """Whether trying again may help: the connection was lost, the server starts or stops, or two writers met."""
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return error.sqlstate.startswith(_PASSING)


def hopeless(error: psycopg.OperationalError) -> bool:
    """Whether a server answered, and will not let us in however often we try."""
    text = str(error)
    refused = "FATAL" in text or any(phrase in text for phrase in _REFUSALS)
    return refused and not any(phrase in text for phrase in _STARTING)


def explain(error: psycopg.Error, url: str) -> StoreError:
    """Return an error that names the store and a remedy."""
    fallback = "no answer; look whether the server runs and the address is right"
    if error.sqlstate is None:
        fallback = next((ours for theirs, ours in _REFUSALS.items() if theirs in str(error)), fallback)
    if error.sqlstate is not None and not passing(error):
        fallback = "PostgreSQL cannot go on; see what it says"
    what = _EXPLANATIONS.get(error.sqlstate or "", fallback)
    return StoreError(f"{url}: {what} ({error.sqlstate or type(error).__name__}: {' '.join(str(error).split())})")
