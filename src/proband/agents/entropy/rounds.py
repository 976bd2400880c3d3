"""What the agents of maximum-entropy sampling share: blocks of rounds in which one set of tests is measured.

A round is a subject. The policy of a round is a fixed set, chosen from past rounds alone, so what a round leaves out is
missing completely at random, as long as rounds measure the set that they were given. Where one did not, what it showed
may be the reason, and what is learned from it is biased: such rounds are counted, and the agent says so. A round went
its own way if it was told with a chance that is not known (:class:`~proband.vocabulary.Records`), or without chances
and with a set that the agent never handed out; an earlier set is that of a round that was open across a block's end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

import numpy as np

from proband.agents.agent import FOREVER
from proband.agents.blockwise import Blockwise, in_order
from proband.agents.entropy.learning.normality import Normality, check_normality
from proband.agents.setting import Setting
from proband.errors import AgentError
from proband.policies import FixedSet
from proband.problem import Problem
from proband.rewards import Entropy
from proband.vocabulary import FloatArray, IntArray, Kind, Policy, Records

SAMPLE = 1024
"""So many rounds are kept to check that they look Gaussian: enough to see a clear departure, and no other."""


class SetAgent(Blockwise):
    """An agent that measures one set in each block of rounds.

    By itself it keeps its set for ever; subclasses say which set comes next, and when to look again.

    Parameters
    ----------
    problem : Problem
        With an :class:`~proband.rewards.Entropy` reward.

    Attributes
    ----------
    tested : tuple of int
        The tests measured in the coming rounds.
    astray : int
        Rounds learned so far that did not measure a set that they were given.
    """

    kinds = frozenset({Kind.SETS})

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        if not isinstance(problem.reward, Entropy):
            raise AgentError(
                f"the reward is {type(problem.reward).__name__}; this agent is for maximum-entropy sampling; give a "
                "problem with an Entropy reward, or choose another agent"
            )
        self.costs, self.scale = problem.prices, problem.reward.scale
        self.tested: tuple[int, ...] = tuple(range(problem.d))
        self.astray = 0
        self._handed_out: set[tuple[int, ...]] = set()
        self._sample: list[FloatArray] = []
        self._policies: dict[tuple[int, ...], Policy] = {}

    @classmethod
    def of(cls, setting: Setting) -> Self:
        """Return the agent for a setting."""
        return cls(setting.problem)

    def policy(self) -> Policy:
        """Return the policy that measures the set; the same object whenever the set is the same."""
        if self.tested not in self._policies:
            names = [self.problem.tests[i].name for i in self.problem.cheapest_order if i in self.tested]
            self._policies = {self.tested: FixedSet(self.problem, names)} | dict(list(self._policies.items())[:63])
        return self._policies[self.tested]

    def learn(self, records: Records) -> None:
        """Collect rounds; when the block is over, learn from it."""
        if records.n and self.left >= FOREVER:
            self._keep(records.outcomes[records.counts > 0])
        elif records.n:
            self._handed_out.add(self.tested)
            self.astray += self._count_astray(records)
        super().learn(records)

    def absorb(self, block: list[Records]) -> None:
        """Learn from a block."""
        rows, counts = in_order(block)
        self._keep(rows)
        self.left = self.next_block(rows, counts)

    def next_block(self, rows: FloatArray, counts: IntArray) -> int:
        """Learn from the rows of a block, choose the set to measure next, and return for how many rounds."""
        return FOREVER

    @property
    def notices(self) -> tuple[str, ...]:
        """What a user should know: limits of the agent, and data that break its assumptions."""
        found = self.normality()
        broken = () if found is None or not found.broken else (found.message,)
        return (self._strayed, *broken) if self.astray else broken

    @property
    def _strayed(self) -> str:
        """What a user should know of rounds that went astray."""
        return (
            f"{self.astray:,} of {self.t:,} rounds did not measure the tests that they were given. If what they showed "
            "is the reason, all that is learned from them is biased: begin anew, with rounds that do."
        )

    def _count_astray(self, records: Records) -> int:
        """Return how many rounds may have measured what they did because of what it showed."""
        if records.chances is not None:
            return int(records.counts[np.isnan(records.chances)].sum())
        measured = ~np.isnan(records.outcomes)
        other = (measured != self.flags(self.tested)).any(axis=1) & (records.counts > 0)
        if not other.any():
            return 0
        own = np.array([tuple(np.flatnonzero(row).tolist()) in self._handed_out for row in measured[other]])
        return int(records.counts[other][~own].sum())

    def normality(self) -> Normality | None:
        """Return how Gaussian the first rounds look; None while there are too few of them."""
        rows = np.vstack([np.empty((0, self.problem.d)), *self._sample])
        whole = np.flatnonzero(~np.isnan(rows).any(axis=0))
        return check_normality(rows[:, whole], names=[self.problem.tests[i].name for i in whole])

    def _keep(self, rows: FloatArray) -> None:
        if sum(map(len, self._sample)) >= SAMPLE:
            return
        if len(rows) > SAMPLE:  # rows are sorted: the first ones are no sample
            rows = rows[np.random.default_rng(0).choice(len(rows), SAMPLE, replace=False)]
        self._sample.append(rows)

    def flags(self, tests: Iterable[int]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return a set as flags, shape (d,)."""
        marked = np.zeros(self.problem.d, dtype=np.bool_)
        marked[list(tests)] = True
        return marked


def checked_share(name: str, value: float) -> float:
    """Return a number strictly between 0 and 1, or raise."""
    if not 0 < value < 1:
        raise AgentError(f"{name} is {value}; it must lie between 0 and 1; give a small number such as 0.05")
    return float(value)


def checked_positive(name: str, value: float, *, zero: bool = False) -> float:
    """Return a positive number (or 0, where that is allowed), or raise."""
    if not np.isfinite(value) or value < 0 or (value == 0 and not zero):
        rule = "0 or more" if zero else "above 0"
        raise AgentError(f"{name} is {value}; it must be finite and {rule}; correct it")
    return float(value)


def checked_mean(problem: Problem, mean: object) -> FloatArray | None:
    """Return the known mean of the tests, shape (d,), or None where it is to be estimated."""
    if mean is None:
        return None
    try:
        known = np.broadcast_to(np.asarray(mean, dtype=np.float64), (problem.d,)).copy()
    except (TypeError, ValueError) as error:
        raise AgentError(
            f"the mean does not fit {problem.d} tests ({error}); give one number for each test, or None to estimate it"
        ) from error
    if not np.isfinite(known).all():
        raise AgentError("the mean has an entry that is not finite; give numbers, or None to estimate it")
    return known
