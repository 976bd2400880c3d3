"""The kit for stores must pass what is right and catch what is wrong."""

from __future__ import annotations

import threading
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from proband.errors import ConflictError
from proband.studies.stores import Entry, MemoryStore
from proband.testing import check_store, store_races


class Overwriting(MemoryStore):
    def create(self, study: str, first: Entry, rest: Iterable[Entry] = ()) -> None:
        self._logs.pop(study, None)
        super().create(study, first, rest)


class AnyBeginning(MemoryStore):
    def create(self, study: str, first: Entry, rest: Iterable[Entry] = ()) -> None:
        super().create(study, first._replace(number=1), rest)


class OneByOne(MemoryStore):
    """Begins a log with its first entry, and then adds the others."""

    def create(self, study: str, first: Entry, rest: Iterable[Entry] = ()) -> None:
        super().create(study, first)
        for entry in rest:
            self.append(study, [entry], entry.number - 1)


class Forgetful(MemoryStore):
    """Says of a study that it is there, and does not list it."""

    def studies(self) -> list[str]:
        return super().studies()[:-1]


class Unsorted(MemoryStore):
    def studies(self) -> list[str]:
        return super().studies()[::-1]


class OneTooFar(MemoryStore):
    def read(self, study: str, after: int = 0, limit: int | None = None) -> list[Entry]:
        return super().read(study, after + (after == 3), limit)


class Unlimited(MemoryStore):
    def read(self, study: str, after: int = 0, limit: int | None = None) -> list[Entry]:
        return super().read(study, after, limit or None)


class Blind(MemoryStore):
    def find(self, study: str, key: str) -> Entry | None:
        found = super().find(study, key)
        return found if found is None or found.number < 3 else None


class CaseBlind(MemoryStore):
    def find(self, study: str, key: str) -> Entry | None:
        return super().find(study, key.lower())


class MixedUp(MemoryStore):
    def find(self, study: str, key: str) -> Entry | None:
        found = super().find(study, key)
        return found and found._replace(hash=found.body, body=found.hash)


class Careless(MemoryStore):
    """Takes entries whatever was expected."""

    def append(self, study: str, entries: Sequence[Entry], expected: int) -> None:
        length = self.length(study)
        moved = [Entry(*entry)._replace(number=length + 1 + n) for n, entry in enumerate(entries)]
        super().append(study, moved, length)


class Doubling(MemoryStore):
    """Takes the same key twice."""

    def append(self, study: str, entries: Sequence[Entry], expected: int) -> None:
        super().append(study, [], expected)
        self._log(study).entries.extend(Entry(*entry) for entry in entries)
        self._log(study).by_key.update({entry.key: Entry(*entry) for entry in entries})


class Piecemeal(MemoryStore):
    """Adds what comes before the entry that does not fit."""

    def append(self, study: str, entries: Sequence[Entry], expected: int) -> None:
        super().append(study, [], expected)
        for n, entry in enumerate(entries):
            super().append(study, [entry], expected + n)


class Halfway(MemoryStore):
    """Refuses entries, and finds them afterwards."""

    def append(self, study: str, entries: Sequence[Entry], expected: int) -> None:
        try:
            super().append(study, entries, expected)
        except ConflictError:
            for entry in entries:
                self._log(study).by_key.setdefault(entry.key, Entry(*entry))
            raise


class Jumping(MemoryStore):
    """Lets numbers be left out."""

    def append(self, study: str, entries: Sequence[Entry], expected: int) -> None:
        if entries and entries[0].number > expected + 1:
            entries = [Entry(*entry)._replace(number=expected + 1 + n) for n, entry in enumerate(entries)]
        super().append(study, entries, expected)


class Cutting(MemoryStore):
    """Keeps the first 64 kB of a body."""

    def append(self, study: str, entries: Sequence[Entry], expected: int) -> None:
        super().append(study, [Entry(*entry)._replace(body=entry.body[:65536]) for entry in entries], expected)


class Stripping(MemoryStore):
    """Takes names with blanks at their ends for the same."""

    def create(self, study: str, first: Entry, rest: Iterable[Entry] = ()) -> None:
        super().create(study.strip(), first, rest)

    def _log(self, study: str):  # type: ignore[no-untyped-def]
        return super()._log(study.strip())


class Normalising(MemoryStore):
    """Takes two ways to write é for the same."""

    def create(self, study: str, first: Entry, rest: Iterable[Entry] = ()) -> None:
        super().create(unicodedata.normalize("NFC", study), first, rest)

    def _log(self, study: str):  # type: ignore[no-untyped-def]
        return super()._log(unicodedata.normalize("NFC", study))


class CaseBlindNames(MemoryStore):
    """Takes small and capital letters for the same."""

    def create(self, study: str, first: Entry, rest: Iterable[Entry] = ()) -> None:
        super().create(study.lower(), first, rest)

    def _log(self, study: str):  # type: ignore[no-untyped-def]
        return super()._log(study.lower())


class Obliging(MemoryStore):
    """Takes an unknown study for an empty one."""

    def read(self, study: str, after: int = 0, limit: int | None = None) -> list[Entry]:
        return super().read(study, after, limit) if study in self._logs else []


class CacheForAll(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, bytes] = {}

    def keep(self, study: str, name: str, content: bytes) -> None:
        self._log(study)
        self.kept[name] = content

    def cached(self, study: str, name: str) -> bytes | None:
        self._log(study)
        return self.kept.get(name)


class Volatile(MemoryStore):
    """Loses the last entry of every log when it is closed."""

    def close(self) -> None:
        for log in self._logs.values():
            if len(log.entries) > 1:
                log.by_key.pop(log.entries.pop().key)


class Unkeyed(MemoryStore):
    """Forgets when it is closed which keys there were."""

    def close(self) -> None:
        for log in self._logs.values():
            log.by_key.clear()


class Open(MemoryStore):
    """Its turns keep nobody off."""

    @contextmanager
    def exclusive(self, study: str) -> Iterator[None]:
        self._log(study)
        yield


class Stuck(MemoryStore):
    """A fault within a turn leaves it locked."""

    @contextmanager
    def exclusive(self, study: str) -> Iterator[None]:
        turn = self._log(study).turn
        turn.acquire()
        yield
        turn.release()


class Locking(MemoryStore):
    """Keeps readers off as well."""

    def length(self, study: str) -> int:
        with self._log(study).turn:
            return super().length(study)


class Racing(MemoryStore):
    """Looks, and then leaps."""

    @contextmanager
    def exclusive(self, study: str) -> Iterator[None]:
        log = self._log(study)
        with log.turn:
            log.caches["turn"] = b"x"
            try:
                yield
            finally:
                del log.caches["turn"]

    def append(self, study: str, entries: Sequence[Entry], expected: int) -> None:
        log = self._log(study)
        while "turn" in log.caches and not log.turn._is_owned():  # type: ignore[attr-defined]
            time.sleep(0.001)
        scratch = MemoryStore()
        scratch._logs[study] = type(log)(list(log.entries), dict(log.by_key), {}, threading.RLock())
        scratch.append(study, entries, expected)
        time.sleep(0.002)
        log.entries, log.by_key = scratch._logs[study].entries, scratch._logs[study].by_key


BROKEN: dict[type[MemoryStore], str] = {
    Overwriting: "creating a study twice raised nothing",
    AnyBeginning: "beginning a log with entry 2 raised nothing",
    OneByOne: "a log that could not begin, for leaving out a number, is listed",
    Forgetful: r"studies\(\) (does not list|lost)",
    Unsorted: r"studies\(\) is not sorted",
    OneTooFar: r"read\(after=3, limit=None\) gave",
    Unlimited: r"read\(after=0, limit=0\) gave 5 entries",
    Blind: r"find\(\) does not find entry 3",
    CaseBlind: "does not tell small from capital",
    MixedUp: r"find\(\) gave",
    Careless: "an append with 0 entries expected in a log of 3 raised nothing",
    Doubling: "an append with an entry with the key of the first entry raised nothing",
    Piecemeal: "after an append with an entry with the key of the first entry, the log has 4 entries",
    Halfway: r"find\(\) gives one of the refused entries",
    Jumping: "leaving out a number raised nothing",
    Cutting: "a body did not come back",
    Stripping: r"studies\(\) has 0 studies named",
    Normalising: r"studies\(\) has 0 studies named",
    CaseBlindNames: "the store refused what it must do: StudyExistsError",
    Obliging: r"read\(\) of a study that does not exist raised nothing",
    CacheForAll: "a cache of 40 bytes came back as b'another study'",
    Volatile: "after closing and opening again, the log has",
    Unkeyed: "an append with a key used before opening again raised nothing",
    Open: "in an exclusive block, an append of another thread got in",
    Stuck: "an exclusive block after one that raised is stuck",
    Locking: "reading while another thread has its turn is stuck",
    Racing: "adding side by side",
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_a_broken_store_is_caught(broken: type[MemoryStore], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_races, "SECONDS", 1.0)  # so long is waited for what is stuck
    store = broken()
    with pytest.raises(AssertionError, match=BROKEN[broken]):
        check_store(lambda: store, appends=5)


def test_a_handle_that_keeps_its_writes_to_itself_is_caught() -> None:
    shared = MemoryStore()

    class Buffering(MemoryStore):
        def close(self) -> None:
            shared._logs |= self._logs

    with pytest.raises(AssertionError, match="the store refused what it must do: UnknownStudyError"):
        check_store(Buffering, appends=5)


def test_something_else_is_caught() -> None:
    with pytest.raises(AssertionError, match="is no Store"):
        check_store(dict)


def test_a_right_store_passes() -> None:
    store = MemoryStore()
    check_store(lambda: store, threads=3, appends=5)
