"""The kinds of files that are read, real ones of each kind, and who reads them."""

from __future__ import annotations

import io
import json
import random
import shutil
import sqlite3
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from proband.planners.gaussian.files import load_plan, save_plan
from scipy.io import savemat
from tests.fuzz.mutations import altered, damaged, rearranged
from tests.studies.crowd import PROBLEMS, Clock, Crowd

from proband import Discrete, Gaussian, Problem, plan
from proband.cli.sensors import load_network
from proband.errors import ProbandError
from proband.instances import INSTANCES, PACKAGED, problem_text
from proband.policies import Tree
from proband.policies.rendering import text
from proband.problem_files.toml import toml
from proband.studies import Study, import_study
from proband.studies.spreadsheets import read_past
from proband.studies.stores import MemoryStore, SQLiteStore
from proband.tables import read_records


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes
    ----------
    ending : str
        Of the file's name.
    make : callable
        Returns the bytes of a damaged file.
    readers : tuple of callable
        Each reads the file, and raises nothing but our own errors.
    """

    ending: str
    make: Callable[[random.Random], bytes]
    readers: tuple[Callable[[Path], object], ...]

    def read(self, path: Path) -> bool:
        """Let every reader read a file; return whether one of them took it for right."""
        accepted = False
        for reader in self.readers:
            try:
                reader(path)
                accepted = True
            except ProbandError:
                pass
        return accepted


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def _written(write: Callable[[Path], object], ending: str) -> bytes:
    """Return what a function writes to a path."""
    with _folder() as folder:
        path = folder / f"seed{ending}"
        write(path)
        return path.read_bytes()


def _either(
    rng: random.Random, seeds: list[bytes], change: Callable[[random.Random, bytes], bytes], share: float = 0.5
) -> bytes:
    """Return a file whose bytes are damaged, or whose structure is."""
    seed = rng.choice(seeds)
    return change(rng, seed) if rng.random() < share else damaged(rng, seed, seeds)


def _network() -> Problem:
    return PROBLEMS["network"]()


@cache
def _problem_seeds() -> list[bytes]:
    packaged = [problem_text(name).encode() for name in PACKAGED]
    return packaged + [_written(make().save, ".toml") for make in PROBLEMS.values()]


def _altered_toml(rng: random.Random, seed: bytes) -> bytes:
    content = altered(rng, tomllib.loads(seed.decode()))
    written = toml(content) if isinstance(content, dict) else f"a = {content!r}\n"
    return written.encode("utf-8", "surrogatepass")


def _altered_json(rng: random.Random, seed: bytes) -> bytes:
    return json.dumps(altered(rng, json.loads(seed))).encode()


@cache
def _law_seeds() -> list[bytes]:
    rng, seeds = np.random.default_rng(1), []
    for name in ("bolts", "gout", "vector"):
        problem = PROBLEMS[name]()
        law = Discrete.from_weights(rng.integers(0, problem.k, size=(20, problem.d)), rng.exponential(size=20))
        seeds.append(_written(lambda path, problem=problem, law=law: law.save(path, problem), ".csv"))  # type: ignore[misc]
    return seeds


@cache
def _record_seeds() -> list[bytes]:
    measured = b"length,width\n1.5,2.25\n,3\n1e-3,NA\n-4,5\n"
    listed = [b"\n".join(line.rpartition(b",")[0] for line in seed.splitlines()) for seed in _law_seeds()]
    return [measured, *listed, b"visual;weight;ultrasonic\nclean;;ok\nrusty;heavy;\n"]


@cache
def _parquet_seeds() -> list[bytes]:
    import pyarrow
    from pyarrow import csv, parquet

    seeds = []
    for seed in _record_seeds():
        table = csv.read_csv(pyarrow.BufferReader(seed))
        for compression in ("none", "snappy"):
            buffer = io.BytesIO()
            parquet.write_table(table, buffer, compression=compression)
            seeds.append(buffer.getvalue())
    return seeds


@cache
def _policy_seeds() -> list[bytes]:
    rng, seeds = np.random.default_rng(2), []
    for name in ("bolts", "gout", "vector"):
        problem = PROBLEMS[name]()
        law = Discrete.from_weights(rng.integers(0, problem.k, size=(20, problem.d)), rng.exponential(size=20))
        seeds.append(_written(plan(problem, law).tree().save, ".json"))
    return seeds


def _follow(path: Path) -> None:
    tree = Tree.load(path)
    text(tree)
    tree.act(np.full((1, tree.problem.d), np.nan))
    json.dumps(tree.to_dict(), allow_nan=False)


@cache
def _gaussian_seeds() -> list[bytes]:
    seeds = []
    for law in (Gaussian([0.0, 0.1], [[1.0, 0.3], [0.3, 2.0]]), Gaussian([1.0, -1.0], [[0.5, 0.0], [0.0, 0.1]])):
        found: Any = plan(PROBLEMS["rods"](), law)
        seeds.append(_written(lambda path, found=found: save_plan(found, path), ".json"))  # type: ignore[misc]
    return seeds


@cache
def _matrices() -> list[np.ndarray[Any, Any]]:
    small = Gaussian([0.0] * 3, [[2.0, 0.5, 0.1], [0.5, 1.0, 0.0], [0.1, 0.0, 3.0]]).covariance
    found = INSTANCES["network"]().distribution
    assert isinstance(found, Gaussian)
    return [small, found.covariance]


@cache
def _csv_seeds() -> list[bytes]:
    law = Gaussian([1.0, 2.0, 3.0], _matrices()[0])
    plain = "\n".join(",".join(map(repr, row)) for row in _matrices()[0].tolist()).encode()
    named = b"a,c,b\n" + plain
    return [_written(lambda path: law.save(path, _network()), ".csv"), plain, named]


@cache
def _npy_seeds() -> list[bytes]:
    small, large = _matrices()
    arrays = [small, large, small.astype(">f4"), np.asfortranarray(small), small.round().astype(np.int16)]
    return [_written(lambda path, array=array: np.save(path, array), ".npy") for array in arrays]  # type: ignore[misc]


@cache
def _npz_seeds() -> list[bytes]:
    small, large = _matrices()
    return [
        _written(lambda path: np.savez(path, C=small, mean=np.arange(3.0)), ".npz"),
        _written(lambda path: np.savez_compressed(path, Sigma=large, names=np.array(["a", "b"])), ".npz"),
    ]


@cache
def _mat_seeds() -> list[bytes]:
    small, large = _matrices()
    content = {"C": small, "mean": np.arange(3.0), "title": "three sites", "extra": {"a": 1}}
    seeds = [
        _written(lambda path: savemat(path, content), ".mat"),
        _written(lambda path: savemat(path, content, do_compression=True), ".mat"),
        _written(lambda path: savemat(path, {"C": large.astype(np.float32)}, do_compression=True), ".mat"),
        _written(lambda path: savemat(path, {"C": small.round().astype(np.int8)}), ".mat"),
        _written(lambda path: savemat(path, {"C": small, "mean": np.arange(3.0)}, format="4"), ".mat"),
    ]
    return [b"MATLAB 5.0 MAT-file".ljust(116) + seed[116:] if seed[:6] == b"MATLAB" else seed for seed in seeds]


def _covariance(make: Callable[[random.Random], bytes], ending: str) -> Kind:
    def load(path: Path) -> None:
        Gaussian.load(path, _network())

    def sensors(path: Path) -> None:
        load_network(str(path), None, 1.0, records=False)

    return Kind(ending, make, (load, sensors))


_PRICES = (
    b"site,cost,group,group_cost\n"
    + b"".join(f"{test.name},1.5,,\n".encode() for test in INSTANCES["network"]().problem.tests[1:])
    + INSTANCES["network"]().problem.tests[0].name.encode()
    + b",2,pump,1\n"
)


@cache
def _export_seeds() -> list[bytes]:
    seeds = []
    for number, name in enumerate(PROBLEMS):
        crowd = Crowd(PROBLEMS[name](), "test-everything", np.random.default_rng(number), past=4)
        crowd.run(40)
        crowd.correct()
        crowd.reveal()
        crowd.void()
        crowd.studies[0].restart(reason="new supplier")
        head, *lines = _written(crowd.studies[0].export, ".jsonl").splitlines()
        seeds.append(_chained(json.loads(head), [json.loads(line) for line in lines]))
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


def _forged(rng: random.Random, seed: bytes) -> bytes:
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


def _import(path: Path) -> None:
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
def _store_seeds() -> list[bytes]:
    seeds = []
    for name, place in _STORED.items():

        def write(path: Path, name: str = name, place: int = place) -> None:
            export = path.with_suffix(".jsonl")
            export.write_bytes(_export_seeds()[place])
            import_study(export, store=f"sqlite:///{path}")
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("UPDATE migrations SET time = 'once'")
                connection.execute("INSERT INTO cache VALUES (1, 'ledger', x'70726f62616e64')")

        seeds.append(_written(write, ".db"))
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


def _damaged_store(rng: random.Random) -> bytes:
    seed = rng.choice(_store_seeds())
    if rng.random() < 0.3:
        with _folder() as folder:
            path = folder / "case.db"
            path.write_bytes(seed)
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute(rng.choice(_STATEMENTS).format(n=rng.randrange(1, 60)))
            return path.read_bytes()
    if rng.random() < 0.4:
        return damaged(rng, seed, _store_seeds())
    changed = bytearray(seed)
    for _ in range(rng.choice((1, 4, 20, 100))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


@cache
def _bodies() -> set[tuple[str, ...]]:
    """The logs of the seeds."""
    return {tuple(_export_seeds()[place].decode().splitlines()[1:]) for place in _STORED.values()}


def _open_store(path: Path) -> None:
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


KINDS: dict[str, Kind] = {
    "problem": Kind(".toml", lambda rng: _either(rng, _problem_seeds(), _altered_toml), (Problem.load,)),
    "records": Kind(
        ".csv",
        lambda rng: _either(rng, _record_seeds(), rearranged),
        tuple(
            lambda path, name=name: read_records(path, PROBLEMS[name]().tests)  # type: ignore[misc]
            for name in ("bolts", "gout", "rods")
        )
        + (lambda path: load_network(str(path), None, 1.0, records=True),),
    ),
    "law": Kind(
        ".csv",
        lambda rng: _either(rng, _law_seeds(), rearranged),
        tuple(lambda path, name=name: Discrete.load(path, PROBLEMS[name]()) for name in ("bolts", "gout", "vector")),  # type: ignore[misc]
    ),
    "prices": Kind(
        ".csv",
        lambda rng: _either(rng, [_PRICES], rearranged),
        (lambda path: load_network("network", str(path), 1.0, records=False),),
    ),
    "parquet": Kind(
        ".parquet",
        lambda rng: damaged(rng, rng.choice(_parquet_seeds()), _parquet_seeds()),
        tuple(lambda path, name=name: read_past(path, PROBLEMS[name]()) for name in ("bolts", "rods")),  # type: ignore[misc]
    ),
    "policy": Kind(".json", lambda rng: _either(rng, _policy_seeds(), _altered_json), (_follow,)),
    "gaussian-policy": Kind(".json", lambda rng: _either(rng, _gaussian_seeds(), _altered_json), (load_plan,)),
    "covariance-csv": _covariance(lambda rng: _either(rng, _csv_seeds(), rearranged), ".csv"),
    "covariance-npy": _covariance(lambda rng: damaged(rng, rng.choice(_npy_seeds()), _npy_seeds()), ".npy"),
    "covariance-npz": _covariance(lambda rng: damaged(rng, rng.choice(_npz_seeds()), _npz_seeds()), ".npz"),
    "covariance-mat": _covariance(lambda rng: damaged(rng, rng.choice(_mat_seeds()), _mat_seeds()), ".mat"),
    "export": Kind(".jsonl", lambda rng: _either(rng, _export_seeds(), _forged, share=0.8), (_import,)),
    "store": Kind(".db", _damaged_store, (_open_store,)),
}


def case(name: str, seed: int, number: int) -> bytes:
    """Return the file of a case; always the same one."""
    rng = random.Random(f"{seed} {name} {number}")
    while True:
        try:
            return KINDS[name].make(rng)
        except (RecursionError, sqlite3.Error, OverflowError):  # this damage cannot be written down
            continue
