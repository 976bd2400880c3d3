"""Covariances on disk: CSV with test names, NumPy's NPY and NPZ, MATLAB's MAT (version 7 or earlier).

A CSV has a header of test names and the d rows of the covariance in that order; a first column of names is allowed,
and a row called ``mean`` gives the mean. Columns may come in any order. NPY holds the matrix alone; NPZ and MAT hold
arrays, the covariance being the only square one of the right size (or called C, covariance or Sigma).
"""

from __future__ import annotations

import csv
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.io.matlab import MatReadError

from proband.errors import DistributionError
from proband.texts import cell_of, text_of
from proband.vocabulary import FloatArray

MEAN = "mean"
MATRIX_NAMES = ("covariance", "Sigma", "C")


def read(path: str | os.PathLike[str], names: Sequence[str] | None) -> tuple[FloatArray, FloatArray]:
    """Return mean and covariance in the order of `names`; in that of the file if none are given."""
    mean, covariance, found = read_named(path)
    if names is None:
        return mean, covariance
    if found is None:
        if len(covariance) != len(names):
            raise DistributionError(
                f"{path}: it is of {len(covariance)} tests, the problem of {len(names)}; they must agree; give the "
                "covariance of the problem's tests"
            )
        return mean, covariance
    unknown, missing = [n for n in found if n not in names], [n for n in names if n not in found]
    if unknown or missing:
        raise DistributionError(
            f"{path}: unknown tests {unknown}, missing tests {missing}; its tests must be {list(names)}; correct them"
        )
    order = [found.index(name) for name in names]
    return mean[order], covariance[np.ix_(order, order)]


def read_named(path: str | os.PathLike[str]) -> tuple[FloatArray, FloatArray, list[str] | None]:
    """Return mean, covariance and the names of the tests, None where the file has none."""
    readers = {".csv": _read_csv, ".npy": _read_npy, ".npz": _read_npz, ".mat": _read_mat}
    ending = Path(path).suffix.lower()
    if ending not in readers:
        raise DistributionError(
            f"{path}: it ends in {ending!r}; a covariance is read from {', '.join(readers)}; convert it"
        )
    try:
        return readers[ending](Path(path))
    except FileNotFoundError as error:
        raise DistributionError(f"{path}: there is no such file; check the path") from error
    except (OSError, ValueError, TypeError, zipfile.BadZipFile, NotImplementedError) as error:
        if isinstance(error, DistributionError):
            raise
        raise DistributionError(f"{path}: it cannot be read ({error}); save it again") from error


def write(path: Path, names: Sequence[str], mean: FloatArray, covariance: FloatArray) -> None:
    """Write a CSV that :func:`read` understands."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["", *map(cell_of, names)])
        writer.writerow([MEAN, *(repr(float(x)) for x in mean)])
        for name, row in zip(names, covariance, strict=True):
            writer.writerow([cell_of(name), *(repr(float(x)) for x in row)])


def _read_csv(path: Path) -> tuple[FloatArray, FloatArray, list[str] | None]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    if not rows:
        raise DistributionError(f"{path}: it is empty; a covariance has a row for each test; fill it")
    named = not all(map(_is_number, rows[0]))
    labelled = named and not rows[0][0].strip()
    names = [text_of(cell.strip()) for cell in rows[0][int(labelled) :]] if named else None
    body = rows[int(named) :]
    d = len(rows[0]) - int(labelled)
    mean = np.zeros(d)
    if labelled and body and body[0][0].strip() == MEAN:
        mean, body = np.array([float(cell) for cell in body[0][1:]]), body[1:]
    if len(body) != d or any(len(row) != d + int(labelled) for row in body):
        raise DistributionError(
            f"{path}: it has {len(body)} rows and {d} columns of numbers; a covariance is square; complete it"
        )
    matrix = np.array([[float(cell) for cell in row[int(labelled) :]] for row in body])
    if names is not None and labelled:
        order = [text_of(row[0].strip()) for row in body]
        if sorted(order) != sorted(names):
            raise DistributionError(
                f"{path}: its rows are {order} and its columns {names}; they must agree; correct them"
            )
        matrix = matrix[[order.index(name) for name in names]]
    if names is not None and len(set(names)) < len(names):
        raise DistributionError(f"{path}: a test appears twice in {names}; names must differ; rename one")
    return mean, matrix, names


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _read_npy(path: Path) -> tuple[FloatArray, FloatArray, list[str] | None]:
    matrix = np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)
    return np.zeros(len(matrix) if matrix.ndim else 0), matrix, None


def _read_npz(path: Path) -> tuple[FloatArray, FloatArray, list[str] | None]:
    with np.load(path, allow_pickle=False) as arrays:
        return _from_arrays(path, {name: np.asarray(arrays[name]) for name in arrays.files})


def _read_mat(path: Path) -> tuple[FloatArray, FloatArray, list[str] | None]:
    try:
        content = loadmat(path)
    except MatReadError as error:
        raise ValueError(str(error)) from error
    arrays = {name: value for name, value in content.items() if isinstance(value, np.ndarray)}
    return _from_arrays(path, arrays)


def _from_arrays(path: Path, arrays: dict[str, Any]) -> tuple[FloatArray, FloatArray, list[str] | None]:
    numeric = {name: np.asarray(a, dtype=np.float64) for name, a in arrays.items() if a.dtype.kind in "fiu"}
    square = {name: a for name, a in numeric.items() if a.ndim == 2 and len(set(a.shape)) == 1 and a.size > 1}
    chosen = next((name for name in MATRIX_NAMES if name in square), None)
    if chosen is None and len(square) == 1:
        chosen = next(iter(square))
    if chosen is None:
        raise DistributionError(
            f"{path}: its square arrays are {sorted(square)}; there must be one, or one of {MATRIX_NAMES}; save it so"
        )
    matrix = square[chosen]
    mean = numeric.get(MEAN, np.zeros(len(matrix))).reshape(-1)
    return mean, matrix, None
