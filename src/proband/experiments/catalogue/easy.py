"""An easy instance: nine subjects of ten have the same label, and a handful of subjects teach it.

Explore-Then-Commit explores as long as on the hardest instance; an agent that looks at what it has learned does not.
"""

from __future__ import annotations

import numpy as np

from proband.distributions import Discrete
from proband.experiments.catalogue.paper_discrete import LEARNERS
from proband.experiments.experiment import Experiment, Point, registered
from proband.instances import Instance, easy


def make_instance(point: Point, replication: int, rng: np.random.Generator) -> Instance[Discrete]:
    """Return the easy instance."""
    return easy()


EASY = Experiment(
    name="easy",
    title="A large gap",
    shows="Regret where the best decision is far ahead: P(x = 0) = 0.9 on a single test of cost 3/4.",
    instance=make_instance,
    agents=registered(LEARNERS),
    horizon=2**20,
    replications=20,
)
