"""A store in memory, for trying things out: it serves the threads of one process, and ends with it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from proband.studies.stores.contract import Entry
from proband.studies.stores.entries import check_append, check_create, checked, exists, key_taken, too_long, unknown


@dataclass
class _Log:
    entries: list[Entry]
    by_key: dict[str, Entry]
    caches: dict[str, bytes] = field(default_factory=dict)
    turn: threading.RLock = field(default_factory=threading.RLock)


class MemoryStore:
    """Studies in memory. Closing it releases nothing: they are there for as long as the object is.

    Examples
    --------
    >>> store = MemoryStore()
    >>> store.create("bolts", Entry(1, "first", "0a", "{}"))
    >>> store.append("bolts", [Entry(2, "second", "1b", "{}")], expected=1)
    >>> store.length("bolts"), store.find("bolts", "second").number
    (2, 2)
    """

    def __init__(self) -> None:
        self._logs: dict[str, _Log] = {}
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Always ``memory:``, which opens a new and empty one."""
        return "memory:"

    def create(self, study: str, first: Entry, rest: Iterable[Entry] = ()) -> None:
        """Begin a log, all or none."""
        check_create(study, first)
        entries = [Entry(*first), *checked(rest, 1)]
        by_key = {entry.key: entry for entry in entries}
        if len(by_key) < len(entries):
            raise key_taken(study, entries)
        with self._lock:
            if study in self._logs:
                raise exists(study, self.url)
            self._logs[study] = _Log(entries, by_key)

    def studies(self) -> list[str]:
        """Return the names of all studies, sorted."""
        with self._lock:
            return sorted(self._logs)

    def listed(self, after: str, limit: int) -> list[tuple[str, Entry, Entry]]:
        """Return some of the names after a text, with their first and last entries."""
        names = [name for name in self.studies() if name > after][:limit]
        return [(name, log[0], log[-1]) for name in names if (log := self._log(name).entries)]

    def length(self, study: str) -> int:
        """Return the number of entries of a study."""
        return len(self._log(study).entries)

    def read(self, study: str, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return the entries after a number, at most `limit` of them."""
        after = max(0, after)
        return self._log(study).entries[after : None if limit is None else after + limit]

    def find(self, study: str, key: str) -> Entry | None:
        """Return the entry with an idempotency key."""
        return self._log(study).by_key.get(key)

    def append(self, study: str, entries: Sequence[Entry], expected: int) -> None:
        """Add entries, all or none."""
        check_append(entries, expected)
        log = self._log(study)
        with log.turn:
            if len(log.entries) != expected:
                raise too_long(study, len(log.entries), expected)
            new = {entry.key: Entry(*entry) for entry in entries}
            if len(new) < len(entries) or any(key in log.by_key for key in new):
                raise key_taken(study, entries)
            log.by_key.update(new)
            log.entries.extend(new.values())

    @contextmanager
    def exclusive(self, study: str) -> Iterator[None]:
        """Hold off other writers of the study."""
        with self._log(study).turn:
            yield

    def cached(self, study: str, name: str) -> bytes | None:
        """Return what was kept under a name."""
        return self._log(study).caches.get(name)

    def keep(self, study: str, name: str, content: bytes) -> None:
        """Keep a cache beside the log."""
        self._log(study).caches[name] = bytes(content)

    def swap(self, study: str, name: str, expected: bytes | None, content: bytes | None) -> bool:
        """Keep a content in the place of the expected one."""
        log = self._log(study)
        with log.turn:
            if log.caches.get(name) != expected:
                return False
            log.caches.pop(name, None)
            if content is not None:
                log.caches[name] = bytes(content)
            return True

    def kept(self, study: str) -> list[str]:
        """Return the names under which something is kept, sorted."""
        return sorted(self._log(study).caches)

    def forget(self, study: str, name: str) -> None:
        """Keep nothing under a name any more."""
        self._log(study).caches.pop(name, None)

    def close(self) -> None:
        """Do nothing: there are no files and no connections."""

    def _log(self, study: str) -> _Log:
        try:
            return self._logs[study]
        except KeyError:
            raise unknown(study, self.url) from None
