"""What every agent for measured outcomes must do: the promises of :func:`~proband.testing.check_agent`.

Measurements are numbers of which no two subjects have the same, so "bit for bit" is a stronger promise here: sums of
floating-point numbers depend on their order, and an agent has to put what it was told into an order of its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from proband.distributions import Gaussian
from proband.policies import CoinPolicy, branches, follow
from proband.problem import Problem
from proband.testing.agents import COINS, PROBES, Learner
from proband.testing.random_measured import random_gaussian, random_measured_problem, random_measured_states
from proband.vocabulary import FloatArray, IntArray, Policy, Records

MakeMeasuredAgent = Callable[[Problem, Gaussian, int], Learner]


def check_measured_agent(
    make: MakeMeasuredAgent,
    rng: np.random.Generator | None = None,
    *,
    instances: int = 12,
    subjects: int = 120,
) -> None:
    """Raise AssertionError unless an agent keeps its contract on random measured problems.

    * Asking for policy and commitment changes nothing.
    * The commitment is one or more, and honest: while fewer subjects are learned, the policy stays the same.
    * Subjects of one commitment may be learned in any order and number of calls, and the same subjects in a new agent
      lead to the same policies, bit for bit, coins included.
    * Every policy is legal, pure and blind to unavailable tests, with coins and without; completing a subject happens
      with the probability that the policy tells.
    * It goes on after measurements far from all others, records with missing entries, no records at all, history,
      tests that never vary, and more or fewer subjects than it was told to expect.

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
    rng = np.random.default_rng(0) if rng is None else rng
    for n in range(instances):
        problem = random_measured_problem(rng, max_tests=4)
        check = _Check(problem, random_gaussian(rng, problem), make, rng)
        try:
            check.stream(subjects, horizon=subjects)
            check.stream(subjects, horizon=[1, max(1, subjects // 3), 10 * subjects][n % 3])
            check.surprises(subjects)
        except AssertionError as error:
            law = check.law
            raise AssertionError(
                f"instance {n}: {error}\n{problem}\nmean {law.mean.tolist()}\ncovariance {law.covariance.tolist()}"
            ) from error


class _Check:
    """One problem, its law, and the states on which policies are compared."""

    def __init__(self, problem: Problem, law: Gaussian, make: MakeMeasuredAgent, rng: np.random.Generator) -> None:
        self.problem, self.law, self.make, self.rng = problem, law, make, rng
        nothing = np.full((1, problem.d), np.nan)
        self.complete = law.sample(rng, PROBES)
        self.probes = np.vstack([nothing, self.complete, random_measured_states(rng, law, PROBES)])
        self.checked: Policy | None = None

    def stream(self, subjects: int, *, horizon: int) -> None:
        """Send the same subjects through four agents that are told of them, and asked, in different ways."""
        rows, coins = self.law.sample(self.rng, subjects), self.rng.random(subjects)
        rows[1::7] = rows[0::7][: len(rows[1::7])]  # some subjects are alike, and may be counted together
        whole, single, split, silent = (self.make(self.problem, self.law, horizon) for _ in range(4))
        t = 0
        while t < subjects:
            n = min(self.commitment(whole), subjects - t)
            policy = whole.policy()
            self.legal(policy, rows[t : t + n])
            shown = self.fingerprint(policy)
            self.compare(shown, single, f"after {t} subjects, learned one by one")
            self.compare(shown, split, f"after {t} subjects, learned in parts and in another order")
            tossed = coins[t : t + n] if isinstance(policy, CoinPolicy) else None
            seen = follow(self.problem, policy, rows[t : t + n], coins=tossed).states
            whole.learn(counted(seen))
            self.one_by_one(single, seen, shown)
            self.in_parts(split, seen, shown)
            silent.learn(Records(seen[::-1]))
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
        far = self.law.mean + rng.normal(scale=10.0, size=(subjects, problem.d))
        gaps = np.where(rng.random(far.shape) < 0.5, far, np.nan)
        history = Records(self.law.sample(rng, subjects))
        nothing = Records(np.empty((0, problem.d)))
        nobody = Records(far[:3], counts=np.zeros(3))
        blank = Records(np.full((1, problem.d), np.nan), counts=[subjects])
        same = Records(problem.states(far[:1]), counts=[subjects])
        told = [nothing, history, nobody, Records(gaps), blank, Records(problem.states(far)), nothing]
        for records in (told, [Records(gaps), Records(gaps), history], [blank, blank], [same, same, history]):
            agent = self.make(problem, self.law, subjects)
            for each in records:
                before, left = self.fingerprint(agent.policy()), self.commitment(agent)
                agent.learn(each)
                if not each.n:
                    self.compare(before, agent, "after learning of nobody")
                    assert self.commitment(agent) == left, "the commitment changed after learning of nobody"
                self.legal(agent.policy(), far[:20])

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
        self.check_acting(policy)
        self.check_following(policy, rows)
        if isinstance(policy, CoinPolicy):
            self.check_coins(policy, rows)

    def check_acting(self, policy: Policy) -> None:
        """Check that a policy acts legally, purely and blindly on the probes."""
        problem = self.problem
        states = problem.states(self.probes)
        states.setflags(write=False)
        actions = np.asarray(policy.act(states))
        assert actions.shape == (len(states),), f"act gave shape {actions.shape} for {len(states)} states"
        assert np.issubdtype(actions.dtype, np.integer), f"actions are {actions.dtype}; they must be integers"
        none = np.asarray(policy.act(np.empty((0, problem.d))))
        assert none.shape == (0,), f"act gave shape {none.shape} for no states; it must be (0,)"
        for state, action in zip(states, actions.tolist(), strict=True):
            legal = 0 <= action < problem.d + problem.n_decisions
            if legal and action < problem.d:
                legal = problem.tests[action].available and bool(np.isnan(state[action]))
            assert legal, f"action {action} is not allowed in the state {state.tolist()}"
        order = self.rng.permutation(len(states))
        assert np.array_equal(policy.act(states[order]), actions[order]), (
            "an action depends on the other states of its batch, or changed the second time; act must be pure"
        )
        leaked = np.where([test.available for test in problem.tests], states, self.probes[-1:] + 1.0)
        assert np.array_equal(policy.act(np.where(np.isnan(leaked), states, leaked)), actions), (
            "an action depends on what an unavailable test shows"
        )

    def check_following(self, policy: Policy, rows: FloatArray) -> None:
        """Check that subjects come to a decision, and that what is known of them is theirs."""
        try:
            episodes = follow(self.problem, policy, rows)
        except ValueError as error:
            raise AssertionError(f"the policy cannot be followed: {error}") from error
        assert (episodes.actions >= self.problem.d).all(), "a subject got no decision"
        known = ~np.isnan(episodes.states)
        assert np.array_equal(episodes.states[known], rows[known]), "a subject's known outcomes are not its own"

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
        """Return all that can be seen of a policy on the probes; of a plan also its values, to the last bit."""
        shown: list[NDArray[np.generic]] = [policy.act(self.probes)]
        base = getattr(policy, "base", policy)
        if hasattr(base, "value"):
            shown.append(np.array([base.value]))
        if not isinstance(policy, CoinPolicy):
            return shown
        stopped = policy.run(self.complete)
        coins = [policy.act(self.probes, np.full(len(self.probes), u)) for u in COINS]
        return [*shown, *coins, stopped.states, policy.completion(stopped.states)]

    def compare(self, shown: list[NDArray[np.generic]], agent: Learner, when: str) -> None:
        """Check that an agent's policy shows the same as another one's."""
        other = self.fingerprint(agent.policy())
        same = len(other) == len(shown) and all(
            np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(shown, other, strict=True)
        )
        assert same, f"{when}, the policy is another one; it must be the same, bit for bit"


def counted(states: FloatArray) -> Records:
    """Return the records of final states, equal ones counted together."""
    key = np.where(np.isnan(states), np.inf, states)
    rows, counts = np.unique(key, axis=0, return_counts=True)
    merged: IntArray = counts.astype(np.int64)
    return Records(np.where(np.isinf(rows), np.nan, rows), merged)
