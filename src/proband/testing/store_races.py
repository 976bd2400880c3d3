"""Threads at one log: what happens when several write at the same time, with an exclusive block and without.

No check here rests on how fast anything is: something that must wait is watched for a moment, and something that must
come is waited for until it can only be stuck.
"""

from __future__ import annotations

import hashlib
import threading
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from proband.errors import ConflictError

LogStore = Any
"""What is checked, as :class:`proband.studies.stores.Store` describes it, above this kit."""

SECONDS = 30.0
"""After which something that should come is taken for stuck."""

MOMENT = 0.1
"""For which something that should wait is watched, in seconds."""


class Line(NamedTuple):
    """An entry, as :class:`proband.studies.stores.Entry` describes it."""

    number: int
    key: str
    hash: str
    body: str


def make_line(number: int, body: str | None = None) -> Line:
    """Return an entry with a key of its own."""
    key = f"key {uuid.uuid4().hex}"
    body = f'{{"number":{number},"key":"{key}"}}' if body is None else body
    return Line(number, key, hashlib.sha256(body.encode()).hexdigest(), body)


class Worker:
    """A thread, and what came of it."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._value: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> Worker:
        """Begin."""
        self._thread.start()
        return self

    def done(self, seconds: float) -> bool:
        """Wait for some seconds; return whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def result(self, what: str) -> Any:
        """Wait for it; return its value, or raise AssertionError if it raised or is stuck."""
        assert self.done(SECONDS), f"{what} is stuck: it did not end in {SECONDS:g} seconds"
        if self._error is not None:
            raise AssertionError(f"{what} raised {self._error!r}") from self._error
        return self._value

    def _run(self) -> None:
        try:
            self._value = self._call()
        except BaseException as error:
            self._error = error


def check_exclusion(store: LogStore, other: LogStore, study: str) -> None:
    """Let one thread hold a study while another wants to add to it, through a handle of its own or the same."""
    line = make_line(store.length(study) + 1)
    intruder = Worker(lambda: other.append(study, [line], line.number - 1))
    with store.exclusive(study):
        length = Worker(lambda: other.length(study)).start().result("reading while another thread has its turn")
        assert length == line.number - 1, "in an exclusive block, another thread reads a wrong length"
        intruder.start()
        assert not intruder.done(MOMENT), "in an exclusive block, an append of another thread got in"
    intruder.result("an append that waited for an exclusive block")
    assert store.length(study) == line.number, "an append that waited for an exclusive block is lost"


def check_release(store: LogStore, other: LogStore, study: str) -> None:
    """Raise in an exclusive block, and see that the next one gets in."""
    try:
        with store.exclusive(study):
            raise RuntimeError("a fault of the caller")
    except RuntimeError:
        pass
    line = make_line(store.length(study) + 1)

    def write() -> None:
        with other.exclusive(study):
            other.append(study, [line], line.number - 1)

    Worker(write).start().result("an exclusive block after one that raised")
    assert store.length(study) == line.number, "an append in an exclusive block is lost"


def check_race(stores: Sequence[LogStore], study: str, appends: int) -> None:
    """Let threads add without a turn: each append gets in or meets a conflict, and is tried again."""
    race(stores, study, lambda store: [_add_at_last(store, study) for _ in range(appends)], "adding side by side")


def check_queue(stores: Sequence[LogStore], study: str, appends: int) -> None:
    """Let threads add in exclusive blocks: no append meets a conflict."""

    def add(store: LogStore) -> list[Line]:
        lines = []
        for _ in range(appends):
            with store.exclusive(study):
                lines.append(make_line(store.length(study) + 1))
                store.append(study, lines[-1:], lines[-1].number - 1)
        return lines

    race(stores, study, add, "adding in exclusive blocks")


def check_swaps(store: LogStore, other: LogStore, study: str) -> None:
    """Swap what is kept under a name, and what is not, through two handles."""
    one, two, name = b"one", b"\0two" * 50_000, "claim"
    for expected, content, due in (
        (b"", one, False), (None, one, True), (None, two, False), (two, one, False), (one, two, True),
        (two, None, True), (two, None, False), (None, None, True), (None, two, True), (None, None, False),
    ):  # fmt: skip
        before = other.cached(study, name)
        done = store.swap(study, name, expected, content)
        shown = f"swap() of {before!r:.20} for {content!r:.20}, with {expected!r:.20} expected,"
        assert done is due, f"{shown} returned {done} and not {due}"
        after = other.cached(study, name)
        assert after == (content if due else before), f"{shown} left {after!r:.20}"
        store, other = other, store
    store.keep(study, "a", b"content")
    assert other.kept(study) == ["a", name], f"kept() gave {other.kept(study)} and not {['a', name]}"
    for kept in ("a", "a", name):
        other.forget(study, kept)
    assert store.kept(study) == [], f"after forget(), kept() gives {store.kept(study)}"


def check_pages(store: LogStore, names: list[str]) -> None:
    """List the studies of a store in pages."""
    found, after = [], ""
    while page := store.listed(after, 7):
        assert len(page) <= 7, f"listed() gave {len(page)} names, and 7 were asked for"
        found += [tuple(each) for each in page]
        after = page[-1][0]
    assert [name for name, _, _ in found] == names, "listed() gives other names than studies(), or in another order"
    for name, first, last in found[:30]:
        ends = [tuple(store.read(name, place, 1)[0]) for place in (0, store.length(name) - 1)]
        assert [tuple(first), tuple(last)] == ends, f"listed() gives other entries of {name!r} than read()"


def check_claims(stores: Sequence[LogStore], study: str, turns: int) -> None:
    """Let a thread for each store count in a cache: no turn is lost, and none is taken twice."""

    def count(store: LogStore) -> list[int]:
        taken: list[int] = []
        while len(taken) < turns:
            seen = store.cached(study, "count")
            number = int(seen or b"0") + 1
            if store.swap(study, "count", seen, b"%d" % number):
                taken.append(number)
        return taken

    workers = [Worker(partial(count, store)).start() for store in stores]
    taken = sorted(number for worker in workers for number in worker.result("swapping"))
    assert taken == list(range(1, turns * len(stores) + 1)), "of several who swapped the same cache, not one succeeded"


def race(stores: Sequence[LogStore], study: str, add: Callable[[LogStore], list[Line]], what: str) -> None:
    """Let one thread for each store add entries; check that exactly those are in the log that were acknowledged."""
    before = [tuple(entry) for entry in stores[0].read(study)]
    workers = [Worker(partial(add, store)).start() for store in stores]
    acknowledged = [tuple(line) for worker in workers for line in worker.result(what)]
    log = [tuple(entry) for entry in stores[0].read(study)]
    numbers = [number for number, *_ in log]
    assert numbers == list(range(1, len(log) + 1)), f"after {what}, entries are numbered {numbers}"
    assert log[: len(before)] == before, f"after {what}, entries of before are others"
    lost = set(acknowledged) - set(log)
    assert not lost, f"after {what}, {len(lost)} acknowledged entries are lost"
    assert len(log) == len(before) + len(acknowledged), f"after {what}, there are entries that nobody was told of"


def _add_at_last(store: LogStore, study: str) -> Line:
    for _ in range(10_000):
        line = make_line(store.length(study) + 1)
        try:
            store.append(study, [line], line.number - 1)
        except ConflictError:
            continue
        return line
    raise AssertionError("10,000 appends met a conflict, each with the length just read")
