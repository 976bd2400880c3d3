"""Real files of each kind, made once, always the same ones."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import savemat
from tests.cli import castings
from tests.studies.crowd import PROBLEMS
from tests.tables.formats import FORMATS, workbook

from proband import Discrete, Gaussian, plan
from proband.instances import INSTANCES, PACKAGED, problem_text
from proband.planners.files import save_policy


@contextmanager
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def written(write: Callable[[Path], object], ending: str) -> bytes:
    """Return what a function writes to a path."""
    with scratch() as folder:
        path = folder / f"seed{ending}"
        write(path)
        return path.read_bytes()


@cache
def problems() -> list[bytes]:
    packaged = [problem_text(name).encode() for name in PACKAGED]
    return [*packaged, castings.PROBLEM.encode(), *(written(make().save, ".toml") for make in PROBLEMS.values())]


@cache
def laws() -> list[bytes]:
    rng, seeds = np.random.default_rng(1), []
    for name in ("bolts", "gout", "vector"):
        problem = PROBLEMS[name]()
        law = Discrete.from_weights(rng.integers(0, problem.k, size=(20, problem.d)), rng.exponential(size=20))
        seeds.append(written(lambda path, problem=problem, law=law: law.save(path, problem), ".csv"))  # type: ignore[misc]
    return seeds


@cache
def records() -> list[bytes]:
    measured = b"length,width\n1.5,2.25\n,3\n1e-3,NA\n-4,5\n"
    listed = [b"\n".join(line.rpartition(b",")[0] for line in seed.splitlines()) for seed in laws()[:2]]
    return [measured, *listed, b"visual;weight;ultrasonic\nclean;;ok\nrusty;heavy;\n"]


@cache
def parquets() -> list[bytes]:
    import pyarrow
    from pyarrow import csv, parquet

    seeds = []
    for seed in records()[:3]:
        table = csv.read_csv(pyarrow.BufferReader(seed))
        for compression in ("none", "snappy"):
            buffer = io.BytesIO()
            parquet.write_table(table, buffer, compression=compression)
            seeds.append(buffer.getvalue())
    return seeds


@cache
def workbooks() -> list[bytes]:
    tables = [[line.split(b",") for line in seed.splitlines()] for seed in records()[:3]]
    texts = [[[cell.decode() for cell in row] for row in table] for table in tables]
    return [*(workbook({"past": (header, rows)}) for header, *rows in texts), *castings_tables()[-1:]]


@cache
def castings_tables() -> list[bytes]:
    """The same spreadsheet in several forms; a workbook comes last."""
    forms = ("comma.csv", "german.csv", "excel-sep.csv", "utf-16.txt", "latin-1.csv", "table.parquet", "workbook.xlsx")
    return [FORMATS[name](castings.HEADER, castings.rows(30)) for name in forms]


@cache
def policies() -> list[bytes]:
    rng, seeds = np.random.default_rng(2), []
    for name in ("bolts", "gout", "vector"):
        problem = PROBLEMS[name]()
        law = Discrete.from_weights(rng.integers(0, problem.k, size=(20, problem.d)), rng.exponential(size=20))
        seeds.append(written(plan(problem, law).tree().save, ".json"))
    return seeds


@cache
def gaussian_policies() -> list[bytes]:
    seeds = []
    for law in (Gaussian([0.0, 0.1], [[1.0, 0.3], [0.3, 2.0]]), Gaussian([1.0, -1.0], [[0.5, 0.0], [0.0, 0.1]])):
        found: Any = plan(PROBLEMS["rods"](), law)
        seeds.append(written(lambda path, found=found: save_policy(found, path), ".json"))  # type: ignore[misc]
    return seeds


@cache
def _matrices() -> list[np.ndarray[Any, Any]]:
    small = Gaussian([0.0] * 3, [[2.0, 0.5, 0.1], [0.5, 1.0, 0.0], [0.1, 0.0, 3.0]]).covariance
    found = INSTANCES["network"]().distribution
    assert isinstance(found, Gaussian)
    return [small, found.covariance]


@cache
def covariances_csv() -> list[bytes]:
    law = Gaussian([1.0, 2.0, 3.0], _matrices()[0])
    plain = "\n".join(",".join(map(repr, row)) for row in _matrices()[0].tolist()).encode()
    named = b"a,c,b\n" + plain
    return [written(lambda path: law.save(path, PROBLEMS["network"]()), ".csv"), plain, named]


@cache
def covariances_npy() -> list[bytes]:
    small, large = _matrices()
    arrays = [small, large, small.astype(">f4"), np.asfortranarray(small), small.round().astype(np.int16)]
    return [written(lambda path, array=array: np.save(path, array), ".npy") for array in arrays]  # type: ignore[misc]


@cache
def covariances_npz() -> list[bytes]:
    small, large = _matrices()
    return [
        written(lambda path: np.savez(path, C=small, mean=np.arange(3.0)), ".npz"),
        written(lambda path: np.savez_compressed(path, Sigma=large, names=np.array(["a", "b"])), ".npz"),
    ]


@cache
def covariances_mat() -> list[bytes]:
    small, large = _matrices()
    content = {"C": small, "mean": np.arange(3.0), "title": "three sites", "extra": {"a": 1}}
    seeds = [
        written(lambda path: savemat(path, content), ".mat"),
        written(lambda path: savemat(path, content, do_compression=True), ".mat"),
        written(lambda path: savemat(path, {"C": large.astype(np.float32)}, do_compression=True), ".mat"),
        written(lambda path: savemat(path, {"C": small.round().astype(np.int8)}), ".mat"),
        written(lambda path: savemat(path, {"C": small, "mean": np.arange(3.0)}, format="4"), ".mat"),
    ]
    return [b"MATLAB 5.0 MAT-file".ljust(116) + seed[116:] if seed[:6] == b"MATLAB" else seed for seed in seeds]


@cache
def prices() -> list[bytes]:
    first, *others = INSTANCES["network"]().problem.tests
    grouped = f"site,cost,group,group_cost\n{first.name},2,pump,1\n" + "".join(
        f"{test.name},1.5,,\n" for test in others
    )
    plain = "cost;site\n" + "".join(f"1.5;{test.name}\n" for test in (*others, first))
    return [grouped.encode(), plain.encode()]
