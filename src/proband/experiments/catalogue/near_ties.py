"""Two sets of tests that are nearly as good as each other: what telling them apart costs.

d = 10; two of the tests measure nearly the same thing, at prices that differ by the gap, so the two best sets are
substitutes of each other (seldom, by chance, a third set is as close). Elimination can hardly tell them apart;
measuring their union always would spare the choice and pays for both.
"""

from __future__ import annotations

import numpy as np

from proband.agents import Agent, Setting
from proband.agents.entropy import SetAgent
from proband.distributions import Gaussian
from proband.experiments.catalogue.entropy import Certifying
from proband.experiments.experiment import Entrant, Experiment, Parameter, Point, registered
from proband.instances import Instance, near_ties
from proband.planners import plan
from proband.planners.subset.plan import SubsetPlan


def draw_instance(point: Point, replication: int, rng: np.random.Generator) -> Instance[Gaussian]:
    """Draw an instance of its own for each replication."""
    return near_ties(rng, gap=float(point["gap"]))


def measure_union(setting: Setting, point: Point) -> Agent:
    """Build the agent that knows the best set and its substitute, and measures their union in all rounds."""
    assert isinstance(setting.truth, Gaussian)
    best = plan(setting.problem, setting.truth)
    assert isinstance(best, SubsetPlan)
    agent = SetAgent(setting.problem)
    agent.tested = tuple(sorted({*best.chosen, 0, 1}))
    return agent


NEAR_TIES = Experiment(
    name="entropy-near-ties",
    title="Two sets that are nearly as good as each other",
    shows="Regret where the two best sets are substitutes of each other: agents that learn, beside one that knows both "
    "sets and always measures their union.",
    instance=draw_instance,
    agents=(
        Entrant("union", measure_union),
        *registered(("explore-then-commit",)),
        Entrant("certified", Certifying(0.05)),
        *registered(("thrifty",)),
    ),
    horizon=2**15,
    replications=30,
    parameters={"gap": Parameter(0.01, "difference of the two best rewards", float)},
    sweeps={"gap": (0.001, 0.003, 0.01, 0.03)},
    baselines=("union",),
    shared=frozenset({"gap"}),
)
