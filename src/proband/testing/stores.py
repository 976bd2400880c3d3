"""What every store must do: keep logs whole, in order and for good, whoever writes to them at the same time.

The kit stands below the stores: it knows what a store does and not which ones there are.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from proband.errors import ConflictError, ProbandError, StudyError, StudyExistsError, UnknownStudyError
from proband.testing.store_races import (
    Line,
    LogStore,
    check_claims,
    check_exclusion,
    check_pages,
    check_queue,
    check_race,
    check_release,
    check_swaps,
    make_line,
)

ODD_NAMES = (
    "bolts",
    "Bolts",
    "bolts ",
    " bolts",
    'bolt\'s "best"; DROP TABLE studies; --',
    "100 % of_all\\n",
    "two\nlines\tand a tab",
    "../../etc/passwd",
    "https://example.org/?a=b&c=%20#d",
    "é as one character",
    "e\u0301 as two characters",
    "болты 螺栓 مسمار 🔩",
    "x" * 200,
)
BODIES = ("", "{}", '{"note":"grüße, 螺栓 🔩 \\u0000 \\" \u2028 \x7f"}', '{"big":"' + "é🔩x" * 250_000 + '"}')

METHODS = ("url", "create", "studies", "length", "read", "find", "append", "exclusive", "cached", "keep", "close")
SWAPS = ("swap", "kept", "forget")

MakeStore = Callable[[], LogStore]


def check_store(make: MakeStore, *, threads: int = 4, appends: int = 20) -> None:
    """Raise AssertionError unless a store keeps its contract.

    * A log begins once, with one entry or with many, all or none, and is read back as it was written, whatever texts it
      has, from any place on.
    * Entries are added all or none: only to a log of the expected length, and each key once in a log.
    * A study that does not exist is said to be unknown.
    * What was added is seen at once through other handles, and after closing and opening again.
    * Of threads that add at the same time each gets in or meets a ConflictError; nothing is lost or doubled.
    * In an exclusive block nobody else gets in, and others may read; it ends with an exception too.
    * A cache gives back what was kept, or nothing.
    * If the store swaps caches (:class:`proband.studies.stores.contract.Swaps`), of several who do one succeeds.

    Parameters
    ----------
    make : callable
        Opens the same store, again and again. The kit leaves studies of random names in it.
    threads : int
        How many write at the same time.
    appends : int
        How many entries each of them adds.

    Examples
    --------
    >>> from proband.studies.stores import MemoryStore
    >>> store = MemoryStore()
    >>> check_store(lambda: store, appends=5)
    """
    check = _Check(make)
    try:
        check.beginning()
        check.beginning_with_many()
        check.reading()
        check.adding()
        check.texts()
        check.unknown()
        check.caches()
        check.swapping(threads, appends)
        check.reopening()
        check.together(threads, appends)
    except ProbandError as error:
        raise AssertionError(f"the store refused what it must do: {error!r}") from error
    finally:
        check.close()


class _Check:
    """A store, and the studies that were made in it."""

    def __init__(self, make: MakeStore) -> None:
        self.make, self.mark = make, uuid.uuid4().hex
        self.opened: list[LogStore] = []
        self.store = self.open()

    def open(self) -> LogStore:
        """Open the store once more."""
        store = self.make()
        missing = [name for name in METHODS if not hasattr(store, name)]
        assert not missing, f"{store!r} is no Store; it lacks {', '.join(missing)}"
        self.opened.append(store)
        return store

    def close(self) -> None:
        """Close every handle, even if one does not close."""
        with ExitStack() as closing:
            for store in self.opened:
                closing.callback(store.close)

    def study(self, length: int = 1, name: str = "study") -> tuple[str, list[Line]]:
        """Make a study; return its name and its log."""
        study, log = f"{name} {uuid.uuid4().hex}", [make_line(number) for number in range(1, length + 1)]
        self.store.create(study, log[0])
        if length > 1:
            self.store.append(study, log[1:], expected=1)
        return study, log

    def same(self, store: LogStore, study: str, log: list[Line], when: str) -> None:
        """Check that a log reads as it should."""
        read = [tuple(entry) for entry in store.read(study)]
        assert read == log, f"{when}, the log has {_shown(read)}; it must have {_shown(log)}"
        assert store.length(study) == len(log), f"{when}, the length is {store.length(study)} and not {len(log)}"

    def beginning(self) -> None:
        """Create, and create again."""
        assert isinstance(self.store.url, str), f"the url is {self.store.url!r}; it must be a text"
        before = self.store.studies()
        study, log = self.study()
        after = self.store.studies()
        assert study in after, f"studies() does not list {study!r}, which was created"
        assert set(before) <= set(after), "studies() lost a name"
        self.same(self.store, study, log, "after create")
        _raises(StudyExistsError, lambda: self.store.create(study, make_line(1)), "creating a study twice")
        self.same(self.store, study, log, "after creating it twice")
        other = f"other {uuid.uuid4().hex}"
        _raises(StudyError, lambda: self.store.create(other, make_line(2)), "beginning a log with entry 2")
        assert other not in self.store.studies(), "a log that could not begin is listed"

    def beginning_with_many(self) -> None:
        """Create a log of several entries, or none of it."""
        study, log = f"whole {uuid.uuid4().hex}", [make_line(number) for number in range(1, 5)]
        self.store.create(study, log[0], log[1:])
        self.same(self.store, study, log, "after create with several entries")
        for what, broken in (
            ("leaving out a number", [log[1], log[3]]),
            ("using a key twice", [log[1], log[2]._replace(key=log[1].key)]),
        ):
            other = f"other {uuid.uuid4().hex}"
            first = make_line(1)
            _raises(StudyError, partial(self.store.create, other, first, broken), f"creating a log and {what}")
            assert other not in self.store.studies(), f"a log that could not begin, for {what}, is listed"

    def reading(self) -> None:
        """Read from every place on."""
        study, log = self.study(length=5)
        for after in range(7):
            for limit in (None, 0, 1, 3, 10):
                read = [tuple(entry) for entry in self.store.read(study, after=after, limit=limit)]
                due = log[after:][:limit]
                assert read == due, f"read(after={after}, limit={limit}) gave {_shown(read)} and not {_shown(due)}"
        for line in log:
            found = self.store.find(study, line.key)
            assert found is not None, f"find() does not find entry {line.number} by its key"
            assert tuple(found) == line, f"find() gave {_shown([found])} and not {_shown([line])}"
            assert (found.number, found.key, found.hash, found.body) == line, "the fields of an entry are mixed up"
        assert self.store.find(study, "no such key") is None, "find() found a key that is not there"
        assert self.store.find(study, log[1].key.upper()) is None, "find() does not tell small from capital letters"

    def adding(self) -> None:
        """Add what fits, and what does not."""
        study, log = self.study(length=3)
        more = [make_line(4), make_line(5)]
        for expected in (0, 1, 2, 4):
            shifted = [line._replace(number=expected + 1 + n) for n, line in enumerate(more)]
            self.refused(study, log, shifted, expected, f"{expected} entries expected in a log of 3")
        for name, key in (("the first", log[0].key), ("the last", log[-1].key), ("the other new", more[0].key)):
            twice = [more[0], more[1]._replace(key=key)]
            self.refused(study, log, twice, 3, f"an entry with the key of {name} entry")
        _raises(StudyError, lambda: self.store.append(study, [make_line(5)], 3), "leaving out a number")
        self.same(self.store, study, log, "after leaving out a number")
        self.store.append(study, more, expected=3)
        self.same(self.store, study, log + more, "after an append that had been refused")
        self.same(self.open(), study, log + more, "through another handle, right after an append")
        assert self.store.find(study, more[1].key) is not None, "find() does not find an appended entry"
        self.store.append(study, [], expected=5)
        self.same(self.store, study, log + more, "after appending nothing")
        other, _ = self.study()
        self.store.append(other, [log[1]], expected=1)
        self.same(self.store, study, log + more, "after appending the same key to another study")

    def refused(self, study: str, log: list[Line], lines: list[Line], expected: int, what: str) -> None:
        """Check that an append meets a conflict and leaves nothing behind."""
        _raises(ConflictError, lambda: self.store.append(study, lines, expected), f"an append with {what}")
        self.same(self.store, study, log, f"after an append with {what}")
        for line in lines:
            found = self.store.find(study, line.key)
            known = found is None or tuple(found) in log
            assert known, f"after an append with {what}, find() gives one of the refused entries"

    def texts(self) -> None:
        """Keep odd names apart, and odd and large bodies whole."""
        marks = {name: make_line(1) for name in ODD_NAMES}
        for name, mark in marks.items():
            study = self.named(name)
            self.store.create(study, mark)
            lines = [make_line(2 + n, body) for n, body in enumerate(BODIES)] if name == ODD_NAMES[0] else []
            self.store.append(study, lines, expected=1)
        other = self.open()
        listed = other.studies()
        assert listed == sorted(listed), "studies() is not sorted"
        if hasattr(other, "listed"):
            check_pages(other, listed)
        for name, mark in marks.items():
            study = self.named(name)
            assert listed.count(study) == 1, f"studies() has {listed.count(study)} studies named {study!r}, not 1"
            assert tuple(other.read(study, limit=1)[0]) == mark, f"the log of {study!r} is that of another study"
        bodies = tuple(entry.body for entry in other.read(self.named(ODD_NAMES[0]), after=1))
        assert bodies == BODIES, "a body did not come back as it was written"

    def named(self, name: str) -> str:
        """Return an odd name that no other run of the kit uses."""
        return f"{name}{self.mark}{name}"

    def unknown(self) -> None:
        """Ask about a study that does not exist."""
        study, store = f"unknown {uuid.uuid4().hex}", self.store

        def exclusive() -> None:
            with store.exclusive(study):
                store.length(study)

        for what, call in {
            "length()": lambda: store.length(study),
            "read()": lambda: store.read(study),
            "read() of no entries": lambda: store.read(study, after=3, limit=0),
            "find()": lambda: store.find(study, "key"),
            "append()": lambda: store.append(study, [make_line(1)], 0),
            "exclusive()": exclusive,
            "cached()": lambda: store.cached(study, "snapshot"),
            "keep()": lambda: store.keep(study, "snapshot", b"content"),
        }.items():
            _raises(UnknownStudyError, call, f"{what} of a study that does not exist")
        assert study not in store.studies(), "asking about a study brought it about"

    def caches(self) -> None:
        """Keep caches, which may be forgotten but never mixed up."""
        (study, log), (other, _) = self.study(length=2), self.study()
        assert self.store.cached(study, "snapshot") is None, "a cache has something that nobody kept"
        for content in (b"\0\xff'\"" * 10, b"", b"0123456789" * 300_000):
            self.store.keep(study, "snapshot", content)
            self.store.keep(study, "Snapshot", b"another name")
            self.store.keep(other, "snapshot", b"another study")
            found = self.store.cached(study, "snapshot")
            assert found in (None, content), f"a cache of {len(content)} bytes came back as {found!r:.60}"
        self.same(self.store, study, log, "after keeping a cache")

    def swapping(self, threads: int, turns: int) -> None:
        """Take a cache in turns, if the store can."""
        able = [name for name in SWAPS if hasattr(self.store, name)]
        if not able:
            return
        assert len(able) == len(SWAPS), f"the store has {', '.join(able)}; it must have all of {', '.join(SWAPS)}"
        check_swaps(self.store, self.open(), self.study()[0])
        check_claims([self.open() for _ in range(threads)], self.study()[0], turns)
        unknown = f"unknown {uuid.uuid4().hex}"
        for what, call in {
            "swap()": lambda: self.store.swap(unknown, "name", None, b"content"),
            "kept()": lambda: self.store.kept(unknown),
            "forget()": lambda: self.store.forget(unknown, "name"),
        }.items():
            _raises(UnknownStudyError, call, f"{what} of a study that does not exist")

    def reopening(self) -> None:
        """Close the store and open it again."""
        study, log = self.study(length=4)
        self.close()
        self.opened.clear()
        self.store = self.open()
        assert study in self.store.studies(), "after closing and opening again, a study is gone"
        self.same(self.store, study, log, "after closing and opening again")
        self.refused(study, log, [make_line(5)._replace(key=log[1].key)], 4, "a key used before opening again")
        _raises(StudyExistsError, lambda: self.store.create(study, make_line(1)), "creating a study of before again")
        log.append(make_line(5))
        self.store.append(study, log[4:], expected=4)
        self.same(self.store, study, log, "after opening again and an append")

    def together(self, threads: int, appends: int) -> None:
        """Let threads write at the same time, through handles of their own and through one."""
        study, _ = self.study()
        other = self.open()
        for second in (self.store, other):
            check_exclusion(self.store, second, study)
            check_release(self.store, second, study)
        for stores in ([self.store] * threads, [self.open() for _ in range(threads)]):
            check_race(stores, study, appends)
            check_queue(stores, study, appends)


def _raises(kind: type[Exception], call: Callable[[], object], what: str) -> None:
    """Check that a call raises an error of a kind."""
    try:
        call()
    except kind:
        return
    except Exception as error:
        raise AssertionError(f"{what} raised {error!r}; it must raise {kind.__name__}") from error
    raise AssertionError(f"{what} raised nothing; it must raise {kind.__name__}")


def _shown(entries: Sequence[Any]) -> str:
    """Return entries without their bodies, and not too many of them."""
    short = ", ".join(f"{entry[0]} ({entry[1]!r:.20})" for entry in entries[:8])
    return f"{len(entries)} entries: {short}" + (", ..." if len(entries) > 8 else "")
