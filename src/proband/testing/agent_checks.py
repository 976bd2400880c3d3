"""What is asked of every agent, whatever its subjects' outcomes: one stream, told in five ways, must teach the same."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from proband.distributions import Discrete, Gaussian
from proband.policies import SUREST, CoinPolicy, branches, chances, follow
from proband.problem import Problem
from proband.vocabulary import NEVER, FloatArray, IntArray, Policy, Records

PROBES = 20
COINS = (0.0, 0.03, 0.2, 0.7, SUREST)

L = TypeVar("L", bound=Discrete | Gaussian)


@runtime_checkable
class Agent(Protocol):
    """What is checked, as :class:`proband.agents.Agent` describes it."""

    def policy(self) -> Policy:
        """Return the policy for the next subject."""
        ...

    def learn(self, records: Records) -> None:
        """Learn from finished subjects."""
        ...

    @property
    def commitment(self) -> int:
        """For how many coming subjects the policy cannot change."""
        ...


class AgentCheck(ABC, Generic[L]):
    """One problem, its law, and the states on which policies are compared.

    Parameters
    ----------
    problem : Problem
    law : Discrete or Gaussian
    make : callable
        From problem, law and horizon to a new agent.
    rng : numpy.random.Generator
    complete, probes : FloatArray of shape (n, d)
        Outcome vectors and states.
    """

    def __init__(
        self,
        problem: Problem,
        law: L,
        make: Callable[[Problem, L, int], Agent],
        rng: np.random.Generator,
        *,
        complete: FloatArray,
        probes: FloatArray,
    ) -> None:
        self.problem, self.rng, self.complete = problem, rng, complete
        self.law: L = law
        self.make: Callable[[Problem, L, int], Agent] = make
        self.probes = np.vstack([np.full((1, problem.d), np.nan), complete, probes])
        self.checked: Policy | None = None

    @abstractmethod
    def draw(self, n: int) -> FloatArray:
        """Return the outcome vectors of n subjects."""

    @abstractmethod
    def strange(self, n: int) -> FloatArray:
        """Return outcome vectors as no subject has them."""

    @abstractmethod
    def check_policy(self, policy: Policy, rows: FloatArray) -> None:
        """Check that a policy is legal."""

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

    def one_by_one(self, agent: Agent, seen: FloatArray, shown: list[NDArray[np.generic]]) -> None:
        """Teach one subject after another, asking in between."""
        for n, row in enumerate(seen):
            if n in (1, len(seen) - 1):
                self.compare(shown, agent, f"after {n} of {len(seen)} subjects of its commitment")
            self.commitment(agent)
            agent.learn(Records(row[None]))

    def in_parts(self, agent: Agent, seen: FloatArray, shown: list[NDArray[np.generic]]) -> None:
        """Teach in parts of random size and in random order, with empty records between."""
        shuffled = seen[self.rng.permutation(len(seen))]
        parts = np.split(shuffled, np.sort(self.rng.integers(0, len(seen) + 1, size=3)))
        for part in parts[:-1]:
            agent.learn(Records(part))
        if len(parts[-1]):
            self.compare(shown, agent, f"after {len(seen) - len(parts[-1])} of {len(seen)} subjects of its commitment")
        agent.learn(Records(parts[-1]))

    def with_chances(self, agent: Agent, seen: FloatArray, known: FloatArray) -> None:
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

    def commitment(self, agent: Agent) -> int:
        """Return the commitment after checking it."""
        assert isinstance(agent, Agent), f"{agent!r} is no Agent; it needs policy(), learn(records) and commitment"
        n = agent.commitment
        assert isinstance(n, int | np.integer), f"the commitment is {n!r}; it must be a whole number"
        assert n >= 1, f"the commitment is {n}; the policy serves one subject or more"
        return int(n)

    def legal(self, policy: Policy, rows: FloatArray) -> None:
        """Check a policy, unless it is the one checked last, and what it does when coins fall."""
        if policy is self.checked:
            return
        self.checked = policy
        self.check_policy(policy, rows)
        if isinstance(policy, CoinPolicy):
            self.check_coins(policy, rows)

    def check_coins(self, policy: CoinPolicy, rows: FloatArray) -> None:
        """Check that coins complete subjects with the probability that the policy tells."""
        [(stay, stopped), (fall, completed)] = branches(self.problem, policy, rows)
        assert ((fall >= 0) & (fall <= 1)).all(), f"a probability of completing is {fall.min()} or {fall.max()}"
        assert np.allclose(stay + fall, 1, rtol=0, atol=1e-15), "the probabilities of the two branches do not sum to 1"
        for u in COINS:
            episodes = follow(self.problem, policy, rows, coins=np.full(len(rows), u))
            for name in ("states", "actions", "tests"):
                apart = getattr(completed, name), getattr(stopped, name)
                expected = np.where((u < fall).reshape(-1, *[1] * (apart[0].ndim - 1)), *apart)
                assert np.array_equal(getattr(episodes, name), expected, equal_nan=True), (
                    f"with the coin {u}, {name} of followed subjects differ from those of its branches"
                )
            expected = np.where(u < fall, completed.costs, stopped.costs)
            assert np.allclose(episodes.costs, expected, rtol=1e-12, atol=1e-12), (
                f"with the coin {u}, the costs are {episodes.costs}; those of its branches are {expected}"
            )

    def fingerprint(self, policy: Policy) -> list[NDArray[np.generic]]:
        """Return all that can be seen of a policy on the probes."""
        shown: list[NDArray[np.generic]] = [policy.act(self.probes, NEVER)]
        if not isinstance(policy, CoinPolicy):
            return shown
        stopped = policy.stopped(self.complete)
        coins = [policy.act(self.probes, np.full(len(self.probes), u)) for u in COINS]
        return [*shown, *coins, stopped.states, policy.completion(stopped.states)]

    def compare(self, shown: list[NDArray[np.generic]], agent: Agent, when: str) -> None:
        """Check that an agent's policy shows the same as another one's."""
        other = self.fingerprint(agent.policy())
        same = len(other) == len(shown) and all(map(_equal, shown, other))
        assert same, f"{when}, the policy is another one; it must be the same, bit for bit"


def counted(states: FloatArray) -> Records:
    """Return the records of final states, equal ones counted together."""
    key = np.where(np.isnan(states), np.inf, states)
    rows, counts = np.unique(key, axis=0, return_counts=True)
    merged: IntArray = counts.astype(np.int64)
    return Records(np.where(np.isinf(rows), np.nan, rows), merged)


def _equal(a: NDArray[np.generic], b: NDArray[np.generic]) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
