"""The kinds of files that are read, and who reads them."""

from __future__ import annotations

import io
import json
import random
import sqlite3
import struct
import tomllib
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tests.cli import castings
from tests.fuzz import logs, seeds
from tests.fuzz.mutations import altered, damaged, rearranged
from tests.studies.crowd import PROBLEMS

from proband import Discrete, Gaussian, Problem, draft
from proband.errors import ProbandError
from proband.instances.networks import load_network
from proband.planners.files import load_policy
from proband.policies import Tree
from proband.policies.rendering import text
from proband.problem_files import toml
from proband.tables import read_records

Change = Callable[[random.Random, bytes], bytes]
Read = Callable[[Path], object]


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes
    ----------
    ending : str
        Of the file's name.
    seeds : callable
        Returns the content of real ones.
    readers : tuple of callable
        Each reads the file, and raises nothing but our own errors.
    change : callable, optional
        Damages the structure of a file.
    share : float
        Of the cases that are damaged so; in the others, any bytes are.
    """

    ending: str
    seeds: Callable[[], list[bytes]]
    readers: tuple[Read, ...]
    change: Change | None = None
    share: float = 0.5

    def make(self, rng: random.Random) -> bytes:
        """Return a damaged file."""
        seed = rng.choice(self.seeds())
        if self.change is not None and rng.random() < self.share:
            return self.change(rng, seed)
        return damaged(rng, seed, self.seeds())

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


def _altered_toml(rng: random.Random, seed: bytes) -> bytes:
    content = altered(rng, tomllib.loads(seed.decode()))
    written = toml(content) if isinstance(content, dict) else f"a = {content!r}\n"
    return written.encode("utf-8", "surrogatepass")


def _altered_json(rng: random.Random, seed: bytes) -> bytes:
    return json.dumps(altered(rng, json.loads(seed))).encode()


def _repacked_npz(rng: random.Random, seed: bytes) -> bytes:
    """Damage an array of an archive, and pack it again as if nothing had happened."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(seed)) as archive, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as other:
        chosen = rng.choice(archive.namelist())
        for name in archive.namelist():
            content = archive.read(name)
            content = damaged(rng, content, [content]) if name == chosen else content
            other.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _repacked_mat(rng: random.Random, seed: bytes) -> bytes:
    """Damage a matrix, and compress it as if nothing had happened."""
    plain = seeds.covariances_mat()[0]
    packed = zlib.compress(damaged(rng, plain[128:], [plain[128:]]))
    return seed[:128] + struct.pack("<2I", 15, len(packed)) + packed


def _load_problem(path: Path) -> None:
    """Load a problem that comes back as it is when it is saved."""
    problem = Problem.load(path)
    problem.save(path)
    assert Problem.load(path) == problem


def _for(names: tuple[str, ...], read: Callable[[Path, Problem], object]) -> tuple[Read, ...]:
    """Read a file as one about each of some problems."""
    return tuple(lambda path, name=name: read(path, PROBLEMS[name]()) for name in names)  # type: ignore[misc]


def _follow(path: Path) -> None:
    tree = Tree.load(path)
    text(tree)
    tree.act(np.full((1, tree.problem.d), np.nan))
    json.dumps(tree.to_dict(), allow_nan=False)


def _rearranged_castings(rng: random.Random, seed: bytes) -> bytes:
    return rearranged(rng, seeds.castings_tables()[0])


def _castings(path: Path) -> None:
    Problem.from_dict(tomllib.loads(castings.PROBLEM)).records(path)


def _draft(path: Path) -> None:
    """Draft a problem that reads the table it was drafted from, once prices are filled in."""
    text = draft(path).text.replace('= "?"', "= 1.0")
    Problem.from_dict(tomllib.loads(text)).records(path)


def _sensors(path: Path) -> None:
    load_network(str(path), scale=1.0)


_COVARIANCE: tuple[Read, ...] = (*_for(("network",), Gaussian.load), _sensors)

KINDS: dict[str, Kind] = {
    "problem": Kind(".toml", seeds.problems, (_load_problem,), _altered_toml),
    "records": Kind(
        ".csv",
        seeds.records,
        (
            *_for(("bolts", "gout", "rods"), lambda path, problem: read_records(path, problem.tests)),
            lambda path: load_network(str(path), scale=1.0, records=True),
        ),
        rearranged,
    ),
    "law": Kind(".csv", seeds.laws, _for(("bolts", "gout", "vector"), Discrete.load), rearranged),
    "prices": Kind(
        ".csv", seeds.prices, (lambda path: load_network("network", costs=str(path), scale=1.0),), rearranged
    ),
    "workbook": Kind(
        ".xlsx",
        seeds.workbooks,
        (*_for(("bolts", "gout", "rods"), lambda path, problem: problem.records(path)), _castings, _draft),
        _repacked_npz,
    ),
    "spreadsheet": Kind(".csv", seeds.castings_tables, (_castings, _draft), _rearranged_castings),
    "parquet": Kind(
        ".parquet", seeds.parquets, _for(("bolts", "gout", "rods"), lambda path, problem: problem.records(path))
    ),
    "policy": Kind(".json", seeds.policies, (_follow,), _altered_json),
    "gaussian-policy": Kind(".json", seeds.gaussian_policies, (load_policy,), _altered_json),
    "covariance-csv": Kind(".csv", seeds.covariances_csv, _COVARIANCE, rearranged),
    "covariance-npy": Kind(".npy", seeds.covariances_npy, _COVARIANCE),
    "covariance-npz": Kind(".npz", seeds.covariances_npz, _COVARIANCE, _repacked_npz),
    "covariance-mat": Kind(".mat", seeds.covariances_mat, _COVARIANCE, _repacked_mat),
    "export": Kind(".jsonl", logs.exports, (logs.read_export,), logs.forged, share=0.8),
    "store": Kind(".db", logs.stores, (logs.read_store,), logs.damaged_store, share=0.7),
}


def case(name: str, seed: int, number: int) -> bytes:
    """Return the file of a case; always the same one."""
    rng = random.Random(f"{seed} {name} {number}")
    while True:
        try:
            return KINDS[name].make(rng)
        except (RecursionError, sqlite3.Error, OverflowError):  # this damage cannot be written down
            continue
