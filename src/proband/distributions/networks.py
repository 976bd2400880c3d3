"""Networks of measuring sites on disk: their names and their law, from a covariance or from rounds of measurements."""

from __future__ import annotations

import os

from proband.distributions import covariance_files
from proband.distributions.gaussian import Gaussian
from proband.errors import DistributionError, TableError
from proband.files import MOST_SITES
from proband.tables import read_header, read_records
from proband.vocabulary import Test


def read_network(path: str | os.PathLike[str], *, records: bool = False) -> tuple[list[str], Gaussian]:
    """Return the names of a network's sites and the law of what they measure.

    Parameters
    ----------
    path : path
        A covariance (CSV with names, NPY, NPZ, MAT; sites without names are numbered), or a CSV of measurements.
    records : bool, default False
        Whether it is a table of measurements: a row a round, a column a site.
    """
    return _from_records(path) if records else _from_covariance(path)


def _from_covariance(path: str | os.PathLike[str]) -> tuple[list[str], Gaussian]:
    mean, matrix, found = covariance_files.read_named(path)
    names = [f"site {n + 1}" for n in range(len(matrix))] if found is None else found
    try:
        return names, Gaussian(mean, matrix)
    except DistributionError as error:
        raise DistributionError(f"{path}: {error}") from error


def _from_records(path: str | os.PathLike[str]) -> tuple[list[str], Gaussian]:
    names = read_header(path)
    if len(names) > MOST_SITES:
        raise TableError(f"{path}: it has {len(names)} sites; at most {MOST_SITES} are read; leave some out")
    return names, Gaussian.from_records(read_records(path, [Test(name, outcomes=None) for name in names]))
