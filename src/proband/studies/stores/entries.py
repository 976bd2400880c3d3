"""What every store asks of names and entries, and what it says when they do not fit: one wording for all of them.

A name of a study and an idempotency key are texts of 1 to 500 characters, a body is a text of any length; none has a
NUL character or half a surrogate pair, which not every database can keep. The numbers of appended entries go on from
the length of the log.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterable, Iterator, Sequence

from proband.errors import ConflictError, StudyError, StudyExistsError, UnknownStudyError
from proband.studies.stores.contract import Entry, Store

LONGEST_NAME = 500

BESIDE = "\x1f"
"""Begins the name of a log that is kept beside the studies, and is none: no study can be called so."""


def names_of_studies(store: Store) -> list[str]:
    """Return the names of all studies of a store, sorted, without the logs that are kept beside them."""
    return [name for name in store.studies() if not name.startswith(BESIDE)]


def check_create(study: str, first: Entry) -> None:
    """Raise StudyError unless a log may begin like this."""
    check_name("the name of a study", study)
    check_append([first], 0)


def check_append(entries: Sequence[Entry], expected: int) -> None:
    """Raise StudyError unless entries could follow a log of `expected` entries."""
    for _ in checked(entries, expected):
        pass


def checked(entries: Iterable[Entry], expected: int) -> Iterator[Entry]:
    """Yield entries; raise StudyError at the first that could not follow a log of `expected` entries."""
    for number, entry in enumerate(entries, start=expected + 1):
        if entry.number != number:
            raise StudyError(
                f"an entry is numbered {entry.number}, after {number - 1}; entries are numbered 1, 2, ... without "
                "gaps; number it by the length of the log"
            )
        check_name("an idempotency key", entry.key)
        check_text("a hash", entry.hash)
        check_text("a body", entry.body)
        yield Entry(*entry)


def check_name(what: str, text: str) -> None:
    """Raise StudyError unless a text is fit for a unique key."""
    if not 1 <= len(text) <= LONGEST_NAME:
        raise StudyError(f"{what} has {len(text)} characters; it must have 1 to {LONGEST_NAME}; choose another")
    check_text(what, text)


def check_text(what: str, text: str) -> None:
    """Raise StudyError unless every database can keep a text."""
    if "\0" in text:
        raise StudyError(f"{what} has the NUL character (U+0000), which databases cannot keep; leave it out")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise StudyError(f"{what} is no valid Unicode ({error}); leave out the half of a surrogate pair") from None


def unknown(study: str, url: str) -> UnknownStudyError:
    """Return the error about a study that is not there."""
    there = f" --store {shlex.quote(url)}" if url.startswith("sqlite:///") else ""
    return UnknownStudyError(
        f"there is no study {study!r} in {url}; name one that was created; proband study list{there} shows them"
    )


def exists(study: str, url: str) -> StudyExistsError:
    """Return the error about a study that is there already."""
    return StudyExistsError(f"there is a study {study!r} in {url} already; open it, or choose another name")


def too_long(study: str, length: int, expected: int) -> ConflictError:
    """Return the error about a log that others have written to, or that is shorter than somebody thought."""
    return ConflictError(
        f"the log of {study!r} has {length} entries, not {expected} as expected; read what others wrote and try again"
    )


def key_taken(study: str, entries: Iterable[Entry]) -> ConflictError:
    """Return the error about idempotency keys of which one is in the log, or came twice."""
    keys = [repr(entry.key) for entry in itertools.islice(entries, 4)]
    shown = ", ".join(keys[:3]) + (", ..." if len(keys) > 3 else "")
    return ConflictError(
        f"the log of {study!r} already has an entry with one of the keys {shown}; a key is used once; look it up"
    )
