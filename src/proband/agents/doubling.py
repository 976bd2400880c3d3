"""The doubling trick (Section 2 of the paper): batches of 1, 2, 4, ... subjects, each with an agent of its own.

An agent that needs the horizon becomes one that does not: in each batch a fresh agent is told the length of the
batch. As in the paper every batch starts afresh; the variant that keeps its data hands the explored subjects of
earlier batches to the new agent before its first subject. Explored are those on whom every test was run whatever it
showed: subjects that a plan happened to test completely would bias the law (``docs/estimators.md``).
"""

from __future__ import annotations

from collections.abc import Callable

from proband.agents.agent import Agent
from proband.policies import FixedSet
from proband.vocabulary import Policy, Records


class Doubling:
    """Restart an agent in batches of doubling length.

    Parameters
    ----------
    make : callable
        Builds an agent from a horizon.
    keep : bool, default False
        Hand the explored subjects of earlier batches to each new agent.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.agents import ExploreThenCommit
    >>> from proband.rewards import Match
    >>> problem = Problem([Test("crack", 0.75)], (), Match())
    >>> agent = Doubling(lambda horizon: ExploreThenCommit(problem, horizon=horizon))
    >>> agent.batch, agent.commitment
    (1, 1)
    """

    def __init__(self, make: Callable[[int], Agent], *, keep: bool = False) -> None:
        self._make = make
        self.keep = keep
        self.batch = 1
        self.left = 1
        self.agent = make(1)
        self._kept: list[Records] = []

    @property
    def commitment(self) -> int:
        """At most the rest of the batch."""
        return min(self.left, self.agent.commitment)

    def policy(self) -> Policy:
        """Return the policy of the batch's agent."""
        return self.agent.policy()

    def learn(self, records: Records) -> None:
        """Teach the batch's agent, and begin the next batch when it is over."""
        if self.keep and isinstance(policy := self.agent.policy(), FixedSet) and policy.everything:
            self._kept.append(records)
        self.agent.learn(records)
        self.left -= records.n
        if self.left > 0:
            return
        while self.left <= 0:
            self.batch *= 2
            self.left += self.batch
        self.agent = self._make(self.batch)
        if self._kept:
            self._kept = [Records.joined(self._kept)]
            self.agent.learn(self._kept[0])
