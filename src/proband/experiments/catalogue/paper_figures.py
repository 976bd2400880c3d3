"""The paper's Figures 5 and 7 as they were drawn: one random instance, five replications, mean and standard deviation.

``paper-discrete`` and ``paper-entropy`` draw more than one instance, because one says little about the next: the
discrete ones are heavy-tailed. These two keep to the letter. The instances themselves are not published, nor
are the costs and the constant c of Algorithm 4, so that the curves can be alike in shape and not in numbers: each run
draws its instance from its seed. Costs are 0.05 a test, and uniform(1, 3) for the sets; c = 10^12 is the best of five
constants in hindsight (``paper-entropy``), for with c = 1 nothing is eliminated within the horizon.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from proband.distributions import Discrete, Gaussian
from proband.experiments.catalogue import discrete, entropy
from proband.experiments.cells import seed_of_run
from proband.experiments.experiment import Entrant, Experiment, Point, registered
from proband.instances import Instance

PER_DOUBLING = 64
"""Checkpoints for each doubling of t: figures with a linear axis need many at its end."""
CONSTANT = 1e12


def draw_discrete(point: Point, replication: int, rng: np.random.Generator) -> Instance[Discrete]:
    """Draw the one discrete instance of a run."""
    return discrete.draw_instance(point, replication, of_the_run(rng))


def draw_sets(point: Point, replication: int, rng: np.random.Generator) -> Instance[Gaussian]:
    """Draw the one covariance of a run."""
    return entropy.draw_instance(point, replication, of_the_run(rng))


def of_the_run(rng: np.random.Generator) -> np.random.Generator:
    """Return a generator that is the same for all replications of a run."""
    return np.random.default_rng(seed_of_run(rng))


FIGURE_DISCRETE = Experiment(
    name="figure-discrete",
    title="The paper's Figure 5: Explore-Then-Commit on one instance",
    shows="One random instance with d = 10 binary tests, five streams of T = 2^20 subjects: Explore-Then-Commit, which "
    "knows T, against the doubling trick, mean and standard deviation of the cumulative regret. The paper's instance "
    "is not published and its costs are not stated; here a test costs 0.05.",
    instance=draw_discrete,
    agents=registered(("explore-then-commit", "doubling")),
    horizon=2**20,
    replications=5,
    parameters=discrete.PARAMETERS,
    per_doubling=PER_DOUBLING,
    plain=True,
)

FIGURE_ENTROPY = Experiment(
    name="figure-entropy",
    title="The paper's Figure 7: Algorithm 4 on one instance",
    shows="One random covariance with d = 15 tests, five streams of T = 2^15 rounds: Algorithm 4 as printed, mean and "
    "standard deviation of the cumulative regret. The paper's instance is not published, and it states neither costs "
    "nor the constant c; here costs are uniform(1, 3) and c = 10^12, the best of five in hindsight.",
    instance=draw_sets,
    agents=(Entrant("algorithm-4", partial(entropy.eliminate, c=CONSTANT, as_printed=True)),),
    horizon=2**15,
    replications=5,
    parameters=entropy.PARAMETERS,
    baselines=(),
    per_doubling=PER_DOUBLING,
    plain=True,
)
