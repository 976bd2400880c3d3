"""A study as a file: every entry of its log, one line each, lossless.

The first line says which study it is, how long its log, and the hash of its last entry. Every other line is the body of
one entry, exactly as it was hashed: the SHA-256 of line n + 1 is the `previous` of line n + 2, so that the chain can be
checked without this library. A study is copied from one store to another by way of such a file.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from proband.errors import ProbandError, StudyError, StudyExistsError, TamperedError
from proband.files import LARGEST_FILE, size
from proband.studies.exchange.inspection import inspect_log
from proband.studies.ledger.chain import FORMAT, Event, canonical, digest, linked
from proband.studies.log.fold import read_entries
from proband.studies.stores.contract import Entry, Store
from proband.studies.stores.registry import Hidden, open_store
from proband.texts import quoted

KIND = "proband study"


class Verified(NamedTuple):
    """A log that is whole: its length, and the hash of its last entry, which vouches for all of it."""

    length: int
    hash: str


def verify(
    entries: Iterable[Entry],
    *,
    length: int | None = None,
    hash: str | None = None,
    each: Callable[[Entry, Event], None] | None = None,
) -> Verified:
    """Check a log from its first entry to its last; with the length and hash of an earlier look, also for its tail.

    The hash alone must be that of any entry. `each` is given every entry with its event, once it was checked. A
    :class:`TamperedError` names the first entry that was altered, reordered or dropped.
    """
    wanted = None if hash is None else _whole_hash(hash)
    last, seen = Verified(0, ""), wanted is None or length is not None
    for entry, event in linked(entries):
        last = Verified(event.number, entry.hash)
        if each is not None:
            each(entry, event)
        seen = seen or entry.hash == wanted
        if event.number == length and wanted is not None and entry.hash != wanted:
            raise TamperedError(
                f"entry {length} has the hash {entry.hash[:12]}..., and had {wanted[:12]}... when it was looked at "
                "before; this entry or an earlier one was altered, with all later hashes; compare with an export"
            )
    if length is not None and last.length < length:
        raise TamperedError(
            f"entry {last.length + 1} is missing: the log had {length} entries and has {last.length}; its end was "
            "dropped; import an earlier export"
        )
    if not seen:
        raise TamperedError(
            f"none of the {last.length} entries has the hash {hash}, which one had when it was looked at before; an "
            "entry up to there was altered, with all later hashes, or the end was dropped; compare with an export"
        )
    return last


def export_study(store: Store, study: str, path: str | os.PathLike[str]) -> Verified:
    """Write a study's log as JSON lines, after checking it; the file appears when it is complete."""
    found = verify(read_entries(store, study))
    with beside(path) as scratch, scratch.open("w", encoding="utf-8", newline="\n") as file:
        head = {"format": FORMAT, "kind": KIND, "study": study, "length": found.length, "hash": found.hash}
        file.write(canonical(head) + "\n")
        for entry in read_entries(store, study):
            if entry.number <= found.length:
                file.write(entry.body + "\n")
    return found


def read_export(path: str | os.PathLike[str]) -> tuple[str, Iterator[Entry]]:
    """Return the name of an exported study, and its entries as they are read; they are to be verified."""
    about = _head(path)
    return str(about["study"]), _entries(path)


def verify_export(path: str | os.PathLike[str]) -> Verified:
    """Check an exported study from its first entry to its last."""
    about = _head(path)
    found = verify(_entries(path), length=about["length"], hash=about["hash"])
    if found.length != about["length"]:
        raise TamperedError(f"{path}: it has {found.length} entries, and its first line says {about['length']}")
    return found


def import_study(path: str | os.PathLike[str], *, store: Store | str) -> Verified:
    """Copy an exported study into a store: the same log, hash by hash; what is there already is not added again.

    Parameters
    ----------
    path : path
        A file that :meth:`proband.studies.Study.export` wrote.
    store : Store or str
        Or its URL.

    Raises
    ------
    StudyExistsError
        If another log has this name there.
    """
    store = Hidden(store) if isinstance(store, str) else store
    found = verify_export(path)
    study, entries = read_export(path)
    inspect_log(entries, study, lambda number: f"{path}: line {number + 1}")
    target = open_store(store) if isinstance(store, str) else store
    try:
        _add(path, target, study)
    finally:
        if isinstance(store, str):
            target.close()
    return found


def copy_study(study: str, *, source: Store, target: Store) -> Verified:
    """Copy a study into another store, whole or not at all; return the length and the hash that both have.

    The source is only read, and stations may go on with it: what they write meanwhile is not copied. Copying again adds
    what came since. The log is exported and imported, with all the checks of both, and then read back and verified.

    Parameters
    ----------
    study : str
    source, target : Store

    Raises
    ------
    StudyExistsError
        If the target has another study of this name, or one that has gone on by itself.
    TamperedError
        If the log is not whole, here or there.

    Examples
    --------
    >>> from proband.studies import Study, open_store
    >>> from proband.instances import bolts
    >>> here, there = open_store("memory:"), open_store("memory:")
    >>> _ = Study.create(bolts().problem, name="bolts", store=here).arrive()
    >>> copy_study("bolts", source=here, target=there).length, there.read("bolts") == here.read("bolts")
    (2, True)
    """
    with tempfile.TemporaryDirectory(prefix="proband-") as folder:
        path = Path(folder) / "log.jsonl"
        found = export_study(source, study, path)
        try:
            import_study(path, store=target)
        except StudyError as error:
            raise type(error)(str(error).replace(str(path), f"study {study!r} of {source.url}")) from error
    there = verify(read_entries(target, study), length=found.length, hash=found.hash)
    if there.length > found.length:
        raise StudyExistsError(
            f"study {study!r} has {there.length} entries in {target.url} and {found.length} in {source.url}: it has "
            "gone on there by itself; nothing was copied; go on with that one, or copy into another store"
        )
    return found


def differs_from(entries: Iterable[Entry], others: Iterable[Entry]) -> int | None:
    """Return the number of the first entry in which two logs differ; None if one is the beginning of the other."""
    return next((ours.number for ours, theirs in zip(entries, others, strict=False) if ours != theirs), None)


@contextmanager
def beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Lend a path to write to; when the block ends well, what is there is synced and takes the place of the other.

    If it cannot be written, what was there before is as it was.
    """
    target = Path(path)
    scratch = target.with_name(f".proband-{uuid.uuid4().hex}")
    try:
        yield scratch
        with scratch.open("rb+") as file:
            os.fsync(file.fileno())
        scratch.replace(target)
    except ProbandError:
        raise
    except OSError as error:
        raise StudyError(
            f"{path}: it cannot be written ({error.strerror or error}); check the path and the disk"
        ) from error
    finally:
        scratch.unlink(missing_ok=True)


class _Rest:
    """All entries of an export but the first, as often as somebody goes through them."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path

    def __iter__(self) -> Iterator[Entry]:
        return itertools.islice(_entries(self._path), 1, None)


def _add(path: str | os.PathLike[str], store: Store, study: str) -> None:
    """Write an export into a store, or what is missing of it there; all or none."""
    try:
        store.create(study, next(_entries(path)), _Rest(path))
    except StudyExistsError:
        with store.exclusive(study):
            number = differs_from(_entries(path), read_entries(store, study))
            if number is not None:
                raise StudyExistsError(
                    f"{path}: the store has another study {study!r}, which differs from entry {number} on; two logs "
                    "are never mixed; import into another store"
                ) from None
            here = store.length(study)
            store.append(study, list(itertools.islice(_entries(path), here, None)), here)


def _whole_hash(given: str) -> str:
    wanted = given.strip().lower()
    if not re.fullmatch("[0-9a-f]{64}", wanted):
        raise StudyError(f"the hash is {quoted(given)}; it has 64 hexadecimal digits; copy it whole")
    return wanted


def _head(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        with Path(path).open("rb") as file:
            about = json.loads(_line(path, file))
        if about.get("kind") != KIND:
            raise ValueError(f"its first line is no {KIND!r}")
    except OSError as error:
        raise StudyError(f"{path}: it cannot be read ({error.strerror}); check the path") from error
    except (ValueError, AttributeError, RecursionError) as error:
        raise StudyError(f"{path}: it is no exported study ({error}); give a file that proband wrote") from error
    if about.get("format") != FORMAT:
        raise StudyError(
            f"{path}: it is of format {about.get('format')!r}; this version reads {FORMAT}; install a newer proband"
        )
    if [type(about.get(name)) for name in ("study", "length", "hash")] != [str, int, str]:
        raise StudyError(
            f"{path}: its first line is incomplete: it must name the study, its length and a hash; give a file that "
            "proband wrote"
        )
    return dict(about)


def _entries(path: str | os.PathLike[str]) -> Iterator[Entry]:
    with Path(path).open("rb") as file:
        for n, line in enumerate(iter(partial(_line, path, file), b"")):
            if n:
                try:
                    body = line.removesuffix(b"\n").decode()
                    key = str(json.loads(body)["key"])
                except (ValueError, KeyError, TypeError, RecursionError) as error:
                    raise TamperedError(
                        f"{path}: line {n + 1} is no event ({error}); compare with another copy"
                    ) from error
                yield Entry(n, key, digest(body), body)


def _line(path: str | os.PathLike[str], file: BinaryIO) -> bytes:
    """Return the next line of an export, empty at its end."""
    line = file.readline(LARGEST_FILE + 1)
    if len(line) > LARGEST_FILE:
        raise StudyError(f"{path}: a line has more than {size(LARGEST_FILE)}, the most that is read; it is no export")
    return line
