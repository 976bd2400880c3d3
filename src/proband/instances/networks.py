"""Networks of measuring sites with prices: an example by name, or files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proband.distributions import Gaussian, covariance_files
from proband.errors import DistributionError, TableError, UnknownNameError
from proband.files import MOST_SITES
from proband.instances import INSTANCES, Instance
from proband.problem import Problem
from proband.rewards import Entropy
from proband.tables import read_header, read_prices, read_records
from proband.vocabulary import Kind, Test


def load_network(
    source: str, *, costs: str | float | None = None, scale: float | None = None, records: bool = False
) -> Instance[Gaussian]:
    """Return the sites of a network: what they cost, and the law of what they measure.

    Parameters
    ----------
    source : str
        The name of an example (network, paper-entropy), or a file: a covariance (CSV with names, NPY, NPZ, MAT; sites
        without names are numbered), or a CSV of measurements.
    costs : str or float, optional
        One price for all sites, or a CSV of prices; by default those of the example, 0 for a file.
    scale : float, optional
        What a nat of entropy is worth; by default what the example says, 1 for a file.
    records : bool, default False
        Whether the file is a table of measurements: a row a round, a column a site.

    Examples
    --------
    >>> network = load_network("network", costs=3.0)
    >>> network.problem.d, network.problem.tests[0].cost
    (24, 3.0)
    """
    if not is_example(source):
        names, distribution = _from_records(source) if records else _from_covariance(source)
        reward = Entropy(1.0 if scale is None else scale)
        return Instance(
            source, Problem(_priced(names, 0.0 if costs is None else costs), ["stop"], reward), distribution
        )
    example = INSTANCES[source]()
    problem = example.problem
    if problem.kind is not Kind.SETS or not isinstance(example.distribution, Gaussian):
        raise UnknownNameError(f"example {source!r} has no sites; choose network or paper-entropy, or give a file")
    tests = problem.tests if costs is None else _priced([test.name for test in problem.tests], costs)
    worth = problem.reward if scale is None else Entropy(scale)
    unit = problem.unit if costs is None else ""  # prices of one's own are in a unit of one's own
    named = Problem(tests, problem.decisions, worth, name=problem.name, unit=unit)
    return Instance(source, named, example.distribution)


def is_example(source: str) -> bool:
    """Return whether a name is that of an example, and not of a file."""
    return source in INSTANCES and not Path(source).exists()


def _priced(names: Sequence[str], costs: str | float) -> Sequence[Test]:
    """Return these sites at one price, or at those of a file."""
    try:
        price = float(costs)
    except ValueError:
        return read_prices(str(costs), names)
    return [Test(name, price, outcomes=None) for name in names]


def _from_covariance(path: str) -> tuple[list[str], Gaussian]:
    mean, matrix, found = covariance_files.read_named(path)
    names = [f"site {n + 1}" for n in range(len(matrix))] if found is None else found
    try:
        return names, Gaussian(mean, matrix)
    except DistributionError as error:
        raise DistributionError(f"{path}: {error}") from error


def _from_records(path: str) -> tuple[list[str], Gaussian]:
    names = read_header(path)
    if len(names) > MOST_SITES:
        raise TableError(f"{path}: it has {len(names)} sites; at most {MOST_SITES} are read; leave some out")
    return names, Gaussian.from_records(read_records(path, [Test(name, outcomes=None) for name in names]))
