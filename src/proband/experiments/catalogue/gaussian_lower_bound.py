"""Learning with measured outcomes where estimates matter: the measured twins of the paper's lower bound.

``gaussian-lower-bound``: x ~ N(±ε, 1) with ε = m·T^(−1/3). The condition number is 1, so that explore-then-commit
explores N = ⌊T^(2/3)⌋ subjects; its expected regret is

    N·(Φ(ε) − 1/4)   +   (T − N)·(2Φ(ε) − 1)·Φ(−ε√N)   ≈   (1/4 + √(2/π)·m·Φ(−m))·T^(2/3),

so that both phases grow with the slope ⅔; at m = 1 a third of it comes after N. ``gaussian-proxy``: a free proxy whose
correlation with what is wanted is ρ = ±m·T^(−1/3), and means that have to be estimated, too; again N = ⌊T^(2/3)⌋
(condition numbers are near 1, and no rate needs them: ``docs/safe-gaussian.md``). Signs alternate between replications.
"""

from __future__ import annotations

import numpy as np

from proband.agents.gaussian import gaussian_exploration_length
from proband.distributions import Gaussian
from proband.experiments.catalogue.gaussian import Exploring
from proband.experiments.experiment import HORIZON, Entrant, Experiment, Parameter, Point, registered
from proband.instances import Instance, proxied, single_measurement

GAP = {"m": Parameter(1.0, "gap, in units of T^(-1/3)", float)}
EXPLORER = Entrant("explore-then-commit", Exploring())


def gap(point: Point) -> float:
    """Return m·T^(−1/3)."""
    return float(float(point["m"]) * int(point[HORIZON]) ** (-1 / 3))


def make_single(point: Point, replication: int, rng: np.random.Generator) -> Instance[Gaussian]:
    """Return the single measurement with the gap of a point."""
    return single_measurement(epsilon=gap(point), sign=-1 if replication % 2 else 1)


def make_proxied(point: Point, replication: int, rng: np.random.Generator) -> Instance[Gaussian]:
    """Return the measurement with a proxy of the correlation of a point."""
    return proxied(correlation=min(0.9, gap(point)) * (-1 if replication % 2 else 1))


def switch(point: Point) -> int:
    """Return N."""
    return gaussian_exploration_length(1.0, int(point[HORIZON]))


GAUSSIAN_LOWER_BOUND = Experiment(
    name="gaussian-lower-bound",
    title="A lower bound with a measured outcome",
    shows="The sign of x ~ N(±m·T^(-1/3), 1) is to be named, and measuring costs more than it is worth: whoever plays "
    "what looks best is stuck, and explore-then-commit pays for exploring and for what it did not learn.",
    instance=make_single,
    agents=(EXPLORER, *registered(("greedy",))),
    horizon=2**16,
    replications=100,
    parameters=GAP,
    sweeps={"m": (0.5, 1.0, 2.0, 4.0, 8.0), HORIZON: tuple(2**n for n in (10, 12, 14, 16))},
    baselines=("explore-then-commit",),
    per_doubling=1,
    switch=switch,
)

GAUSSIAN_PROXY = Experiment(
    name="gaussian-proxy",
    title="Whether a proxy is to be trusted",
    shows="A free proxy has the correlation ±m·T^(-1/3) with what is wanted, and only measuring both tells which: "
    "explore-then-commit, and agents that learn from every subject, with and without a proved rate.",
    instance=make_proxied,
    agents=(EXPLORER, *registered(("greedy", "leaf-completion", "safe-leaf-completion"))),
    horizon=2**16,
    replications=20,
    parameters=GAP,
    sweeps={"m": (1.0, 4.0), HORIZON: tuple(2**n for n in (10, 13, 16))},
    baselines=("explore-then-commit",),
    per_doubling=1,
    switch=switch,
)
