"""The single-test lower bound (Theorem 1): how regret grows with T where nothing can grow slower than T^(2/3).

P(x = 0) = (1 ± ε)/2 with ε = m·T^(-1/3); the sign alternates between replications. At m = 1 the instance is the
paper's; smaller gaps are harder to see and matter less, larger ones are easier to see.
"""

from __future__ import annotations

import numpy as np

from proband.distributions import Discrete
from proband.experiments.catalogue.paper_discrete import LEARNERS
from proband.experiments.experiment import HORIZON, Experiment, Parameter, Point, registered
from proband.instances import Instance, single_test


def make_instance(point: Point, replication: int, rng: np.random.Generator) -> Instance[Discrete]:
    """Return the instance with the gap of a point."""
    epsilon = float(point["m"]) * int(point[HORIZON]) ** (-1 / 3)
    return single_test(epsilon=min(1.0, epsilon), sign=-1 if replication % 2 else 1)


LOWER_BOUND_SINGLE = Experiment(
    name="lower-bound-single",
    title="The single-test lower bound",
    shows="Regret against T at the gap of the lower bound (every agent's grows at least like T^(2/3)), and against "
    "the gap ε = m·T^(-1/3) at the largest T.",
    instance=make_instance,
    agents=registered(LEARNERS),
    horizon=2**20,
    replications=30,
    parameters={"m": Parameter(1.0, "gap, in units of T^(-1/3)", float)},
    sweeps={"m": (0.5, 1.0, 2.0, 4.0, 8.0), HORIZON: tuple(2**n for n in range(10, 21))},
    per_doubling=1,
)
