"""What naive statistics cost: four ways of using the subjects that were handled under a plan.

All four agents test everything on the same first subjects and play the plan of their estimate. The first one stops
learning there, as Explore-Then-Commit does; the others plan again as subjects accrue, from complete rows pooled with
the exploration, from all available entries, or by the likelihood of what was seen. All add one pseudo-count for each
outcome vector, so that only the use of the data differs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from proband.agents import Agent, Greedy, Setting
from proband.estimators import (
    BiasedAvailableCases,
    BiasedPooledCompleteCases,
    CompleteCases,
    Dirichlet,
    Estimator,
    Likelihood,
)
from proband.experiments.catalogue.discrete import PARAMETERS, draw_instance
from proband.experiments.experiment import Entrant, Experiment, Parameter, Point, whole
from proband.problem import Problem

PSEUDO_COUNT = 1.0
IGNORING = "ignore-commit-data"
USES: dict[str, Callable[[Problem], Estimator]] = {
    IGNORING: partial(CompleteCases, alpha=PSEUDO_COUNT),
    "complete-case-pooling": partial(BiasedPooledCompleteCases, alpha=PSEUDO_COUNT),
    "available-case": partial(BiasedAvailableCases, alpha=PSEUDO_COUNT),
    "likelihood": partial(Likelihood, prior=Dirichlet(PSEUDO_COUNT)),
}


def build(setting: Setting, point: Point, *, use: str) -> Agent:
    """Build the agent that uses its data in a named way; the point says how long it explores."""
    estimator, explore = USES[use](setting.problem), int(point["explore"])
    growth = math.inf if use == IGNORING else 0.5
    return Greedy(setting.problem, estimator=estimator, first=explore, growth=growth, shortest=1)


MISSING_DATA = Experiment(
    name="missing-data",
    title="What naive statistics cost",
    shows="Regret of agents that explore equally long and use the incomplete records of later subjects in different "
    "ways. Counting complete rows, or all available entries, is worse than throwing these records away; their "
    "likelihood is better.",
    instance=draw_instance,
    agents=tuple(Entrant(name, partial(build, use=name)) for name in USES),
    horizon=2**20,
    replications=10,
    parameters={**PARAMETERS, "explore": Parameter(2**14, "N, how many subjects are tested completely", whole)},
    sweeps={"explore": tuple(2**n for n in (10, 12, 14, 16))},
    baselines=(IGNORING,),
    shared=frozenset({"costs", "explore"}),
)
