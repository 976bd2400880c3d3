"""The many-states lower bound (Theorem 2): how regret grows with T and with the size of the support |P|.

A free test takes |P|/2 values, and each of them is a single-test lower bound of its own with T/(|P|/2) subjects:
ε = m·(|P|/(2T))^(1/3), with signs drawn for each replication.
"""

from __future__ import annotations

import numpy as np

from proband.distributions import Discrete
from proband.errors import ExperimentError
from proband.experiments.catalogue.paper_discrete import LEARNERS
from proband.experiments.experiment import HORIZON, Experiment, Parameter, Point, registered, whole
from proband.instances import Instance, many_states


def draw_instance(point: Point, replication: int, rng: np.random.Generator) -> Instance[Discrete]:
    """Draw the signs of a replication."""
    size = int(point["size"])
    if size < 2 or size % 2:
        raise ExperimentError(f"size is {size}; |P| must be even, each state has two outcome vectors; correct it")
    epsilon = float(point["m"]) * (size / 2 / int(point[HORIZON])) ** (1 / 3)
    return many_states(size // 2, epsilon=min(1.0, epsilon), rng=rng)


LOWER_BOUND_MANY = Experiment(
    name="lower-bound-many",
    title="The many-states lower bound",
    shows="Regret against T and against the size of the support |P|, where every agent's grows at least like "
    "|P|^(1/3)·T^(2/3).",
    instance=draw_instance,
    agents=registered(LEARNERS),
    horizon=2**20,
    replications=10,
    parameters={
        "size": Parameter(64, "|P|, twice the number of states", whole),
        "m": Parameter(1.0, "gap, in units of (|P|/(2T))^(1/3)", float),
    },
    sweeps={"size": (4, 16, 64, 256, 1024), HORIZON: tuple(2**n for n in range(12, 21, 2))},
    per_doubling=1,
)
