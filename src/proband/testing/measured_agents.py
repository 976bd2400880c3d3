"""What every agent for measured outcomes must do: the promises of :func:`~proband.testing.check_agent`.

Measurements are numbers of which no two subjects have the same, so "bit for bit" is a stronger promise here: sums of
floating-point numbers depend on their order, and an agent has to put what it was told into an order of its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from proband.distributions import Gaussian
from proband.policies import follow
from proband.problem import Problem
from proband.testing.agent_checks import PROBES, Agent, AgentCheck
from proband.testing.policies import check_coins_taken
from proband.testing.random_measured import random_gaussian, random_measured_problem, random_measured_states
from proband.vocabulary import NEVER, FloatArray, Policy

MakeMeasuredAgent = Callable[[Problem, Gaussian, int], Agent]


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
        law = random_gaussian(rng, problem)
        try:
            _Check(problem, law, make, rng).check(subjects, horizon=[1, max(1, subjects // 3), 10 * subjects][n % 3])
        except AssertionError as error:
            raise AssertionError(
                f"instance {n}: {error}\n{problem}\nmean {law.mean.tolist()}\ncovariance {law.covariance.tolist()}"
            ) from error


class _Check(AgentCheck[Gaussian]):
    """A problem with measured outcomes."""

    def __init__(self, problem: Problem, law: Gaussian, make: MakeMeasuredAgent, rng: np.random.Generator) -> None:
        complete = law.sample(rng, PROBES)
        super().__init__(problem, law, make, rng, complete=complete, probes=random_measured_states(rng, law, PROBES))

    def draw(self, n: int) -> FloatArray:
        """Return the outcome vectors of n subjects, some of them alike: they may be counted together."""
        rows = self.law.sample(self.rng, n)
        rows[1::7] = rows[0::7][: len(rows[1::7])]
        return rows

    def strange(self, n: int) -> FloatArray:
        """Return measurements far from all others."""
        return np.asarray(self.law.mean + self.rng.normal(scale=10.0, size=(n, self.problem.d)))

    def check_policy(self, policy: Policy, rows: FloatArray) -> None:
        """Check that a policy is legal."""
        self.check_acting(policy)
        self.check_following(policy, rows)

    def fingerprint(self, policy: Policy) -> list[NDArray[np.generic]]:
        """Return all that can be seen of a policy; of a plan also its value, to the last bit."""
        base = getattr(policy, "base", policy)
        value = [np.array([base.value])] if hasattr(base, "value") else []
        return [*super().fingerprint(policy), *value]

    def check_acting(self, policy: Policy) -> None:
        """Check that a policy acts legally, purely and blindly on the probes."""
        check_coins_taken(policy)
        problem = self.problem
        states = problem.states(self.probes)
        states.setflags(write=False)
        actions = np.asarray(policy.act(states, NEVER))
        assert actions.shape == (len(states),), f"act gave shape {actions.shape} for {len(states)} states"
        assert np.issubdtype(actions.dtype, np.integer), f"actions are {actions.dtype}; they must be integers"
        none = np.asarray(policy.act(np.empty((0, problem.d)), NEVER))
        assert none.shape == (0,), f"act gave shape {none.shape} for no states; it must be (0,)"
        for state, action in zip(states, actions.tolist(), strict=True):
            legal = 0 <= action < problem.d + problem.n_decisions
            if legal and action < problem.d:
                legal = problem.tests[action].available and bool(np.isnan(state[action]))
            assert legal, f"action {action} is not allowed in the state {state.tolist()}"
        order = self.rng.permutation(len(states))
        assert np.array_equal(policy.act(states[order], NEVER), actions[order]), (
            "an action depends on the other states of its batch, or changed the second time; act must be pure"
        )
        leaked = np.where([test.available for test in problem.tests], states, self.probes[-1:] + 1.0)
        assert np.array_equal(policy.act(np.where(np.isnan(leaked), states, leaked), NEVER), actions), (
            "an action depends on what an unavailable test shows"
        )

    def check_following(self, policy: Policy, rows: FloatArray) -> None:
        """Check that subjects come to a decision, and that what is known of them is theirs."""
        try:
            episodes = follow(self.problem, policy, rows, coins=np.full(len(rows), NEVER))
        except ValueError as error:
            raise AssertionError(f"the policy cannot be followed: {error}") from error
        assert (episodes.actions >= self.problem.d).all(), "a subject got no decision"
        known = ~np.isnan(episodes.states)
        assert np.array_equal(episodes.states[known], rows[known]), "a subject's known outcomes are not its own"
