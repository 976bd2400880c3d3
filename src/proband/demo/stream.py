"""The demonstration: a stream of bolts is inspected while a policy is learned from it.

The first bolts of the stream go through every test. From growing numbers of these records the empirical law is planned
with; the last plan is followed on the rest of the stream. The true law of the simulated bolts serves to say, exactly,
what each plan is worth and how far it is from the clairvoyant's, who knows that law.

Here all is computed and nothing is printed. The learner is one function; another one may take its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from proband.distributions import Discrete
from proband.figures import DemoCurves
from proband.instances import Instance, bolts
from proband.planners import Evaluation, Plan, evaluate, plan
from proband.policies import DecideNow, Episodes, follow, test_everything
from proband.problem import Problem
from proband.vocabulary import FloatArray, Policy, Records

SIZES = (50, 100, 200, 400, 800, 1600, 3200)
"""Numbers of complete records to plan from; the last one is the length of the first part of the stream."""
STREAM = 20_000
BLOCK = 400

Learner = Callable[[Problem, Records], Plan]
Tell = Callable[[int, str], None]


@dataclass(frozen=True)
class Lesson:
    """A plan made from some records, and what it is worth under the true law."""

    records: int
    plan: Plan
    truth: Evaluation


@dataclass(frozen=True)
class Demonstration:
    """All that the demonstration found.

    Attributes
    ----------
    instance : Instance
    stream : FloatArray of shape (subjects, d)
        The outcome vectors of all bolts, those never seen included.
    lessons : tuple of Lesson
        Plans from growing numbers of records; the last one was followed.
    episodes : Episodes
        What was done to each bolt of the stream.
    clairvoyant : Plan
        The best plan under the true law.
    everything, nothing : Evaluation
        Of running every test, and of deciding at once.
    """

    instance: Instance
    stream: FloatArray
    lessons: tuple[Lesson, ...]
    episodes: Episodes
    clairvoyant: Plan
    everything: Evaluation
    nothing: Evaluation

    @property
    def learned(self) -> Lesson:
        """The plan that was followed."""
        return self.lessons[-1]

    @property
    def switch(self) -> int:
        """How many bolts went through every test."""
        return self.learned.records

    @property
    def achieved(self) -> float:
        """The share of the way from testing everything to the clairvoyant that the learned plan has gone."""
        start = self.everything.value
        return (self.learned.truth.value - start) / (self.clairvoyant.value - start)

    def paid(self) -> tuple[float, float]:
        """Return what testing a bolt cost on average before and after learning, in the stream."""
        costs = self.episodes.costs
        return float(costs[: self.switch].mean()), float(costs[self.switch :].mean())

    def earned(self) -> tuple[float, float]:
        """Return the average reward of a bolt minus its costs, before and after learning, in the stream."""
        rewards = self.instance.problem.realised(self.stream, self.episodes.actions) - self.episodes.costs
        return float(rewards[: self.switch].mean()), float(rewards[self.switch :].mean())

    def test_shares(self) -> dict[str, tuple[float, float]]:
        """Return how often each test is run by the learned plan and by the clairvoyant, exactly."""
        law, problem = self.instance.distribution, self.instance.problem
        shares = [
            law.probabilities @ ~np.isnan(follow(problem, policy, law.support).states)
            for policy in (self.learned.plan, self.clairvoyant)
        ]
        return {test.name: (float(shares[0][i]), float(shares[1][i])) for i, test in enumerate(problem.tests)}


def learn_from_complete(problem: Problem, records: Records) -> Plan:
    """Plan with the empirical law of complete records: the learner of the demonstration."""
    return plan(problem, Discrete.from_records(records))


def inspect_stream(
    *,
    seed: int = 0,
    subjects: int = STREAM,
    sizes: tuple[int, ...] = SIZES,
    learner: Learner = learn_from_complete,
    tell: Tell = lambda done, doing: None,
) -> Demonstration:
    """Inspect a simulated stream of bolts.

    Parameters
    ----------
    seed : int, default 0
        Of the simulation.
    subjects : int, default 20 000
        Length of the stream.
    sizes : tuple of int
        Numbers of complete records after which a plan is made; the last plan is followed from there on.
    learner : callable
        Makes a plan from a problem and complete records.
    tell : callable
        Is told how many bolts were inspected since the last call, and what is being done.

    Examples
    --------
    >>> demonstration = inspect_stream(subjects=300, sizes=(50, 100))
    >>> demonstration.switch, len(demonstration.episodes.costs)
    (100, 300)
    """
    instance = bolts()
    problem, law = instance.problem, instance.distribution
    stream = instance.sample(np.random.default_rng(seed), subjects)
    everything = test_everything(problem)
    parts, lessons, done = [], [], 0
    for size in sizes:
        parts += _inspect_blocks(problem, everything, stream[done:size], tell, "every test")
        records = Records(np.concatenate([part.states for part in parts]))
        learned = learner(problem, records)
        lessons.append(Lesson(size, learned, evaluate(problem, law, learned)))
        tell(0, f"planned from {size} records")
        done = size
    parts += _inspect_blocks(problem, lessons[-1].plan, stream[done:], tell, "the learned plan")
    return Demonstration(
        instance=instance,
        stream=stream,
        lessons=tuple(lessons),
        episodes=_joined(parts),
        clairvoyant=plan(problem, law),
        everything=evaluate(problem, law, everything),
        nothing=evaluate(problem, law, DecideNow(problem, distribution=law)),
    )


def journey(problem: Problem, policy: Policy, row: FloatArray) -> tuple[list[tuple[str, str]], str, float]:
    """Follow one subject: the tests run with their outcomes in order, the decision, and the costs paid."""
    state, steps, paid = problem.state(), [], 0.0
    state[problem.context] = row[problem.context]
    while (action := int(policy.act(state)[0])) < problem.d:
        paid += float(problem.costs(state)[0, action])
        state[action] = row[action]
        steps.append((problem.tests[action].name, problem.tests[action].outcomes[int(row[action])]))
    return steps, problem.action_name(action), paid


def curves(demonstration: Demonstration) -> DemoCurves:
    """Return what the figure shows."""
    return DemoCurves(
        records=np.array([lesson.records for lesson in demonstration.lessons], dtype=np.float64),
        values=np.array([lesson.truth.value for lesson in demonstration.lessons]),
        clairvoyant=demonstration.clairvoyant.value,
        everything=demonstration.everything.value,
        nothing=demonstration.nothing.value,
        costs=demonstration.episodes.costs,
        clairvoyant_cost=demonstration.clairvoyant.expected_cost,
        switch=demonstration.switch,
        shares=demonstration.test_shares(),
        unit=demonstration.instance.problem.unit,
    )


def _inspect_blocks(problem: Problem, policy: Policy, rows: FloatArray, tell: Tell, doing: str) -> list[Episodes]:
    parts = []
    for start in range(0, len(rows), BLOCK):
        parts.append(follow(problem, policy, rows[start : start + BLOCK]))
        tell(len(parts[-1].costs), doing)
    return parts


def _joined(parts: list[Episodes]) -> Episodes:
    return Episodes(
        np.concatenate([part.states for part in parts]),
        np.concatenate([part.actions for part in parts]),
        np.concatenate([part.costs for part in parts]),
        np.concatenate([part.tests for part in parts]),
    )
