"""The address of a database: read by PostgreSQL's own library, shown without its secrets, never shown if it is broken.

Every spelling that the library reads is taken (``postgresql://``, ``postgres://``, ``key=value ...``), and those that
other programs write (``POSTGRESQL://``, ``postgresql+psycopg://``). A password with a character that an address gives a
meaning to may be read as something else, such as a port or the name of a database. So may a password that follows a
semicolon. Whatever looks like this is refused, and neither the address nor what the library says of it is repeated.
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
