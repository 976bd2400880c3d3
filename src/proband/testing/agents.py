"""What every agent must do: hand out legal policies, keep to its commitment, learn the same from the same subjects.

The kit stands beside the agents, not above them: it knows what an agent does and not which ones there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from proband.distributions import Discrete
from proband.policies import CoinPolicy, branches, follow
from proband.problem import Problem
from proband.testing.policies import check_policy
from proband.testing.random_instances import random_distribution, random_problem, random_states
from proband.vocabulary import FloatArray, IntArray, Policy, Records

PROBES = 20
COINS = (0.0, 0.03, 0.2, 0.7, 1.0 - 2.0**-53)


@runtime_checkable
class Learner(Protocol):
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


MakeAgent = Callable[[Problem, Discrete, int], Learner]


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
    rng = np.random.default_rng(0) if rng is None else rng
    for n in range(instances):
        problem = random_problem(rng, kind=kind, max_tests=4)
        check = _Check(problem, random_distribution(rng, problem), make, rng)
        try:
            check.stream(subjects, horizon=subjects)
            check.stream(subjects, horizon=[1, max(1, subjects // 3), 10 * subjects][n % 3])
            check.surprises(subjects)
        except AssertionError as error:
            law = check.distribution
            raise AssertionError(
                f"instance {n}: {error}\n{problem}\nsupport {law.support.tolist()}\n"
                f"probabilities {law.probabilities.tolist()}"
            ) from error


class _Check:
    """One problem, its law, and the states on which policies are compared."""

    def __init__(self, problem: Problem, distribution: Discrete, make: MakeAgent, rng: np.random.Generator) -> None:
        self.problem, self.distribution, self.make, self.rng = problem, distribution, make, rng
        nothing = np.full((1, problem.d), np.nan)
        self.complete = rng.integers(0, problem.k, size=(PROBES, problem.d)).astype(np.float64)
        self.probes = np.vstack([nothing, self.complete, random_states(rng, problem, PROBES)])
        self.checked: Policy | None = None

    def stream(self, subjects: int, *, horizon: int) -> None:
        """Send the same subjects through four agents that are told of them, and asked, in different ways."""
        rows, coins = self.distribution.sample(self.rng, subjects), self.rng.random(subjects)
        whole, single, split, silent = (self.make(self.problem, self.distribution, horizon) for _ in range(4))
        t = 0
        while t < subjects:
            n = min(self.commitment(whole), subjects - t)
            policy = whole.policy()
            self.legal(policy, rows[t : t + n])
            shown = self.fingerprint(policy)
            self.compare(shown, single, f"after {t} subjects, learned one by one")
            self.compare(shown, split, f"after {t} subjects, learned in parts and in another order")
            seen = self.treat(policy, rows[t : t + n], coins[t : t + n])
            whole.learn(_merged(seen))
            self.one_by_one(single, seen, shown)
            self.in_parts(split, seen, shown)
            silent.learn(_merged(seen))
            t += n
        last = self.fingerprint(whole.policy())
        self.compare(last, single, "in the end, learned one by one")
        self.compare(last, split, "in the end, learned in parts and in another order")
        self.compare(last, silent, "in the end, never asked before (asking must change nothing)")

    def one_by_one(self, agent: Learner, seen: FloatArray, shown: list[NDArray[np.generic]]) -> None:
        """Teach one subject after another, asking in between."""
        for n, row in enumerate(seen):
            if n in (1, len(seen) - 1):
                self.compare(shown, agent, f"after {n} of {len(seen)} subjects of its commitment")
            self.commitment(agent)
            agent.learn(Records(row[None]))

    def in_parts(self, agent: Learner, seen: FloatArray, shown: list[NDArray[np.generic]]) -> None:
        """Teach in parts of random size and in random order, with empty records between."""
        shuffled = seen[self.rng.permutation(len(seen))]
        parts = np.split(shuffled, np.sort(self.rng.integers(0, len(seen) + 1, size=3)))
        for part in parts[:-1]:
            agent.learn(Records(part))
        if len(parts[-1]):
            self.compare(shown, agent, f"after {len(seen) - len(parts[-1])} of {len(seen)} subjects of its commitment")
        agent.learn(Records(parts[-1]))

    def surprises(self, subjects: int) -> None:
        """Teach what does not come from the agent's own policies, and ask for a legal policy after each."""
        problem, rng = self.problem, self.rng
        unseen = rng.integers(0, problem.k, size=(subjects, problem.d)).astype(np.float64)
        gaps = np.where(rng.random(unseen.shape) < 0.5, unseen, np.nan)
        history = Records(self.distribution.sample(rng, subjects))
        nothing = Records(np.empty((0, problem.d)))
        nobody = Records(unseen[:3], counts=np.zeros(3))
        blank = Records(np.full((1, problem.d), np.nan), counts=[subjects])
        told = [nothing, history, nobody, Records(gaps), blank, Records(problem.states(unseen)), nothing]
        for records in (told, [Records(gaps), Records(gaps), history], [blank, blank]):
            agent = self.make(problem, self.distribution, subjects)
            for each in records:
                before, left = self.fingerprint(agent.policy()), self.commitment(agent)
                agent.learn(each)
                if not each.n:
                    self.compare(before, agent, "after learning of nobody")
                    assert self.commitment(agent) == left, "the commitment changed after learning of nobody"
                self.legal(agent.policy(), unseen[:20])

    def commitment(self, agent: Learner) -> int:
        """Return the commitment after checking it."""
        assert isinstance(agent, Learner), f"{agent!r} is no Agent; it needs policy(), learn(records) and commitment"
        n = agent.commitment
        assert isinstance(n, int | np.integer), f"the commitment is {n!r}; it must be a whole number"
        assert n >= 1, f"the commitment is {n}; the policy serves one subject or more"
        return int(n)

    def legal(self, policy: Policy, rows: FloatArray) -> None:
        """Check a policy, unless it is the one checked last, and what it does when coins fall."""
        if policy is self.checked:
            return
        self.checked = policy
        check_policy(self.problem, policy, np.random.default_rng(0), rows=rows)
        if not isinstance(policy, CoinPolicy):
            return
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

    def treat(self, policy: Policy, rows: FloatArray, coins: FloatArray) -> FloatArray:
        """Return what is known of subjects in the end, shape (n, d)."""
        tossed = coins if isinstance(policy, CoinPolicy) else None
        return follow(self.problem, policy, rows, coins=tossed).states

    def fingerprint(self, policy: Policy) -> list[NDArray[np.generic]]:
        """Return all that can be seen of a policy on the probes."""
        actions: list[NDArray[np.generic]] = [policy.act(self.probes)]
        if not isinstance(policy, CoinPolicy):
            return actions
        stopped = policy.run(self.complete)
        coins = [policy.act(self.probes, np.full(len(self.probes), u)) for u in COINS]
        return [*actions, *coins, stopped.states, policy.completion(stopped.states)]

    def compare(self, shown: list[NDArray[np.generic]], agent: Learner, when: str) -> None:
        """Check that an agent's policy shows the same as another one's."""
        other = self.fingerprint(agent.policy())
        same = len(other) == len(shown) and all(map(_equal, shown, other))
        assert same, f"{when}, the policy is another one; it must be the same, bit for bit"


def _equal(a: NDArray[np.generic], b: NDArray[np.generic]) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def _merged(states: FloatArray) -> Records:
    """Return the records of final states, equal ones counted together."""
    codes, counts = np.unique(np.nan_to_num(states, nan=-1.0), axis=0, return_counts=True)
    merged: IntArray = counts.astype(np.int64)
    return Records(np.where(codes < 0, np.nan, codes), merged)
