"""The address of a database: read by PostgreSQL's own library, shown without its secrets, never shown if it is broken.

Every spelling that the library reads is taken (``postgresql://``, ``postgres://``, ``key=value ...``), and those that
other programs write (``POSTGRESQL://``, ``postgresql+psycopg://``). A password with a character that an address gives a
meaning to may be read as something else, such as a port or the name of a database. So may a password that follows a
semicolon. Whatever looks like this is refused, and neither the address nor what the library says of it is repeated.

What a database answers at its address is put in the words of a store: which errors pass by themselves, and what helps
against the others.
"""

from __future__ import annotations

import re
from urllib.parse import quote, urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Conninfo

from proband.errors import StoreError

SECRETS = frozenset({"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}) | {
    option.keyword.decode() for option in Conninfo.get_defaults() if option.dispchar == b"*"
}
"""Parameters that are never shown: PostgreSQL's library marks passwords by a star."""

_SCHEME = re.compile(r"\s*postgres(ql)?(\+\w+)?://", re.IGNORECASE)
_HOST = re.compile(r"[\w.:%-]*|[/@].*")
_MISTAKES = {
    "invalid URI query parameter": "it has a parameter that PostgreSQL does not know",
    "invalid connection option": "it has a parameter that PostgreSQL does not know",
    "invalid percent-encoded token": "a % is not followed by two hexadecimal digits",
    "unexpected spaces": "it has blanks",
    "missing key/value separator": "a parameter after the question mark has no value",
    "unterminated quoted string": "a quote is left open",
}
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


def read_address(address: str) -> dict[str, str]:
    """Return the parameters of an address, secrets included.

    Examples
    --------
    >>> read_address("POSTGRES://qa:can#ary@db.example/bolts")
    {'user': 'qa', 'password': 'can#ary', 'dbname': 'bolts', 'host': 'db.example'}
    >>> read_address("postgresql://qa:can/ary@db.example/bolts")
    Traceback (most recent call last):
    proband.errors.StoreError: this is no address of a PostgreSQL database (its port is no number; it is not shown, ...
    """
    given, mistake = _read(address)
    if mistake:
        raise StoreError(
            f"this is no address of a PostgreSQL database ({mistake}; it is not shown, as it may hold a password); "
            "write postgresql://user@host:port/database; better than there, a password is kept in PGPASSWORD or in "
            "~/.pgpass; within an address its : / ? # @ % and blanks are written %3A %2F %3F %23 %40 %25 %20"
        )
    return given


def without_secrets(given: dict[str, str]) -> str:
    """Return the URL of an address without its secrets; with these, from elsewhere, it leads to the same database.

    Examples
    --------
    >>> without_secrets(read_address("host=db.example user=qa password=secret dbname=bolts sslmode=require"))
    'postgresql://qa@db.example/bolts?sslmode=require'
    """
    kept = {name: value for name, value in given.items() if name not in SECRETS}
    user, database = (quote(kept.pop(name, ""), safe="") for name in ("user", "dbname"))
    hosts, ports = kept.get("host", "").split(","), kept.get("port", "").split(",")
    place = ""
    if all(re.fullmatch(r"[\w.-]+", host) for host in hosts) and len(ports) in (1, len(hosts)):
        del kept["host"]
        kept.pop("port", None)
        each = zip(hosts, ports * len(hosts) if len(ports) == 1 else ports, strict=True)
        place = ",".join(f"{host}:{port}".removesuffix(":") for host, port in each)
    query = urlencode(kept, quote_via=quote, safe="/:,")
    return f"postgresql://{user}{'@' * bool(user)}{place}{'/' * bool(user or database or query)}{database}" + (
        f"?{query}" if query else ""
    )


def _read(address: str) -> tuple[dict[str, str], str]:
    """Return the parameters of an address, or what is wrong with it; it raises nothing that could quote it."""
    try:
        read = conninfo_to_dict(_SCHEME.sub("postgresql://", address, count=1))
    except psycopg.Error as error:
        said = str(error)
        return {}, next((ours for theirs, ours in _MISTAKES.items() if theirs in said), "it cannot be read")
    except ValueError:  # halves of surrogate pairs, null characters
        return {}, "it has characters that no address has"
    given = {name: str(value) for name, value in read.items() if value is not None}
    mistake = _misread(given)
    return ({}, mistake) if mistake else (given, "")


def _misread(given: dict[str, str]) -> str:
    """Return what shows that a part of a password, most likely, was read as something else."""
    if not re.fullmatch(r"[0-9,]*", given.get("port", "")):
        return "its port is no number"
    if not all(map(_HOST.fullmatch, given.get("host", "").split(","))):
        return "its host is no name of a machine"
    if re.search(r"[@/=;\s]", given.get("dbname", "")) or re.search(r"[=;\s]", given.get("user", "")):
        return "its database or user has one of the characters @ / = ; or a blank"
    return ""


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
