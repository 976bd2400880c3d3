"""Instances: problems together with the true law of their subjects.

``bolts``, ``gout`` and ``paper-discrete`` are the examples of the documentation; their problem files come with the
package. The others are the paper's lower bounds, and an easy counterpart.
"""

from collections.abc import Callable

from proband.instances.bolts import bolts
from proband.instances.easy import easy
from proband.instances.gout import gout
from proband.instances.instance import Instance, packaged_problem, problem_text
from proband.instances.lower_bounds import many_states, single_test
from proband.instances.paper import paper_discrete, paper_example

INSTANCES: dict[str, Callable[[], Instance]] = {
    "bolts": bolts,
    "gout": gout,
    "paper-discrete": paper_example,
    "single-test": single_test,
    "many-states": many_states,
    "easy": easy,
}

PACKAGED = ("bolts", "gout", "paper-discrete")
"""Those whose problem file comes with the package."""

__all__ = [
    "INSTANCES",
    "PACKAGED",
    "Instance",
    "bolts",
    "easy",
    "gout",
    "many_states",
    "packaged_problem",
    "paper_discrete",
    "paper_example",
    "problem_text",
    "single_test",
]
