"""What every agent must do: hand out legal policies, keep to its commitment, learn the same from the same subjects.

The kit stands beside the agents, not above them: it knows what an agent does and not which ones there are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from proband.distributions import Discrete
from proband.problem import Problem
from proband.testing.agent_checks import PROBES, Agent, AgentCheck
from proband.testing.policies import check_policy
from proband.testing.random_instances import random_distribution, random_problem, random_states
from proband.vocabulary import FloatArray, Policy

MakeAgent = Callable[[Problem, Discrete, int], Agent]


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
        law = random_distribution(rng, problem)
        try:
            _Check(problem, law, make, rng).check(subjects, horizon=[1, max(1, subjects // 3), 10 * subjects][n % 3])
        except AssertionError as error:
            raise AssertionError(
                f"instance {n}: {error}\n{problem}\nsupport {law.support.tolist()}\n"
                f"probabilities {law.probabilities.tolist()}"
            ) from error


class _Check(AgentCheck[Discrete]):
    """A problem with listed outcomes."""

    def __init__(self, problem: Problem, law: Discrete, make: MakeAgent, rng: np.random.Generator) -> None:
        complete = rng.integers(0, problem.k, size=(PROBES, problem.d)).astype(np.float64)
        super().__init__(problem, law, make, rng, complete=complete, probes=random_states(rng, problem, PROBES))

    def draw(self, n: int) -> FloatArray:
        """Return the outcome vectors of n subjects."""
        return self.law.sample(self.rng, n)

    def strange(self, n: int) -> FloatArray:
        """Return outcome vectors that may have no probability."""
        return self.rng.integers(0, self.problem.k, size=(n, self.problem.d)).astype(np.float64)

    def check_policy(self, policy: Policy, rows: FloatArray) -> None:
        """Check that a policy is legal."""
        check_policy(self.problem, policy, np.random.default_rng(0), rows=rows)
