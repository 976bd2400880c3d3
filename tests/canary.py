"""A password that must be seen nowhere, and every spelling of an address that may hold it."""

from __future__ import annotations

import traceback
from pathlib import Path
from urllib.parse import quote

import proband

CANARY = "Kanarie", "vogel"
"""The two halves of the password, for what may come between them."""

SOURCE = str(Path(proband.__file__).parent)


def spellings(folder: str = "/nowhere", database: str = "bolts") -> list[str]:
    """Return addresses with the password in them: what libpq accepts, what others write, and what goes wrong."""
    (one, two), host = CANARY, quote(folder, safe="")
    marks = [
        "#",
        "?",
        "/",
        "%",
        "%4",
        " ",
        "@",
        ":",
        "&",
        "=",
        ";",
        "'",
        '"',
        "\\",
        "[",
        "]",
        "+",
        "\t",
        "\x1b",
        "é",
        "\0",
    ]
    marks += ["/5432@", "%00", "\ud800"]
    schemes = ["postgres", "postgresql", "POSTGRESQL", "PostGres", "postgresql+psycopg", "postgresql+psycopg2", "mysql"]
    urls = [f"{scheme}://qa:{one}{two}@{host}/{database}" for scheme in schemes]
    urls += [f"postgresql://qa:{one}{mark}{two}@{host}/{database}" for mark in marks]
    urls += [f"postgresql://qa@{host}/{database}?password={one}{mark}{two}" for mark in marks]
    urls += [f"host={folder} dbname={database} user=qa password={one}{mark}{two}" for mark in marks]
    for name in ("password", "PASSWORD", "Password", "sslpassword", "SSLPASSWORD", "passwd", "pwd"):
        urls += [f"postgresql://qa@{host}/{database}?{name}={one}{two}", f"{name}={one}{two} host={folder}"]
        urls += [f"host={folder} {name} = '{one} {two}' dbname={database}", f"host=db.example;{name}={one}{two}"]
        urls += [f"user=qa;{name}={one}{two}", f"dbname={database};{name}={one}{two}"]
    urls += [
        f"postgresql://qa:{one}{two}", f"postgresql:qa:{one}{two}@{host}",
        f"postgresql//qa:{one}{two}@{host}/{database}",
        f"postgresql://qa:{one}{two}@{host}:54x32/{database}", f"postgresql://qa:{one}{two}@{host}/{database}?colour=red",
        f" postgresql://qa:{one}{two}@{host}/{database}", f"sqlite:///postgresql://qa:{one}{two}@{host}/{database}",
        f"sqlite://qa:{one}{two}@{host}", f"memory:{one}:{two}", f"postgresql://qa:{two}/{one}@{host}/{database}",
        f"qa:{one}{two}@{host}/{database}", f"postgresql://qa:{one}{two}@[::1/{database}",
    ]  # fmt: skip
    return urls


def betrayed(text: str) -> bool:
    """Return whether a text shows a half of the password."""
    return any(half in text for half in CANARY)


def trace(error: BaseException) -> str:
    """Return the traceback of an error with the values of our own variables, as monitors of errors record it."""
    told, shown = traceback.TracebackException.from_exception(error, capture_locals=True), []
    while told is not None:
        for frame in told.stack:
            values = (
                (frame.locals or {}).values()
                if frame.filename.startswith(SOURCE) or "psycopg" in frame.filename
                else []
            )
            shown += [str(frame.line), *values]
        shown += told.format_exception_only()
        told = told.__cause__ or (None if told.__suppress_context__ else told.__context__)
    return "\n".join(shown)
