"""Instances: problems together with the true law of their subjects.

``bolts``, ``gout`` and ``paper-discrete`` are the examples of the documentation; their problem files come with the
package. ``bolts-measured`` and ``shafts`` have measured outcomes; ``paper-entropy`` and ``network`` ask which sites are
worth measuring. The others are the paper's lower bounds, their measured twins (``single-measurement``, ``proxy``), and
an easy counterpart. Laws with many tests, and those of a table of one's own, are made by :func:`many_tests` and
:func:`labelled_instance`; :func:`circuit_boards` is the example with 30 tests.
"""

from collections.abc import Callable

from proband.distributions import Solvable
from proband.instances.boards import circuit_boards
from proband.instances.examples import bolts, bolts_measured, gout, shafts
from proband.instances.instance import Instance, packaged_problem, problem_text
from proband.instances.labelled import labelled_instance, table_law
from proband.instances.lower_bounds import easy, many_states, proxied, sign_problem, single_measurement, single_test
from proband.instances.many import MANY_TESTS, TABLES, many_tests
from proband.instances.paper import (
    entropy_problem,
    monitoring_network,
    near_ties,
    paper_discrete,
    paper_entropy,
    paper_entropy_example,
    paper_example,
    site_positions,
)

INSTANCES: dict[str, Callable[[], Instance[Solvable]]] = {
    "bolts": bolts,
    "gout": gout,
    "paper-discrete": paper_example,
    "single-test": single_test,
    "many-states": many_states,
    "easy": easy,
    "single-measurement": single_measurement,
    "proxy": proxied,
    "bolts-measured": bolts_measured,
    "shafts": shafts,
    "paper-entropy": paper_entropy_example,
    "network": monitoring_network,
}
"""What builds each example, by the name that the command line knows it by."""

PACKAGED = ("bolts", "gout", "paper-discrete", "bolts-measured", "shafts")
"""Those whose problem file comes with the package."""

EXAMPLES = (*INSTANCES, *TABLES)
"""All names of examples: those that are made in no time, and the public tables, which scikit-learn brings."""


def example(name: str) -> Instance[Solvable]:
    """Return the example of a name.

    Examples
    --------
    >>> example("bolts").problem.d
    9
    """
    return INSTANCES[name]() if name in INSTANCES else many_tests(name)


__all__ = [
    "EXAMPLES",
    "INSTANCES",
    "MANY_TESTS",
    "PACKAGED",
    "TABLES",
    "Instance",
    "bolts",
    "bolts_measured",
    "circuit_boards",
    "easy",
    "entropy_problem",
    "example",
    "gout",
    "labelled_instance",
    "many_states",
    "many_tests",
    "monitoring_network",
    "near_ties",
    "packaged_problem",
    "paper_discrete",
    "paper_entropy",
    "paper_entropy_example",
    "paper_example",
    "problem_text",
    "proxied",
    "shafts",
    "sign_problem",
    "single_measurement",
    "single_test",
    "site_positions",
    "table_law",
]
