"""What every agent must do: hand out legal policies, keep to its commitment, learn the same from the same subjects.

One stream, told in five ways, must teach the same. The kit stands beside the agents, not above them: it knows what an
agent does (:class:`proband.agents.Agent`) and not which ones there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proband.distributions import Discrete, Gaussian
from proband.policies import SUREST, CoinPolicy, branches, chances, follow, has_extra
from proband.problem import Problem
from proband.testing.policies import check_policy
from proband.testing.random_instances import (
    instance_text,
    random_distribution,
    random_gaussian,
    random_measured_problem,
    random_measured_states,
    random_problem,
    random_states,
)
from proband.vocabulary import NEVER, FloatArray, Policy, Records

PROBES = 20
COINS = (0.0, 0.03, 0.2, 0.7, SUREST)

MakeAgent = Callable[[Problem, Discrete, int], Any]
MakeMeasuredAgent = Callable[[Problem, Gaussian, int], Any]


def check_agent(
    make: MakeAgent,
    rng: np.random.Generator | None = None,
    *,
    instances: int = 20,
    subjects: int = 120,
    kind: str | None = None,
) -> None:
    """Raise AssertionError unless an agent keeps its contract on random problems.

    * Asking for policy and commitment changes nothing.
    * The commitment is one or more, and honest: while fewer subjects are learned, the policy stays the same.
    * Subjects of one commitment may be learned in any order and number of calls, and the same subjects in a new agent
      lead to the same policies, bit for bit, coins included.
    * Every policy is legal (:func:`~proband.testing.check_policy`), with coins and without; completing a subject
      happens with the probability that the policy tells.
    * It goes on after outcomes that it has never seen, records with missing entries, no records at all, history, and
      more or fewer subjects than it was told to expect.

    Parameters
    ----------
    make : callable
        ``make(problem, distribution, horizon)`` gives a new agent, always the same one. Only a clairvoyant may use the
        distribution, the true law.
    rng : numpy.random.Generator, optional
        Draws the problems and their subjects; by default a fixed one.
    instances : int
        How many problems to try.
    subjects : int
        How many subjects to send through each.
    kind : str, optional
        Kind of reward to try alone, a key of :data:`~proband.testing.REWARDS`.

    Examples
    --------
    >>> from proband.agents import ExploreThenCommit
    >>> make = lambda problem, distribution, horizon: ExploreThenCommit(problem, horizon=horizon)
    >>> check_agent(make, np.random.default_rng(0), instances=2, subjects=30)
    """

    def draw(rng: np.random.Generator) -> tuple[Problem, Discrete]:
        problem = random_problem(rng, kind=kind, max_tests=4)
        return problem, random_distribution(rng, problem)

    _check_instances(make, draw, rng, instances, subjects)


def check_measured_agent(
    make: MakeMeasuredAgent,
    rng: np.random.Generator | None = None,
    *,
    instances: int = 12,
    subjects: int = 120,
) -> None:
    """Raise AssertionError unless an agent keeps its contract on random measured problems.

    The promises are those of :func:`~proband.testing.check_agent`, after measurements far from all others and of tests
    that never vary too. No two subjects measure the same numbers, so "bit for bit" is more here: sums of floating-point
    numbers depend on their order, and an agent has to put what it was told into an order of its own.

    Parameters
    ----------
    make : callable
        ``make(problem, law, horizon)`` gives a new agent, always the same one. Only a clairvoyant may use the true
        law.
    rng : numpy.random.Generator, optional
        Draws the problems and their subjects; by default a fixed one.
    instances : int
        How many problems to try.
    subjects : int
        How many subjects to send through each.

    Examples
    --------
    >>> from proband.agents.gaussian import GaussianExploreThenCommit
    >>> make = lambda problem, law, horizon: GaussianExploreThenCommit(problem, horizon=horizon)
    >>> check_measured_agent(make, np.random.default_rng(0), instances=1, subjects=20)
    """

    def draw(rng: np.random.Generator) -> tuple[Problem, Gaussian]:
        problem = random_measured_problem(rng, max_tests=4)
        return problem, random_gaussian(rng, problem)

    _check_instances(make, draw, rng, instances, subjects)


def _check_instances(
    make: Callable[..., Any],
    draw: Callable[[np.random.Generator], tuple[Problem, Discrete | Gaussian]],
    rng: np.random.Generator | None,
    instances: int,
    subjects: int,
) -> None:
    rng = np.random.default_rng(0) if rng is None else rng
    for n in range(instances):
        problem, law = draw(rng)
        try:
            _Check(problem, law, make, rng).check(subjects, horizon=[1, max(1, subjects // 3), 10 * subjects][n % 3])
        except AssertionError as error:
            raise AssertionError(f"instance {n}: {error}\n{instance_text(problem, law)}") from error


class _Check:
    """One problem, its law, how an agent is made, and the states on which policies are compared."""

    def __init__(
        self, problem: Problem, law: Discrete | Gaussian, make: Callable[..., Any], rng: np.random.Generator
    ) -> None:
        self.problem, self.law, self.make, self.rng = problem, law, make, rng
        if isinstance(law, Gaussian):
            self.complete, states = law.sample(rng, PROBES), random_measured_states(rng, law, PROBES)
        else:
            self.complete, states = self.strange(PROBES), random_states(rng, problem, PROBES)
        self.probes = np.vstack([np.full((1, problem.d), np.nan), self.complete, states])
        self.checked: Policy | None = None

    def draw(self, n: int) -> FloatArray:
        """Return the outcome vectors of n subjects; some that measure alike, for they may be counted together."""
        rows = self.law.sample(self.rng, n)
        if self.problem.measured:
            rows[1::7] = rows[0::7][: len(rows[1::7])]
        return rows

    def strange(self, n: int) -> FloatArray:
        """Return outcome vectors that may have no probability, or measurements far from all others."""
        if isinstance(self.law, Gaussian):
            return np.asarray(self.law.mean + self.rng.normal(scale=10.0, size=(n, self.problem.d)))
        return self.rng.integers(0, self.problem.k, size=(n, self.problem.d)).astype(np.float64)

    def check(self, subjects: int, *, horizon: int) -> None:
        """Check an agent that expects as many subjects as come, one that expects others, and one that is surprised."""
        self.stream(subjects, horizon=subjects)
        self.stream(subjects, horizon=horizon)
        self.surprises(subjects)

    def stream(self, subjects: int, *, horizon: int) -> None:
        """Send the same subjects through five agents that are told of them, and asked, in different ways."""
        rows, coins = self.draw(subjects), self.rng.random(subjects)
        whole, single, split, silent, told = (self.make(self.problem, self.law, horizon) for _ in range(5))
        t = 0
        while t < subjects:
            n = min(self.commitment(whole), subjects - t)
            policy = whole.policy()
            self.legal(policy, rows[t : t + n])
            shown = self.fingerprint(policy)
            self.compare(shown, single, f"after {t} subjects, learned one by one")
            self.compare(shown, split, f"after {t} subjects, learned in parts and in another order")
            self.compare(shown, told, f"after {t} subjects, told with which chances they were tested completely")
            seen = follow(self.problem, policy, rows[t : t + n], coins=coins[t : t + n]).states
            whole.learn(counted(seen))
            self.one_by_one(single, seen, shown)
            self.in_parts(split, seen, shown)
            silent.learn(Records(seen[::-1]))
            self.with_chances(told, seen, chances(self.problem, policy, seen))
            t += n
        last = self.fingerprint(whole.policy())
        self.compare(last, single, "in the end, learned one by one")
        self.compare(last, split, "in the end, learned in parts and in another order")
        self.compare(last, silent, "in the end, never asked before (asking must change nothing)")
        self.compare(last, told, "in the end, told with which chances they were tested completely")

    def one_by_one(self, agent: Any, seen: FloatArray, shown: list[NDArray[np.generic]]) -> None:
        """Teach one subject after another, asking in between."""
        for n, row in enumerate(seen):
            if n in (1, len(seen) - 1):
                self.compare(shown, agent, f"after {n} of {len(seen)} subjects of its commitment")
            self.commitment(agent)
            agent.learn(Records(row[None]))

    def in_parts(self, agent: Any, seen: FloatArray, shown: list[NDArray[np.generic]]) -> None:
        """Teach in parts of random size and in random order, with empty records between."""
        shuffled = seen[self.rng.permutation(len(seen))]
        parts = np.split(shuffled, np.sort(self.rng.integers(0, len(seen) + 1, size=3)))
        for part in parts[:-1]:
            agent.learn(Records(part))
        if len(parts[-1]):
            self.compare(shown, agent, f"after {len(seen) - len(parts[-1])} of {len(seen)} subjects of its commitment")
        agent.learn(Records(parts[-1]))

    def with_chances(self, agent: Any, seen: FloatArray, known: FloatArray) -> None:
        """Teach as a study does: with the chance that the subject's policy gave it, some subjects singly."""
        half = len(seen) // 2
        for n in range(half):
            agent.learn(Records(seen[n : n + 1], chances=known[n : n + 1]))
        agent.learn(Records(seen[half:], chances=known[half:]))

    def surprises(self, subjects: int) -> None:
        """Teach what does not come from the agent's own policies, and ask for a legal policy after each."""
        problem, rng = self.problem, self.rng
        unseen = self.strange(subjects)
        gaps = np.where(rng.random(unseen.shape) < 0.5, unseen, np.nan)
        history = Records(self.law.sample(rng, subjects))
        nothing = Records(np.empty((0, problem.d)))
        nobody = Records(unseen[:3], counts=np.zeros(3))
        blank = Records(np.full((1, problem.d), np.nan), counts=[subjects])
        same = Records(problem.states(unseen[:1]), counts=[subjects])
        told = [nothing, history, nobody, Records(gaps), blank, Records(problem.states(unseen)), nothing]
        for records in (told, [Records(gaps), Records(gaps), history], [blank, blank], [same, same, history]):
            agent = self.make(problem, self.law, subjects)
            for each in records:
                before, left = self.fingerprint(agent.policy()), self.commitment(agent)
                agent.learn(each)
                if not each.n:
                    self.compare(before, agent, "after learning of nobody")
                    assert self.commitment(agent) == left, "the commitment changed after learning of nobody"
                self.legal(agent.policy(), unseen[:20])

    def commitment(self, agent: Any) -> int:
        """Return the commitment after checking it."""
        assert all(hasattr(agent, name) for name in ("policy", "learn", "commitment")), (
            f"{agent!r} is no Agent; it needs policy(), learn(records) and commitment"
        )
        n = agent.commitment
        assert isinstance(n, int | np.integer), f"the commitment is {n!r}; it must be a whole number"
        assert n >= 1, f"the commitment is {n}; the policy serves one subject or more"
        return int(n)

    def legal(self, policy: Policy, rows: FloatArray) -> None:
        """Check a policy, unless it is the one checked last, and what it does when coins fall."""
        if policy is self.checked:
            return
        self.checked = policy
        states = self.probes if self.problem.measured else None
        check_policy(self.problem, policy, np.random.default_rng(0), rows=rows, states=states)
        if isinstance(policy, CoinPolicy):
            self.check_coins(policy, rows)

    def check_coins(self, policy: CoinPolicy, rows: FloatArray) -> None:
        """Check that coins decide among the ways of treating subjects with the probabilities that the policy tells."""
        ways = branches(self.problem, policy, rows)
        told = np.array([chance for chance, _ in ways])
        assert len(ways) in (2, 3), f"a coin decides among {len(ways)} ways; there are two, and one for extra tests"
        assert ((told >= -1e-15) & (told <= 1)).all(), f"a probability of completing is {told.min()} or {told.max()}"
        assert np.allclose(told.sum(axis=0), 1, rtol=0, atol=1e-15), "the probabilities of the branches do not sum to 1"
        upto = np.cumsum(told[1:], axis=0)  # the first way is that of the largest coins
        between = [np.clip(bound - told[1 + n] / 2, 0, SUREST) for n, bound in enumerate(upto)]
        for u in (*(np.full(len(rows), u) for u in COINS), *between):
            episodes = follow(self.problem, policy, rows, coins=u)
            way = np.where((u < upto).any(axis=0), 1 + (u < upto).argmax(axis=0), 0)
            for name in ("states", "actions", "tests"):
                expected = _chosen([getattr(episodes, name) for _, episodes in ways], way)
                assert np.array_equal(getattr(episodes, name), expected, equal_nan=True), (
                    f"with the coins {u}, {name} of followed subjects differ from those of its branches"
                )
            expected = _chosen([episodes.costs for _, episodes in ways], way)
            assert np.allclose(episodes.costs, expected, rtol=1e-12, atol=1e-12), (
                f"with the coins {u}, the costs are {episodes.costs}; those of its branches are {expected}"
            )

    def fingerprint(self, policy: Policy) -> list[NDArray[np.generic]]:
        """Return all that can be seen of a policy on the probes; of a measured plan its value, to the last bit."""
        shown: list[NDArray[np.generic]] = [policy.act(self.probes, NEVER)]
        base = getattr(policy, "base", policy)
        if self.problem.measured and hasattr(base, "value"):
            shown.append(np.array([base.value]))
        if not isinstance(policy, CoinPolicy):
            return shown
        stopped = policy.stopped(self.complete)
        coins = [policy.act(self.probes, np.full(len(self.probes), u)) for u in COINS]
        extra = [policy.partly(stopped.states)] if has_extra(policy) else []
        return [*shown, *coins, stopped.states, policy.completion(stopped.states), *extra]

    def compare(self, shown: list[NDArray[np.generic]], agent: Any, when: str) -> None:
        """Check that an agent's policy shows the same as another one's."""
        other = self.fingerprint(agent.policy())
        same = len(other) == len(shown) and all(map(_equal, shown, other))
        assert same, f"{when}, the policy is another one; it must be the same, bit for bit"


def _chosen(ways: list[NDArray[Any]], way: NDArray[np.int64]) -> NDArray[Any]:
    """Return what the way of each subject (n,) does to it."""
    return np.asarray(np.stack(ways)[way, np.arange(len(way))])


def counted(states: FloatArray) -> Records:
    """Return the records of final states, equal ones counted together."""
    key = np.where(np.isnan(states), np.inf, states)
    rows, counts = np.unique(key, axis=0, return_counts=True)
    return Records(np.where(np.isinf(rows), np.nan, rows), counts)


def _equal(a: NDArray[np.generic], b: NDArray[np.generic]) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
