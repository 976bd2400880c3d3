"""The paper's first experiment: Explore-Then-Commit with known T against the doubling trick, with our agents beside.

d = 10 binary tests, P drawn from a Pareto law over the 1,024 outcome vectors, f = 1{x = y}, T = 2^20, five
replications, cumulative regret with mean and standard deviation; an instance for each replication, where the paper has
one instance for all (``figure-discrete``). The paper does not state the costs: here 0.05 a
test, with 0.02, 0.1 and uniform(0, 0.1) as variants (``--set costs=0.02``; ``--set costs=uniform``).
"""

from __future__ import annotations

import numpy as np

from proband.distributions import Discrete
from proband.experiments.experiment import Experiment, Parameter, Point, Value, registered, whole
from proband.instances import Instance, paper_discrete

UNIFORM = "uniform"
UNIFORM_RANGE = (0.0, 0.1)
LEARNERS = ("explore-then-commit", "doubling", "leaf-completion", "safe-leaf-completion")


def read_costs(text: str) -> Value:
    """Read the cost of a test, or ``uniform``.

    Examples
    --------
    >>> read_costs("0.02"), read_costs("uniform")
    (0.02, 'uniform')
    """
    return UNIFORM if text == UNIFORM else float(text)


PARAMETERS = {
    "d": Parameter(10, "number of binary tests", whole),
    "costs": Parameter(0.05, "cost of each test, or uniform: drawn from uniform(0, 0.1)", read_costs),
}


def draw_instance(point: Point, replication: int, rng: np.random.Generator) -> Instance[Discrete]:
    """Draw the law of a replication; with other costs it is the same law."""
    d, costs = int(point["d"]), point["costs"]
    if costs == UNIFORM:
        return paper_discrete(rng, d=d, cost_range=UNIFORM_RANGE)
    return paper_discrete(rng, d=d, cost=float(costs))


PAPER_DISCRETE = Experiment(
    name="paper-discrete",
    title="The paper's discrete experiment",
    shows="Cumulative regret of Explore-Then-Commit, which knows T, and of the doubling trick on random instances "
    "with d = 10 tests, one for each replication (the paper's Figure 5 has one for all: figure-discrete), and of "
    "agents that learn from every subject.",
    instance=draw_instance,
    agents=registered(LEARNERS),
    horizon=2**20,
    replications=5,
    parameters=PARAMETERS,
    shared=frozenset({"costs"}),
)
