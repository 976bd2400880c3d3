"""Snapshots: the folded ledger kept beside the log, so that opening a long study is quick.

A snapshot is a cache and nothing rests on it. It carries the position of the log and the hash there, and a digest of
both and of its content. Opening takes it only if the log has this very entry, the digest is right, the same fold wrote
it, it begins like the log, and its parts fit each other; whatever else it is, it is ignored, and the log is folded.
Whoever may write to the store can alter a snapshot and its digest: that the content is what the log says is checked by
folding, when a study is verified or replayed (an audit). Arrays go into NumPy's format, the rest
into JSON; nothing is ever unpickled.

An audit compares what is held beside the log with what the log says. Two things are held: the snapshot in the store,
and the ledger of the process that asks, which may have been opened from a snapshot that was altered, or before somebody
put another log in the place of this one. Both are copied first; the log is folded from its first entry; and where the
fold comes to the position of a copy, the two must be equal.
"""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proband.errors import ProbandError, TamperedError
from proband.studies.ledger.chain import Event, as_seconds, unseal
from proband.studies.ledger.columns import ARRAYS
from proband.studies.ledger.ledger import VOIDING, Amendment, Clock, Imported, Ledger
from proband.studies.log.fold import followed
from proband.studies.stores.contract import Entry, Store
from proband.vocabulary import as_states

NAME = "ledger"
FOLD = 2
"""Counts the changes of the fold: a snapshot of another fold is ignored."""

_FACTS = ("position", "hash", "time", "restarts", "forcing", "kinds")
_HEAD = f"proband ledger {FOLD} ".encode()

EVERY = 20_000
"""Events before the first snapshot, and between two at least; a long log grows by a quarter in between."""

WORTH = 2_000
"""Events since the last snapshot that make one worth while when a study is closed."""

Frozen = dict[str, NDArray[Any]]

SNAPSHOT, HELD = "the snapshot kept beside the log", "what this process has of the study"


def next_milestone(position: int) -> int:
    """Return the next place of a log after a position where a snapshot is due.

    Whoever writes the event there makes it, so that of many stations one does.

    Examples
    --------
    >>> next_milestone(19_999), next_milestone(20_000), next_milestone(200_000)
    (20000, 40000, 244140)
    """
    milestone = EVERY
    while milestone <= position:
        milestone += max(EVERY, milestone // 4)
    return milestone


def keep_snapshot(store: Store, study: str, ledger: Ledger, lock: threading.RLock) -> None:
    """Keep a snapshot; a store that cannot is left alone, since nothing rests on it."""
    with lock:
        frozen = freeze(ledger)
    with suppress(ProbandError):
        store.keep(study, NAME, pack(frozen))


def snapshot_position(store: Store, study: str) -> int:
    """Return the position of the kept snapshot; 0 if there is none."""
    with suppress(ProbandError, ValueError, IndexError):
        return int((store.cached(study, NAME) or b"").partition(b"\n")[0].split(b" ")[3])
    return 0


def load_snapshot(store: Store, study: str) -> Ledger | None:
    """Return the ledger of a snapshot that fits the log; None if there is none.

    One of this fold that does not fit is emptied, so that another one is kept in its place.
    """
    content = store.cached(study, NAME)
    if not content:
        return None
    ledger = load(content)
    if ledger is not None:
        first, last = store.read(study, 0, 1), store.read(study, ledger.position - 1, 1)
        if last and last[0].hash == ledger.hash and unseal(first[0]).data == ledger.creation:
            return ledger
    if content.startswith(_HEAD):
        with suppress(ProbandError):
            store.keep(study, NAME, b"")
    return None


def freeze(ledger: Ledger) -> Frozen:
    """Return copies of all that a ledger holds; quick, since nobody may change it meanwhile."""
    columns = ledger.columns
    facts = {
        "founding": ledger.creation,
        **{name: getattr(ledger, name) for name in _FACTS},
        **{name: getattr(columns, name) for name in ("names", "holders", "decisions")},
        "clock": ledger.clock,
        "imports": [[imported.number, imported.source] for imported in ledger.imports],
    }
    frozen: Frozen = {
        "facts": np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8),
        "open": np.array(list(ledger.open), dtype=np.int64),
        "order": np.array(ledger.order, dtype=np.int64),
        "ended": np.array(ledger.ended, dtype=np.int64),
        "amendments": np.array(ledger.amendments, dtype=np.float64).reshape(-1, len(Amendment._fields)),
        **{f"column {name}": array.copy() for name, array in columns.content().items()},
    }
    for n, imported in enumerate(ledger.imports):
        frozen |= {f"{name} {n}": getattr(imported, name) for name in ("outcomes", "counts", "chances")}
    return frozen


def pack(frozen: Frozen) -> bytes:
    """Return a frozen ledger as bytes."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **frozen)
    payload = buffer.getvalue()
    facts = json.loads(frozen["facts"].tobytes())
    head = _HEAD + f"{facts['position']} {facts['hash']} ".encode()
    return head + _digest(head + payload) + b"\n" + payload


def load(content: bytes) -> Ledger | None:
    """Return the ledger of :func:`pack`; None if the bytes are damaged, of another fold, or no ledger."""
    head, _, payload = content.partition(b"\n")
    start, blank, digest = head.rpartition(b" ")
    if not head.startswith(_HEAD) or digest != _digest(start + blank + payload):
        return None
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as arrays:
            ledger = _thawed(arrays)
    except Exception:  # whatever an altered archive makes of NumPy, zlib or us: the log is folded instead
        return None
    return ledger if start == _HEAD + f"{ledger.position} {ledger.hash}".encode() else None


def same(one: Frozen, other: Frozen) -> bool:
    """Return whether two frozen ledgers are equal."""
    return one.keys() == other.keys() and all(
        np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f") for name in one
    )


class Audit:
    """A comparison of what is held, in the store and by the process that asks (with its lock), with the log."""

    def __init__(self, store: Store, study: str, held: Ledger, lock: threading.RLock) -> None:
        self._store, self._study = store, study
        self._content = store.cached(study, NAME)
        kept = load(self._content) if self._content else None
        with lock:
            self._copies: dict[str, tuple[int, Frozen]] = {HELD: (held.position, freeze(held))}
        if kept is not None:
            self._copies[SNAPSHOT] = kept.position, freeze(kept)
        self._places = {position for position, _ in self._copies.values()}
        self._ledger: Ledger | None = None
        self._wrong: dict[str, int] = {}

    def fold(self, entry: Entry, event: Event) -> None:
        """Fold the next entry of the log, and compare."""
        self.compare(followed(self._ledger, entry, event))

    def compare(self, ledger: Ledger) -> None:
        """Compare what is held with a ledger that follows the log, entry by entry."""
        self._ledger = ledger
        if ledger.position not in self._places:
            return
        folded = freeze(ledger)
        for what, (position, frozen) in self._copies.items():
            if position == ledger.position and not same(frozen, folded):
                self._wrong[what] = position

    def settle(self) -> None:
        """Raise if something that is held differs from the log, after keeping a snapshot of the fold in its place."""
        altered = SNAPSHOT in self._wrong and self._store.cached(self._study, NAME) == self._content
        if altered and self._ledger is not None:
            keep_snapshot(self._store, self._study, self._ledger, threading.RLock())
        if self._wrong:
            told = " and ".join(f"{what}, as of entry {position}," for what, position in self._wrong.items())
            raise TamperedError(
                f"the log of study {self._study!r} is whole, but {told} is not what it says; it was altered, or the "
                "log was replaced since, and answers of whoever opened the study meanwhile may be wrong; the snapshot "
                "was made anew: open the study again at every station, and find out who can write to the store"
            )


def _digest(content: bytes) -> bytes:
    return sha256(content).hexdigest().encode()


def _thawed(arrays: Mapping[str, NDArray[Any]]) -> Ledger:
    """Return a ledger after checking that its parts fit each other."""
    facts = json.loads(arrays["facts"].tobytes())
    ledger = Ledger.begun(facts["founding"])
    for name in _FACTS:
        setattr(ledger, name, facts[name])
    ledger.clock = [Clock(*entry) for entry in facts["clock"]]
    columns = {name: arrays[f"column {name}"] for name in ARRAYS}
    _check_shapes(columns.values(), len(facts["names"]), ledger.problem.d)
    ledger.columns.fill(columns, facts["names"], facts["holders"], facts["decisions"])
    ledger.index = {name: i for i, name in enumerate(facts["names"])}
    ledger.open = dict.fromkeys(arrays["open"].tolist())
    ledger.order, ledger.ended = arrays["order"].tolist(), arrays["ended"].tolist()
    ledger.amendments = [
        Amendment(int(number), int(subject), int(test), was, chance)
        for number, subject, test, was, chance in arrays["amendments"].tolist()
    ]
    ledger.imports = [
        Imported(number, arrays[f"outcomes {n}"], arrays[f"counts {n}"], arrays[f"chances {n}"], source)
        for n, (number, source) in enumerate(facts["imports"])
    ]
    _check_parts(ledger)
    return ledger


def _check_shapes(columns: Iterable[NDArray[Any]], n: int, d: int) -> None:
    wanted = [((n, d) if kind.wide else (n,), np.dtype(kind.type)) for kind in ARRAYS.values()]
    if [(column.shape, column.dtype) for column in columns] != wanted:
        raise ValueError("columns of other shapes")


def _check_parts(ledger: Ledger) -> None:
    """Raise ValueError if a part points at something that is not there."""
    columns, n = ledger.columns, len(ledger.columns)
    as_states(columns.rows[:n], ledger.problem.tests)
    for imported in ledger.imports:
        u = len(as_states(imported.outcomes, ledger.problem.tests))
        if imported.counts.shape != (u,) or imported.chances.shape != (u,):
            raise ValueError("imported records of other shapes")
    subjects = {*ledger.open, *ledger.order, *(amendment.subject for amendment in ledger.amendments)}
    tests = {amendment.test for amendment in ledger.amendments}
    fits = (
        len(ledger.index) == len(columns.holders) == len(columns.decisions) == n,
        len(ledger.order) == len(ledger.ended),
        not subjects or 0 <= min(subjects) <= max(subjects) < n,
        tests <= {VOIDING, *range(ledger.problem.d)},
        sum(ledger.kinds.values()) == ledger.position,
        all(isinstance(text, str) for text in (*columns.names, *columns.holders)),
    )
    as_seconds(ledger.time)
    if not all(fits):
        raise ValueError("parts that do not fit each other")
