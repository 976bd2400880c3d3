"""The paper's second experiment, online maximum-entropy sampling, and the same beyond its size.

Σ = LLᵀ + I with L uniform on (0, 1), d = 15, λ = 1, T = 2^15; five instances, each with five streams of rounds (the
paper's Figure 7 has one instance with five streams: ``figure-entropy``). The paper states neither the costs nor the
constant c of its width. Costs are uniform(1, 3) here, and uniform(1.4, 2.4) as the hard setting; uniform(0, 1) is
trivial, for measuring everything is best then (``docs/entropy-sampling.md``). Algorithm 4 takes part with c = 1 and
with constants chosen in hindsight; it knows the condition number.

``entropy-near-ties``: two sets that are nearly as good as each other, and what telling them apart costs. d = 10; two of
the tests measure nearly the same thing, at prices that differ by the gap, so the two best sets are substitutes of each
other (seldom, by chance, a third set is as close). Elimination can hardly tell them apart; measuring their union always
would spare the choice and pays for both.
"""

from __future__ import annotations

import math
import warnings
from functools import partial

import numpy as np

from proband.agents import Agent, Setting
from proband.agents.entropy import AgentWarning, Certified, Elimination, EntropyExploreThenCommit, SetAgent
from proband.agents.entropy.certificates.widths import Event, Looks
from proband.distributions import Gaussian
from proband.errors import ExperimentError
from proband.experiments.cells import seed_of_run
from proband.experiments.experiment import Entrant, Experiment, Parameter, Point, Value, registered, whole
from proband.instances import Instance, entropy_problem, near_ties, paper_entropy
from proband.planners import plan
from proband.planners.subset.plan import SubsetPlan
from proband.vocabulary import FloatArray, IntArray

CONSTANTS = (5e11, 7e11, 1e12, 1.5e12, 2e12)
SIGMA = 100.0
FIRST_LOOK = 32
STREAMS = 5
"""Replications of an instance, each with rounds of its own."""


def read_range(text: str) -> Value:
    """Read a range of costs such as 1-3.

    Examples
    --------
    >>> read_range("1.4-2.4")
    '1.4-2.4'
    """
    low, high = (float(part) for part in text.split("-"))
    if not 0 <= low <= high:
        raise ValueError("low must be 0 or more and at most high")
    return text


def draw_instance(point: Point, replication: int, rng: np.random.Generator) -> Instance[Gaussian]:
    """Draw an instance of its own for each replication."""
    low, high = (float(part) for part in str(point["costs"]).split("-"))
    return paper_entropy(rng, d=int(point["d"]), cost_range=(low, high))


def draw_shared(point: Point, replication: int, rng: np.random.Generator) -> Instance[Gaussian]:
    """Draw an instance; five replications after each other share it."""
    return draw_instance(point, replication, np.random.default_rng([seed_of_run(rng), replication // STREAMS]))


def draw_ties(point: Point, replication: int, rng: np.random.Generator) -> Instance[Gaussian]:
    """Draw an instance with near ties, of its own for each replication."""
    return near_ties(rng, gap=float(point["gap"]))


def eliminate(setting: Setting, point: Point, *, c: float, as_printed: bool = False) -> Agent:
    """Build Algorithm 4 with a constant c; it is told the true condition number."""
    assert isinstance(setting.truth, Gaussian)
    sigma = setting.truth.condition_number
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AgentWarning)  # that c = 1 eliminates nothing is what is to be shown
        return Elimination(setting.problem, sigma=sigma, c=c, horizon=setting.horizon, as_printed=as_printed)


def certify(setting: Setting, point: Point) -> Agent:
    """Build the certified agent; the mean is known to be 0, as Algorithm 4 takes it."""
    return Certified(setting.problem, delta=0.05, epsilon=0.05, mean=np.zeros(setting.problem.d))


def explore_for(setting: Setting, point: Point, *, explore: int) -> Agent:
    """Build Explore-Then-Commit with so many rounds of exploration."""
    assert setting.horizon is not None
    return EntropyExploreThenCommit(setting.problem, horizon=setting.horizon, explore=explore)


def measure_union(setting: Setting, point: Point) -> Agent:
    """Build the agent that knows the best set and its substitute, and measures their union in all rounds."""
    assert isinstance(setting.truth, Gaussian)
    best = plan(setting.problem, setting.truth)
    assert isinstance(best, SubsetPlan)
    agent = SetAgent(setting.problem)
    agent.tested = tuple(sorted({*best.chosen, 0, 1}))
    return agent


CAREFUL = (Entrant("certified", certify), *registered(("thrifty",)))
"""An agent that certifies its set, and one that spends as little as it can."""

PARAMETERS = {
    "d": Parameter(15, "number of tests", whole),
    "costs": Parameter("1-3", "costs are drawn uniformly from this range, such as 1-3", read_range),
}

PAPER_ENTROPY = Experiment(
    name="paper-entropy",
    title="The paper's entropy experiment",
    shows="Cumulative regret of Algorithm 4 (with c = 1, and with constants tuned in hindsight) on the paper's "
    "instances, beside an agent that certifies its set and one that spends as little as it can.",
    instance=draw_shared,
    agents=(
        *(Entrant(f"elimination-{c:g}".replace("+", ""), partial(eliminate, c=c)) for c in (*CONSTANTS, 1.0)),
        *registered(("explore-then-commit",)),
        *CAREFUL,
    ),
    horizon=2**15,
    replications=25,
    parameters=PARAMETERS,
    sweeps={"costs": ("1-3", "1.4-2.4")},
    baselines=("elimination-1e12", "elimination-1"),
    shared=frozenset({"costs"}),
)

WIDTHS = ("paper-1", "paper-1e12", "certified-exchange", "certified-add", "certified-three-by-three")


def width(point: Point, name: str, at: IntArray) -> FloatArray:
    """Return a confidence width of a difference of log-determinants after so many rounds in which all were measured.

    The paper's U(t) for σ = 100 with its constant c; and ours for sets that differ by an exchange, by one more test,
    and by three tests on either side, with the rest in common, the union over all rivals and all looks included.

    Examples
    --------
    >>> width({"d": 15}, "certified-add", np.array([100, 1000])).round(2)
    array([0.74, 0.21])
    """
    d = int(point["d"])
    if name.startswith("paper-"):
        problem = entropy_problem(np.ones(d))
        agent = Elimination(problem, sigma=SIGMA, c=float(name.removeprefix("paper-")))
        return np.array([agent.width(int(t)) for t in at])
    pair = {"certified-exchange": (1, 1), "certified-add": (1, 0), "certified-three-by-three": (3, 3)}[name]
    return np.array([_own_width(d, pair, int(t)) for t in at])


def _own_width(d: int, pair: tuple[int, int], t: int) -> float:
    looks = Looks(FIRST_LOOK, 0.1)
    if t < FIRST_LOOK:
        return math.inf
    j = looks.floor(t)
    event = Event(d, looks.count(j), looks.count(j), looks.count(j), math.log(0.05) + looks.log_share(j))
    return float(event.pairs(d // 2, *pair)[pair])


def _no_agent(setting: Setting, point: Point) -> Agent:
    raise ExperimentError("a width is worked out, not played; run the experiment as it is")


ENTROPY_WIDTHS = Experiment(
    name="entropy-widths",
    title="Confidence widths of entropy sampling",
    shows="The paper's width U(t) with c = 1 and with c = 10^12, σ = 100, against exact and Chernoff widths that know "
    "no constant (δ = 0.05). Algorithm 4 eliminates nothing before U(t) falls to 1.",
    instance=draw_instance,
    agents=tuple(Entrant(name, _no_agent) for name in WIDTHS),
    horizon=2**20,
    replications=1,
    parameters={"d": Parameter(15, "number of tests", whole)},
    baselines=("paper-1e12",),
    measure=width,
    quantity="width",
)

ENTROPY_LARGE = Experiment(
    name="entropy-large",
    title="Entropy sampling with many sites",
    shows="Regret against the number of tests on the paper's instances, from 20 to 100, where candidate sets can no "
    "longer be listed; explore-then-commit also with lengths chosen in hindsight.",
    instance=draw_instance,
    agents=(
        *registered(("test-everything", "explore-then-commit")),
        *(Entrant(f"explore-{n}", partial(explore_for, explore=n)) for n in (64, 128, 256, 512)),
        *CAREFUL,
    ),
    horizon=2**15,
    replications=5,
    parameters={**PARAMETERS, "d": Parameter(20, "number of tests", whole)},
    sweeps={"d": (20, 30, 60, 100)},
    baselines=("explore-then-commit", "test-everything"),
)

NEAR_TIES = Experiment(
    name="entropy-near-ties",
    title="Two sets that are nearly as good as each other",
    shows="Regret where the two best sets are substitutes of each other: agents that learn, beside one that knows both "
    "sets and always measures their union.",
    instance=draw_ties,
    agents=(Entrant("union", measure_union), *registered(("explore-then-commit",)), *CAREFUL),
    horizon=2**15,
    replications=30,
    parameters={"gap": Parameter(0.01, "difference of the two best rewards", float)},
    sweeps={"gap": (0.001, 0.003, 0.01, 0.03)},
    baselines=("union",),
    shared=frozenset({"gap"}),
)
