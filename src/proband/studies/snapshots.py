"""Snapshots: the folded ledger kept beside the log, so that opening a long study is quick.

A snapshot is a cache and nothing rests on it. It carries the position of the log and the hash there; it is taken only
if the log has this very entry, its own digest is right and it was written by the same fold, and is ignored otherwise.
Arrays go into NumPy's format, the rest into JSON; nothing is ever unpickled.
"""

from __future__ import annotations

import io
import json
import threading
from contextlib import suppress
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proband.errors import ProbandError
from proband.studies.columns import ARRAYS
from proband.studies.ledger import Amendment, Clock, Imported, Ledger
from proband.studies.names import problem_from_dict
from proband.studies.stores.contract import Store

NAME = "ledger"
FOLD = 2
"""Counts the changes of the fold: a snapshot of another fold is ignored."""

EVERY = 20_000
"""Events before the first snapshot, and between two at least; a long log grows by a quarter in between."""

WORTH = 2_000
"""Events since the last snapshot that make one worth while when a study is closed."""

Frozen = dict[str, NDArray[Any]]


def milestone_between(before: int, after: int) -> bool:
    """Return whether a log that grew from one length to another passed a place where a snapshot is due.

    Whoever writes the event there makes it, so that of many stations one does.

    Examples
    --------
    >>> milestone_between(19_999, 20_000), milestone_between(20_000, 39_999)
    (True, False)
    """
    milestone = EVERY
    while milestone <= before:
        milestone += max(EVERY, milestone // 4)
    return milestone <= after


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
    """Return the ledger of a snapshot that fits the log; None if there is none."""
    content = store.cached(study, NAME)
    ledger = None if content is None else load(content)
    if ledger is None:
        return None
    last = store.read(study, ledger.position - 1, 1)
    return ledger if last and last[0].hash == ledger.hash else None


def freeze(ledger: Ledger) -> Frozen:
    """Return copies of all that a ledger holds; quick, since nobody may change it meanwhile."""
    columns = ledger.columns
    facts = {
        "founding": ledger.founding,
        "position": ledger.position,
        "hash": ledger.hash,
        "time": ledger.time,
        "names": columns.names,
        "holders": columns.holders,
        "decisions": columns.decisions,
        "restarts": ledger.restarts,
        "forcing": ledger.forcing,
        "clock": ledger.clock,
        "kinds": ledger.kinds,
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
        frozen |= {
            f"outcomes {n}": imported.outcomes,
            f"counts {n}": imported.counts,
            f"chances {n}": imported.chances,
        }
    return frozen


def pack(frozen: Frozen) -> bytes:
    """Return a frozen ledger as bytes."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **frozen)
    payload = buffer.getvalue()
    position = json.loads(frozen["facts"].tobytes())["position"]
    return f"proband ledger {FOLD} {position} {sha256(payload).hexdigest()}\n".encode() + payload


def load(content: bytes) -> Ledger | None:
    """Return the ledger of :func:`pack`; None if the bytes are damaged or of another fold."""
    head, _, payload = content.partition(b"\n")
    words = head.decode("ascii", "replace").split(" ")
    if words[:3] != ["proband", "ledger", str(FOLD)] or words[4:] != [sha256(payload).hexdigest()]:
        return None
    with np.load(io.BytesIO(payload), allow_pickle=False) as arrays:
        facts = json.loads(arrays["facts"].tobytes())
        ledger = Ledger(problem_from_dict(facts["founding"]["problem"]), facts["founding"])
        for name in ("position", "hash", "time", "restarts", "forcing", "kinds"):
            setattr(ledger, name, facts[name])
        ledger.clock = [Clock(*entry) for entry in facts["clock"]]
        columns = {name: arrays[f"column {name}"] for name in ARRAYS}
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
    return ledger
