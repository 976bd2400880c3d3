"""Networks of measuring sites with prices: an example by name, or files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proband.distributions import Gaussian
from proband.distributions.networks import read_network
from proband.errors import UnknownNameError
from proband.instances import INSTANCES, Instance
from proband.problem import Problem
from proband.rewards import Entropy
from proband.tables import read_prices
from proband.vocabulary import Kind, Test


def load_network(
    source: str, *, costs: str | float | None = None, scale: float | None = None, records: bool = False
) -> Instance[Gaussian]:
    """Return the sites of a network: what they cost, and the law of what they measure.

    Parameters
    ----------
    source : str
        The name of an example (network, paper-entropy), or a file that
        :func:`~proband.distributions.networks.read_network` reads.
    costs : str or float, optional
        One price for all sites, or a CSV of prices; by default those of the example, 0 for a file.
    scale : float, optional
        What a nat of entropy is worth; by default what the example says, 1 for a file.
    records : bool, default False
        Whether the file is a table of measurements.

    Examples
    --------
    >>> network = load_network("network", costs=3.0)
    >>> network.problem.d, network.problem.tests[0].cost
    (24, 3.0)
    """
    if not is_example(source):
        names, law = read_network(source, records=records)
        reward = Entropy(1.0 if scale is None else scale)
        return Instance(source, Problem(_priced(names, 0.0 if costs is None else costs), ["stop"], reward), law)
    example = INSTANCES[source]()
    problem = example.problem
    if problem.kind is not Kind.SETS or not isinstance(example.distribution, Gaussian):
        raise UnknownNameError(f"example {source!r} has no sites; choose network or paper-entropy, or give a file")
    tests = problem.tests if costs is None else _priced([test.name for test in problem.tests], costs)
    problem = Problem(tests, problem.decisions, problem.reward if scale is None else Entropy(scale))
    return Instance(source, problem, example.distribution)


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
