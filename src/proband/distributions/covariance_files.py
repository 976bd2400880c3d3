"""Covariances on disk: CSV with test names, NumPy's NPY and NPZ, MATLAB's MAT (version 7 or earlier).

A CSV has a header of test names and the d rows of the covariance in that order; a first column of names is allowed,
and a row called ``mean`` gives the mean. Columns may come in any order. NPY holds the matrix alone; NPZ and MAT hold
arrays, the covariance being the only square one of the right size (or called C, covariance or Sigma).
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from proband.distributions.array_files import Arrays, read_mat, read_npy, read_npz
from proband.errors import DistributionError
from proband.files import MOST_SITES, read_bytes, read_text
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
    readers = {".npy": read_npy, ".npz": read_npz, ".mat": read_mat}
    ending = Path(path).suffix.lower()
    if ending not in {".csv", *readers}:
        raise DistributionError(
            f"{path}: it ends in {ending!r}; a covariance is read from .csv, {', '.join(readers)}; convert it"
        )
    try:
        if ending == ".csv":
            return _read_csv(path, read_text(path, DistributionError))
        return *_from_arrays(path, readers[ending](read_bytes(path, DistributionError))), None
    except DistributionError:
        raise
    except (ValueError, TypeError, csv.Error) as error:
        raise DistributionError(f"{path}: it cannot be read ({error}); save it again") from error


def write(path: Path, names: Sequence[str], mean: FloatArray, covariance: FloatArray) -> None:
    """Write a CSV that :func:`read` understands."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["", *map(cell_of, names)])
        writer.writerow([MEAN, *(repr(float(x)) for x in mean)])
        for name, row in zip(names, covariance, strict=True):
            writer.writerow([cell_of(name), *(repr(float(x)) for x in row)])


def _read_csv(path: str | os.PathLike[str], text: str) -> tuple[FloatArray, FloatArray, list[str] | None]:
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if any(cell.strip() for cell in row)]
    if not rows:
        raise DistributionError(f"{path}: it is empty; a covariance has a row for each test; fill it")
    named = not all(map(_is_number, rows[0]))
    labelled = named and not rows[0][0].strip()
    names = [text_of(cell.strip()) for cell in rows[0][int(labelled) :]] if named else None
    body = rows[int(named) :]
    d = len(rows[0]) - int(labelled)
    means = [body.pop(0)] if labelled and body and body[0][0].strip() == MEAN else []
    if len(body) != d or any(len(row) != d + int(labelled) for row in (*means, *body)):
        raise DistributionError(
            f"{path}: it has {len(body)} rows and {d} columns of numbers; a covariance is square; complete it"
        )
    _check_sites(path, d)
    mean = np.array([float(cell) for row in means for cell in row[1:]]) if means else np.zeros(d)
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


def _check_sites(path: str | os.PathLike[str], d: int) -> None:
    if d > MOST_SITES:
        raise DistributionError(f"{path}: it is of {d} tests; at most {MOST_SITES} are read; leave some out")


def _from_arrays(path: str | os.PathLike[str], arrays: Arrays) -> tuple[FloatArray, FloatArray]:
    """Choose the covariance among arrays, and the mean."""
    square = {name: a for name, a in arrays.items() if a.ndim == 2 and len(set(a.shape)) == 1 and a.size}
    if len(square) > 1:
        square = {name: a for name, a in square.items() if a.size > 1}
    chosen = next((name for name in MATRIX_NAMES if name in square), None)
    if chosen is None and len(square) == 1:
        chosen = next(iter(square))
    if chosen is None:
        raise DistributionError(
            f"{path}: its square arrays are {sorted(square)}; of real numbers there must be one, or one of "
            f"{MATRIX_NAMES}; save it so"
        )
    _check_sites(path, len(square[chosen]))
    matrix = square[chosen].astype(np.float64)
    mean = arrays.get(MEAN, np.zeros(len(matrix))).reshape(-1)
    if len(mean) != len(matrix):
        raise DistributionError(
            f"{path}: its mean has {len(mean)} numbers and its covariance {len(matrix)} tests; they must agree; "
            "correct it"
        )
    return mean.astype(np.float64), matrix
