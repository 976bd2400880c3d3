"""Logs that lie: exports whose chain was repaired, and stores whose file was damaged."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from contextlib import closing
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.mutations import altered
from tests.fuzz.seeds import scratch, written
from tests.studies.crowd import PROBLEMS, Clock, Crowd

from proband.studies import Study, import_study
from proband.studies.ledger.chain import as_time
from proband.studies.stores import MemoryStore, SQLiteStore


@cache
def exports() -> list[bytes]:
    seeds = []
    for number, name in enumerate(PROBLEMS):
        crowd = Crowd(PROBLEMS[name](), "test-everything", np.random.default_rng(number), past=4)
        crowd.run(40)
        crowd.correct()
        crowd.reveal()
        crowd.void()
        crowd.studies[0].restart(reason="new supplier")
        head, *lines = written(crowd.studies[0].export, ".jsonl").splitlines()
        events = [
            json.loads(line) | {"time": as_time(1_700_000_000 + number), "actor": "QA"}
            for number, line in enumerate(lines)
        ]
        seeds.append(_chained(json.loads(head), events))
    return seeds


def _chained(head: Any, events: list[Any], *, renumber: bool = True, keyed: bool = True) -> bytes:
    """Return an export of these events: the chain is right, whatever they say."""
    previous, bodies = "0" * 64, []
    for number, event in enumerate(events, start=1):
        sealed = {"previous": previous, "number": number, "key": f"key {number}"}
        kept = {"previous", *(["number"] if renumber else []), *(["key"] if keyed else [])}
        content = event | {name: sealed[name] for name in kept} if isinstance(event, dict) else event
        bodies.append(json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
        previous = sha256(bodies[-1].encode("utf-8", "surrogatepass")).hexdigest()
    about = {**head, "length": len(bodies), "hash": previous} if isinstance(head, dict) and "hash" in head else head
    return "\n".join([json.dumps(about), *bodies, ""]).encode("utf-8", "surrogatepass")


def forged(rng: random.Random, seed: bytes) -> bytes:
    """Return an export with other events, and a chain that is right all the same."""
    head, *lines = seed.splitlines()
    events = [json.loads(line) for line in lines]
    for _ in range(rng.choice((1, 1, 2))):
        place, what = rng.randrange(len(events)), rng.random()
        if what < 0.75:
            events[place] = altered(rng, events[place])
        elif what < 0.85:
            del events[place]
        else:
            events.insert(rng.randrange(len(events) + 1), dict(events[place]) if isinstance(events[place], dict) else 0)
    about = json.loads(head)
    if rng.random() < 0.05:
        about = altered(rng, {**about, "length": len(events)})
    return _chained(about, events, renumber=rng.random() < 0.9, keyed=rng.random() < 0.5)


def read_export(path: Path) -> None:
    store = MemoryStore()
    import_study(path, store=store)
    [name] = store.studies()
    _look(Study.open(name, store=store, station="0", replan="never", clock=Clock()))


def _look(study: Study) -> None:
    """Ask a study for everything that it can tell, and go on with it."""
    with study:
        study.verify()
        study.subjects()
        study.table()
        study.records()
        study.summary(exploration=False)
        json.dumps([event.data for event in study.events()], allow_nan=False)
        study.replay()
        study.ask(study.arrive())


_STORED = {"bolts": 0, "gout": 1}
"""The studies of the stores, and their places among the exports."""


@cache
def stores() -> list[bytes]:
    seeds = []
    for name, place in _STORED.items():

        def write(path: Path, name: str = name, place: int = place) -> None:
            export = path.with_suffix(".jsonl")
            export.write_bytes(exports()[place])
            import_study(export, store=f"sqlite:///{path}")
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("UPDATE migrations SET time = 'once'")
                connection.execute("INSERT INTO cache VALUES (1, 'ledger', x'70726f62616e64')")

        seeds.append(written(write, ".db"))
    return seeds


_STATEMENTS = (
    "UPDATE entries SET body = x'00ff80' WHERE number = {n}",
    "UPDATE entries SET body = zeroblob(3000000) WHERE number = {n}",
    "UPDATE entries SET body = 7 WHERE number = {n}",
    "UPDATE entries SET body = CAST(x'c328' AS TEXT) WHERE number = {n}",
    "UPDATE entries SET hash = x'00' WHERE number = {n}",
    "UPDATE entries SET key = x'00' WHERE number = {n}",
    "UPDATE entries SET key = 'other' WHERE number = {n}",
    "UPDATE entries SET number = 'x' WHERE number = {n}",
    "UPDATE entries SET number = 1e300 WHERE number = {n}",
    "UPDATE entries SET number = -number WHERE number = {n}",
    "UPDATE entries SET study = 'x' WHERE number = {n}",
    "UPDATE entries SET number = number + 9223372036854775000 WHERE number > {n}",
    "DELETE FROM entries WHERE number = {n}",
    "DELETE FROM entries",
    "UPDATE studies SET name = x'ff00'",
    "UPDATE studies SET name = 5",
    "UPDATE studies SET name = CAST(x'ff41' AS TEXT)",
    "INSERT INTO studies (name) VALUES ('empty')",
    "UPDATE cache SET content = 5",
    "UPDATE cache SET content = 1e18",
    "UPDATE cache SET content = 999999999999",
    "UPDATE cache SET content = 'text'",
    "UPDATE cache SET content = zeroblob(3000000)",
    "DROP TABLE cache",
    "DROP TABLE migrations",
    "DROP TABLE entries",
    "DROP TABLE studies",
    "CREATE TABLE strangers (a)",
    "CREATE TRIGGER t BEFORE INSERT ON entries BEGIN SELECT RAISE(FAIL, 'no'); END",
    "PRAGMA user_version = 0",
    "PRAGMA user_version = 99",
    "PRAGMA application_id = 7",
)


def damaged_store(rng: random.Random, seed: bytes) -> bytes:
    """Return a store that was changed by SQL, or in bytes that are scattered over the file."""
    if rng.random() < 0.4:
        with scratch() as folder:
            path = folder / "case.db"
            path.write_bytes(seed)
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute(rng.choice(_STATEMENTS).format(n=rng.randrange(1, 60)))
            return path.read_bytes()
    changed = bytearray(seed)
    for _ in range(rng.choice((1, 4, 20, 100))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


@cache
def _bodies() -> set[tuple[str, ...]]:
    """The logs of the seeds."""
    return {tuple(exports()[place].decode().splitlines()[1:]) for place in _STORED.values()}


def read_store(path: Path) -> None:
    """Open what is there; what opens is what was written, as far as it goes."""
    own = path.with_name("own")
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir()
    shutil.copy(path, own / "case.db")
    store = SQLiteStore(str(own / "case.db"), deadline=5.0)
    try:
        for name in store.studies():
            study = Study.open(name, store=store, station="0", replan="never", clock=Clock())
            read = tuple(entry.body for entry in store.read(name))
            assert any(read == bodies[: len(read)] for bodies in _bodies()), "the log was altered silently"
            _look(study)
    finally:
        store.close()
