"""Experiments with listed outcomes: the paper's first one, its lower bounds, the horizon, and an easy instance.

``paper-discrete``: Explore-Then-Commit with known T against the doubling trick, with our agents beside. d = 10 binary
tests, P drawn from a Pareto law over the 1,024 outcome vectors, f = 1{x = y}, T = 2^20, five replications, cumulative
regret with mean and standard deviation; an instance for each replication, where the paper has one instance for all
(``figure-discrete``). The paper does not state the costs: here 0.05 a test, with 0.02, 0.1 and uniform(0, 0.1) as
variants (``--set costs=0.02``; ``--set costs=uniform``). ``full-information``, here and in ``horizon``, is greedy to
whom whole subjects are shown, whatever was tested: a yardstick, and no agent that could be had.

``horizon``: a replication keeps its instance, and a longer stream begins with the shorter one, so that the curves
differ by T only. Agents that know T are told each of them.

``lower-bound-single`` (Theorem 1): P(x = 0) = (1 ± ε)/2 with ε = m·T^(-1/3); the sign alternates between replications.
At m = 1 the instance is the paper's; smaller gaps are harder to see and matter less, larger ones are easier to see.

``lower-bound-many`` (Theorem 2): a free test takes |P|/2 values, and each of them is a single-test lower bound of its
own with T/(|P|/2) subjects: ε = m·(|P|/(2T))^(1/3), with signs drawn for each replication.

``easy``: nine subjects of ten have the same label, and a handful of subjects teach it. Explore-Then-Commit explores as
long as on the hardest instance; an agent that looks at what it has learned does not.
"""

from __future__ import annotations

import numpy as np

from proband.distributions import Discrete
from proband.errors import ExperimentError
from proband.experiments.experiment import HORIZON, Entrant, Experiment, Parameter, Point, Value, registered, whole
from proband.instances import Instance, easy, many_states, paper_discrete, single_test

UNIFORM = "uniform"
UNIFORM_RANGE = (0.0, 0.1)
LEARNERS = registered(("explore-then-commit", "doubling", "leaf-completion", "safe-leaf-completion"))
YARDSTICK = (*LEARNERS, Entrant.informed())
"""With full information beside: what estimating the law costs an agent that need not look."""


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


def make_single(point: Point, replication: int, rng: np.random.Generator) -> Instance[Discrete]:
    """Return the instance with the gap of a point."""
    epsilon = float(point["m"]) * int(point[HORIZON]) ** (-1 / 3)
    return single_test(epsilon=min(1.0, epsilon), sign=-1 if replication % 2 else 1)


def draw_many(point: Point, replication: int, rng: np.random.Generator) -> Instance[Discrete]:
    """Draw the signs of a replication."""
    size = int(point["size"])
    if size < 2 or size % 2:
        raise ExperimentError(f"size is {size}; |P| must be even, each state has two outcome vectors; correct it")
    epsilon = float(point["m"]) * (size / 2 / int(point[HORIZON])) ** (1 / 3)
    return many_states(size // 2, epsilon=min(1.0, epsilon), rng=rng)


def make_easy(point: Point, replication: int, rng: np.random.Generator) -> Instance[Discrete]:
    """Return the easy instance."""
    return easy()


PAPER_DISCRETE = Experiment(
    name="paper-discrete",
    title="The paper's discrete experiment",
    shows="Cumulative regret of Explore-Then-Commit, which knows T, and of the doubling trick on random instances "
    "with d = 10 tests, one for each replication (the paper's Figure 5 has one for all: figure-discrete), and of "
    "agents that learn from every subject.",
    instance=draw_instance,
    agents=YARDSTICK,
    horizon=2**20,
    replications=5,
    parameters=PARAMETERS,
    shared=frozenset({"costs"}),
)

HORIZONS = Experiment(
    name="horizon",
    title="Regret and the horizon",
    shows="Regret after T subjects against T on the paper's random instances; agents that know T are run for each.",
    instance=draw_instance,
    agents=YARDSTICK,
    horizon=2**20,
    replications=5,
    parameters=PARAMETERS,
    sweeps={HORIZON: tuple(2**n for n in range(10, 21, 2))},
    shared=frozenset({HORIZON, "costs"}),
)

LOWER_BOUND_SINGLE = Experiment(
    name="lower-bound-single",
    title="The single-test lower bound",
    shows="Regret against T at the gap of the lower bound (every agent's grows at least like T^(2/3)), and against "
    "the gap ε = m·T^(-1/3) at the largest T.",
    instance=make_single,
    agents=LEARNERS,
    horizon=2**20,
    replications=30,
    parameters={"m": Parameter(1.0, "gap, in units of T^(-1/3)", float)},
    sweeps={"m": (0.5, 1.0, 2.0, 4.0, 8.0), HORIZON: tuple(2**n for n in range(10, 21))},
    per_doubling=1,
)

LOWER_BOUND_MANY = Experiment(
    name="lower-bound-many",
    title="The many-states lower bound",
    shows="Regret against T and against the size of the support |P|, where every agent's grows at least like "
    "|P|^(1/3)·T^(2/3).",
    instance=draw_many,
    agents=LEARNERS,
    horizon=2**20,
    replications=10,
    parameters={
        "size": Parameter(64, "|P|, twice the number of states", whole),
        "m": Parameter(1.0, "gap, in units of (|P|/(2T))^(1/3)", float),
    },
    sweeps={"size": (4, 16, 64, 256, 1024), HORIZON: tuple(2**n for n in range(12, 21, 2))},
    per_doubling=1,
)

EASY = Experiment(
    name="easy",
    title="A large gap",
    shows="Regret where the best decision is far ahead: P(x = 0) = 0.9 on a single test of cost 3/4.",
    instance=make_easy,
    agents=LEARNERS,
    horizon=2**20,
    replications=20,
)
