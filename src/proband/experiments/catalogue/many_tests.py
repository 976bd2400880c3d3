"""Learning with many tests: public tables, latent classes, or a labelled table of one's own.

A law is fixed by its name and ``law_seed``; replications are streams of subjects from it. A test costs 0.02, the label
0.25, and who names it earns 1 (:mod:`proband.instances.many`). ``--set table=FILE.csv`` takes a table of one's own,
with its label in the last column or in the one that ``--set label=NAME`` names; a file that has changed needs
``--fresh``. With ``--set truth=200`` the label cannot be bought, and is told 200 subjects later; agents then
learn anew whenever truths come in, as in a study, which takes many times as long.

**Best plan.** With so many tests nobody can compute it. Regret is measured against the best of some plans that are
grown on the law itself, which no agent knows; whoever beats it has a negative regret. Every node of these plans has to
earn what two drawn rows or more are worth: without such a penalty they learn the drawn rows by heart (of *latent-20*,
0.815 on these rows and 0.802 on others of the same classes, against 0.813 and 0.812 with it).

**Explore, then commit**, for each of a grid of lengths, in two families: *raw*, the empirical law of the subjects that
were tested completely and a plan without a penalty, and *regularised*, the very estimator and planner of the default
agent. The best length in hindsight is what the others are compared with.

*many-tests-long* is the same with 100,000 subjects, against lengths of 400 and more.

``safe-leaf-completion-told`` is the default agent that is told T, as the best length in hindsight is.
``doubling`` plays raw explore-then-commit in batches of 1, 2, 4, ... subjects, of which it explores n^(2/3) of n.
``greedy`` has the default agent's estimator and planner and never explores after 64 subjects; ``full-information`` is
greedy to whom whole subjects are shown. ``decide-at-once`` and ``test-everything`` know the law and decide as is best
without any test, and with all of them.
"""

from __future__ import annotations

import dataclasses
import math
from functools import cache, lru_cache, partial

import numpy as np

from proband.agents import FOREVER, Agent, Doubling, Greedy, Setting
from proband.distributions import Discrete, Distribution
from proband.errors import AgentError
from proband.estimators import CompleteCases, Structured
from proband.experiments.experiment import HORIZON, Entrant, Experiment, Parameter, Point, whole
from proband.instances import MANY_TESTS, Instance, labelled_instance, many_tests
from proband.instances.labelled import ROWS
from proband.planners import Plan, plan
from proband.planners.tree_plan import TreePlan
from proband.policies import DecideNow, test_everything
from proband.problem import Problem
from proband.simulation import FullInformation
from proband.vocabulary import FloatArray, Policy, Records

LAST, BOUGHT = "last", "bought"
LENGTHS = (50, 100, 200, 400, 800, 1600, 3200, 6400)
LONG = 100_000
WORTH_TRYING = 400
"""Subjects that explore-then-commit explores at least where very many come."""
PENALTIES = (2.0, 6.0)
"""What a node costs in the plans of which the best one is the yardstick, in drawn rows."""


class Steady:
    """An agent with one policy for ever."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.commitment = FOREVER

    def policy(self) -> Policy:
        """Return the policy."""
        return self._policy

    def learn(self, records: Records) -> None:
        """Learn nothing."""


class Raw(CompleteCases):
    """The empirical law of complete subjects; until there is one, as with late labels, any label and nothing else."""

    def _estimate(self) -> tuple[FloatArray, FloatArray]:
        if self.observations.is_complete.any():
            return super()._estimate()
        labels = int(self.problem.k[-1])
        rows = np.zeros((labels, self.problem.d))
        rows[:, -1] = np.arange(labels)
        return rows, np.ones(labels)


def plan_raw(problem: Problem, distribution: Distribution, subjects: int) -> Plan:
    """Return a grown plan without a penalty: it believes every subject that was seen."""
    return plan(problem, distribution, method="rollout")


def exploring(problem: Problem, *, explore: int, seed: int = 0, raw: bool = False) -> Greedy:
    """Return the agent that tests `explore` subjects completely and commits to the plan of these."""
    if raw:
        return Greedy(problem, first=explore, growth=math.inf, estimator=Raw(problem), planner=plan_raw)
    return Greedy(problem, first=explore, growth=math.inf, estimator=Structured(problem, seed=seed))


def build_exploring(setting: Setting, point: Point, *, explore: int, raw: bool) -> Agent:
    """Build explore-then-commit with a length."""
    return exploring(setting.problem, explore=explore, seed=setting.seed, raw=raw)


def build_doubling(setting: Setting, point: Point) -> Agent:
    """Build raw explore-then-commit in doubling batches."""
    problem = setting.problem
    return Doubling(lambda horizon: exploring(problem, explore=math.ceil(horizon ** (2 / 3)), raw=True))


def build_greedy(setting: Setting, point: Point) -> Greedy:
    """Build greedy with the default agent's estimator and planner, also where tests are few."""
    return Greedy(setting.problem, estimator=Structured(setting.problem, seed=setting.seed), growth=0.35)


def build_informed(setting: Setting, point: Point) -> Agent:
    """Build greedy to whom whole subjects are shown."""
    return FullInformation(build_greedy(setting, point))


def build_at_once(setting: Setting, point: Point) -> Agent:
    """Build the agent that takes the decision that is best without any test."""
    return Steady(DecideNow(setting.problem, distribution=known_law(setting)))


def build_everything(setting: Setting, point: Point) -> Agent:
    """Build the agent that runs every test and decides as is best then, whatever of it stays hidden."""
    return Steady(test_everything(setting.problem, None if setting.problem.all_available else known_law(setting)))


def known_law(setting: Setting) -> Distribution:
    """Return the true law, which a yardstick is told."""
    if setting.truth is None:
        raise AgentError("a yardstick was not told the true law; only a simulation can; choose another agent")
    return setting.truth


def read_truth(text: str) -> str:
    """Read how the label comes to be known: ``bought``, or a number of subjects after which it is told.

    Examples
    --------
    >>> read_truth("bought"), read_truth("200")
    ('bought', '200')
    """
    return BOUGHT if text == BOUGHT else str(int(text))


@lru_cache(maxsize=1)
def find_instance(table: str, label: str, truth: str, seed: int, size: int) -> Instance[Discrete]:
    """Return the instance of a law's name or of a file; the last one is kept, for the next agent."""
    reveal = None if truth == BOUGHT else int(truth)
    if table.lower().endswith((".csv", ".tsv", ".txt")):
        column = None if label == LAST else label
        return labelled_instance(table, label=column, seed=seed, size=size, reveal=reveal)
    return many_tests(table, seed=seed, size=size, reveal=reveal)


@cache
def best_policy(table: str, label: str, truth: str, seed: int, size: int) -> Policy:
    """Return the best of the plans that are grown on a law, by their value there, as a tree that needs no law."""
    instance = find_instance(table, label, truth, seed, size)
    problem, law = instance.problem, instance.distribution
    plans = [plan(problem, law, method="rollout", node_penalty=penalty / size) for penalty in PENALTIES]
    best = max(plans, key=lambda found: found.value)
    assert isinstance(best, TreePlan)
    return best.compact


def make_instance(point: Point, replication: int, rng: np.random.Generator) -> Instance[Discrete]:
    """Return the instance of a point, the same in every replication, with the plan that regret is measured against."""
    table, label, truth = (str(point[name]) for name in ("table", "label", "truth"))
    law = table, label, truth, int(point["law_seed"]), int(point["size"])
    return dataclasses.replace(find_instance(*law), best=best_policy(*law))


FAMILIES = {
    family: {
        f"{family}-{explore}": partial(build_exploring, explore=explore, raw=family == "raw") for explore in LENGTHS
    }
    for family in ("raw", "regularised")
}
AGENTS = (
    Entrant.registered("safe-leaf-completion"),
    Entrant.told("safe-leaf-completion"),
    *(Entrant(name, build) for family in FAMILIES.values() for name, build in family.items()),
    Entrant("doubling", build_doubling),
    Entrant("greedy", build_greedy),
    Entrant("test-everything", build_everything),
    Entrant("decide-at-once", build_at_once),
    Entrant("full-information", build_informed),
)

MANY = Experiment(
    name="many-tests",
    title="Learning with many tests",
    shows="Regret of the default agent where tests are too many for a table of states, beside explore-then-commit with "
    "the best length in hindsight, raw and with the very same estimate and planner, and beside full information.",
    instance=make_instance,
    agents=AGENTS,
    horizon=10_000,
    replications=10,
    parameters={
        "table": Parameter("breast", f"the law: {', '.join(MANY_TESTS)}, latent-D, or a labelled table, FILE.csv", str),
        "label": Parameter(LAST, "which column of a file is the label; last, or its name", str),
        "truth": Parameter(BOUGHT, "the label is bought, or told after so many subjects", read_truth),
        "law_seed": Parameter(0, "seed of the law; streams have that of the run", whole),
        "size": Parameter(ROWS, "how many rows are drawn to be the law", whole),
    },
    sweeps={"table": MANY_TESTS},
    baselines=("full-information",),
    shared=frozenset({HORIZON}),
    families={family: tuple(members) for family, members in FAMILIES.items()},
)

LONG_FAMILIES = {
    family: tuple(f"{family}-{explore}" for explore in LENGTHS if explore >= WORTH_TRYING) for family in FAMILIES
}
IN_LONG = {entrant.name for entrant in AGENTS[:2]} | {"full-information"}.union(*LONG_FAMILIES.values())

MANY_LONG = dataclasses.replace(
    MANY,
    name="many-tests-long",
    title="Learning with many tests, 100,000 subjects",
    shows="Regret of the default agent in the long run where tests are too many for a table of states, beside "
    "explore-then-commit with the best length in hindsight, raw and with the very same estimate and planner.",
    agents=tuple(entrant for entrant in AGENTS if entrant.name in IN_LONG),
    horizon=LONG,
    families=LONG_FAMILIES,
)
