"""The demonstration: three agents learn, each on its own, to inspect the same stream of bolts.

* *Explore-then-commit* (Algorithm 2 of the paper) is told the length T of the stream, tests everything on the first
  N = ⌊|P|^(1/3) T^(2/3)⌋ bolts, and follows the plan of their empirical law on all others.
* *Doubling* is told nothing: it starts explore-then-commit afresh in batches of 1, 2, 4, ... bolts.
* The library's default agent is told nothing either; it learns from every bolt, however few of its tests were run.

The true law of the simulated bolts serves to say, exactly, what each of them lost to the clairvoyant, who knows it.
Here all is computed and nothing is printed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from proband.agents import (
    DEFAULT_AGENT,
    Agent,
    ExploreThenCommit,
    LeafCompletion,
    Setting,
    build_agent,
    exploration_length,
)
from proband.distributions import Discrete
from proband.instances import Instance, bolts
from proband.planners import Evaluation, Plan, evaluate, plan
from proband.policies import branches, follow
from proband.problem import Problem
from proband.simulation import checkpoints, simulate
from proband.vocabulary import NEVER, FloatArray, IntArray, Policy

ETC = "explore-then-commit"
NAMES = (ETC, "doubling", DEFAULT_AGENT)
BOLTS = 100_000
FIRST = 100
"""How many bolts "before learning" are averaged over; "after learning" are the last tenth of the stream."""
GRID = 200
"""At how many evenly spaced bolts figures are recorded, beside the log-spaced ones."""
FOLLOWED = 4

Tell = Callable[[str, int], None]


@dataclass(frozen=True)
class Run:
    """One agent on the stream: cumulative figures after the first `t` bolts.

    Attributes
    ----------
    name : str
        Of the agent, in the registry.
    t : IntArray of shape (n,)
    regret : FloatArray of shape (n,)
        What was lost to the clairvoyant in expectation: exact pseudo-regret.
    cost : FloatArray of shape (n,)
        What was paid for tests.
    earned : FloatArray of shape (n,)
        Rewards minus costs.
    """

    name: str
    t: IntArray
    regret: FloatArray
    cost: FloatArray
    earned: FloatArray

    def after(self, figure: FloatArray, t: int) -> float:
        """Return a cumulative figure after the first t bolts, one of `t`."""
        return float(figure[np.searchsorted(self.t, t)])

    def means(self, figure: FloatArray, edges: IntArray) -> FloatArray:
        """Return a figure's mean a bolt between neighbouring `edges`, which are 0 or among `t`."""
        sums = np.concatenate([[0.0], figure])[np.searchsorted(self.t, edges, side="right")]
        return np.diff(sums) / np.diff(edges)


@dataclass(frozen=True)
class Journey:
    """What happened to one subject.

    Attributes
    ----------
    number : int
        The subject's place in the stream, from 1 on.
    steps : tuple of (str, str)
        The tests run and their outcomes, in order.
    decision : str
    paid : float
        What the tests cost.
    explored : bool
        Whether the policy's coin had the remaining tests run where its plan would have stopped.
    """

    number: int
    steps: tuple[tuple[str, str], ...]
    decision: str
    paid: float
    explored: bool


@dataclass(frozen=True)
class Demonstration:
    """All that the demonstration found.

    Attributes
    ----------
    instance : Instance
    seed : int
    subjects : int
        Length of the stream.
    runs : tuple of Run
        Of explore-then-commit, of doubling, of the default agent, and of the clairvoyant.
    clairvoyant : Plan
        The best plan under the true law.
    learned : Plan
        The plan of what the default agent believes after the last bolt. (In some blocks it plays the plan of a
        posterior draw instead, to try it; the journeys follow what it really plays.)
    truth : Evaluation
        What that plan is worth under the true law.
    completing : float
        The share of the coming bolts on which the default agent will run all tests to learn from them.
    exploration : int
        N: how many bolts explore-then-commit tested completely.
    hindsight : tuple of (int, float)
        The exploration that would have served explore-then-commit best, of 100, 200, 400, ..., and its regret.
    journeys : tuple of Journey
        The first bolt and some that follow the stream, under the default agent.
    """

    instance: Instance[Discrete]
    seed: int
    subjects: int
    runs: tuple[Run, ...]
    clairvoyant: Plan
    learned: Plan
    truth: Evaluation
    completing: float
    exploration: int
    hindsight: tuple[int, float]
    journeys: tuple[Journey, ...]

    @property
    def first(self) -> int:
        """How many bolts make the first stretch of the stream."""
        return min(FIRST, self.subjects // 10)

    @property
    def last(self) -> int:
        """How many bolts make the last stretch of the stream."""
        return self.subjects // 10

    @property
    def marks(self) -> tuple[int, int, int]:
        """After how many bolts regret is told."""
        return _marks(self.subjects)

    @property
    def learners(self) -> tuple[Run, ...]:
        """The runs of the three agents that learn."""
        return self.runs[: len(NAMES)]

    def share(self, run: Run) -> float:
        """Return a run's regret as a share of explore-then-commit's."""
        return float(run.regret[-1] / self.runs[NAMES.index(ETC)].regret[-1])

    def stretches(self, run: Run, figure: FloatArray) -> tuple[float, float]:
        """Return a figure's mean a bolt over the first and over the last stretch of the stream."""
        edges = np.array([0, self.first, self.subjects - self.last, self.subjects])
        before, _, after = run.means(figure, edges)
        return float(before), float(after)

    def test_shares(self) -> dict[str, tuple[float, float]]:
        """Return how often each test is run by the learned plan and by the clairvoyant, exactly."""
        law, problem = self.instance.distribution, self.instance.problem
        learned, best = (
            law.probabilities @ ~np.isnan(follow(problem, policy, law.support).states)
            for policy in (self.learned, self.clairvoyant)
        )
        return {test.name: (float(learned[i]), float(best[i])) for i, test in enumerate(problem.tests)}


def learn_online(*, seed: int = 0, subjects: int = BOLTS, tell: Tell = lambda name, done: None) -> Demonstration:
    """Let the three agents, and the clairvoyant, inspect one simulated stream of bolts.

    Parameters
    ----------
    seed : int, default 0
        Of the stream, of the agents, and of their coins.
    subjects : int, default 100 000
        Length of the stream, at least 10.
    tell : callable
        Is told an agent's name and how many bolts it has inspected so far.

    Examples
    --------
    >>> demonstration = learn_online(subjects=200)
    >>> [run.name for run in demonstration.runs]
    ['explore-then-commit', 'doubling', 'safe-leaf-completion', 'clairvoyant']
    >>> demonstration.exploration  # on so short a stream explore-then-commit explores to its end
    200
    """
    instance = bolts()
    problem, law = instance.problem, instance.distribution
    rng = np.random.default_rng(seed)
    stream = rng.choice(len(law), size=subjects, p=law.probabilities)
    setting = Setting(problem, seed=seed, truth=law)
    told = {ETC: replace(setting, horizon=subjects)}
    agents = {name: build_agent(name, told.get(name, setting)) for name in (*NAMES, "clairvoyant")}
    default, clairvoyant = agents[DEFAULT_AGENT], plan(problem, law)
    assert isinstance(default, LeafCompletion)
    at_first = default.policy()
    runs = tuple(_run(instance, name, agent, stream, seed, tell) for name, agent in agents.items())
    learned = plan(problem, default.estimator.distribution())
    return Demonstration(
        instance=instance,
        seed=seed,
        subjects=subjects,
        runs=runs,
        clairvoyant=clairvoyant,
        learned=learned,
        truth=evaluate(problem, law, learned),
        completing=_completing(instance, default.policy()),
        exploration=min(subjects, exploration_length(problem.size, subjects)),
        hindsight=_hindsight(instance, stream),
        journeys=(
            journey(problem, at_first, law.support[stream[0]]),
            *_next_journeys(instance, default.policy(), subjects, rng),
        ),
    )


def journey(problem: Problem, policy: Policy, row: FloatArray, *, number: int = 1, coin: float = NEVER) -> Journey:
    """Follow one subject with the outcome vector `row`, shape (d,).

    A policy that tosses coins is handed `coin`, in [0, 1); by default one that never falls.

    Examples
    --------
    >>> from proband.instances import bolts
    >>> from proband.policies import FixedSet
    >>> problem = bolts().problem
    >>> weigh = FixedSet(problem, ["bolt weight"], bolts().distribution)
    >>> found = journey(problem, weigh, np.zeros(9))
    >>> found.steps, found.decision, found.paid
    ((('bolt weight', 'light'),), 'fail', 0.05)
    """
    state, steps, paid, explored = problem.state(), [], 0.0, False
    state[problem.context] = row[problem.context]
    while (action := int(policy.act(state, coin)[0])) < problem.d:
        explored = explored or int(policy.act(state, NEVER)[0]) >= problem.d
        paid += float(problem.costs(state)[0, action])
        state[action] = row[action]
        steps.append((problem.tests[action].name, problem.tests[action].names[int(row[action])]))
    return Journey(number, tuple(steps), problem.action_name(action), paid, explored)


def _run(instance: Instance[Discrete], name: str, agent: Agent, stream: IntArray, seed: int, tell: Tell) -> Run:
    problem, law = instance.problem, instance.distribution
    at, coins = _recorded(len(stream)), np.random.default_rng([seed, 1])
    tell(name, 0)
    found = simulate(problem, law, agent, stream, rng=coins, at=at, tell=lambda done: tell(name, done))
    best = follow(problem, plan(problem, law), law.support)
    best_earned = np.cumsum((problem.realised(law.support, best.actions) - best.costs)[stream])[at - 1]
    return Run(name, at, found.pseudo_regret, found.cost, best_earned - found.realised_regret)


def _recorded(subjects: int) -> IntArray:
    """Return the numbers of bolts after which figures are recorded."""
    stretches = [min(FIRST, subjects // 10), subjects - subjects // 10]
    even = np.linspace(0, subjects, GRID + 1).astype(np.int64)
    return np.setdiff1d(np.concatenate([log_spaced(subjects), even, stretches, _marks(subjects)]), [0])


def _marks(subjects: int) -> tuple[int, int, int]:
    return max(1, subjects // 100), subjects // 10, subjects


def log_spaced(subjects: int) -> IntArray:
    """Return numbers of bolts, at most all of them, four for each doubling."""
    return checkpoints(subjects, per_doubling=4)


def _completing(instance: Instance[Discrete], policy: Policy) -> float:
    """Return the probability that a policy's coin has the remaining tests run."""
    law = instance.distribution
    chances = [chance for chance, _ in branches(instance.problem, policy, law.support)]
    return float(law.probabilities @ chances[1]) if len(chances) > 1 else 0.0


def _hindsight(instance: Instance[Discrete], stream: IntArray) -> tuple[int, float]:
    """Return the best length of exploration for explore-then-commit on this stream, and its regret."""
    problem, law, subjects = instance.problem, instance.distribution, len(stream)
    regret: dict[int, float] = {}
    explore = min(FIRST, subjects)
    while explore <= subjects:
        agent = ExploreThenCommit(problem, horizon=subjects, explore=explore)
        found = simulate(problem, law, agent, stream, rng=np.random.default_rng(0), at=np.array([subjects]))
        regret[explore] = float(found.pseudo_regret[-1])
        explore *= 2
    best = min(regret, key=lambda n: regret[n])
    return best, regret[best]


def _next_journeys(instance: Instance[Discrete], policy: Policy, done: int, rng: np.random.Generator) -> list[Journey]:
    """Follow the bolts that come after the stream."""
    rows, coins = instance.sample(rng, FOLLOWED), rng.random(FOLLOWED)
    return [
        journey(instance.problem, policy, rows[n], number=done + n + 1, coin=float(coins[n])) for n in range(FOLLOWED)
    ]
