"""What unavailable tests would have shown, told late, as studies tell it.

A gold standard is never run, but its outcome may come to light: the patient comes back, the part is cut open. In a
study :meth:`proband.studies.Study.reveal` then amends a finished subject, and the agent is the one that would have
learned the subjects as they now stand: a new agent, taught all of them from the first one on, each with the chance that
the policy it met gave it, in pieces that end where commitments do (:mod:`proband.studies.learning.learner`).

Here the same is done whenever the agent's policy may change: at the ends of its blocks, and when the number of subjects
has doubled. A subject counts as revealed when so many others were treated after it. Subjects are simulated in pieces
without an order among themselves, and a piece is revealed as a whole: a part of it would be a choice by outcomes. So
pieces are short where the next truth may begin.
"""

from __future__ import annotations

import copy
from typing import Protocol

import numpy as np

from proband.agents import Agent
from proband.policies import chances
from proband.problem import Problem
from proband.simulation.kinds import Treated
from proband.vocabulary import FloatArray, IntArray, Policy, Records


class Pupil(Protocol):
    """An agent in a simulation, and how it is told of subjects."""

    agent: Agent

    def end(self, t: int) -> int:
        """Return up to which subject its policy is played, beginning after t of them."""
        ...

    def pauses(self, end: int) -> list[int]:
        """Return where pieces of subjects must end before the end of a block."""
        ...

    def learn(self, t: int, policy: Policy, treated: list[Treated]) -> None:
        """Learn of the subjects up to the t-th that are not told yet, who met a policy."""
        ...


class AtOnce:
    """An agent that is told what was seen of subjects, and no more."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def end(self, t: int) -> int:
        """Return the end of the agent's commitment."""
        return t + self.agent.commitment

    def pauses(self, end: int) -> list[int]:
        """Return nothing: pieces may end anywhere."""
        return []

    def learn(self, t: int, policy: Policy, treated: list[Treated]) -> None:
        """Let the agent learn."""
        self.agent.learn(Records.joined([each.records for each in treated]))


class Late:
    """An agent that is told of unavailable tests, too, a number of subjects later.

    Parameters
    ----------
    problem : Problem
    agent : Agent
        A new one. It is left as it is: copies of it learn.
    after : int
        So many subjects later.
    """

    def __init__(self, problem: Problem, agent: Agent, after: int) -> None:
        self.problem, self.after = problem, after
        self.agent = copy.deepcopy(agent)
        self._new = agent
        self._unavailable = np.flatnonzero([not test.available for test in problem.tests])
        self._told = _Past.nobody(problem.d, len(self._unavailable))
        self._pieces: list[int] = []
        self._revealed = 0

    def end(self, t: int) -> int:
        """Return the end of the agent's commitment, or when subjects have doubled if that is sooner."""
        return t + min(self.agent.commitment, max(t, self.after))

    def pauses(self, end: int) -> list[int]:
        """Return the last subject that is revealed when the block ends, and some of those who may be the last then."""
        return list(range(end - self.after, end, max(1, self.after // 4)))

    def learn(self, t: int, policy: Policy, treated: list[Treated]) -> None:
        """Let the agent learn; if a truth came in, a new one from the first subject on."""
        before = self._told.n
        records = Records.joined([each.records for each in treated])
        hidden = np.vstack([each.hidden for each in treated])
        self._told = self._told.and_then(records, hidden, chances(self.problem, policy, records.outcomes))
        self._pieces += (before + np.cumsum([each.records.n for each in treated])).tolist()
        revealed = max((end for end in self._pieces if end <= t - self.after), default=0)
        if revealed == self._revealed:
            self.agent.learn(self._told.part(before, self._told.n))
            return
        self._revealed, self.agent = revealed, copy.deepcopy(self._new)
        start = 0
        while start < self._told.n:  # the pieces of studies: history ends a piece, and so do commitments
            stop = min(start + self.agent.commitment, revealed if start < revealed else self._told.n)
            shown = self._unavailable if start < revealed else None
            self.agent.learn(self._told.part(start, stop, shown))
            start = stop


class _Past:
    """Subjects in the order in which they came, up to that within a piece: alike ones are counted together."""

    def __init__(self, seen: FloatArray, hidden: FloatArray, known: FloatArray, counts: IntArray) -> None:
        self.seen, self.hidden, self.known, self.counts = seen, hidden, known, counts
        self.ends = np.cumsum(counts)

    @classmethod
    def nobody(cls, d: int, unavailable: int) -> _Past:
        return cls(np.empty((0, d)), np.empty((0, unavailable)), np.empty(0), np.empty(0, dtype=np.int64))

    @property
    def n(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def and_then(self, records: Records, hidden: FloatArray, known: FloatArray) -> _Past:
        return _Past(
            np.vstack([self.seen, records.outcomes]),
            np.vstack([self.hidden, hidden]),
            np.concatenate([self.known, known]),
            np.concatenate([self.counts, records.counts]),
        )

    def part(self, start: int, stop: int, shown: IntArray | None = None) -> Records:
        """Return the subjects after `start` up to `stop`, with what unavailable tests showed, if these are named."""
        begins = self.ends - self.counts
        here = np.flatnonzero((self.ends > start) & (begins < stop))
        counts = np.minimum(self.ends[here], stop) - np.maximum(begins[here], start)
        rows = self.seen[here]
        if shown is not None:
            rows[:, shown] = self.hidden[here]
        return Records(rows, counts, self.known[here])
